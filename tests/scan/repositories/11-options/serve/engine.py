from .env import env_bool

TRACE = env_bool("TRACE", True)


def start(config):
    return config.page_size * config.num_pages


def start(args, ranks):
    if args.use_cache:
        warm(args)
    # A near-twin: a variable that only happens to be called like an option.
    for rank in ranks:
        warm(rank)

from .env import env_bool

TRACE = env_bool("TRACE", True)


def start(config):
    return config.page_size * config.num_pages

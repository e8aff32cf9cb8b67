from .arguments import args


def width():
    return args.width

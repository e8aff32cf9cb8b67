import argparse

from .config import EngineConfig, ServerConfig


def parse(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--model-path", "--model", type=str, required=True, help="Where the model is")
    parser.add_argument("--page-size", type=int, default=ServerConfig.page_size)
    parser.add_argument("--num-pages", type=int, default=ServerConfig.num_pages)
    parser.add_argument("--port", type=int, default=ServerConfig.port)
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--dtype", choices=["auto", "fp16"], default="auto")
    parser.add_argument("--disable-cache", action="store_false", dest="use_cache", help="For tests")
    parser.add_argument("--graphs", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--rank", type=int, default=0)
    return parser.parse_args(argv)


def parse_all(argv):
    import dataclasses

    parser = argparse.ArgumentParser()
    for field in dataclasses.fields(ServerConfig):
        parser.add_argument(f"--all-{field.name.replace('_', '-')}")
    return parser.parse_args(argv)

import os


class EnvInt:
    def __init__(self, default):
        self.default = default

    def _init(self, name):
        self.value = int(os.getenv(name, self.default))


class Environment:
    RETRIES = EnvInt(3)
    BATCH = EnvInt(default=128)

    def __init__(self):
        for name in ("RETRIES", "BATCH"):
            getattr(type(self), name)._init(f"SERVE_{name}")


LOG = os.environ.get("SERVE_LOG", "info")
HOME = os.environ["SERVE_HOME"]
os.environ["SERVE_WRITTEN"] = "1"


def env_bool(name, default=False):
    return os.getenv("SERVE_" + name, str(default)) == "1"


def is_distributed():
    return int(os.environ.get("RANK", -1)) != -1 and os.environ.get("SERVE_SPREAD", "0") == "1"

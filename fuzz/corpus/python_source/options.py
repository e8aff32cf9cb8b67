import argparse, os, click
P = "APP_"
parser = argparse.ArgumentParser()
parser.add_argument("--rate", "-r", type=float, default=0.5, choices=[1, 2], help="a" f"{P}")
for n in ("a", "b"):
    parser.add_argument(f"--{n}", action="store_true", **kw["x"])
def env(name, default=None):
    return os.environ.get(P + name, default)
x = int(env("SIZE", 3)) if "APP_Y" in os.environ else os.getenv(f"{P}Z") or 4
@click.option("--up/--down", default=True)
def run(up): ...

import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--depth", type=int, default=4)
args = parser.parse_args()
print(args.depth)

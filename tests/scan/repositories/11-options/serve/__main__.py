from .args import parse
from .engine import start
import sys

args = parse(sys.argv[1:])
start(args, [])

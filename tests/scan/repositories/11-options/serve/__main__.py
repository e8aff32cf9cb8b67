from .args import parse
import sys

parse(sys.argv[1:])

import sys
from ast import literal_eval

for argument in sys.argv[1:]:
    key, value = argument.removeprefix("--").split("=")
    globals()[key] = literal_eval(value)

"""The same within one file, and by update()."""
import sys

steps = 100
name = "small"
globals().update(dict(word.removeprefix("--").split("=") for word in sys.argv[1:]))
print(steps, name)

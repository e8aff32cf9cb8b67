from .ops import add

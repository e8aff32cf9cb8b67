from .interface import attend, unused

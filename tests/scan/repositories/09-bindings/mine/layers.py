import torch

from . import _C


def normalize(x):
    torch.ops.mine.norm(x)
    return x


def gelu(x):
    _C.fast_gelu(x)
    return x


def wrap(x):
    return torch.ops.mine.wrap(x)

import triton
import triton.language as tl

from .launcher import describe, launch


@triton.jit
def double_kernel(x):
    tl.store(x, tl.load(x) * 2)


@triton.jit
def named_kernel(x):
    tl.store(x, 0)


def double(x):
    launch(double_kernel, (1,), x)


def name():
    return describe(named_kernel, (1,))

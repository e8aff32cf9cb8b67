import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 4, mask=i < n)


# The only one of its name, and nobody here imports it.
@triton.jit
def lonely_kernel(x):
    tl.store(x, 0)

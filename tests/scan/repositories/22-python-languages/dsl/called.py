# Decorators that are called like functions, and functions that write CUDA.
import pccm
from numba import cuda
import triton
import triton.language as tl


def scale(x, n):
    i = cuda.grid(1)
    if i < n:
        x[i] *= 2


scale_gpu = cuda.jit(scale)


def fill(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, 1, mask=at < n)


fast_fill = triton.jit(fill)


def run(x):
    scale_gpu[32, 128](x, len(x))
    fast_fill[(4,)](x, len(x), 128)


def jit(function):
    return function


def on_the_host(x):
    return x


same = jit(on_the_host)
typed = cuda.jit("void(float32[:])")


class Builder(pccm.Class):
    @pccm.cuda.cuda_global_function
    def arange(self):
        code = pccm.FunctionCode()
        code.arg("data", "int*")
        code.raw("data[threadIdx.x] = threadIdx.x;")
        return code

    @pccm.cuda.static_function
    def host(self):
        return pccm.FunctionCode()

import functools

import torch
import triton
import triton.language as tl


@triton.jit
def softplus(x):
    return tl.log(1 + tl.exp(x))


@triton.jit
def store_row(out, value, i):
    tl.store(out + i, value)


@triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=4)], key=["n"])
@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = softplus(tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n))
    tl.store(out + i, value, mask=i < n)


@triton.jit
def copy_kernel(x, out):
    store_row(out, tl.load(x), 0)


@triton.jit
def forgotten_kernel(x, out):
    tl.store(out, tl.load(x))


@triton.jit
def forgotten_helper(x):
    return x + 1


@functools.cache
def make_kernel():
    @triton.jit
    def made_kernel(out):
        tl.store(out, 1)

    return triton, made_kernel


def add(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
    add_kernel[grid](x, y, out, n)
    return out


def copy(x, out):
    torch.library.wrap_triton(copy_kernel)[(1,)](x, out, num_warps=8)
    _, kernel = make_kernel()
    kernel[(1,)](out)


def lookup(table, key):
    return table[key](1)


@triton.jit
def best_of(x):
    return tl.max(x, axis=0)


@triton.jit
def best_kernel(x, out, BLOCK: tl.constexpr):
    tl.store(out, best_of(tl.load(x + tl.arange(0, BLOCK))))


def best(x, out):
    best_kernel[(1,)](x, out, BLOCK=64)

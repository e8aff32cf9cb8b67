import triton
import triton.language as tl
from viewer import trace

# Launched through what a call makes of it.
@triton.jit
def shown(x_ptr):
    tl.load(x_ptr)

trace(shown)[(1, 1, 1)](x)


def check(puzzle, spec, n):
    traced = {}
    trace(puzzle, client=spec)[(n, 1)](x, z)


# Handed to a function that launches it so; an exercise, which nobody has solved yet.
@triton.jit
def add(x_ptr, z_ptr, N, B: tl.constexpr):
    return


check(add, add_spec, 32)


# Nobody launches it here, and it gives nothing back.
@triton.jit
def probe(x_ptr, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))


# The same, and it gives back what it read: for a kernel to call.
@triton.jit
def fetch(x_ptr, B: tl.constexpr):
    return tl.load(x_ptr + tl.arange(0, B))


# It touches no memory.
@triton.jit
def say(value):
    if tl.program_id(0) == 0:
        print(value)


# Not launched: a table holds what is called.
def dispatch(table, say):
    return table.get(say)[0](1)


# Near-twins: a parameter and a loop's variable of a kernel's name.
def run_given(probe, x):
    probe[(3,)](x, B=8)


def run_each(kernels, x):
    for probe in kernels:
        probe[(4,)](x, B=8)

# Kernels of a text that are asked for by name.
import cupy as cp
import torch

TEXT = r"""
extern "C" __global__ void fill(float* x) { x[threadIdx.x] = 1; }
extern "C" __global__ void add(float* x) { x[threadIdx.x] += 1; }
template <typename T> __global__ void twice(T* x) { x[threadIdx.x] *= 2; }
extern "C" __global__ void nobody(float* x) { x[threadIdx.x] = 0; }
"""

fill = cp.RawKernel(TEXT, "fill")


def run_fill(x):
    fill((1,), (64,), (x,))


class Adder:
    def __init__(self):
        self.module = cp.RawModule(code=TEXT, name_expressions=["twice<float>"])
        self.add = self.module.get_function("add")
        self.names = self.module.get_function("twice<float>")

    def run(self, x):
        self.add((x.size // 32,), (32,), (x,))
        self.names(grid=(2,), block=(16,), args=(x,))


# A near-twin: a member of that name which is no kernel.
class Sum:
    def __init__(self):
        self.nobody = sum

    def run(self, x):
        self.nobody((1,), (2,), (x,))


# Near-twins: a parameter, a loop's variable and a member of another class hide what is called alike.
def run_any(fill, x):
    fill((9,), (9,), (x,))


def run_all(kernels, x):
    for fill in kernels:
        fill((8,), (8,), (x,))
    return [fill((7,), (7,), (x,)) for fill in kernels]


class Other:
    def __init__(self, add):
        self.add = add

    def run(self, x):
        self.add((6,), (6,), (x,))


# Either may run.
class Chosen:
    def __init__(self, doubled):
        self.pick = cp.RawKernel(TEXT, "fill")
        if doubled:
            self.pick = cp.RawKernel(TEXT, "add")

    def run(self, x):
        self.pick((5,), (5,), (x,))

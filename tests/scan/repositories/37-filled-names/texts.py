"""Two texts with a kernel of one name: each function launches its own."""
import pycuda.driver as drv
from pycuda.compiler import SourceModule


def test_copy(x):
    module = SourceModule("""
    __global__ void step(float* x) { x[threadIdx.x] = 1; }
    """)
    step = module.get_function("step")
    step(drv.InOut(x), block=(64, 1, 1), grid=(1, 1))


def test_add(x):
    module = SourceModule("""
    __global__ void step(float* x) { x[threadIdx.x] += 1; }
    """)
    step = module.get_function("step")
    step(drv.InOut(x), block=(128, 1, 1), grid=(1, 1))

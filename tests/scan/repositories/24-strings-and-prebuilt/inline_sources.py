import pycuda.compiler
import pyopencl as cl

module = pycuda.compiler.SourceModule("""
__global__ void doubled(float* x)
{
  x[threadIdx.x] *= 2;
}
""")
program = """
__kernel void halved(
    __global float* x) {
  x[get_global_id(0)] *= 0.5f;
}
"""
SHADER = """
@compute @workgroup_size(64)
fn web_kernel() {
}
"""
prose = "A __kernel { is marked so."


def run(context, x):
    built = cl.Program(context, program).build()
    module.get_function("doubled")(x, block=(32, 1, 1), grid=(1, 1))
    return built.halved

import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule
import pyopencl as cl

mod = SourceModule("""
__global__ void doublify(float *a) { int idx = threadIdx.x + threadIdx.y*4; a[idx] *= 2; }
__global__ void triplify(float *a) { int idx = threadIdx.x; a[idx] *= 3; }
""")
func = mod.get_function("doublify")


def run(a_gpu):
    func(a_gpu, block=(4, 4, 1))


def run3(a_gpu):
    f = mod.get_function("triplify")
    f(a_gpu, block=(4, 4, 1), grid=(2, 1))
    f.prepare("P")
    f.prepared_call((1, 1), (32, 1, 1), a_gpu)


prg = cl.Program(ctx, """
__kernel void sum(__global const float *a, __global float *res) {
  int gid = get_global_id(0);
  res[gid] = a[gid] + 1;
}
__kernel void sum2(__global const float *a, __global float *res) { res[get_global_id(0)] = a[get_global_id(0)] + 2; }
""").build()


def run_cl(queue, a, res):
    prg.sum(queue, a.shape, None, a, res)
    knl = prg.sum2
    knl(queue, a.shape, None, a, res)

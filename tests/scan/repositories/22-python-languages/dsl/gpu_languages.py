import cupy as cp
import cuda.tile as ct
import cutlass.cute as cute
import flydsl.compiler as flyc
import helion
import helion.language as hl
import numba
import taichi as ti
import tilelang
import tilelang.language as T
import warp as wp
from numba import cuda
from triton.experimental import gluon


@gluon.jit
def gluon_scale(x, n):
    gluon.language.store(x, n)


@ct.kernel
def tile_add(a, b, out):
    ct.store(out, index=(ct.bid(0),), tile=a + b)


@cute.kernel
def cute_copy(src, dst):
    pass


@cute.jit
def cute_host(src, dst):
    cute_copy(src, dst).launch(grid=[4, 1, 1], block=[128, 1, 1])


def make_fly(block):
    @flyc.kernel(known_block_size=[block, 1, 1])
    def fly_add(a, b):
        pass

    @flyc.jit
    def fly_host(a, b, stream):
        fly_add(a, b).launch(
            grid=(1, 1, 1),
            block=(block, 1, 1),
            stream=stream,
        )

    return fly_host


@helion.kernel(static_shapes=True)
def helion_add(x, y):
    out = hl.zeros(x.shape)
    for tile in hl.tile(x.shape):
        out[tile] = x[tile] + y[tile]
    return out


@cuda.jit
def numba_scale(x, by):
    i = cuda.grid(1)
    x[i] *= by


@cuda.jit("void(float32[:])")
def numba_typed(x):
    x[0] = 1


@cuda.jit(device=True)
def numba_helper(x):
    return x


@numba.jit
def on_the_cpu(x):
    return x


@wp.kernel
def warp_step(x: wp.array(dtype=float), dt: float):
    i = wp.tid()
    x[i] = warp_helper(x[i]) * dt


@wp.func
def warp_helper(x: float):
    return x


@ti.kernel
def taichi_fill(n: int):
    pass


@tilelang.jit(out_idx=[-1])
def matmul(M, N, block):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=128) as (bx, by):
            T.copy(A[by, bx], C[by, bx])

    return main


@T.prim_func
def no_gpu_here(A: T.Tensor((4,), "float16")):
    A[0] = 1


@tilelang.jit
def eager_copy(A, B):
    with T.Kernel(4, threads=64) as bx:
        T.copy(A[bx], B[bx])


squared = cp.ElementwiseKernel("float32 x", "float32 y", "y = x * x", "squared_difference")
total = cp.ReductionKernel(
    "T x", "T y", "x", "a + b", "y = a", "0", name="total_sum"
)


def run(x, y, stream):
    gluon_scale[(4,)](x, 4)
    ct.launch(stream, (4,), tile_add, (x, y, x))
    helion_add(x, y)
    numba_scale[32, 64](x, 2.0)
    numba_typed[1, 32, stream, 128](x)
    wp.launch(warp_step, dim=1024, inputs=[x, 0.1])
    taichi_fill(4)
    matmul(1, 2, 3)(x, y)
    eager_copy(x, y)

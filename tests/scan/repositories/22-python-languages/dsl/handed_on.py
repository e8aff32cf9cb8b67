from .compat import T, flyc, triton, tl


@triton.jit
def handed_kernel(x, n):
    tl.store(x, n)


@flyc.kernel
def handed_fly(x):
    pass


def run(x):
    handed_kernel[(1,)](x, 1)
    handed_fly(x).launch(grid=(1, 1, 1), block=(64, 1, 1))


def make_tile():
    @T.prim_func
    def handed_tile(A):
        with T.Kernel(4, threads=32) as bx:
            A[bx] = 1

    return handed_tile

from .compat import flyc, triton, tl


@triton.jit
def handed_kernel(x, n):
    tl.store(x, n)


@flyc.kernel
def handed_fly(x):
    pass


def run(x):
    handed_kernel[(1,)](x, 1)
    handed_fly(x).launch(grid=(1, 1, 1), block=(64, 1, 1))

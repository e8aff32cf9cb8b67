# A function makes a kernel; calling what it returned launches it.
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def make_scale(n, dtype="float32"):
    @T.prim_func
    def scale_kernel(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, 128), threads=128) as bx:
            for i in T.Parallel(128):
                B[bx * 128 + i] = A[bx * 128 + i] * 2

    return scale_kernel


def make_name(n):
    return str(n)


def scale(x):
    kernel = make_scale(x.shape[0])
    name = make_name(x.shape[0])
    print(name)
    return kernel(x)


class Layer:
    def __init__(self, n):
        self.kernel = make_scale(n)
        self.name = make_name(n)

    def forward(self, x):
        return self.kernel(x)


class Other:
    def forward(self, kernel, x):
        self.name(x)
        self.kernel(x)
        return kernel(x)

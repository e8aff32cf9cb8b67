from windows import _triangle as make


def twice(n):
    return 2 * make(size=n)


def once(x):
    import cupy
    return cupy.ElementwiseKernel("float64 x", "float64 y", "y = x * x", "_square_kernel")(x)

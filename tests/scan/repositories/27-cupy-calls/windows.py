import cupy as cp

_triangle = cp.ElementwiseKernel("", "float64 w", "w = i;", "_triangle_kernel")
_unused = cp.ElementwiseKernel("", "float64 w", "w = 1;", "_unused_kernel")


def triangle(n):
    return _triangle(size=n)


class Shape:
    def _triangle(self):
        return 1

    def area(self):
        return self._triangle()

import cupy as cp

_triangle = cp.ElementwiseKernel("", "float64 w", "w = i;", "_triangle_kernel")
_unused = cp.ElementwiseKernel("", "float64 w", "w = 1;", "_unused_kernel")


def triangle(n):
    return _triangle(size=n)


# Made by a function, kept by an object, chosen by another function.
@cp.memoize(for_each_device=True)
def _get_ramp(kind):
    ramp = cp.ElementwiseKernel("", f"{kind} w", "w = 2 * i;", "_ramp_kernel")
    return ramp


def _get_constant(kind):
    return cp.ElementwiseKernel("", f"{kind} w", "w = 3;", "_constant_kernel")


def ramp(n, kind):
    kernel = _get_ramp(kind)
    return kernel(size=n)


def flat(n, kind, sloped):
    pick = _get_ramp if sloped else _get_constant
    return pick(kind)(size=n)


class Window:
    def __init__(self):
        self._sum = cp.ReductionKernel("float64 x", "float64 y", "x", "a + b", "y = a", "0", "_sum_kernel")

    def total(self, x):
        return self._sum(x)


# A near-twin: what is done with the result of a launch launches nothing.
def last(n, kind):
    made = _get_constant(kind)(size=n)
    return made(0)


class Shape:
    def _triangle(self):
        return 1

    def area(self):
        return self._triangle()

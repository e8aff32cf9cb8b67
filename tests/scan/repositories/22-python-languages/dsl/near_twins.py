"""Decorators of the same name from other modules; @cute.kernel in prose is none."""
import mycute as cute
import operating_system as wp
from registry import kernel
from sound import helion
from .own import ct, jit


@cute.kernel
def other_module(x):
    return x


@wp.kernel
def version(x):
    return x


@kernel
def registered(x):
    return x


@helion.kernel
def tone(x):
    return x


@ct.kernel
def own_decorator(x):
    return x


@jit
def own_jit(x):
    return x


class Layer:
    def kernel(self, x):  # @wp.kernel
        return x

    @property
    def launch(self):
        return "@cuda.jit def k(x): pass"


def use(x):
    Layer().kernel(x)
    wp.launch(version, dim=4)
    cute.pallas_call(registered)


class T:
    """A table, and no language."""

    @staticmethod
    def prim_func(f):
        return f

    @staticmethod
    def Kernel(n):
        return n


@T.prim_func
def counted(x):
    return T.Kernel(4)

import functools

import shop.kernels.rows as rows
from shop.kernels.rows import scale_kernel as _scale
from shop.kernels.rows import (
    clamp_kernel as _clamp,
    square_kernel,
)
from shop import kernels
from .kernels import moved_kernel
from elsewhere import lonely_kernel


def by_another_name(x):
    _scale[(x.numel() // 256,)](x, x.numel(), B=256)


def in_brackets(x):
    _clamp[(x.numel() // 256,)](x, x.numel(), B=256)


def of_a_module(x):
    rows.square_kernel[(x.numel() // 256,)](x, x.numel(), B=256)


def handed_on_by_a_package(x):
    kernels.scale_kernel[(x.numel() // 256,)](x, x.numel(), B=256)


def renamed_by_a_package(x):
    moved_kernel[(x.numel() // 256,)](x, x.numel(), B=256)


def with_run(x):
    square_kernel.run(x, x.numel(), B=256, grid=(x.numel() // 256,), warmup=False)


def bound_first(x):
    launch = functools.partial(square_kernel[(x.numel() // 256,)], x)
    launch(x.numel(), B=256)


# A near-twin: the name is another package's.
def of_another_package(x):
    lonely_kernel[(1,)](x)

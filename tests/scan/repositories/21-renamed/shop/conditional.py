import os

if os.environ.get("WIDE"):
    from shop.kernels.other_rows import scale_kernel
else:
    from shop.kernels.rows import scale_kernel


def either(x):
    scale_kernel[(x.numel() // 256,)](x, x.numel(), B=256)

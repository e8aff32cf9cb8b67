import os

if os.getenv("PKG_ROCM"):
    from aiter.ops import attention as gpu
else:
    import pkg_cuda as gpu


def attend(q, k, causal=False):
    out, lse = gpu.fwd(q, k)
    return out


def unused(q):
    return q

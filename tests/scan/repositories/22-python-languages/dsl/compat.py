try:
    import flydsl.compiler as flyc
    import tilelang.language as T
    import triton
    import triton.language as tl
except ImportError:
    T = flyc = triton = tl = None

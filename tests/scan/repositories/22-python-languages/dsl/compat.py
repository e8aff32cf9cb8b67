try:
    import flydsl.compiler as flyc
    import triton
    import triton.language as tl
except ImportError:
    flyc = triton = tl = None

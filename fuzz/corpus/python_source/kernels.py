@triton.jit
def add(x, n: tl.constexpr = 4, *a, **k): pass
grid = lambda m: (n,)
(add if x else sub)[grid](x, BLOCK=64)
self.kernel(a).launch(grid=[1, 1, 1], block=[128, 1, 1], smem=0)
ct.launch(s, (1,), k, (x,))
SOURCE = r'''
__global__ void one() {}
''' "two \
three\n" f"""Kernel<{args!r:>{w}}> {{}}"""
@router.get("/x", methods=["GET"])
async def x(): return await y

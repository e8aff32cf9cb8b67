import circles as circles, a.b as circles
from circles import *
from . import circles
X = Y
Y = X
class A(B): x: "A" = A(); f = property(lambda self: self.f)
class B(A): pass
class C(C): __getattr__ = C
def f(x=f): return f(g(f))
def g(x): x = f(x); y = x; x = y; return g
f = g; g = f
self = self.self
@f
@g(f)
def h(h): return h(h)(h)[h]
import triton, triton.language as tl
@triton.jit
def kernel(p, n, BLOCK: tl.constexpr):
    i = i + tl.arange(0, BLOCK); j = k; k = j
    for n in range(n): i = i + n; p = p + i
    m = i < n
    tl.store(p + i, tl.load(p + i, mask=m), mask=m); kernel(p, n, BLOCK)
def launch(p): kernel[(triton.cdiv(n, BLOCK),)](p, n, BLOCK=BLOCK); kernel[lambda m: (m['BLOCK'],)](p)
app = FastAPI()
@app.post("/v1")
async def serve(r): q.put(r); return await serve(r)
p.add_argument('--x', default=X, choices=[X, Y], type=p); os.environ.get("X", os.environ.get("X"))
SRC = r'''__global__ void k(int* x) { k<<<1,1>>>(x); }'''
mod = load_inline(name="mod", cuda_sources=[SRC, SRC], functions=["k"]); mod.k(mod)

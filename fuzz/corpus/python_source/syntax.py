if (n := 1) > 2 and not x: a = b = c; d += 1
match p:
    case A(b=1) | [C(), *_] if g(): pass
    case {"k": (1 | 2) as v, **r}: pass
type X[T] = list[T]
with (a() as b, c() as d,): pass
try: pass
except* (B, C) as e: raise D from None
finally: del x[1:2, ...]
y = [i async for i in {**a, "b": 1} if i] or {1, *z} @ -q ** ~r
f"{a["b"]} {f'{c!s:>{d}}'} {e=}"
class K(B, metaclass=M):
    x: int = field(default_factory=lambda: [0x1f, 1_0e-3j])  # help
    def f(self, /, a, *, b=1) -> int: yield from (lambda *q: q)()

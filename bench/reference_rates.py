#!/usr/bin/env python3
"""Records what good libraries reach on this GPU, by op and size: data/platforms/reference_rates.tsv.

    bench/reference_rates.py record TRACE.json.gz    needs PyTorch and a GPU, about two minutes; writes TRACE-tf32.json.gz too
    bench/reference_rates.py table SHEET.csv...      unified_perf_summary.csv of those traces, as the table

Every op is called on inputs that lie in no cache: its operands rotate through more memory than the L2
cache has, as weights and activations do in a model. Random values: products of zeros draw less power.
The trace goes through `fathom analyze`, so FLOPs, bytes and times are counted as for any other trace.
"""

import csv
import json
import math
import sys
import time

COLD_BYTES = 160 << 20  # more than three times the L2 cache of an H200
MOST_BYTES = 40 << 30
SECONDS = 150  # for all of it


# ---------------------------------------------------------------- recording


def gemm_shapes():
    sizes = [128, 256, 512, 1024, 2048, 4096, 8192]
    shapes = [(n, n, n) for n in sizes]
    weights = [(2048, 2048), (4096, 4096), (8192, 8192), (14336, 4096), (4096, 14336), (5632, 2048), (2048, 5632),
               (768, 768), (3072, 768), (768, 3072), (32000, 4096), (128256, 4096), (1024, 1024)]
    for n, k in weights:
        rows = (1, 8, 32, 128, 512, 2048, 8192) if n < 30000 else (1, 8, 32, 512, 2048)
        shapes += [(m, n, k) for m in rows]
    more = [(256, 256), (512, 512), (1536, 512), (512, 2048), (2048, 512), (4096, 1024), (1024, 4096), (2048, 2048), (4096, 4096),
            (11008, 4096), (4096, 11008)]
    shapes += [(m, n, k) for n, k in more for m in (4, 16, 64, 256, 1024, 4096, 16384)]
    # gradients of weights: long K
    shapes += [(4096, 4096, 16384), (1024, 4096, 8192), (2048, 5632, 4096), (512, 512, 16384), (768, 768, 8192), (4096, 4096, 8192), (1024, 1024, 32768), (256, 256, 65536), (64, 64, 65536)]
    return shapes


class Recorder:
    def __init__(self, torch):
        self.torch = torch
        self.began = time.monotonic()
        self.skipped = []

    def run(self, what, make, call, bytes_of_set, micros, most_calls=24):
        """make() gives the operands of one call; micros: about how long a call takes."""
        torch = self.torch
        if time.monotonic() - self.began > SECONDS:
            self.skipped.append(what)
            return
        calls = int(max(6, min(most_calls, 60_000 / max(micros, 1))))
        sets = max(1, min(calls, 128, math.ceil(COLD_BYTES / max(bytes_of_set, 1)), int(MOST_BYTES // max(bytes_of_set, 1))))
        try:
            operands = [make() for _ in range(sets)]
            for i in range(2):
                call(*operands[i % sets])
            torch.cuda.synchronize()
            with torch.profiler.record_function("measured"):
                for i in range(calls):
                    call(*operands[i % sets])
            torch.cuda.synchronize()
        except Exception as error:  # an op that this PyTorch or GPU has not
            print("skipped", what, str(error).splitlines()[0][:100], file=sys.stderr)
            torch.cuda.synchronize()


def record(path):
    import torch
    import torch.nn.functional as F

    recorder = Recorder(torch)
    dev = "cuda"
    f16, b16, f32, f8 = torch.float16, torch.bfloat16, torch.float32, torch.float8_e4m3fn
    torch.manual_seed(0)

    def rand(*shape, dtype=b16, grad=False):
        t = torch.randn(*shape, device=dev, dtype=torch.bfloat16 if dtype == f8 else dtype)
        t = t.to(dtype) if dtype == f8 else t
        return t.requires_grad_() if grad else t

    rates = {b16: 600e6, f16: 600e6, f32: 40e6, "tf32": 300e6, f8: 1000e6}  # FLOP per microsecond, to choose calls

    def products(kinds=(b16, f16, f32, f8)):
        for dtype in kinds:
            torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
            kind = f32 if dtype == "tf32" else dtype
            width = torch.empty((), dtype=kind).element_size()
            for m, n, k in gemm_shapes():
                if dtype == f16 and m not in (1, 32, 512, 2048, 8192, n):
                    continue
                if dtype in (f32, "tf32") and (n > 30000 or 2 * m * n * k > 1.2e12):
                    continue
                size = (m * k + n * k + m * n) * width
                micros = 2 * m * n * k / rates[dtype] + size / 3e6
                if dtype == f8:
                    if m % 16 or n % 16 or k % 16:
                        continue
                    one = torch.ones((), device=dev)
                    make = lambda: (rand(m, k, dtype=f8), rand(n, k, dtype=f8).t())
                    call = lambda a, b: torch._scaled_mm(a, b, one, one, out_dtype=b16)
                else:
                    make = lambda: (rand(m, k, dtype=kind), rand(n, k, dtype=kind).t())
                    call = torch.mm
                    if min(m, n, k) >= 256:  # gradients of inputs and of weights: the other layouts
                        recorder.run(("mm nn", m, n, k), lambda: (rand(m, k, dtype=kind), rand(k, n, dtype=kind)), call, size, micros, 6)
                        recorder.run(("mm nt", m, n, k), lambda: (rand(k, m, dtype=kind).t(), rand(k, n, dtype=kind)), call, size, micros, 6)
                recorder.run(("mm", m, n, k), make, call, size, micros, 12)
        torch.backends.cuda.matmul.allow_tf32 = False
        for dtype in (b16, f32) if b16 in kinds else ():
            for b, m, n, k in [(16, 128, 128, 64), (128, 128, 128, 64), (32, 512, 512, 64), (128, 512, 64, 512), (32, 1024, 1024, 128),
                               (64, 1024, 128, 1024), (16, 2048, 2048, 128), (256, 64, 64, 64), (64, 1, 1024, 128), (64, 1, 128, 1024),
                               (8, 4096, 4096, 128), (8, 1024, 1024, 1024)]:
                width = 2 if dtype == b16 else 4
                size = b * (m * k + n * k + m * n) * width
                recorder.run(("bmm", b, m, n, k), lambda: (rand(b, m, k, dtype=dtype), rand(b, k, n, dtype=dtype)), torch.bmm, size,
                             2 * b * m * n * k / rates[dtype] + size / 3e6, 12)

    def attention():
        for d in (64, 128):
            for s in (64, 128, 256, 512, 1024, 2048, 4096, 8192):
                for tokens, h in ((16384, 16), (max(s, 1024), 32), (s, 8), (2 * s, 8), (2 * s, 16)):
                    b = max(1, tokens // s)
                    size = 4 * b * h * s * d * 2
                    for causal in (False, True):
                        def make(grad=False):
                            return tuple(rand(b, h, s, d, grad=grad) for _ in range(3))
                        call = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal)
                        micros = 4 * b * h * s * s * d / 400e6 + size / 3e6
                        recorder.run(("sdpa", b, h, s, d), make, call, size, micros, 8)
                        if s >= 256 and (tokens == 16384 or h == 16):
                            def both(q, k, v):
                                out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
                                out.backward(out)
                                q.grad = k.grad = v.grad = None
                            recorder.run(("sdpa backward", b, h, s, d), lambda: make(True), both, 2 * size, 3.5 * micros, 6)
            for s in (256, 1024, 4096, 16384):  # decode: one query
                for b in (1, 8, 64):
                    if b * s > 300_000:
                        continue
                    make = lambda: (rand(b, 32, 1, d), rand(b, 32, s, d), rand(b, 32, s, d))
                    recorder.run(("decode", b, s, d), make, F.scaled_dot_product_attention, 2 * b * 32 * s * d * 2, b * s * d * 128 / 2e6, 10)

    def rows():
        for dtype in (b16, f32):
            width = 2 if dtype == b16 else 4
            for n in (768, 1024, 2048, 4096, 8192):
                weight, bias = rand(n, dtype=dtype), rand(n, dtype=dtype)
                for r in (1, 16, 256, 1024, 4096, 16384, 65536):
                    size = 2 * r * n * width
                    make = lambda: (rand(r, n, dtype=dtype),)
                    recorder.run(("layer_norm", r, n), make, lambda x: F.layer_norm(x, (n,), weight, bias), size, size / 2e6, 10)
                    recorder.run(("rms_norm", r, n), make, lambda x: F.rms_norm(x, (n,), weight), size, size / 2e6, 10)
                    recorder.run(("softmax", r, n), make, lambda x: torch.softmax(x, -1), size, size / 2e6, 10)
                    if n in (1024, 4096):
                        recorder.run(("sum", r, n), make, lambda x: x.sum(-1), size, size / 4e6, 10)
                        recorder.run(("sum rows", r, n), make, lambda x: x.sum(0), size, size / 4e6, 10)
                        recorder.run(("log_softmax", r, n), make, lambda x: torch.log_softmax(x, -1), size, size / 2e6, 10)
                        recorder.run(("cumsum", r, n), make, lambda x: x.cumsum(-1), size, size / 2e6, 8)
                    if n == 1024 and r >= 256:
                        grad = lambda: (rand(r, n, dtype=dtype, grad=True),)
                        def norm_back(x):
                            y = F.layer_norm(x, (n,), weight, bias)
                            y.backward(y)
                            x.grad = None
                        recorder.run(("layer_norm backward", r, n), grad, norm_back, 3 * size, size / 1e6, 8)
            for v in (32000, 128256):
                for r in (1, 32, 1024, 4096):
                    size = 2 * r * v * width
                    make = lambda: (rand(r, v, dtype=dtype),)
                    recorder.run(("softmax", r, v), make, lambda x: torch.softmax(x, -1), size, size / 2e6, 8)
                    recorder.run(("log_softmax", r, v), make, lambda x: torch.log_softmax(x, -1), size, size / 2e6, 8)
                    recorder.run(("argmax", r, v), make, lambda x: x.argmax(-1), size, size / 2e6, 8)
                    if dtype == f32 and r <= 1024:
                        recorder.run(("topk", r, v), make, lambda x: x.topk(50, -1), size, size / 1e5, 6)
                        recorder.run(("sort", r, v), make, lambda x: x.sort(-1), size, size / 1e5, 6)

    def streams():
        for dtype in (b16, f32):
            width = 2 if dtype == b16 else 4
            for exponent in range(10, 29, 2):
                count = 1 << exponent
                size = 2 * count * width
                one = lambda: (rand(count, dtype=dtype),)
                two = lambda: (rand(count, dtype=dtype), rand(count, dtype=dtype))
                micros = size / 3e6
                recorder.run(("add", count), two, torch.add, size, micros, 10)
                recorder.run(("mul", count), two, torch.mul, size, micros, 10)
                recorder.run(("gelu", count), one, F.gelu, size, micros, 10)
                recorder.run(("silu", count), one, F.silu, size, micros, 10)
                recorder.run(("copy_", count), two, lambda a, b: a.copy_(b), size, micros, 10)
                recorder.run(("clone", count), one, torch.clone, size, micros, 10)
                recorder.run(("cast", count), one, lambda x: x.to(f32 if dtype == b16 else b16), size, micros, 10)
                recorder.run(("sum all", count), one, torch.sum, size, micros, 10)
                recorder.run(("fill_", count), one, lambda x: x.fill_(1), size, micros, 10)
                recorder.run(("cat", count), two, lambda a, b: torch.cat([a, b]), 2 * size, 2 * micros, 10)
                if exponent >= 14:
                    side = 1 << (exponent // 2)
                    square = lambda: (rand(side, side, dtype=dtype),)
                    recorder.run(("transpose", side), square, lambda x: x.t().contiguous(), size, 2 * micros, 10)
                    recorder.run(("sort", count), one, torch.sort, size, size / 5e4, 6)
                    recorder.run(("dropout", count), one, lambda x: F.dropout(x, 0.1), size, micros, 8)

    def indexed():
        for dtype in (b16, f32):
            for table, n in ((32000, 1024), (128256, 4096), (10000, 128)):
                weight = rand(table, n, dtype=dtype)
                for r in (16, 512, 4096, 32768, 131072):
                    if r * n > 1 << 28:
                        continue
                    size = 2 * r * n * weight.element_size()
                    index = lambda: torch.randint(0, table, (r,), device=dev)
                    recorder.run(("embedding", r, n), lambda: (index(),), lambda i: F.embedding(i, weight), size, size / 2e6, 10)
                    recorder.run(("index_select", r, n), lambda: (index(),), lambda i: weight.index_select(0, i), size, size / 2e6, 10)
                    recorder.run(("index", r, n), lambda: (index(),), lambda i: weight[i], size, size / 2e6, 10)
                    make = lambda: (index(), rand(r, n, dtype=dtype))
                    recorder.run(("index_add_", r, n), make, lambda i, x: weight.index_add_(0, i, x), size, size / 5e5, 8)
                    recorder.run(("index_put_", r, n), make, lambda i, x: weight.index_put_((i,), x), size, size / 5e5, 8)
                    if r >= 512:
                        recorder.run(("embedding backward", r, n), make,
                                     lambda i, x: torch.ops.aten.embedding_dense_backward(x, i, table, -1, False), size, size / 5e5, 6)
                    if n == 128:
                        wide = lambda: (torch.randint(0, table, (r, n), device=dev), rand(r, n, dtype=dtype))
                        recorder.run(("gather", r, n), wide, lambda i, x: torch.gather(weight, 0, i), size, size / 5e5, 8)
                        recorder.run(("scatter_add_", r, n), wide, lambda i, x: weight.scatter_add_(0, i, x), size, size / 2e5, 8)

    def convolutions():
        layers = [(64, 3, 224, 64, 7, 2), (64, 64, 56, 64, 3, 1), (64, 64, 56, 256, 1, 1), (64, 128, 28, 128, 3, 1), (64, 256, 56, 128, 1, 1),
                  (64, 256, 14, 256, 3, 1), (64, 512, 7, 512, 3, 1), (8, 320, 64, 320, 3, 1), (8, 640, 32, 640, 3, 1), (1, 128, 256, 128, 3, 1),
                  (256, 32, 32, 64, 3, 1), (256, 128, 8, 128, 3, 1), (64, 256, 56, 256, 3, 1), (64, 512, 28, 512, 3, 1),
                  (32, 128, 112, 128, 3, 1), (64, 8, 112, 256, 3, 2), (16, 1024, 32, 1024, 3, 1), (64, 64, 112, 64, 3, 1),
                  (64, 1024, 14, 256, 1, 1), (64, 2048, 7, 512, 1, 1), (4, 64, 512, 64, 3, 1), (128, 512, 16, 512, 3, 1)]
        for dtype in (b16, f32):
            for last in (False, True):
                kind = torch.channels_last if last else torch.contiguous_format
                for b, c, side, out, kernel, stride in layers:
                    weight = rand(out, c, kernel, kernel, dtype=dtype).to(memory_format=kind)
                    size = 2 * b * max(c, out) * side * side * weight.element_size()
                    flops = 2 * b * (side // stride) ** 2 * out * c * kernel * kernel
                    make = lambda grad=False: (rand(b, c, side, side, dtype=dtype).to(memory_format=kind).requires_grad_(grad),)
                    call = lambda x: F.conv2d(x, weight, stride=stride, padding=kernel // 2)
                    micros = flops / (300e6 if dtype == b16 else 30e6) + size / 2e6
                    recorder.run(("conv", b, c, side, out), make, call, size, micros, 8)
                    if last or dtype == f32:
                        learned = weight.detach().requires_grad_()
                        def both(x):
                            y = F.conv2d(x, learned, stride=stride, padding=kernel // 2)
                            y.backward(y.detach())
                            x.grad = learned.grad = None
                        recorder.run(("conv backward", b, c, side, out), lambda: make(True), both, 3 * size, 3 * micros, 6)

    def optimisers():
        for dtype in (f32, b16):
            for count, n in ((1, 1 << 24), (64, 1 << 20), (200, 1 << 16)):
                for options in ({"fused": True}, {"foreach": True}):
                    parameters = [rand(n, dtype=dtype).requires_grad_() for _ in range(count)]
                    for p in parameters:
                        p.grad = torch.randn_like(p)
                    optimiser = torch.optim.AdamW(parameters, lr=1e-4, **options)
                    recorder.run(("adamw", count, n), lambda: (), optimiser.step, 4 * count * n * 4, count * n * 30 / 3e6, 6)

    # cuBLAS and cuDNN load their modules on first use.
    torch.mm(rand(64, 64), rand(64, 64))
    torch.cuda.synchronize()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    def tf32_products():
        products(("tf32",))

    # A product with TF32 has the same op, shapes and types as one without: it gets a trace of its own.
    for file, parts in ((path, (streams, rows, attention, products, convolutions, indexed, optimisers)),
                        (path.replace(".json", "-tf32.json"), (tf32_products,))):
        with torch.profiler.profile(activities=activities, record_shapes=True) as profiler:
            for part in parts:
                began = time.monotonic()
                part()
                torch.cuda.empty_cache()
                print(f"{part.__name__:14} {time.monotonic() - began:6.1f} s", flush=True)
        profiler.export_chrome_trace(file)
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "skipped for time:", len(recorder.skipped))


# ---------------------------------------------------------------- the table


# By which sizes an op is compared: products and attention by their dimensions, everything else by its bytes.
PRODUCTS = {"aten::mm", "aten::bmm", "aten::_scaled_mm"}
ATTENTION = {"aten::_scaled_dot_product_cudnn_attention": "attention", "aten::_scaled_dot_product_flash_attention": "attention",
             "aten::_scaled_dot_product_efficient_attention": "attention",
             "ScaledDotProductCudnnAttentionBackward0": "attention_backward"}
CONVOLUTIONS = {"aten::convolution": "convolution", "aten::convolution_backward": "convolution_backward"}
STREAMS = {"aten::add", "aten::mul", "aten::gelu", "aten::silu", "aten::copy_", "aten::fill_", "aten::cat", "aten::sum",
           "aten::argmax", "aten::cumsum", "aten::native_dropout", "aten::topk", "aten::layer_norm", "aten::_fused_rms_norm",
           "aten::_softmax", "aten::_log_softmax", "aten::native_layer_norm_backward", "aten::embedding", "aten::index_select",
           "aten::gather", "aten::index_add_", "aten::_index_put_impl_", "aten::embedding_dense_backward", "aten::scatter_add_",
           "aten::_fused_adamw_", "aten::_foreach_addcdiv_", "aten::_foreach_addcmul_", "aten::_foreach_lerp_",
           "aten::_foreach_sqrt", "aten::_foreach_div_", "aten::_foreach_mul_", "aten::_foreach_add_"}


def is_strided(row):
    """A copy between different layouts: its rate depends on them, not on its bytes."""
    strides = row["Input Strides"].replace(" ", "")
    first, _, rest = strides.strip("()").partition("),(")
    return first != rest.partition(")")[0]


def layout_of(params):
    """k: the summed dimension is contiguous, as in x @ weight.t(); for A, then for B."""
    a, b = params.get("stride_A") or [0, 1], params.get("stride_B") or [1, 0]
    return ("k" if a[-1] == 1 else "m") + ("k" if b[-2] == 1 else "n")


def table(sheets):
    csv.field_size_limit(1 << 30)
    rows, bins = [], {}
    for sheet in sheets:
        with open(sheet, newline="") as lines:
            for row in csv.DictReader(lines):
                name = row["name"]
                if not row["GFLOPS"] and not row["Data Moved (MB)"]:
                    continue
                flops, moved = float(row["GFLOPS"] or 0) * 1e9, float(row["Data Moved (MB)"] or 0) * 2**20
                micros, spec = float(row["Kernel Time (µs)_median"]), row["Compute Spec"]
                params = json.loads(row["perf_params"] or "{}")
                if moved <= 0 or micros <= 0:
                    continue
                kernels = row["kernel_details_summary"]
                if spec == "matrix_fp32" and ("tf32" in kernels or "tensorop_s1688" in kernels):
                    spec = "matrix_tf32"
                if name in PRODUCTS:
                    rows.append(("gemm", name, spec, params["M"], params["N"], params["K"], params.get("B", 1), layout_of(params),
                                 flops, moved, micros))
                elif name in ATTENTION:
                    rows.append((ATTENTION[name], name, spec, params["B"] * params["H_Q"], params["N_Q"], params["N_KV"],
                                 params["d_h_qk"], "", flops, moved, micros))
                elif name in CONVOLUTIONS:
                    rows.append((CONVOLUTIONS[name], name, spec, "", "", "", "", "", flops, moved, micros))
                elif name in STREAMS and not (name == "aten::copy_" and is_strided(row)):
                    bins.setdefault((name, spec, round(math.log2(moved))), []).append((micros / moved, flops, moved, micros))
    # Of calls that move about as much, the one in the middle.
    for (name, spec, _), found in bins.items():
        found.sort()
        _, flops, moved, micros = found[len(found) // 2]
        rows.append(("", name, spec, "", "", "", "", "", flops, moved, micros))
    print(HEADER)
    for row in sorted(rows, key=lambda r: tuple(str(v) if not isinstance(v, (int, float)) else f"{v:024.3f}" for v in r)):
        function, name, spec, *sizes, flops, moved, micros = row
        print("\t".join([function, name, spec, *map(str, sizes), f"{flops:.6g}", f"{moved:.6g}", f"{micros:.5g}"]))


HEADER = """# What ops of PyTorch with the vendor's libraries take on an H200: `bench/reference_rates.py`, PyTorch 2.11, CUDA 13.0, cuBLAS
# and cuDNN as it brings them; medians over a dozen calls whose operands lie in no cache. An op at the rate that is usual at
# its size is no finding.
#   function     of data/op_families/op_costs.tsv; empty: the row is of this op alone
#   op           as it was called
#   spec         arithmetic of the op; matrix_tf32: FP32 operands on tensor cores
#   a b c d      gemm: M, N, K, batch; attention: batch x heads, queries, keys, head size; lookup: rows, bytes of a row;
#                empty: compared by bytes
#   layout       gemm: k where the summed dimension of A, of B is contiguous, else m, n
#   flops, bytes, micros
# lookup: the time of a row, where a row is a block of vectorized_gather_kernel and fills its 32 loads of 16 bytes. From the
# recording tests/faults/recorded/gathered_then_summed.json.gz of an H200; four other recordings there have 0.60 ns a row too.
function	op	spec	a	b	c	d	layout	flops	bytes	micros
lookup	aten::gather	vector_fp32	1638400	512				0	1.69083e+09	986.2"""


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "record":
        record(sys.argv[2])
    elif len(sys.argv) > 2 and sys.argv[1] == "table":
        table(sys.argv[2:])
    else:
        sys.exit(__doc__)

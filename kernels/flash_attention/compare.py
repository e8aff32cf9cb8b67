#!/usr/bin/env python3
"""Our flash attention against PyTorch's scaled_dot_product_attention, on this machine's GPU.

    compare.py LIBRARY check              correctness of every version on odd shapes, GQA, both layouts
    compare.py LIBRARY once [options]     runs every version once for each shape; for a profiler
    compare.py LIBRARY time [options]     graph-replayed times, all candidates interleaved in one run

Needs PyTorch; LIBRARY is the shared library that kernels/flash_attention builds.
"""
import argparse
import ctypes
import json
import statistics
import subprocess
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as sdpa

BACKENDS = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION,
            "efficient": SDPBackend.EFFICIENT_ATTENTION}
LAST_VERSION = 10


class Strides(ctypes.Structure):
    _fields_ = [(n, ctypes.c_int64) for n in ("batch", "head", "row")]


class Attention(ctypes.Structure):
    _fields_ = (
        [(n, ctypes.c_void_p) for n in ("q", "k", "v", "o")]
        + [(n, Strides) for n in ("q_strides", "k_strides", "v_strides", "o_strides")]
        + [(n, ctypes.c_int32) for n in ("batch", "query_heads", "key_heads", "query_length", "key_length",
                                         "head_dim", "element_type", "causal")]
        + [("scale", ctypes.c_float), ("version", ctypes.c_int32), ("stream", ctypes.c_void_p), ("workspace", ctypes.c_void_p)]
    )


class Library:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.fathom_flash_attention_error.restype = ctypes.c_char_p
        self.workspace = torch.zeros(2, dtype=torch.int32, device="cuda")

    def forward(self, q, k, v, o, causal, version):
        """Tensors are (B,H,S,D) views with whatever strides."""
        a = Attention()
        for name, tensor in (("q", q), ("k", k), ("v", v), ("o", o)):
            setattr(a, name, tensor.data_ptr())
            setattr(a, name + "_strides", Strides(*tensor.stride()[:3]))
        a.batch, a.query_heads, a.query_length, a.head_dim = q.shape
        a.key_heads, a.key_length = k.shape[1], k.shape[2]
        a.element_type = {torch.float16: 0, torch.bfloat16: 1}[q.dtype]
        a.causal, a.scale, a.version = int(causal), q.shape[-1] ** -0.5, version
        a.stream = torch.cuda.current_stream().cuda_stream
        a.workspace = self.workspace.data_ptr()
        error = self.library.fathom_flash_attention_forward(ctypes.byref(a))
        if error != 0:
            raise RuntimeError(f"v{version}: {self.library.fathom_flash_attention_error(error).decode()}")
        return o


def make_tensor(batch, heads, length, dim, dtype, layout):
    shape = (batch, heads, length, dim) if layout == "BHSD" else (batch, length, heads, dim)
    tensor = torch.randn(shape, device="cuda", dtype=dtype)
    return tensor if layout == "BHSD" else tensor.transpose(1, 2)


def reference(q, k, v, causal):
    """In float64; K and V heads repeated for GQA."""
    repeat = q.shape[1] // k.shape[1]
    q, k, v = (t.double() for t in (q, k, v))
    k, v = k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device="cuda").triu(1)
        scores.masked_fill_(hidden, float("-inf"))
    return torch.softmax(scores, -1) @ v


def relative_error(out, expected):
    difference = (out.double() - expected).norm() / expected.norm()
    return float("inf") if torch.isnan(difference) else difference.item()


CHECK_SHAPES = [  # batch, query heads, key heads, query length, key length, layout
    (2, 2, 2, 128, 128, "BHSD"), (1, 2, 2, 1, 1, "BHSD"), (2, 4, 2, 77, 77, "BSHD"), (1, 3, 1, 129, 129, "BHSD"),
    (2, 4, 4, 1000, 1000, "BSHD"), (1, 8, 2, 512, 512, "BHSD"), (1, 2, 1, 64, 300, "BSHD"),
    (1, 2, 2, 300, 64, "BHSD"), (3, 4, 1, 257, 513, "BSHD"), (1, 16, 16, 2048, 2048, "BHSD"),
    (40, 16, 16, 128, 128, "BSHD"), (9, 16, 4, 640, 640, "BHSD"),
]


def check(library, versions, types):
    failures = 0
    for version in versions:
        worst = 0.0
        for dim in (64, 128):
            for causal in (False, True):
                for dtype in types:
                    for batch, heads, key_heads, rows, keys, layout in CHECK_SHAPES:
                        q = make_tensor(batch, heads, rows, dim, dtype, layout)
                        k = make_tensor(batch, key_heads, keys, dim, dtype, layout)
                        v = make_tensor(batch, key_heads, keys, dim, dtype, layout)
                        o = torch.full_like(q, float("nan"))
                        library.forward(q, k, v, o, causal, version)
                        torch.cuda.synchronize()
                        expected = reference(q, k, v, causal)
                        theirs = sdpa(q, k, v, is_causal=causal, enable_gqa=heads != key_heads)
                        error, limit = relative_error(o, expected), relative_error(theirs, expected)
                        worst = max(worst, error / max(limit, 1e-9))
                        if not error <= 1.1 * limit + 1e-5:
                            failures += 1
                            print(f"WRONG v{version} D={dim} causal={causal} {dtype} {batch, heads, key_heads, rows, keys} "
                                  f"{layout}: error {error:.2e}, SDPA {limit:.2e}", flush=True)
        print(f"v{version}: largest error {worst:.3f} x SDPA's", flush=True)
    return failures


def capture(call, repeats):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repeats):
            call()
    return graph


def once(call):
    call()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end)


def time_candidates(candidates, rounds):
    """Median microseconds per call of each candidate; every round replays each candidate's graph once.

    Rounds begin with a replay that is not timed, or the first candidate would carry the launch latency of an idle
    GPU, and each round begins with another candidate.
    """
    graphs, repeats, times = {}, {}, {}
    for name, call in candidates.items():
        repeats[name] = max(1, min(20, int(1.5 / max(once(call), 1e-3))))
        graphs[name] = capture(call, repeats[name])
        times[name] = []
    names = list(graphs)
    for number in range(rounds):
        order = names[number % len(names):] + names[:number % len(names)]
        graphs[order[-1]].replay()
        events = []
        for name in order:
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            graphs[name].replay()
            end.record()
            events.append((name, start, end))
        torch.cuda.synchronize()
        for name, start, end in events:
            times[name].append(start.elapsed_time(end) * 1e3 / repeats[name])
    return {name: statistics.median(values) for name, values in times.items()}


def baseline(row):
    """SDPA's default; where cuDNN's backend was timed too and was faster, that: it is the same kernel."""
    return min(row["us"]["sdpa"], row["us"].get("cudnn", row["us"]["sdpa"]))


def with_backend(call, backend):
    def run():
        with sdpa_kernel(backend):
            return call()
    return run


def error_of(out, q, k, v, causal):
    """Over the last 256 rows of one head of the first and the last batch entry: all keys are seen there."""
    errors = []
    for batch, head in ((0, 0), (q.shape[0] - 1, q.shape[1] - 1)):
        rows = slice(max(0, q.shape[2] - 256), None)
        qs, ks, vs = (t[batch:batch + 1, head:head + 1] for t in (q, k, v))
        scores = qs[:, :, rows].double() @ ks.double().transpose(-1, -2) * q.shape[-1] ** -0.5
        if causal:
            own = torch.arange(q.shape[2], device="cuda")[rows, None]
            scores.masked_fill_(torch.arange(k.shape[2], device="cuda")[None] > own, float("-inf"))
        expected = torch.softmax(scores, -1) @ vs.double()
        errors.append(relative_error(out[batch:batch + 1, head:head + 1, rows], expected))
    return max(errors)


def flops(batch, heads, length, dim, causal):
    return 4 * batch * heads * length * length * dim * (0.5 if causal else 1.0)


def time_shapes(library, options):
    rows = []
    for dtype in options.types:
        for dim in options.dims:
            for causal in (False, True):
                for length in options.lengths:
                    batch, heads = max(1, options.tokens // length), 16
                    q, k, v = (make_tensor(batch, heads, length, dim, dtype, options.layout) for _ in range(3))
                    candidates = {"sdpa": lambda: sdpa(q, k, v, is_causal=causal)}
                    for name, backend in BACKENDS.items() if options.backends else ():
                        candidates[name] = with_backend(candidates["sdpa"], backend)
                    outputs = {}
                    for version in options.versions:
                        if version < options.slow_until and length > options.slow_length:
                            continue
                        outputs[version] = torch.full_like(q, float("nan"))
                        call = (lambda o, number: lambda: library.forward(q, k, v, o, causal, number))(outputs[version], version)
                        try:
                            call()
                        except RuntimeError as error:
                            print(error)
                            continue
                        candidates[f"v{version}"] = call
                    times = time_candidates(candidates, options.rounds)
                    ours = {f"v{n}": error_of(o, q, k, v, causal) for n, o in outputs.items() if f"v{n}" in candidates}
                    row = {"dtype": str(dtype)[6:], "dim": dim, "causal": causal, "length": length, "batch": batch, "heads": heads,
                           "us": times, "errors": dict(ours, sdpa=error_of(candidates["sdpa"](), q, k, v, causal)),
                           "flops": flops(batch, heads, length, dim, causal)}
                    rows.append(row)
                    print_row(row)
    return rows


def run_once(library, options):
    for dim in options.dims:
        for causal in (False, True):
            for length in options.lengths:
                q, k, v = (make_tensor(max(1, 16384 // length), 16, length, dim, options.types[0], options.layout) for _ in range(3))
                for version in options.versions:
                    library.forward(q, k, v, torch.empty_like(q), causal, version)
                if options.backends:
                    sdpa(q, k, v, is_causal=causal)
    torch.cuda.synchronize()


def print_row(row):
    ours = {n: t for n, t in row["us"].items() if n.startswith("v")}
    best = min(ours, key=ours.get)
    cells = " ".join(f"{n} {t:.1f}" for n, t in row["us"].items())
    print(f"{row['dtype']} D={row['dim']} {'causal' if row['causal'] else 'full  '} S={row['length']:5}  best {best} "
          f"{baseline(row) / ours[best]:.3f}x SDPA {row['flops'] / ours[best] * 1e-6:.0f} TFLOP/s err {row['errors'][best]:.1e}"
          f"/{row['errors']['sdpa']:.1e} | {cells}", flush=True)


def markdown(rows, state):
    backends = [n for n in rows[0]["us"] if not n.startswith("v")]
    versions = sorted({n for row in rows for n in row["us"] if n.startswith("v")}, key=lambda n: int(n[1:]))
    text = [f"{state['gpu']} ({state['queried']}), PyTorch {state['torch']}, cuDNN {state['cudnn']}\n",
            "| type | D | mask | S | B | " + " | ".join(f"{n} µs" for n in backends + versions)
            + f" | SDPA / {versions[-1]} | TFLOP/s | error {versions[-1]} | error SDPA |",
            "|" + "---|" * (9 + len(backends) + len(versions))]
    for row in rows:
        times = [f"{row['us'][n]:.1f}" if n in row["us"] else "" for n in backends + versions]
        ours = row["us"][versions[-1]]
        text.append(f"| {row['dtype']} | {row['dim']} | {'causal' if row['causal'] else 'full'} | {row['length']} | {row['batch']} | "
                    + " | ".join(times) + f" | {baseline(row) / ours:.3f} | {row['flops'] / ours * 1e-6:.0f} "
                    f"| {row['errors'][versions[-1]]:.2e} | {row['errors']['sdpa']:.2e} |")
    return "\n".join(text) + "\n\n"


def machine():
    query = "name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.draw,temperature.gpu"
    state = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], capture_output=True, text=True)
    return {"gpu": state.stdout.strip(), "queried": query, "torch": torch.__version__, "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("job", choices=("check", "once", "time"))
    parser.add_argument("--versions", type=lambda s: [int(n) for n in s.split(",")], default=[LAST_VERSION])
    parser.add_argument("--lengths", type=lambda s: [int(n) for n in s.split(",")],
                        default=[128, 256, 512, 1024, 2048, 4096, 8192, 16384])
    parser.add_argument("--dims", type=lambda s: [int(n) for n in s.split(",")], default=[128, 64])
    parser.add_argument("--types", type=lambda s: [getattr(torch, n) for n in s.split(",")], default=[torch.float16])
    parser.add_argument("--layout", choices=("BHSD", "BSHD"), default="BHSD")
    parser.add_argument("--tokens", type=int, default=16384, help="as many sequences as these fill, at least one")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--backends", action="store_true", help="also each backend of SDPA by itself")
    parser.add_argument("--slow-until", type=int, default=6, help="versions before this one are timed only …")
    parser.add_argument("--slow-length", type=int, default=2048, help="… up to this length")
    parser.add_argument("--markdown", help="append a table of the last version against SDPA to this file")
    parser.add_argument("--json", help="write every time here")
    options = parser.parse_args()
    library = Library(options.library)
    torch.manual_seed(torch.seed() % 2**31)
    if options.job == "check":
        sys.exit(1 if check(library, options.versions, options.types) else 0)
    if options.job == "once":
        return run_once(library, options)
    before = machine()
    rows = time_shapes(library, options)
    if options.markdown:
        with open(options.markdown, "a") as file:
            file.write(markdown(rows, before))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"before": before, "after": machine(), "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()

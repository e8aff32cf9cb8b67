#!/usr/bin/env python3
"""Our index and store against PyTorch's index_select, embedding, index_put_ and index_copy_, on this machine's GPU.

    compare.py LIBRARY check              correctness of every version against PyTorch
    compare.py LIBRARY once               runs every version and PyTorch's once on 16384 rows; for a profiler
    compare.py LIBRARY time [options]     graph-replayed times, all candidates interleaved in one run

Needs PyTorch; LIBRARY is the shared library that kernels/rows builds.
"""
import argparse
import csv
import ctypes
import statistics
import subprocess
import sys

import torch
import torch.nn.functional as F

VERSIONS = (0, 1, 2, 3, 4, 5)
LAST = VERSIONS[-1]
BATCHES = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536)
TABLE_BYTES = 1 << 30
FLUSH_BYTES = 256 << 20  # several times any L2


class RowIndex(ctypes.Structure):
    _fields_ = ([(n, ctypes.c_void_p) for n in ("table", "indices", "out")]
                + [(n, ctypes.c_int64) for n in ("count", "row_bytes", "table_stride", "out_stride", "start", "length")]
                + [(n, ctypes.c_int32) for n in ("index_type", "version", "dependent_launch")] + [("stream", ctypes.c_void_p)])


class RowStore(ctypes.Structure):
    _fields_ = ([(n, ctypes.c_void_p) for n in ("k", "v", "slots", "k_cache", "v_cache")]
                + [(n, ctypes.c_int64) for n in ("count", "row_bytes", "k_stride", "v_stride", "k_cache_stride", "v_cache_stride",
                                                 "slot_count")]
                + [(n, ctypes.c_int32) for n in ("index_type", "version", "dependent_launch")] + [("stream", ctypes.c_void_p)])


def stride_bytes(tensor):
    return tensor.stride(0) * tensor.element_size()


def index_type(indices):
    return {torch.int32: 0, torch.int64: 1}[indices.dtype]


class Library:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.fathom_rows_error.restype = ctypes.c_char_p

    def require(self, error):
        if error != 0:
            raise RuntimeError(self.library.fathom_rows_error(error).decode())

    def index(self, table, indices, out, version=-1, pdl=False, start=0):
        job = RowIndex(table.data_ptr(), indices.data_ptr(), out.data_ptr(), len(indices), table.shape[1] * table.element_size(),
                       stride_bytes(table), stride_bytes(out), start, len(table), index_type(indices), version, int(pdl),
                       torch.cuda.current_stream().cuda_stream)
        self.require(self.library.fathom_index_rows(ctypes.byref(job)))
        return out

    def store(self, k, v, slots, k_cache, v_cache, version=-1, pdl=False):
        job = RowStore(k.data_ptr(), v.data_ptr(), slots.data_ptr(), k_cache.data_ptr(), v_cache.data_ptr(), len(slots),
                       k.shape[1] * k.element_size(), stride_bytes(k), stride_bytes(v), stride_bytes(k_cache), stride_bytes(v_cache),
                       len(k_cache), index_type(slots), version, int(pdl), torch.cuda.current_stream().cuda_stream)
        self.require(self.library.fathom_store_rows(ctypes.byref(job)))

    def empty(self):
        self.require(self.library.fathom_empty_kernel(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)))


def random_half(rows, columns):
    return torch.randn((rows, columns), device="cuda", dtype=torch.float16)


def check(library):
    wrong = 0
    for version in VERSIONS:
        for columns in (2, 66, 1024, 4096):
            for count in (1, 33, 1000):
                for kind in (torch.int32, torch.int64):
                    table, out = random_half(777, columns), torch.full((count, columns), float("nan"), device="cuda", dtype=torch.float16)
                    indices = torch.randint(0, 777, (count,), device="cuda", dtype=kind)
                    library.index(table, indices, out, version, pdl=version == LAST)
                    wrong += not torch.equal(out, F.embedding(indices, table))
                    library.index(table[:300], indices, out, version, start=200)
                    held = (indices >= 200) & (indices < 500)
                    expected = torch.where(held[:, None], table[:300][(indices - 200).clamp(0, 299)], 0)
                    wrong += not torch.equal(out, expected)
                    k, v = random_half(count, columns), random_half(count, columns)
                    slots = torch.randperm(1111, device="cuda")[:count].to(kind)
                    caches = [torch.zeros((1111, columns), device="cuda", dtype=torch.float16) for _ in range(2)]
                    theirs = [cache.clone().index_copy_(0, slots.long(), rows) for cache, rows in zip(caches, (k, v))]
                    library.store(k, v, slots, *caches, version, pdl=version == LAST)
                    wrong += not all(torch.equal(a, b) for a, b in zip(caches, theirs))
    print(f"against PyTorch: {wrong} wrong", flush=True)
    return wrong


def capture(call, calls):
    """call(i) for i below `calls` in one graph; what they return is kept, so that no memory is used twice."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        call(0)
    torch.cuda.synchronize()
    graph, kept = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        for i in range(calls):
            kept.append(call(i))
    return graph, kept


class Flush:
    """Reads more than L2 holds: clean lines, so that nothing is left to be written back."""

    def __init__(self):
        self.data = torch.ones(FLUSH_BYTES // 4, device="cuda", dtype=torch.int32)
        self.out = torch.empty((), device="cuda", dtype=torch.int32)

    def __call__(self):
        torch.amax(self.data, 0, out=self.out)


def time_candidates(candidates, calls, rounds, flush):
    """Median microseconds of a call. Rounds replay each candidate's graph once, each after L2 was emptied; every round
    begins with another candidate."""
    graphs = {name: capture(call, calls) for name, call in candidates.items()}
    times, names = {name: [] for name in graphs}, list(graphs)
    for number in range(rounds + 1):
        order = names[number % len(names):] + names[:number % len(names)]
        events = []
        for name in order:
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            flush()
            start.record()
            graphs[name][0].replay()
            end.record()
            events.append((name, start, end))
        torch.cuda.synchronize()
        for name, start, end in events if number > 0 else ():
            times[name].append(start.elapsed_time(end) * 1e3 / calls)
    return {name: statistics.median(values) for name, values in times.items()}


def calls_for(moved):
    return max(3, min(64, FLUSH_BYTES // max(moved, 1)))


def make_indices(order, calls, batch, rows):
    """`calls` sets of `batch` different rows each."""
    if order == "sequential":
        return [(torch.arange(batch, device="cuda") + i * batch) % rows for i in range(calls)]
    return [torch.randperm(rows, device="cuda")[:batch] for _ in range(calls)]


def index_candidates(library, row_bytes, batch, order, calls):
    rows, columns = TABLE_BYTES // row_bytes, row_bytes // 2
    table = random_half(rows, columns)
    indices = make_indices(order, calls, batch, rows)
    outs = [torch.empty((batch, columns), device="cuda", dtype=torch.float16) for _ in range(calls)]
    sources = [table[i * batch % (rows - batch + 1):][:batch] for i in range(calls)]
    candidates = {"empty": lambda i: library.empty(), "copy": lambda i: outs[i].copy_(sources[i]),
                  "index_select": lambda i: torch.index_select(table, 0, indices[i], out=outs[i]),
                  "embedding": lambda i: F.embedding(indices[i], table)}
    for version in VERSIONS:
        candidates[f"v{version}"] = lambda i, n=version: library.index(table, indices[i], outs[i], n)
    candidates[f"v{LAST} PDL"] = lambda i: library.index(table, indices[i], outs[i], LAST, pdl=True)
    return candidates


def store_candidates(library, row_bytes, batch, order, calls):
    rows, columns = max(TABLE_BYTES // 4, 65536 * row_bytes) // row_bytes, row_bytes // 2
    k_cache, v_cache = random_half(rows, columns), random_half(rows, columns)
    slots = make_indices(order, calls, batch, rows)
    ks, vs = ([random_half(batch, columns) for _ in range(calls)] for _ in range(2))
    places = [i * batch % (rows - batch + 1) for i in range(calls)]

    def copy(i):
        k_cache[places[i]:places[i] + batch].copy_(ks[i])
        v_cache[places[i]:places[i] + batch].copy_(vs[i])

    def put(i):
        k_cache.index_put_((slots[i],), ks[i])
        v_cache.index_put_((slots[i],), vs[i])

    def copy_rows(i):
        k_cache.index_copy_(0, slots[i], ks[i])
        v_cache.index_copy_(0, slots[i], vs[i])

    candidates = {"empty": lambda i: library.empty(), "copy": copy, "index_put": put, "index_copy": copy_rows}
    for version in VERSIONS:
        candidates[f"v{version}"] = lambda i, n=version: library.store(ks[i], vs[i], slots[i], k_cache, v_cache, n)
    candidates[f"v{LAST} PDL"] = lambda i: library.store(ks[i], vs[i], slots[i], k_cache, v_cache, LAST, pdl=True)
    return candidates


KINDS = {"index": (index_candidates, 1, ("index_select", "embedding"), (8192, 2048, 256)),
         "store": (store_candidates, 2, ("index_put", "index_copy"), (2048, 8192, 256))}


def large_copy():
    """GB/s, read and written, of the best of ten copies of 4 GiB."""
    a, b = (torch.empty(1 << 32, device="cuda", dtype=torch.uint8) for _ in range(2))
    a.random_()
    best = 0.0
    for _ in range(10):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        b.copy_(a)
        end.record()
        torch.cuda.synchronize()
        best = max(best, 2 * a.numel() / start.elapsed_time(end) * 1e-6)
    return best


def time_all(library, options):
    flush, rows = Flush(), []
    for kind, (make, tensors, _, sizes) in KINDS.items():
        for row_bytes in sizes:
            for order in ("random", "sequential"):
                for batch in options.batches:
                    moved = 2 * tensors * row_bytes * batch + 8 * batch
                    calls = calls_for(moved)
                    times = time_candidates(make(library, row_bytes, batch, order, calls), calls, options.rounds, flush)
                    rows.append({"kind": kind, "row_bytes": row_bytes, "order": order, "batch": batch, "moved": moved, "us": times})
                    torch.cuda.empty_cache()
                    print(kind, row_bytes, order, batch, " ".join(f"{n} {t:.2f}" for n, t in times.items()), flush=True)
    return rows


def run_once(library):
    for kind, (make, _, _, sizes) in KINDS.items():
        for name, call in make(library, sizes[0], 16384, "random", 1).items():
            if name not in ("empty", "copy") and not name.endswith("PDL"):
                call(0)
    torch.cuda.synchronize()


def markdown(rows, state, copy):
    text = [f"{state}; PyTorch {torch.__version__}. A copy of 4 GiB: {copy:.0f} GB/s read and written.\n"]
    for kind, (_, _, theirs, sizes) in KINDS.items():
        for row_bytes in sizes:
            names = [n for n in rows[0]["us"] if n in ("empty", "copy")] + list(theirs) + [f"v{n}" for n in VERSIONS] + [f"v{LAST} PDL"]
            text += [f"### {kind}, rows of {row_bytes} bytes\n",
                     "| order | batch | moved MB | " + " | ".join(f"{n} µs" for n in names)
                     + f" | torch / v{LAST} | v{LAST} GB/s | of the copy beside it | of the large copy |",
                     "|" + "---|" * (7 + len(names))]
            for row in rows:
                if row["kind"] != kind or row["row_bytes"] != row_bytes:
                    continue
                us = row["us"]
                ours, best = us[f"v{LAST}"], min(us[n] for n in theirs)
                rate = row["moved"] / ours * 1e-3
                text.append(f"| {row['order']} | {row['batch']} | {row['moved'] * 1e-6:.2f} | " + " | ".join(f"{us[n]:.2f}" for n in names)
                            + f" | {best / ours:.2f} | {rate:.0f} | {us['copy'] / ours:.2f} | {rate / copy:.2f} |")
            text.append("")
    return "\n".join(text) + "\n"


def machine():
    query = "name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.draw,temperature.gpu"
    state = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], capture_output=True, text=True)
    return f"{state.stdout.strip()} ({query})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("job", choices=("check", "once", "time"))
    parser.add_argument("--batches", type=lambda s: [int(n) for n in s.split(",")], default=BATCHES)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--markdown", help="append the tables to this file")
    parser.add_argument("--csv", help="write every time here")
    options = parser.parse_args()
    library = Library(options.library)
    torch.manual_seed(torch.seed() % 2**31)
    if options.job == "check":
        sys.exit(1 if check(library) else 0)
    if options.job == "once":
        return run_once(library)
    copy, state = large_copy(), machine()
    rows = time_all(library, options)
    if options.markdown:
        with open(options.markdown, "a") as file:
            file.write(markdown(rows, state, copy))
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("kind", "row_bytes", "order", "batch", "moved_bytes", "candidate", "us", "gb_per_s"))
            for row in rows:
                for name, us in row["us"].items():
                    rate = "" if name == "empty" else f"{row['moved'] / us * 1e-3:.1f}"
                    writer.writerow((row["kind"], row["row_bytes"], row["order"], row["batch"], row["moved"], name, f"{us:.3f}", rate))


if __name__ == "__main__":
    main()

"""Times a call as a trace does: the kernels alone, with the L2 cache as the program left it."""

import json
import math
import os
import tempfile
import warnings

from replay_calls import CannotReplay, synchronize

WARM_UP = 3
MARKER = "fathom replay"
# Ops of which only one input was written just before; the others are weights, caches or were saved
# by the forward pass. Its place among the tensor arguments is 0 where FRESH_INPUT does not say.
FRESH_INPUT = {"addmm": 1, "addbmm": 1, "baddbmm": 1, "addmv": 1}
ONE_FRESH_INPUT = (
    "mm", "bmm", "mv", "matmul", "linear", "_scaled_mm", "conv", "attention", "embedding",
    "index_select", "gather", "batch_norm", "layer_norm", "rms_norm", "_backward",
)
# Ops that overwrite their first argument without reading it.
OVERWRITING = ("copy", "fill", "zero", "index_copy")
# Ops whose input was not written just before: the sums of a gradient over what was broadcast come
# after the node's other gradient.
STALE_INPUT = ("sum",)
# Several inputs smaller than this stay in the cache together, whatever comes between,
SMALL = 1 << 20
# and several of up to this size where both were computed for the op.
MIDDLE = 10 << 20


def is_stale(call):
    """Inputs that the program made long before: weights, and what the forward pass has saved."""
    bare = call.op.strip("_")
    exponent = call.argument("exponent") if bare == "pow" else None
    # A power of one comes from the gradient of a square alone, which reads what was saved.
    return bare in STALE_INPUT or (isinstance(exponent, (int, float)) and exponent == 1)


def fresh_arguments(call):
    """Storages that the ops before had just written, so that they were in the cache."""
    bare, written = call.op.strip("_"), call.written()
    inputs = [entry for entry in call.tensors if entry[2].device.type != "cpu" and entry[2].numel()]
    if "grads" in {name for name, _, _ in inputs}:
        # An optimizer: the backward pass ends with the first parameter's gradient.
        return [storage for name, _, storage in reversed(inputs) if name == "grads"]
    if is_stale(call):
        return []
    if bare in FRESH_INPUT:
        return [storage for _, _, storage in inputs[FRESH_INPUT[bare]:][:1]]
    if any(bare == word or (len(word) > 3 and word in bare) for word in ONE_FRESH_INPUT):
        return [storage for _, _, storage in inputs[:1]]
    if bare in OVERWRITING or "out" in written:
        inputs = [entry for entry in inputs if entry[0] not in written]
    inputs = [entry for entry in inputs if entry[0] not in call.parameters]
    # A vector of numbers beside tensors of more dimensions is a parameter.
    dimensions = max((tensor.dim() for _, tensor, _ in inputs), default=0)
    inputs = [entry for entry in inputs
              if entry[1].dim() != 1 or dimensions == 1 or not entry[1].is_floating_point()]
    large = [entry for entry in inputs if entry[2].nbytes > SMALL]
    if not written and all(entry[2].nbytes <= MIDDLE for entry in large):
        return [storage for _, _, storage in inputs]
    # Of two large ones the other was written earlier: x += y has just computed y.
    newest = large[-1:] if written else large[:1]
    return [storage for _, _, storage in inputs
            if storage.nbytes <= SMALL or any(storage is entry[2] for entry in newest)]


class Cache:
    """Puts the GPU's L2 cache into the state that a call is to find."""

    def __init__(self, torch, device, mode):
        self.torch, self.mode, self.scratch = torch, mode, None
        if mode != "hot":
            size = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 64 << 20)
            # Read, so that no write-backs are left over for the call to wait for.
            self.scratch = torch.zeros(max(size, 32 << 20) * 4 // 4, dtype=torch.int32, device=device)

    def sources(self, call):
        """For each fresh input: its bytes and two copies, which also undo what an op did in place."""
        if call.sources is None:
            whole = [storage.view(self.torch.uint8) for storage in fresh_arguments(call)]
            call.sources = [(bytes_, bytes_.clone(), bytes_.clone()) for bytes_ in whole]
        return call.sources

    def prepare(self, call):
        if self.mode == "hot":
            return
        if self.mode == "trace":
            self.sources(call)
        self.scratch.max()
        if self.mode == "trace":
            for whole, one, other in self.sources(call):
                self.torch.bitwise_or(one, other, out=whole)


def union_length(spans):
    """Overlapping kernels count once, as in the trace."""
    total, end = 0.0, -math.inf
    for start, duration in sorted(spans):
        total += max(0.0, start + duration - max(start, end))
        end = max(end, start + duration)
    return total


def kernels_by_repetition(trace):
    """From the profiler's own file: per repetition, the (start, duration, name) of its GPU work."""
    events = trace["traceEvents"]
    marks = sorted((e["ts"], e["ts"] + e["dur"], e["name"]) for e in events
                   if e.get("cat") == "user_annotation" and e.get("name", "").startswith(MARKER))
    launches = {e["args"]["correlation"]: e["ts"] for e in events
                if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}
    work = {name: [] for _, _, name in marks}
    for e in events:
        if e.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        launched = launches.get(e.get("args", {}).get("correlation"))
        if launched is None:
            continue
        for start, end, name in marks:
            if start <= launched <= end:
                work[name].append((e["ts"], e["dur"], e["name"]))
                break
    return work


def profile(torch, run):
    """Runs under torch.profiler; the trace it writes, read back."""
    from torch.profiler import ProfilerActivity
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    warnings.filterwarnings("ignore", message=".*Profiler clears events.*")
    with torch.profiler.profile(activities=activities) as profiler:
        run()
    handle, path = tempfile.mkstemp(suffix=".json")
    os.close(handle)
    try:
        profiler.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    finally:
        os.unlink(path)


def repeat_marked(torch, call, cache, repetitions, device):
    for i in range(repetitions):
        cache.prepare(call)
        # Nothing is queued before the call, as in a program whose GPU keeps up.
        synchronize(torch, device)
        with torch.profiler.record_function(f"{MARKER} {i}"):
            call.run()
    synchronize(torch, device)


def time_with_profiler(torch, call, cache, repetitions, device):
    trace = profile(torch, lambda: repeat_marked(torch, call, cache, repetitions, device))
    work = kernels_by_repetition(trace)
    times = [union_length([(s, d) for s, d, _ in spans]) for spans in work.values()]
    names = [name for _, _, name in sorted(next(iter(work.values()), []))]
    return (times, names) if times and all(times) else (None, None)


def time_with_events(torch, call, device, launches=100):
    """Many launches behind a wait, so that the GPU never waits for the CPU."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    synchronize(torch, device)
    if hasattr(torch.cuda, "_sleep"):
        torch.cuda._sleep(20_000_000)
    start.record()
    for _ in range(launches):
        call.run()
    end.record()
    synchronize(torch, device)
    return start.elapsed_time(end) * 1e3 / launches


def measure(torch, call, cache, options, device):
    for _ in range(WARM_UP):
        cache.prepare(call)
        call.run()
    synchronize(torch, device)
    if not options.events:
        times, names = time_with_profiler(torch, call, cache, options.repetitions, device)
        if times:
            return times, names, "profiler"
        if options.profile:
            raise CannotReplay("torch.profiler saw no kernels; try --events")
    return [time_with_events(torch, call, device) for _ in range(5)], None, "events"

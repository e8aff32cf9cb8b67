"""Times a call as a trace does: the kernels alone, with the L2 cache as the program left it."""

import json
import math
import os
import tempfile
import warnings

from replay_calls import CannotReplay, synchronize

WARM_UP = 3
MARKER = "fathom replay"


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
            whole = [storage.view(self.torch.uint8) for storage in call.fresh_arguments()]
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

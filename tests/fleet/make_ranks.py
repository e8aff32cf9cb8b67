#!/usr/bin/env python3
"""Makes traces of N ranks from examples/ddp-rank0-h200.json.gz, one of them slow.

    make_ranks.py COUNT FOLDER [--slow RANK] [--from-step STEP] [--times 1.3]

Each rank is the recorded one with another number. The slow one's kernels last longer from a step on, and all that
starts after one of them is moved by as much.
"""
import argparse
import gzip
import json
import os


def slowed(trace, first_step, times):
    """Kernels that begin in or after the step last `times` as long; later events start later."""
    events = trace["traceEvents"]
    steps = sorted(e["ts"] for e in events
                   if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep"))
    since = steps[first_step]
    added = sorted((e["ts"], e["dur"] * (times - 1)) for e in events
                   if e.get("cat") in ("kernel", "gpu_memcpy") and e["ts"] >= since)
    starts = [a[0] for a in added]
    sums = [0.0]
    for _, more in added:
        sums.append(sums[-1] + more)
    import bisect

    def shift(at):
        return sums[bisect.bisect_left(starts, at)]

    for event in events:
        if "ts" not in event:
            continue
        begin, end = event["ts"], event["ts"] + event.get("dur", 0)
        event["ts"] = begin + shift(begin)
        if "dur" in event:
            event["dur"] = end + shift(end) - event["ts"]
    return trace


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("folder")
    parser.add_argument("--slow", type=int, default=-1)
    parser.add_argument("--from-step", type=int, default=0)
    parser.add_argument("--times", type=float, default=1.3)
    a = parser.parse_args()
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/ddp-rank0-h200.json.gz")
    with gzip.open(source, "rt") as file:
        text = file.read()
    os.makedirs(a.folder, exist_ok=True)
    plain = json.dumps(json.loads(text))
    mark = '"rank": 0, "world_size": 2'
    assert mark in plain
    for rank in range(a.count):
        out = json.dumps(slowed(json.loads(text), a.from_step, a.times)) if rank == a.slow else plain
        out = out.replace(mark, f'"rank": {rank}, "world_size": {a.count}')
        with gzip.open(os.path.join(a.folder, f"rank{rank:05}.json.gz"), "wt", compresslevel=1) as file:
            file.write(out)


main()

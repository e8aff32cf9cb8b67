#!/usr/bin/env python3
"""Runs one PyTorch operator again with the arguments that a trace recorded, and compares times.

    python3 replay.py                 every case: recorded against replayed kernel time
    python3 replay.py --case 3        one of them
    python3 replay.py --cold          with nothing of the inputs in the GPU's L2 cache
    python3 replay.py --hot           with the same tensors again and again
    python3 replay.py --json          for programs

Needs PyTorch with a CUDA or HIP device and nothing else. The tensors have the recorded shapes,
types and strides; their contents are random, but valid where they are indices. Only the block
between BEGIN and END below was generated from the trace: it holds literals and no code.

Time. A trace records how long the kernels of a call kept the GPU busy, without the launch. The same
is measured here, by the same means: torch.profiler's kernel times, overlapping kernels counted
once. --events measures with device events around many launches instead, for builds of PyTorch
without a working profiler; for kernels shorter than their launch it reads too much.

The L2 cache. In the program, what the op before had just written was in the cache, and weights, KV
caches and saved activations, last used a layer or a step ago, were not. That is what is set up
before each call: the cache is evicted, then the input that was fresh is written again by an op that
reads two tensors of its size. Which input that is, a trace does not say: fresh_arguments in
replay_timing.py is a rule. In trials with 25 kernels of the example traces on an H200 this came
nearer to the recorded times than --hot, under which kernels on 10 to 30 MB ran up to 40 % too fast,
and --cold, under which short ones ran a third too slow.
"""

import argparse
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # also where it is not the main program
from replay_calls import build_call
from replay_timing import Cache, measure

# BEGIN: generated from the trace
OP = "aten::mm"
TRACE = "none"
GPU = ""
LEFT_OUT = {"cases": 0, "share": 0.0}
CASES = []
# END: generated from the trace

REPETITIONS = 20


def printable(text):
    """Names come from the trace: nothing in them may move a terminal's cursor."""
    return "".join(c if c.isprintable() else "?" for c in text)


def allow_what_was_allowed(torch, case):
    """TF32 is a switch of the program; the recorded kernels' names say how it stood."""
    tf32 = any("tf32" in name.lower() for name in case["kernels"])
    torch.set_float32_matmul_precision("high" if tf32 else "highest")


def replay_case(torch, case, cache, options, device):
    torch.manual_seed(0)
    allow_what_was_allowed(torch, case)
    call = build_call(torch, case, device)
    row = {"overload": f"{call.overload._schema.name}.{call.overload._overloadname}"}
    if device.type == "cpu":
        return row
    times, names, timer = measure(torch, call, cache, options, device)
    replayed = statistics.median(times)
    recorded = case["recorded_us"]["median"]
    row.update(replayed_us=replayed, replayed_min_us=min(times), replayed_max_us=max(times), timer=timer,
               ratio=replayed / recorded if recorded else None, kernels=names,
               same_kernels=None if names is None else sorted(names) == sorted(case["kernels"]))
    return row


def describe(case):
    parts = []
    for spec in case["args"]:
        if spec["kind"] == "tensor":
            parts.append("×".join(map(str, spec["dims"])) or "scalar")
        elif spec["kind"] == "tensors":
            parts.append(f"[{len(spec['items'])} tensors]")
    return ", ".join(parts)


def print_row(number, case, row):
    recorded = f"{case['recorded_us']['median']:12.2f}"
    if "error" in row:
        print(f"{number:4}  {recorded}  {'failed':>12}                  {describe(case)}: {row['error']}")
        return
    if "replayed_us" not in row:
        print(f"{number:4}  {recorded}  {'ran on CPU':>12}                  {describe(case)}")
        return
    ratio = f"{row['ratio']:7.2f}" if row["ratio"] is not None else "      -"
    kernels = {True: "same", False: "other", None: "?"}[row["same_kernels"]]
    print(f"{number:4}  {recorded}  {row['replayed_us']:12.2f}  {ratio}  {kernels:7} {describe(case)}")


def parse_options():
    parser = argparse.ArgumentParser(description="Replays " + printable(f"{OP} as recorded in {TRACE}.").replace("%", "%%"))
    parser.add_argument("--case", type=int, action="append", metavar="N", help="only this case (from 1); repeatable")
    parser.add_argument("--cold", action="store_true", help="evict the L2 cache before each call")
    parser.add_argument("--hot", action="store_true", help="leave the L2 cache as the last call left it")
    parser.add_argument("--profile", action="store_true", help="insist on the profiler's kernel times")
    parser.add_argument("--events", action="store_true", help="use device events instead of the profiler")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, metavar="N")
    parser.add_argument("--device", default="cuda",
                        help="cuda (also for HIP), cuda:1, …; cpu builds and runs, untimed")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args()
    if options.cold and options.hot:
        parser.error("--cold and --hot exclude each other")
    if options.profile and options.events:
        parser.error("--profile and --events exclude each other")
    for number in options.case or []:
        if not 1 <= number <= len(CASES):
            parser.error(f"--case {number}: there are the cases 1 to {len(CASES)}")
    return options


def main():
    options = parse_options()
    try:
        import torch
    except ImportError:
        sys.exit("replay.py needs PyTorch: pip install torch")
    device = torch.device(options.device)
    if device.type != "cpu" and not torch.cuda.is_available():
        sys.exit("no CUDA or HIP device here; --device cpu checks that the cases can be built")
    gpu = torch.cuda.get_device_name(device) if device.type != "cpu" else "CPU"
    mode = "cold" if options.cold else "hot" if options.hot else "trace"
    cache = Cache(torch, device, mode) if device.type != "cpu" else None
    if not options.json:
        print(printable(f"{OP} from {TRACE}, recorded on {GPU or 'an unnamed GPU'}, replayed on {gpu} "
                        f"with PyTorch {torch.__version__}; L2 cache: {mode}"))
        print("case   recorded µs   replayed µs    ratio  kernels arguments")
    rows = []
    with torch.no_grad():
        for number, case in enumerate(CASES, 1):
            if options.case and number not in options.case:
                continue
            try:
                row = replay_case(torch, case, cache, options, device)
            except Exception as problem:  # the other cases go on
                row = {"error": str(problem) or type(problem).__name__}
            row.update(case=number, count=case["count"], recorded_us=case["recorded_us"]["median"],
                       recorded_total_us=case["recorded_us"]["sum"])
            rows.append(row)
            if not options.json:
                print_row(number, case, row)
    if options.json:
        print(json.dumps({"op": OP, "trace": TRACE, "recorded_on": GPU, "replayed_on": gpu,
                          "torch": torch.__version__, "cache": mode, "cases": rows}, indent=2))
    elif LEFT_OUT["cases"]:
        print(f"{LEFT_OUT['cases']} more argument sets with {LEFT_OUT['share']:.1%} of the op's time are left out")
    failed = [row["case"] for row in rows if "error" in row]
    if failed:
        print(printable(f"replay.py: failed: case {', '.join(map(str, failed))} of {OP}"), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

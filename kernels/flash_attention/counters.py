#!/usr/bin/env python3
"""Hardware counters of every rung, by Nsight Compute, as one tidy CSV.

    counters.py LIBRARY OUT.csv [--versions 0,1,…] [--lengths 2048]
"""
import argparse
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import ncu  # noqa: E402  (beside this folder)

METRICS = ncu.COMMON | {
    "tensor_pipe_pct": ("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 1),
    "shared_wavefronts_million": ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1e-6),
    "bank_conflicts_million": ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 1e-6),
    "shared_bytes": ("launch__shared_mem_per_block_dynamic", 1),
}
STALLS = ("barrier", "gmma", "lg_throttle", "long_scoreboard", "math_pipe_throttle", "mio_throttle", "no_instruction",
          "short_scoreboard", "wait", "not_selected", "selected")


def stall_metric(reason):
    return f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"


def profile_versions(arguments, dim):
    """Rows of ncu's raw page, one for each kernel that ran."""
    here = os.path.dirname(os.path.abspath(__file__))
    ours = "^(plain|read_only|coalesced|no_conflicts|tensor_core|async_copy|wgmma|specialised)_kernel"
    command = [sys.executable, os.path.join(here, "compare.py"), arguments.library, "once", "--versions", arguments.versions,
               "--lengths", arguments.lengths, "--dims", str(dim), "--backends"]
    metrics = [name for name, _ in METRICS.values()] + [stall_metric(s) for s in STALLS]
    return ncu.profile(command, metrics, ours + "|sdpa|fmha|flash_fwd")


def tidy(kernel, label):
    row = dict(label)
    for name, (metric, factor) in METRICS.items():
        row[name] = ncu.scaled(kernel, metric, factor)
    stalls = {reason: ncu.number(kernel.get(stall_metric(reason), "")) or 0.0 for reason in STALLS[:-2]}
    top = sorted(stalls, key=stalls.get, reverse=True)[:3]
    row["top_stalls_warps_per_issue"] = " ".join(f"{reason}={stalls[reason]:.2f}" for reason in top)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("out")
    parser.add_argument("--versions", default="0,1,2,3,4,5,6,7,8,9,10")
    parser.add_argument("--lengths", default="2048")
    parser.add_argument("--dims", default="128")
    arguments = parser.parse_args()
    table = []
    for dim in arguments.dims.split(","):
        labels = [{"version": version, "dim": dim, "causal": causal, "length": length}
                  for causal in (False, True) for length in arguments.lengths.split(",")
                  for version in [f"v{n}" for n in arguments.versions.split(",")] + ["sdpa"]]
        kernels = profile_versions(arguments, dim)
        if len(kernels) != len(labels):
            sys.exit(f"counters.py: {len(kernels)} kernels ran, {len(labels)} were expected")
        table += [tidy(kernel, label) for kernel, label in zip(kernels, labels)]
    with open(arguments.out, "w", newline="") as file:
        writer = csv.DictWriter(file, table[0].keys())
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Hardware counters of every rung, by Nsight Compute, as one tidy CSV.

    counters.py LIBRARY OUT.csv [--versions 0,1,…] [--lengths 2048]
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile

METRICS = {
    "duration_us": ("gpu__time_duration.sum", 1e-3),
    "occupancy_pct": ("sm__warps_active.avg.pct_of_peak_sustained_active", 1),
    "tensor_pipe_pct": ("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 1),
    "dram_pct": ("dram__throughput.avg.pct_of_peak_sustained_elapsed", 1),
    "dram_read_mb": ("dram__bytes_read.sum", 1e-6),
    "dram_write_mb": ("dram__bytes_write.sum", 1e-6),
    "l2_hit_pct": ("lts__t_sector_hit_rate.pct", 1),
    "issue_active_pct": ("smsp__issue_active.avg.pct_of_peak_sustained_active", 1),
    "instructions_million": ("smsp__inst_executed.sum", 1e-6),
    "shared_wavefronts_million": ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1e-6),
    "bank_conflicts_million": ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 1e-6),
    "global_load_sectors_million": ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1e-6),
    "global_load_requests_million": ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1e-6),
    "sm_clock_mhz": ("sm__cycles_elapsed.avg.per_second", 1e-6),
}
STALLS = ("barrier", "gmma", "lg_throttle", "long_scoreboard", "math_pipe_throttle", "mio_throttle", "no_instruction",
          "short_scoreboard", "wait", "not_selected", "selected")


def stall_metric(reason):
    return f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"


def number(text):
    return float(text.replace(",", "")) if text else None


def profile(arguments, dim):
    """Rows of ncu's raw page, one for each kernel that ran."""
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.NamedTemporaryFile(suffix=".csv") as log:
        wanted = [name for name, _ in METRICS.values()] + [stall_metric(s) for s in STALLS]
        command = ["ncu", "--clock-control", "none", "--kernel-name", "regex:^(plain|read_only|coalesced|no_conflicts|tensor_core|async_copy|wgmma|specialised)_kernel|sdpa|fmha|flash_fwd", "--metrics", ",".join(wanted),
                   "--csv", "--page", "raw", "--log-file", log.name, sys.executable, os.path.join(here, "compare.py"),
                   arguments.library, "once", "--versions", arguments.versions, "--lengths", arguments.lengths, "--dims", str(dim),
                   "--backends"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(log.name) as file:
            rows = list(csv.reader(line for line in file if not line.startswith("==")))
    return [dict(zip(rows[0], row)) for row in rows[2:]]


def tidy(kernel, label):
    row = dict(label)
    for name, (metric, factor) in METRICS.items():
        value = number(kernel.get(metric, ""))
        row[name] = "" if value is None else f"{value * factor:.4g}"
    stalls = {reason: number(kernel.get(stall_metric(reason), "")) or 0.0 for reason in STALLS[:-2]}
    top = sorted(stalls, key=stalls.get, reverse=True)[:3]
    row["top_stalls_warps_per_issue"] = " ".join(f"{reason}={stalls[reason]:.2f}" for reason in top)
    row["registers"] = kernel.get("launch__registers_per_thread", "")
    row["shared_bytes"] = kernel.get("launch__shared_mem_per_block_dynamic", "").replace(",", "")
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
        kernels = profile(arguments, dim)
        if len(kernels) != len(labels):
            sys.exit(f"counters.py: {len(kernels)} kernels ran, {len(labels)} were expected")
        table += [tidy(kernel, label) for kernel, label in zip(kernels, labels)]
    with open(arguments.out, "w", newline="") as file:
        writer = csv.DictWriter(file, table[0].keys())
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()

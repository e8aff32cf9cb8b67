#!/usr/bin/env python3
"""Hardware counters of every rung and of PyTorch's kernels on 16384 random rows, by Nsight Compute, as one tidy CSV.

    counters.py LIBRARY OUT.csv
"""
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import ncu  # noqa: E402  (beside this folder)

METRICS = {
    "duration_us": ("gpu__time_duration.sum", 1e-3),
    "occupancy_pct": ("sm__warps_active.avg.pct_of_peak_sustained_active", 1),
    "dram_pct": ("dram__throughput.avg.pct_of_peak_sustained_elapsed", 1),
    "dram_read_mb": ("dram__bytes_read.sum", 1e-6),
    "dram_write_mb": ("dram__bytes_write.sum", 1e-6),
    "l2_hit_pct": ("lts__t_sector_hit_rate.pct", 1),
    "issue_active_pct": ("smsp__issue_active.avg.pct_of_peak_sustained_active", 1),
    "instructions_million": ("smsp__inst_executed.sum", 1e-6),
    "load_requests_million": ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1e-6),
    "load_sectors_million": ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1e-6),
    "long_scoreboard_warps_per_issue": ("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 1),
    "lg_throttle_warps_per_issue": ("smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio", 1),
    "sm_clock_mhz": ("sm__cycles_elapsed.avg.per_second", 1e-6),
    "registers": ("launch__registers_per_thread", 1),
}
OURS = {"element_kernel": "v0", "warp_kernel": "v1", "vector_kernel": "v2", "warps_kernel": "v3", "piece_kernel": "v4 or v5"}
THEIRS = "index_?select|indexSelect|gather|embedding|index_elementwise|index_put|index_copy"


def main():
    library, out = sys.argv[1:3]
    here = os.path.dirname(os.path.abspath(__file__))
    command = [sys.executable, os.path.join(here, "compare.py"), library, "once"]
    kernels = ncu.profile(command, [name for name, _ in METRICS.values()], "|".join(OURS) + "|" + THEIRS)
    with open(out, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("version", *METRICS, "grid", "kernel"))
        for kernel in kernels:
            name = kernel["Kernel Name"]
            writer.writerow((next((v for k, v in OURS.items() if k in name), "torch"),
                             *(ncu.scaled(kernel, metric, factor) for metric, factor in METRICS.values()),
                             kernel.get("Grid Size", ""), name[:120]))


if __name__ == "__main__":
    main()

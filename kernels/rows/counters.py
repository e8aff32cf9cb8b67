#!/usr/bin/env python3
"""Hardware counters of every rung and of PyTorch's kernels on 16384 random rows, by Nsight Compute, as one tidy CSV.

    counters.py LIBRARY OUT.csv
"""
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import ncu  # noqa: E402  (beside this folder)

METRICS = ncu.COMMON | {
    "long_scoreboard_warps_per_issue": ("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 1),
    "lg_throttle_warps_per_issue": ("smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio", 1),
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

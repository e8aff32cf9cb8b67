"""Counters of the kernels that a command runs, by Nsight Compute."""
import csv
import subprocess
import tempfile

# Columns that every table of counters has: ncu's name and the factor from its base unit.
COMMON = {
    "duration_us": ("gpu__time_duration.sum", 1e-3),
    "occupancy_pct": ("sm__warps_active.avg.pct_of_peak_sustained_active", 1),
    "dram_pct": ("dram__throughput.avg.pct_of_peak_sustained_elapsed", 1),
    "dram_read_mb": ("dram__bytes_read.sum", 1e-6),
    "dram_write_mb": ("dram__bytes_write.sum", 1e-6),
    "l2_hit_pct": ("lts__t_sector_hit_rate.pct", 1),
    "issue_active_pct": ("smsp__issue_active.avg.pct_of_peak_sustained_active", 1),
    "instructions_million": ("smsp__inst_executed.sum", 1e-6),
    "sm_clock_mhz": ("sm__cycles_elapsed.avg.per_second", 1e-6),
    "global_load_requests_million": ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1e-6),
    "global_load_sectors_million": ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1e-6),
    "registers": ("launch__registers_per_thread", 1),
}


def profile(command, metrics, kernel_names):
    """A dict of ncu's raw page for each kernel whose name the regular expression matches, in the order in which they ran.
    Clocks are left as they are under load."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as log:
        subprocess.run(["ncu", "--clock-control", "none", "--kernel-name", "regex:" + kernel_names, "--metrics", ",".join(metrics), "--csv",
                        "--print-units", "base", "--page", "raw", "--log-file", log.name, *command],
                       check=True, stdout=subprocess.DEVNULL)
        with open(log.name) as file:
            rows = list(csv.reader(line for line in file if not line.startswith("==")))
    names = rows[0]
    return [dict(zip(names, values)) for values in rows[2:]]  # the second row has the units


def number(text):
    return float(text.replace(",", "")) if text else None


def scaled(kernel, metric, factor):
    value = number(kernel.get(metric, ""))
    return "" if value is None else f"{value * factor:.4g}"

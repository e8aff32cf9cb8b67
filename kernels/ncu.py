"""Counters of the kernels that a command runs, by Nsight Compute."""
import csv
import subprocess
import tempfile


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

#!/usr/bin/env python3
"""What the compiler made of every kernel in a library: registers, spills, shared memory and the instructions that matter, as one
CSV. Needs cuobjdump and cu++filt, which come with nvcc, and no GPU.

    sass.py LIBRARY OUT.csv [--arch sm_90a]
"""
import argparse
import collections
import csv
import re
import subprocess

# Columns, and how the names of the instructions that they count begin.
INSTRUCTIONS = {
    "wgmma": ("HGMMA",), "mma_sync": ("HMMA",), "fp32_multiply_add": ("FFMA", "FMUL", "FADD"), "exp2": ("MUFU.EX2",),
    "tma_load": ("UTMALDG",), "tma_store": ("UTMASTG",), "async_copy": ("LDGSTS",), "ldmatrix": ("LDSM",),
    "shared_load": ("LDS",), "shared_load_16B": ("LDS.128",), "shared_store": ("STS",), "global_load": ("LDG",),
    "global_load_16B": ("LDG.E.128", "LDG.E.NA.128", "LDG.E.128.CONSTANT"), "global_store": ("STG",), "barrier": ("BAR.",),
    "mbarrier": ("SYNCS",), "local_load": ("LDL",), "local_store": ("STL",),
}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def resources(library, arch):
    """Function → {"REG": …, "STACK": …, "SHARED": …, …}"""
    found = {}
    for name, line in re.findall(r"Function ([^\s:]+):\n\s*(.*)", run("cuobjdump", "--dump-resource-usage", "-arch", arch, library)):
        found[name] = dict(re.findall(r"([A-Z]+(?:\[\d+\])?):(\d+)", line))
    return found


def instruction_counts(library, arch):
    """Function → how often each instruction stands in its code."""
    counts, function = {}, None
    for line in run("cuobjdump", "--dump-sass", "-arch", arch, library).splitlines():
        if (header := re.match(r"\s*Function : (\S+)", line)):
            function = counts.setdefault(header[1], collections.Counter())
        elif function is not None and (code := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][\w.]*)", line)):
            function[code[1]] += 1
    return counts


def begins(instruction, prefixes):
    return any(instruction == p or instruction.startswith(p if p.endswith(".") else p + ".") for p in prefixes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("out")
    parser.add_argument("--arch", default="sm_90a")
    arguments = parser.parse_args()
    usage, counts = resources(arguments.library, arguments.arch), instruction_counts(arguments.library, arguments.arch)
    plain = dict(zip(counts, run("cu++filt", *counts).splitlines()))
    with open(arguments.out, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("kernel", "registers", "stack_bytes", "static_shared_bytes", "instructions", *INSTRUCTIONS))
        for function in sorted(counts, key=plain.get):
            used, code = usage.get(function, {}), counts[function]
            code.pop("NOP", None)
            writer.writerow((re.sub(r"\(anonymous namespace\)::|<unnamed>::", "", plain[function]), used.get("REG", ""),
                             used.get("STACK", ""), used.get("SHARED", ""), sum(code.values()),
                             *(sum(n for name, n in code.items() if begins(name, prefixes)) for prefixes in INSTRUCTIONS.values())))


if __name__ == "__main__":
    main()

"""Takes what record.py wrote: the traces that expected.tsv names go to recorded/, the step times to times.tsv.

usage: python3 take.py OUT      OUT/times.json, OUT/traces.tar
Times of programs that OUT does not have stay as they are.
"""

import gzip
import json
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LARGEST = 60_000


def rows(path):
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return [line.split("\t") for line in lines[1:]]


def main():
    out = Path(sys.argv[1])
    wanted = {row[0] for row in rows(HERE / "expected.tsv")}
    steps = {}
    with tarfile.open(out / "traces.tar") as archive:
        for member in archive.getmembers():
            name = Path(member.name).name.removesuffix(".json.gz")
            if name not in wanted:
                continue
            data = archive.extractfile(member).read()
            if len(data) > LARGEST:
                print(f"{name}: {len(data)} bytes is too large")
                continue
            events = json.loads(gzip.decompress(data))["traceEvents"]
            steps[name] = sum(
                e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep#") for e in events
            )
            (HERE / "recorded" / (name + ".json.gz")).write_bytes(data)
    millis = {result["label"]: result["step_ms"] for result in json.loads((out / "times.json").read_text())}
    table = HERE / "times.tsv"
    times = {row[0]: row[1:] for row in rows(table)} if table.exists() else {}
    for name, count in steps.items():
        fixed = name.replace("_nostacks", "") + "_fixed"
        if millis.get(name) and millis.get(fixed):
            times[name] = [f"{millis[name]:.4f}", f"{millis[fixed]:.4f}", str(count)]
    text = "# Milliseconds of a step without the profiler on an H200: with the fault, and repaired. steps: in the trace.\n"
    text += "trace\tfaulty_ms\tfixed_ms\tsteps\n"
    text += "".join("\t".join([name, *times[name]]) + "\n" for name in sorted(times))
    table.write_text(text)
    for name in sorted(wanted):
        if not (HERE / "recorded" / (name + ".json.gz")).exists():
            print("missing:", name)


if __name__ == "__main__":
    main()

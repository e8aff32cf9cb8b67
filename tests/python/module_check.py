"""Checks tools/python/fathom.py against the program: python3 module_check.py SOURCE_DIR. Prints what it skipped."""
import os
import shutil
import subprocess
import sys
import tempfile

root = sys.argv[1]
sys.path.insert(0, os.path.join(root, "tools", "python"))
import fathom  # noqa: E402

trace = fathom.open(os.path.join(root, "examples", "llama-h200.json.gz"))


def rows(table):
    if isinstance(table, list):
        return table
    return table.astype(object).where(table.notna(), None).to_dict("records")


summary = fathom.analyze(trace.path)
ops = rows(trace.ops)
assert trace.ops is trace.ops, "a table is read once"
total_ms = sum(op["gpu_ns"] for op in ops) / 1e6
assert abs(total_ms - sum(op["gpu_ms"] for op in summary["ops"])) < 1e-3, total_ms
assert isinstance(ops[0]["gpu_ns"], int) and isinstance(ops[0]["share_percent"], float)
assert ops[0]["name"] == "aten::mm" and ops[0]["input_dims"].startswith("[[")
run = rows(trace.run)[0]
assert run["rank"] is None and run["trace"] == "llama-h200.json.gz", run
assert rows(trace.kernels)[0]["is_communication"] in (True, False)
assert len(rows(trace.findings)) == len(summary["findings"])
assert rows(trace.code) == []
assert [column["column"] for column in fathom.schema("gaps")][:2] == ["device", "start_ns"]
assert fathom.queries()["idle-blame"].endswith("?")
assert "ops" in dir(trace)
for wrong in (lambda: trace.kernel, lambda: fathom.open("missing.json"), lambda: fathom.schema("kernel"),
              lambda: trace.query("--list"), lambda: trace.query("SELECT '\0'")):
    try:
        wrong()
    except (AttributeError, fathom.FathomError):
        continue
    raise AssertionError("a mistake must be an error")
with tempfile.TemporaryDirectory() as folder:
    odd = os.path.join(folder, "--list")  # a file's name is no option
    shutil.copy(trace.path, odd)
    here = os.getcwd()
    os.chdir(folder)
    assert len(rows(fathom.open("--list").kernels)) == len(rows(trace.kernels))
    assert len(rows(fathom.open(b"--list").steps)) == len(rows(trace.steps))
    os.chdir(here)
try:
    answer = rows(trace.query("SELECT sum(gpu_ns) AS ns, NULL AS nothing FROM ops"))
    assert answer == [{"ns": sum(op["gpu_ns"] for op in ops), "nothing": None}], answer
    assert len(rows(trace.ask("idle-causes"))) > 2
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.environ["FATHOM_PROGRAM"], "export", trace.path, "--to", folder + "/t", "-q"], check=True)
        exported = fathom.open(folder + "/t")
        assert rows(exported.ops) == ops, "an export has the same tables"
        assert rows(exported.kernels) == rows(trace.kernels)
        assert rows(exported.kernels)[0]["is_communication"] in (True, False)
        assert rows(exported.code) == []
        subprocess.run([os.environ["FATHOM_PROGRAM"], "export", os.path.join(root, "examples", "ddp-rank0-h200.json.gz"),
                        os.path.join(root, "examples", "ddp-rank1-h200.json.gz"), "--to", folder + "/two", "-q"], check=True)
        assert [run["part"] for run in rows(fathom.open(folder + "/two").run)] == ["ddp-rank0-h200", "ddp-rank1-h200"]
except fathom.FathomError as error:
    assert "tools/setup --query" in str(error), error
    print("skipped: no DuckDB")
print("with pandas" if fathom.pandas else "without pandas")

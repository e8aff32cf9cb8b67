"""Fathom from Python: the tables of a GPU trace as pandas frames, or as plain lists without pandas.

    import fathom
    trace = fathom.open("trace.json.gz")           # or a directory of `fathom export`
    trace.ops                                      # DataFrame (list of dicts without pandas)
    trace.ops.groupby("category").gpu_ns.sum()
    trace.query("SELECT cause, sum(duration_ns)/1e6 AS ms FROM gaps GROUP BY cause")   # needs DuckDB
    trace.ask("idle-blame")                        # a question that fathom ships
    fathom.schema("kernels")                       # columns with type, unit and meaning
    fathom.analyze("trace.json.gz")["findings"]    # what `fathom analyze --json` prints

One file, no dependencies: copy it, or put its folder on PYTHONPATH. It runs the program `fathom`, found as
FATHOM_PROGRAM, in PATH, or in the checkout that this file lies in. Tables and columns: docs/SCHEMA.md. Times are
nanoseconds. Unknown cells are NA in a frame and None in a list.
"""

import csv
import functools
import io
import json
import os
import shutil
import subprocess

try:
    import pandas
except ImportError:
    pandas = None

__all__ = ["FathomError", "Trace", "analyze", "diff", "open", "queries", "schema"]

_PANDAS_TYPES = {"BIGINT": "Int64", "DOUBLE": "Float64", "BOOLEAN": "boolean", "VARCHAR": "string"}


class FathomError(Exception):
    """What the program printed when it failed."""


def _program():
    chosen = os.environ.get("FATHOM_PROGRAM") or shutil.which("fathom")
    if chosen:
        return chosen
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fathom")
    if os.access(beside, os.X_OK):
        return os.path.normpath(beside)
    raise FathomError("the program fathom is not found; set FATHOM_PROGRAM to its path")


def _run(command, options, operands=()):
    # Operands stand behind "--": a file or a query may begin with a dash.
    words = [command, *options, *(["--"] if operands else []), *operands]
    words = [os.fsdecode(w) if isinstance(w, (str, bytes, os.PathLike)) else str(w) for w in words]
    if any("\0" in word for word in words):
        raise FathomError("a path or a query holds a zero byte")
    done = subprocess.run([_program(), *words], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise FathomError(done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}")
    return done.stdout.decode("utf-8", "replace")


@functools.lru_cache(maxsize=None)
def _tables():
    return {table["table"]: table["columns"] for table in json.loads(_run("query", ["--schema", "--format", "json"]))["tables"]}


def schema(table=None):
    """Columns of a table: dicts with column, type, unit, description. Without a name, all tables."""
    if table and table not in _tables():
        raise FathomError(f"there is no table {table!r}; there are {', '.join(_tables())}")
    return _tables()[table] if table else dict(_tables())


def queries():
    """The questions that fathom ships: name → what it answers."""
    return dict(line.split(None, 1) for line in _run("query", ["--list"]).splitlines())


def _cell(text, kind):
    if text == "":
        return None
    if kind == "BIGINT":
        return int(text)
    if kind == "DOUBLE":
        return float(text)
    return text == "true" if kind == "BOOLEAN" else _without_guard(text)


def _without_guard(text):
    # A text that a spreadsheet would run as a formula has an apostrophe before it in fathom's CSV.
    return text[1:] if len(text) > 1 and text[0] == "'" and text[1] in "=+-@\t\r" else text


def _frame(rows, columns):
    if pandas is None:
        return rows
    frame = pandas.DataFrame(rows, columns=[column["column"] for column in columns])
    return frame.astype({column["column"]: _PANDAS_TYPES[column["type"]] for column in columns})


class Trace:
    """A trace or an export. Its tables are attributes: .run .steps .events .kernels .launches .ops .op_calls .gaps
    .collectives .counters .samples .findings .finding_places .code; each is read once."""

    def __init__(self, path, counters=(), repo=None, platform=None, steps=None):
        self.path = os.fsdecode(path)
        self._options = []
        for option, value in (("--repo", repo), ("--platform", platform), ("--steps", steps)):
            if value:
                self._options += [option, os.fspath(value)]
        for file in counters:
            self._options += ["--counters", os.fspath(file)]
        self._read = {}
        if not os.path.exists(self.path):
            raise FathomError(f"there is no {self.path}")

    def __repr__(self):
        return f"fathom.open({self.path!r})"

    def __dir__(self):
        return [*super().__dir__(), *_tables()]

    def __getattr__(self, name):
        if name.startswith("_") or name not in _tables():
            raise AttributeError(f"{name!r} is no table of a trace; there are {', '.join(_tables())}")
        if name not in self._read:
            self._read[name] = self.table(name)
        return self._read[name]

    def table(self, name):
        """A table by its name, read anew."""
        columns = schema(name)
        if os.path.isdir(self.path):
            return self.query(f"SELECT * FROM {name}", columns)
        text = _run("export", ["--to", "-", "--table", name, "--quiet", *self._options], [self.path])
        kinds = [column["type"] for column in columns]
        lines = csv.reader(io.StringIO(text, newline=""))
        names = next(lines)
        rows = [{n: _cell(cell, kind) for n, cell, kind in zip(names, line, kinds)} for line in lines]
        return _frame(rows, columns)

    def query(self, sql, columns=None):
        """The answer to an SQL SELECT."""
        rows = json.loads(_run("query", ["--format", "json", "--quiet", *self._options], [self.path, sql]))
        if columns is not None and rows and "part" in rows[0]:  # several traces
            columns = [{"column": "part", "type": "VARCHAR"}, *columns]
        if columns is not None and set(rows[0] if rows else ()) <= {column["column"] for column in columns}:
            return _frame(rows, columns)
        return rows if pandas is None else pandas.DataFrame(rows)

    ask = query


def open(path, **options):
    """A trace, or a directory that `fathom export` wrote. Options: counters=[files], repo=, platform=, steps=."""
    return Trace(path, **options)


def analyze(path, *options):
    """The summary of `fathom analyze --json` as a dict."""
    return json.loads(_run("analyze", ["--json", *options], [path]))


def diff(before, after, *options):
    """What `fathom diff --json` prints, as a dict."""
    return json.loads(_run("diff", ["--json", *options], [before, after]))

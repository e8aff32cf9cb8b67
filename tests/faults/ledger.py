"""Writes the ledger: the saving predicted from each faulty trace against the one measured with the repaired program.

usage: LEDGER=predictions.tsv tests/faults/score >/dev/null && python3 tests/faults/ledger.py predictions.tsv LEDGER.md

A prediction is a share of the step: the profiler lengthens what the host does, so milliseconds of a recorded step are
not those of the program. In range means that the measured share lies in the predicted one, both ends included, with
a tolerance of two points for the noise of the step times. Why a prediction missed stands in ledger_notes.tsv.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOLERANCE = 2.0  # points of the step


def rows(path):
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return [line.split("\t") for line in lines]


def main():
    predictions, target = Path(sys.argv[1]), Path(sys.argv[2])
    notes = {row[0]: row[1] for row in rows(HERE / "ledger_notes.tsv")[1:]}
    lines, inside = [], 0
    for trace, kind, least, most, step, faulty, fixed in rows(predictions):
        if trace.endswith("_nostacks"):
            continue
        least, most, step, faulty, fixed = map(float, (least, most, step, faulty, fixed))
        low, high = 100 * least / step, 100 * most / step
        measured = 100 * (faulty - fixed) / faulty
        is_in = low - TOLERANCE <= measured <= high + TOLERANCE
        inside += is_in
        lines.append(
            f"| `{trace}` | {kind} | {step:.2f} | {least:.2f} to {most:.2f} | {faulty:.2f} | {fixed:.2f} | "
            f"{low:.0f} to {high:.0f} % | {measured:.0f} % | {'in' if is_in else 'above' if measured > high else 'below'} | "
            f"{'' if is_in else notes.get(trace, '')} |"
        )
    text = f"""# Predicted and measured savings, 2026-11-16

For each fault of `tests/faults` whose cause is found: the saving that the finding predicts from the faulty program's
trace, and the saving measured with the repaired program on the same H200, without the profiler. Made by
`tests/faults/ledger.py`, which says what counts as in range: shares of the step, tolerance {TOLERANCE:.0f} points.

**{inside} of {len(lines)} in range.**

| fault | finding | recorded step, ms | predicted saving, ms | step, ms | repaired, ms | predicted share | measured share | in range | why not |
|---|---|---|---|---|---|---|---|---|---|
"""
    target.write_text(text + "\n".join(lines) + "\n")
    print(f"{inside} of {len(lines)} in range")


if __name__ == "__main__":
    main()

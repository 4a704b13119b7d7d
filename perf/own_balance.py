"""Numbers of yes and no questions that each pattern asks about the user's own files.

    python perf/own_balance.py [FILE-OR-FOLDER ...] [--instances 4] [--seed 0]

One row per pattern: the cases in the files themselves, the questions that are asked, how many of them are about a copy
with one change, and the files that are asked about and that are skipped for lack of the other answer. Without files,
the thirty of the tests (`tests/own_files.py`) are used. Exits with 1 if a pattern asks more questions with one answer
than with the other.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from own_files import write_thirty  # noqa: E402 - the tests' directory is no package; this script's own is not searched

from pytest_taskgraph.families.understanding.own_files.choices import choose, list_cases, unbalanced  # noqa: E402
from pytest_taskgraph.families.understanding.patterns import catalogue  # noqa: E402
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern, verdict  # noqa: E402

ROW = "{:34} {:>13} {:>11} {:>11} {:>6} {:>9}"


def counts(pattern: Pattern, paths: Sequence[Path], seed: int, instances: int) -> Counter[str]:
    """Return the numbers of a pattern's row."""
    row = Counter[str]()
    for path in paths:
        row.update(f"cases {verdict(choice.case.answer)}" for choice in list_cases(pattern, str(path), "").cases)
        choices = choose(pattern, str(path), "", seed, instances)
        row.update(f"asked {verdict(choice.case.answer)}" for choice in choices)
        row["changed"] += sum(bool(choice.edit) for choice in choices)
        row["files"] += bool(choices)
        row["left out"] += bool(unbalanced(pattern, str(path), "", seed, instances))
    return row


def table(paths: Sequence[Path], seed: int, instances: int) -> bool:
    """Print the table and return True if every pattern is balanced."""
    print(ROW.format("pattern", "cases yes/no", "asked yes/no", "with change", "files", "left out"))
    balanced = True
    for pattern in catalogue().values():
        if pattern.yes_no:
            row = counts(pattern, paths, seed, instances)
            pairs = [f"{row[f'{what} yes']}/{row[f'{what} no']}" for what in ("cases", "asked")]
            print(ROW.format(pattern.name, *pairs, row["changed"], row["files"], row["left out"]))
            balanced &= row["asked yes"] == row["asked no"]
    return balanced


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, metavar="FILE-OR-FOLDER")
    parser.add_argument("--instances", type=int, default=4, help="questions a pattern and file")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = given.paths or write_thirty(Path(folder))
        return 0 if table(paths, given.seed, given.instances) else 1


if __name__ == "__main__":
    sys.exit(main())

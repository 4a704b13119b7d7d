"""What a question costs in small and in large runs, and the collection of many questions, beside plain pytest.

    python perf/scaling.py [--sizes 1000,5000,10000,50000] [--collect 100000] [--rounds 1] [--json FILE] [--markdown]

Each row is a whole process, including start-up, without other plugins; the two of a pair run one after the other. The
questions are those of perf/throughput.py, answered by a simulated model. `x plain` is the CPU time divided by that of
plain pytest on as many tests that do nothing; `peak MB` the memory of the process.

    run N          as many questions are built, answered, scored and recorded
    further        CPU time of each further question: that of this run less that of the smallest, by question
    collect N      `--collect-only -q -k`: as many items, of which one in a hundred is selected
    select N       `-q -k`: as many are collected, and one in a hundred is run
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import median

from aligned_table import table_lines
from throughput import PATTERNS, PLAIN, SUITE
from whole_process import Measured, machine_state, run

from pytest_taskgraph.families.understanding.patterns import select

Pair = tuple[Measured, Measured]  # plain pytest, this plugin
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
ONE_IN_A_HUNDRED = ["-k", "99]"]  # the end of the ids


def pair(n: int, folder: Path, *options: str) -> Pair:
    """Run plain pytest and this plugin with n items each."""
    patterns = [pattern.name for pattern in select("structure")[:PATTERNS]]
    (folder / "test_plain.py").write_text(PLAIN.format(n=n))
    (folder / "test_questions.py").write_text(SUITE.format(patterns=patterns, instances=-(-n // PATTERNS)))
    plugin = ["-p", "pytest_taskgraph.plugin.hooks", "--model=simulated:1", "--taskgraph-store=none"]
    plain = run([*PYTEST, "test_plain.py", *options], folder)
    return plain, run([*PYTEST, *plugin, "test_questions.py", *options], folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,5000,10000,50000", help="numbers of questions, ascending")
    parser.add_argument("--collect", type=int, default=100_000, help="number of items to collect; 0: none")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", help="file to write the rounds of all rows to")
    parser.add_argument("--markdown", action="store_true", help="print a table of Markdown")
    options = parser.parse_args()
    sizes, before = [int(size) for size in options.sizes.split(",") if size], machine_state()
    measured: dict[str, list[Pair]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        pair(PATTERNS, folder)  # compiles the modules
        for number in range(options.rounds):
            for size in sizes:
                measured.setdefault(f"run {size}", []).append(pair(size, folder))
            if options.collect:
                for name, further in (("collect", ["--collect-only"]), ("select", [])):
                    row = measured.setdefault(f"{name} {options.collect}", [])
                    row.append(pair(options.collect, folder, *ONE_IN_A_HUNDRED, *further))
            print(f"round {number + 1} of {options.rounds} done", file=sys.stderr, flush=True)
    print(f"{options.rounds} rounds; {before}")
    print("\n".join(table_lines(HEADINGS, [*cells(measured)], options.markdown)))
    if options.json:
        rows = {name: [[asdict(each) for each in both] for both in pairs] for name, pairs in measured.items()}
        Path(options.json).write_text(json.dumps({"state": before, "rows": rows}, indent=1))


HEADINGS = ("row", "plain s", "plain MB", "wall s", "CPU s", "CPU ms an item", "further ms", "x plain", "peak MB")


def cells(measured: dict[str, list[Pair]]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each row, medians of its rounds; plain pytest by its CPU time."""
    first: tuple[int, float] | None = None
    for name, pairs in measured.items():
        kind, n = name.split()[0], int(name.split()[1])
        plain, cpu = median(before.cpu for before, _ in pairs), median(after.cpu for _, after in pairs)
        first = first or (n, cpu)
        further = f"{1000 * (cpu - first[1]) / (n - first[0]):.2f}" if kind == "run" and n > first[0] else ""
        yield (
            name, f"{plain:.2f}", f"{median(before.peak for before, _ in pairs):.0f}",
            f"{median(after.wall for _, after in pairs):.2f}", f"{cpu:.2f}", f"{1000 * cpu / n:.2f}", further,
            f"{median(after.cpu / before.cpu for before, after in pairs):.2f}",
            f"{median(after.peak for _, after in pairs):.0f}",
        )  # fmt: skip


if __name__ == "__main__":
    main()

"""A check that exactly the planted flaw is found in workflows of every domain (`tests/planted_oracle.py`).

    python perf/planted.py [--workflows 100] [--tasks 12,30] [PATTERN ...]

One row per pattern and domain: how many workflows were checked, and in how many anything but the planted flaw was
found. The checkers read the vocabulary files, the complete order relation, the kinds, the descriptions and the goals,
and do not know the planted flaw. Exits with 1 if any workflow has another finding.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import count
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from planted_oracle import problems_of  # noqa: E402 - the tests' directory is no package

from pytest_taskgraph.families.understanding.patterns import catalogue  # noqa: E402
from pytest_taskgraph.families.understanding.questions.sample import draw  # noqa: E402
from pytest_taskgraph.generation.vocabularies import domain_names  # noqa: E402

PLANTED = [pattern.name for pattern in catalogue().values() if pattern.planted]
SEED = 97


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description="Check that exactly the planted flaw is found.")
    options.add_argument("--workflows", type=int, default=100, help="of each domain, size and pattern")
    options.add_argument("--tasks", default="12", help="sizes, with commas between")
    options.add_argument("patterns", nargs="*", choices=[*PLANTED, []], metavar="PATTERN")
    return options.parse_args()


def check(name: str, tasks: int, wanted: int) -> int:
    """Print a row per domain; return the number of workflows with another finding than the planted flaw."""
    pattern, checked, wrong = catalogue()[name], Counter[str](), Counter[str]()
    for ordinal in count():
        if all(checked[domain] >= wanted for domain in domain_names()):
            break
        question = draw(pattern, tasks, SEED, ordinal)
        domain = question.project.package
        if checked[domain] < wanted:
            checked[domain] += 1
            for problem in (problems := problems_of(question.case, name, question.project)):
                print(f"    {name}, {tasks} tasks, ordinal {ordinal}: {problem}", flush=True)
            wrong[domain] += bool(problems)
    for domain in domain_names():
        print(f"{name:36} {tasks:5} {domain:20} {checked[domain]:8} {wrong[domain]:6}", flush=True)
    return wrong.total()


def main() -> int:
    chosen = arguments()
    print(f"{'pattern':36} {'tasks':>5} {'domain':20} {'checked':>8} {'wrong':>6}")
    sizes = [int(size) for size in chosen.tasks.split(",")]
    names = chosen.patterns or PLANTED
    return 1 if sum(check(name, size, chosen.workflows) for name in names for size in sizes) else 0


if __name__ == "__main__":
    sys.exit(main())

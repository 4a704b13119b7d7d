"""The reference answers of the catalogue, compared to answers found by exhaustive search (`tests/brute_force*.py`).

    python perf/brute_force.py [--seeds 200] [--tasks 12] [--first 0] [--every] [PATTERN ...]

One row per pattern: the number of compared cases, the number of differences, and the seconds; each difference is
printed. Two cases per seed, a yes and a no if the pattern has these; or every case of the workflows that are drawn for
them. Exits with 1 if any differ.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from brute_force import ANSWERS, compare, draw_cases  # noqa: E402 - the tests' directory is no package

from pytest_taskgraph.families.understanding.patterns import catalogue  # noqa: E402


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description="Reference answers, compared to answers found by exhaustive search.")
    options.add_argument("--seeds", type=int, default=200)
    options.add_argument("--first", type=int, default=0, help="the first seed")
    options.add_argument("--tasks", type=int, default=12)
    options.add_argument("--every", action="store_true", help="every case of each workflow, not only the drawn case")
    options.add_argument("patterns", nargs="*", choices=[*ANSWERS, []], metavar="PATTERN")
    return options.parse_args()


def print_row(name: str, chosen: argparse.Namespace) -> int:
    """Print the row of the pattern, and return the number of cases that differ."""
    began = time.perf_counter()
    pattern, seeds = catalogue()[name], range(chosen.first, chosen.first + chosen.seeds)
    cases = draw_cases(pattern, seeds, chosen.tasks, chosen.every)
    differences = [compare(pattern, where, scope.workflow, case) for where, scope, case in cases]
    different = [difference for difference in differences if difference]
    print(f"{name:30} {len(differences):8} {len(different):6} {time.perf_counter() - began:8.1f}", flush=True)
    for difference in different:
        print(f"    {difference}", flush=True)
    return len(different)


def main() -> int:
    chosen = arguments()
    print(f"{'pattern':30} {'compared':>8} {'differ':>6} {'seconds':>8}")
    return 1 if sum(print_row(name, chosen) for name in chosen.patterns or ANSWERS) else 0


if __name__ == "__main__":
    sys.exit(main())

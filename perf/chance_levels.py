"""Stated chance levels beside what guesses earn that see only the prompt (`tests/guesses.py`).

    python perf/chance_levels.py [--patterns NAME ...] [--instances 100] [--tasks 4 8 12 20] [--seed 0] [--markdown]

One row for each pattern and size: the stated level, the mean scores of the baselines `random` and `constant`, the best
of all guesses and its name, and that of a list of names of which each is drawn with probability 1/2. A pattern that a
size is too small for is asked at the least size that it takes. Exits with 1 if a guess earns more than the stated level
by more than three standard errors and 0.02, or if none comes that near to it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import fmean

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from guesses import drawn_questions, earned_by_guesses, misstated  # noqa: E402 - the tests' directory is no package

from pytest_taskgraph.families.understanding.patterns import select  # noqa: E402

HEADER = ("pattern", "tasks", "questions", "stated", "random", "constant", "coin", "best", "best guess", "")


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description="Stated chance levels beside what guesses earn.")
    options.add_argument("--patterns", nargs="*", default=["structure", "behaviour", "functionality"])
    options.add_argument("--instances", type=int, default=100, help="questions of each pattern and size")
    options.add_argument("--tasks", type=int, nargs="*", default=[4, 8, 12, 20])
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--markdown", action="store_true")
    return options.parse_args()


def main() -> int:
    chosen = arguments()
    wrong = False
    line = "| {} |" if chosen.markdown else "{}"
    between = " | " if chosen.markdown else "  "
    widths = (32, 5, 9, 6, 6, 8, 5, 5, 20, 0)
    print(line.format(between.join(cell.ljust(width) for cell, width in zip(HEADER, widths, strict=True))))
    if chosen.markdown:
        print("|---" * len(HEADER) + "|")
    for pattern in select(chosen.patterns):
        for tasks in chosen.tasks:
            questions = drawn_questions(pattern, chosen.instances, tasks, chosen.seed)
            if not questions:
                continue
            earned = earned_by_guesses(questions)
            best = max(earned, key=lambda name: earned[name].mean)
            problem = misstated(earned)
            wrong |= bool(problem)
            means = [fmean(each.chance or 0.0 for each in questions), earned["random"].mean, earned["constant"].mean]
            coin = f"{earned['coin'].mean:.3f}" if "coin" in earned else "-"
            cells = [pattern.name, str(tasks), str(len(questions)), *(f"{mean:.3f}" for mean in means), coin,
                     f"{earned[best].mean:.3f}", best, problem]  # fmt: skip
            text = between.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            print(line.format(text.rstrip()), flush=True)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())

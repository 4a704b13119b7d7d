"""Scores of rules that read the surface of a text, for questions that take understanding (`tests/surface_rules.py`).

    python perf/surface_rules.py [--patterns NAME ...] [--instances 1000] [--tasks 12] [--seed 77]
                                 [--notation NAME ...] [--json]

One row per rule, pattern and notation. Yes/no patterns: the share of right answers of the best rule over a single
feature and of the best decision tree of depth 1, 2 and 3, each fitted on the other half of the questions, and of each
named rule; half of the answers are yes. Generation was tuned on seed 77; other seeds show how far that holds. Order
patterns: the mean score of listing the tasks as the text, and as its control flow, mentions them first, compared to
that of random orders. Numbers: the share of the most frequent answer. Exits with 1 if a pattern that is no exception is
above its bound.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import surface_rules  # noqa: E402 - the tests' directory is no package; this script's own is not searched

from pytest_taskgraph.families.understanding.patterns import select  # noqa: E402
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern  # noqa: E402
from pytest_taskgraph.families.understanding.question_soundness.answer_giveaways import (  # noqa: E402
    EXCEPTIONS,
    MOST,
    SEED,
    feasible_size,
)
from pytest_taskgraph.families.understanding.questions.left_out import recipe_features  # noqa: E402
from pytest_taskgraph.notations import NOTATIONS, notation  # noqa: E402

MEASURED_FORMS = {"yes-no", "task-order", "number"}


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description="Right answers of rules that look at the surface of a text.")
    options.add_argument(
        "--patterns", nargs="*", default=["structure", "behaviour", "functionality"], help="names, globs or categories"
    )
    options.add_argument("--instances", type=int, default=1000, help="questions of each pattern")
    options.add_argument("--tasks", type=int, default=12)
    options.add_argument("--notation", nargs="*", default=["wadl"], help="names of notations, or all")
    options.add_argument("--seed", type=int, default=SEED, help="seed of the questions")
    options.add_argument("--json", action="store_true", help="one JSON object a row")
    return options.parse_args()


def rows(pattern: Pattern, chosen: argparse.Namespace, notation_name: str) -> Iterator[dict[str, Any]]:
    """Yield the figures of a pattern in a notation."""
    base = {"pattern": pattern.name, "notation": notation_name, "questions": chosen.instances, "tasks": chosen.tasks,
            "seed": chosen.seed}  # fmt: skip
    if pattern.form == "yes-no":
        for row in yes_no_rows(pattern, chosen, notation_name):
            yield base | row
    elif pattern.form == "task-order":
        for part in ("text", "control"):
            order = surface_rules.measure_order(
                pattern, chosen.instances, part, chosen.tasks, notation_name, chosen.seed
            )
            what = f"list by first mention in the {'text' if part == 'text' else 'control flow'} (score)"
            ruled = {"rule": what, "value": order.mentioned, "bound": order.random + order.tolerance}
            yield base | ruled | {"above": not order.at_chance, "exception": ""}
    else:
        constant, share = surface_rules.best_constant(pattern, chosen.instances, chosen.tasks, chosen.seed)
        yield base | {"rule": f"always {constant}", "value": share, "bound": None, "above": False, "exception": ""}


def yes_no_rows(pattern: Pattern, chosen: argparse.Namespace, notation_name: str) -> Iterator[dict[str, Any]]:
    """Yield the figures of each sort of rules and of the named rules; first those of hard questions of an exception."""
    exception = EXCEPTIONS.get(pattern.name, "")
    if not notation_name.startswith("wadl"):
        exception = exception or surface_rules.IN_PLACE.get(pattern.name, "")
    for difficulty in ("hard", "") if pattern.name in EXCEPTIONS else ("",):
        reason = "" if difficulty else exception
        measured = surface_rules.measure(
            pattern, chosen.instances, chosen.tasks, notation_name, difficulty, chosen.seed
        )
        prefix = f"{difficulty} questions: " if difficulty else ""
        for name, value in (*measured.by_sort.items(), *measured.by_rule.items()):
            row = {"rule": prefix + name, "value": value, "bound": MOST}
            yield row | {"above": value > MOST and not reason, "exception": reason}


def row_text(row: dict[str, Any]) -> str:
    """Return a row as a line of text."""
    bound = "" if row["bound"] is None else f"{row['bound']:.2f}"
    mark = "exception" if row["exception"] else "ABOVE" if row["above"] else ""
    return f"{row['pattern']:28} {row['notation']:14} {row['value']:6.3f} {bound:>5} {mark:9} {row['rule']}"


def main() -> int:
    chosen = arguments()
    names = list(NOTATIONS) if chosen.notation == ["all"] else chosen.notation
    above = False
    if not chosen.json:
        print(f"{'pattern':28} {'notation':14} {'value':>6} {'bound':>5} {'':9} rule")
    for pattern in select(chosen.patterns):
        if pattern.form not in MEASURED_FORMS or pattern.planted:
            continue
        tasks = feasible_size(pattern, chosen.tasks)
        for notation_name in (
            name for name in names if not recipe_features(pattern, tasks) & notation(name).unsupported
        ):
            for row in rows(pattern, chosen, notation_name):
                above |= row["above"]
                print(json.dumps(row) if chosen.json else row_text(row), flush=True)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())

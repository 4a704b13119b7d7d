"""Reference answers against brute force with independent code (`tests/brute_force*.py`)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from brute_force import ANSWERS, compare, draw_cases

from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.trial import Json

each_pattern = pytest.mark.parametrize("name", ANSWERS)
WRONG: dict[str, Json] = {
    "yes-no": "neither",
    "task": "Nobody",
    "task-set": ["Nobody"],
    "groups": [["Nobody"]],
    "number": -1,
    "condition": {"condition": "nothing = 1", "domains": {}},
    "task-order": {"tasks": ["Nobody"], "before": []},
}


def test_catalogue_computed_pattern_has_independent_answer() -> None:
    ours = [
        pattern for pattern in catalogue().values() if pattern.category in ("structure", "behaviour", "functionality")
    ]
    assert sorted(pattern.name for pattern in ours if not pattern.planted) == sorted(ANSWERS)


# Number of seeds where brute force takes seconds for a case; perf/brute_force.py tries more.
SEEDS = {"order_of_many": 3}
TASKS = {"order_of_many": 7}  # tasks of the workflow whose cases are all compared


@each_pattern
def test_reference_of_drawn_case_equals_brute_force(name: str) -> None:
    pattern = catalogue()[name]
    seeds = range(SEEDS.get(name, 12))
    differences = [
        compare(pattern, where, scope.workflow, case) for where, scope, case in draw_cases(pattern, seeds, 12)
    ]
    assert len(differences) == 2 * len(seeds)
    assert [str(difference) for difference in differences if difference] == []


@each_pattern
def test_reference_of_every_case_equals_brute_force(name: str) -> None:
    pattern = catalogue()[name]
    drawn_cases = list(draw_cases(pattern, range(20, 21), TASKS.get(name, 12), every=True))
    assert drawn_cases
    differences = [compare(pattern, where, scope.workflow, case) for where, scope, case in drawn_cases]
    assert [str(difference) for difference in differences if difference] == []


@each_pattern
def test_compare_wrong_reference_reports_difference(name: str) -> None:
    pattern = catalogue()[name]
    ((where, scope, case),) = list(draw_cases(pattern, range(1), 12))[:1]
    difference = compare(pattern, where, scope.workflow, replace(case, answer=WRONG[pattern.form]))
    assert difference is not None
    assert "seed 0, ordinal 0, " in str(difference)

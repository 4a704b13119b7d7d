"""Reference answers against brute force with independent code (`tests/brute_force*.py`)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from brute_force import ANSWERS, compare, draw_cases

from pytest_taskgraph.families.understanding.patterns import catalogue
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
    "schedule": {"tasks": ["Nobody"], "durations": [1], "before": [], "workers": None, "limit": 1, "starts": [0]},
}


def test_catalogue_computed_pattern_has_independent_answer() -> None:
    ours = [pattern for pattern in catalogue().values() if pattern.category != "custom"]
    assert sorted(pattern.name for pattern in ours if not pattern.planted) == sorted(ANSWERS)


# Most seeds where brute force takes seconds for a case; perf/brute_force.py tries more.
SEEDS = {"order_of_many": 3}
TASKS = {"order_of_many": 7}  # most tasks of the workflow whose cases are all compared


@pytest.mark.parametrize("seed_count", [2, pytest.param(12, marks=pytest.mark.exhaustive)])
@each_pattern
def test_reference_of_drawn_case_equals_brute_force(name: str, seed_count: int) -> None:
    pattern = catalogue()[name]
    seeds = range(min(seed_count, SEEDS.get(name, seed_count)))
    differences = [
        compare(pattern, where, scope.workflow, case) for where, scope, case in draw_cases(pattern, seeds, 12)
    ]
    assert len(differences) == 2 * len(seeds)
    assert [str(difference) for difference in differences if difference] == []


@pytest.mark.parametrize("tasks", [7, pytest.param(12, marks=pytest.mark.exhaustive)])
@each_pattern
def test_reference_of_every_case_equals_brute_force(name: str, tasks: int) -> None:
    pattern = catalogue()[name]
    drawn_cases = list(draw_cases(pattern, range(20, 21), min(tasks, TASKS.get(name, tasks)), every=True))
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

"""Every reference answer equals one found by trying everything, with code of its own (`tests/brute_force*.py`)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from brute_force import ANSWERS, compare, drawn

from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.trial import Json

every = pytest.mark.parametrize("name", ANSWERS)
WRONG: dict[str, Json] = {
    "yes-no": "neither",
    "task": "Nobody",
    "task-set": ["Nobody"],
    "groups": [["Nobody"]],
    "number": -1,
    "condition": {"condition": "nothing = 1", "domains": {}},
    "task-order": {"tasks": ["Nobody"], "before": []},
}


def test_every_pattern_whose_answer_is_computed_has_an_independent_answer() -> None:
    ours = [one for one in catalogue().values() if one.category in ("structure", "behaviour", "functionality")]
    assert sorted(one.name for one in ours if not one.planted) == sorted(ANSWERS)


# How many seeds of 12 tasks each, where trying everything takes seconds a case; perf/brute_force.py tries more.
SEEDS = {"order_of_many": 3}
TASKS = {"order_of_many": 7}  # of the workflow of which every case is tried


@every
def test_the_reference_is_the_answer_found_by_trying_everything(name: str) -> None:
    pattern = catalogue()[name]
    seeds = range(SEEDS.get(name, 12))
    found = [compare(pattern, where, scope.workflow, case) for where, scope, case in drawn(pattern, seeds, 12)]
    assert len(found) == 2 * len(seeds)
    assert [str(one) for one in found if one] == []


@every
def test_so_it_is_for_every_case_of_a_workflow(name: str) -> None:
    pattern = catalogue()[name]
    asked = list(drawn(pattern, range(20, 21), TASKS.get(name, 12), every=True))
    assert asked
    found = [compare(pattern, where, scope.workflow, case) for where, scope, case in asked]
    assert [str(one) for one in found if one] == []


@every
def test_another_reference_is_told(name: str) -> None:
    pattern = catalogue()[name]
    ((where, scope, case),) = list(drawn(pattern, range(1), 12))[:1]
    found = compare(pattern, where, scope.workflow, replace(case, answer=WRONG[pattern.form]))
    assert found is not None
    assert "seed 0, ordinal 0, " in str(found)

"""How long the tasks of a generated workflow take."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from drawn_workflows import generate

from pytest_taskgraph.generation.builder import shuffle_durations
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.workflow.features import features
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.references import expand, levels
from pytest_taskgraph.workflow.semantics.run_times import units_in

TIMED = frozenset({"durations", "parallel"})


def drawn(seeds: int, **fields: object) -> list[Workflow]:
    return [generate(Recipe(tasks=12, **fields), seed) for seed in range(seeds)]  # type: ignore[arg-type]


@pytest.mark.parametrize("more", [set(), {"hierarchy", "exclusive"}, {"references", "derivation"}])
def test_durations_every_atomic_task_has_one_and_no_other(more: set[str]) -> None:
    for workflow in drawn(20, features=TIMED | more):
        tasks = [task for _, level in levels(expand(workflow)) for task in level.tasks]
        assert {bool(task.duration) for task in tasks if not task.composite} == {True}
        assert {bool(task.duration) for task in tasks if task.composite} <= {False}


def test_durations_without_demand_no_task_has_one() -> None:
    for workflow in drawn(10, features={"parallel", "effects", "parameters", "kinds"}):
        assert "durations" not in features(workflow)


def test_durations_one_unit_or_two_neighbours_are_drawn() -> None:
    found = {units_in(workflow) for workflow in drawn(80, features=TIMED)}
    assert {("minutes", "hours"), ("hours", "days"), ("minutes",), ("hours",)} <= found
    assert max(map(len, found)) == 2


def test_durations_units_fit_domain() -> None:
    for name, units in (("kitchen", ("minutes", "hours")), ("software_release", ("hours", "days"))):
        found = {units_in(workflow) for workflow in drawn(30, features=TIMED, vocabulary=name)}
        assert found == {units, units[:1]}


def test_durations_shuffled_are_the_same_in_another_order() -> None:
    workflow = drawn(1, features=TIMED | {"hierarchy"})[0]
    shuffled = shuffle_durations(workflow, Random(1))
    for (_, before), (_, after) in zip(levels(workflow), levels(shuffled), strict=True):
        old, new = ([task.duration for task in level.tasks if task.duration] for level in (before, after))
        assert Counter(old) == Counter(new)
        assert [bool(task.duration) for task in before.tasks] == [bool(task.duration) for task in after.tasks]
    assert shuffled != workflow

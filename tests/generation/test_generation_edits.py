from __future__ import annotations

from random import Random

import pytest
from drawn_workflows import generate

from pytest_taskgraph.generation.edits import edits
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.model import Link, Workflow
from pytest_taskgraph.workflow.project import every_level

RICH = generate(Recipe(tasks=12, features=frozenset({"exclusive", "guards", "data", "hierarchy"})), 3)
REFERRING = generate(Recipe(tasks=12, features=frozenset({"hierarchy", "references"})), 4)
DERIVED = generate(Recipe(tasks=12, features=frozenset({"hierarchy", "references", "derivation"})), 5)
CHAIN = Workflow("W", links=(Link("START", "END"),))


def links(project: Workflow) -> list[object]:
    return [link for level in every_level(project) for link in (*level.links, *level.data_links)]


@pytest.mark.parametrize("project", [RICH, REFERRING, DERIVED], ids=["rich", "referring", "derived"])
def test_edits_all_kinds_well_formed_and_one_step_away(project: Workflow) -> None:
    all_edits = edits(project, Random(1), 40)
    assert len(all_edits) == 40
    steps = {"removed": -1, "added": 1}
    for edit in all_edits:
        assert not problems(edit.workflow)
        assert edit.workflow != project
        changed = len(links(edit.workflow)) - len(links(project))
        assert changed == (0 if "link" not in edit.kind else steps[edit.kind.split()[-1]])


def test_edits_few_take_each_kind_in_turn() -> None:
    kinds = [edit.kind for edit in edits(RICH, Random(1), 7)]
    assert len(kinds) == 7
    assert max(map(kinds.count, kinds)) == 2
    assert {"reference replaced", "reference removed"} <= {edit.kind for edit in edits(REFERRING, Random(1), 7)}


def test_edits_same_seed_gives_same_edits() -> None:
    assert edits(RICH, Random(7), 9) == edits(RICH, Random(7), 9)
    assert edits(RICH, Random(7), 9) == edits(RICH, Random(7), 20)[:9]


def test_edits_derived_workflows_keep_their_references() -> None:
    assert {edit.kind.split()[0] for edit in edits(DERIVED, Random(1), 60)} <= {"link", "condition", "data"}


def test_edits_workflow_without_tasks_has_only_its_link() -> None:
    assert [edit.kind for edit in edits(CHAIN, Random(1), 9)] == ["link removed"]

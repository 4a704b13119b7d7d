"""What tasks and data of a generated workflow say of themselves, and how data flow."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from drawn_workflows import generate
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.workflow.features import FEATURES
from pytest_taskgraph.workflow.graph import ancestors, inputs, producers, readers, shortest_cycle
from pytest_taskgraph.workflow.guards.solver import exclusive, parse_guard
from pytest_taskgraph.workflow.model import OTHERWISE, Task
from pytest_taskgraph.workflow.references import expand, find, levels

DATA = recipes(max_tasks=25, features=["data"], vocabularies=("neutral", "kitchen", "orders"))
DRAWN_DATA = recipes(max_tasks=25, features=["data"])  # those of a domain are what its tasks read and write
EVERYTHING = recipes(max_tasks=30, among=FEATURES - {"derivation"}, vocabularies=("neutral", "orders"))


@pytest.mark.parametrize(
    ("feature", "has"),
    [
        ("parameters", lambda task: task.parameters),
        ("implementations", lambda task: task.implementation),
        ("descriptions", lambda task: task.description),
        ("kinds", lambda task: task.kind),
        ("hierarchy", lambda task: task.composite),
    ],
)
@pytest.mark.parametrize("tasks", [4, 12, 60])
def test_content_some_tasks_have_attribute_and_some_not(
    feature: str, has: Callable[[Task], object], tasks: int
) -> None:
    for seed in range(20):
        workflow = generate(Recipe(tasks=tasks, features=frozenset({feature})), seed)
        assert {bool(has(task)) for task in workflow.tasks} == {True, False}


@given(st.data(), DATA)
def test_data_flow_follows_control_flow_without_cycle(data: st.DataObject, recipe: Recipe) -> None:
    for _, level in levels(expand(data.draw(workflows(recipe)))):
        assert not shortest_cycle(level, "data")
        for data_object in level.data:
            for reader in readers(level, data_object.name):
                assert set(producers(level, data_object.name)) <= set(ancestors(level, reader))


@given(st.data(), DRAWN_DATA)
def test_data_of_level_has_inputs_and_single_writers(data: st.DataObject, recipe: Recipe) -> None:
    for _, level in levels(expand(data.draw(workflows(recipe)))):
        counts = [len(producers(level, data_object.name)) for data_object in level.data]
        assert 0 in counts
        assert 1 in counts
        assert any(inputs(level, task) for task in level.task_names)


def test_data_chains_are_long_and_rarely_shared() -> None:
    projects = [generate(Recipe(tasks=10, features=frozenset({"data"})), seed) for seed in range(60)]
    depths = [max(len(ancestors(project, task, "data")) for task in project.task_names) for project in projects]
    shared = [any(len(producers(project, item.name)) > 1 for item in project.data) for project in projects]
    assert sum(depth >= 4 for depth in depths) > 30
    assert 0 < sum(shared) < 20


@given(st.data(), EVERYTHING)
def test_names_of_project_are_unique(data: st.DataObject, recipe: Recipe) -> None:
    whole = data.draw(workflows(recipe))
    all_levels = [level for element in (whole, *whole.others) for _, level in levels(element)]
    names = [
        name
        for level in all_levels
        for name in (
            level.name,
            *level.task_names,
            *(element.name for element in level.data),
            *(element.name for element in level.gateways),
        )
    ]
    assert len(set(names)) == len(names)
    assert all(name.isascii() and name.isidentifier() and name[0].isalpha() for name in names)


@given(st.data(), recipes(max_tasks=30, features=["guards"], among=["exclusive", "inclusive", "loop", "domains"]))
def test_guards_are_decided_and_share_no_parameter(data: st.DataObject, recipe: Recipe) -> None:
    workflow = data.draw(workflows(recipe))
    used: list[str] = []
    for task in workflow.task_names:
        guards = [link.guard for link in workflow.links if link.source == task and link.guard is not None]
        if guards:
            assert all(parse_guard(guard) is not None for guard in guards)
            assert len(guards) == 1 or exclusive(guards, workflow.parameters) is not None
            used += sorted({guard.split()[0] for guard in guards if guard != OTHERWISE})
    assert len(set(used)) == len(used)
    domains = {parameter.name for parameter in workflow.parameters if parameter.domain is not None}
    assert domains >= set(used) if "domains" in recipe.features else not domains


LOOPS = recipes(max_tasks=30, features=["loop", "effects"], among=["hierarchy", "parallel", "domains"])


@given(st.data(), LOOPS)
def test_effects_loop_changes_its_parameter(data: st.DataObject, recipe: Recipe) -> None:
    for _, level in levels(data.draw(workflows(recipe))):
        effects = {effect.parameter for task in level.tasks for effect in task.effects}
        tested_parameters = {link.guard.split()[0] for link in level.links if link.guard is not None}
        assert effects == tested_parameters - {OTHERWISE}


@given(st.data(), recipes(max_tasks=30, features=["bindings"], among=["references", "hierarchy", "parallel"]))
def test_bindings_join_inner_data_to_data_of_task(data: st.DataObject, recipe: Recipe) -> None:
    whole = data.draw(workflows(recipe))
    bound = [
        (level, task) for root in (whole, *whole.others) for _, level in levels(root) for task in level.tasks
        if task.bindings
    ]  # fmt: skip
    assert bound
    for level, task in bound:
        assert task.composite
        inner = task.subworkflow or (task.reference and find(whole, task.reference, level.package))
        assert inner
        for within, outside in task.bindings:
            flows = (task.name in producers(level, outside), task.name in readers(level, outside))
            assert flows == (bool(producers(inner, within)), not producers(inner, within))


@given(st.data(), recipes(max_tasks=30, features=["references"], among=FEATURES - {"derivation"}))
def test_references_form_chains_of_one_to_four(data: st.DataObject, recipe: Recipe) -> None:
    whole = data.draw(workflows(recipe))
    after = {
        root.name: [name.name for _, level in levels(root) for task in level.tasks if (name := task.reference)]
        for root in (whole, *whole.others)
    }
    chains = [[name] for name in after[whole.name]]
    for chain in chains:
        while following := after[chain[-1]]:
            chain += following
    assert chains
    assert all(1 <= len(chain) <= 4 for chain in chains)
    assert sorted(name for chain in chains for name in chain) == sorted(root.name for root in whole.others)

"""What tasks and data of a generated workflow say of themselves, and how data flow."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_taskgraph.generation.builder import generate
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.workflow.features import FEATURES
from pytest_taskgraph.workflow.graph import ancestors, inputs, producers, readers, shortest_cycle
from pytest_taskgraph.workflow.guards.solver import exclusive, parse_guard
from pytest_taskgraph.workflow.model import OTHERWISE, Task
from pytest_taskgraph.workflow.references import expand, find, levels

few = settings(max_examples=40)

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
def test_some_tasks_have_it_and_some_have_not(feature: str, has: Callable[[Task], object], tasks: int) -> None:
    for seed in range(20):
        workflow = generate(Recipe(tasks=tasks, features=frozenset({feature})), seed)
        assert {bool(has(task)) for task in workflow.tasks} == {True, False}


@few
@given(st.data(), DATA)
def test_data_flow_with_the_control_flow_and_never_in_a_circle(data: st.DataObject, recipe: Recipe) -> None:
    for _, level in levels(expand(data.draw(workflows(recipe)))):
        assert not shortest_cycle(level, "data")
        for one in level.data:
            for reader in readers(level, one.name):
                assert set(producers(level, one.name)) <= set(ancestors(level, reader))


@few
@given(st.data(), DRAWN_DATA)
def test_every_level_has_data_that_nobody_writes_and_data_that_one_task_writes(
    data: st.DataObject, recipe: Recipe
) -> None:
    for _, level in levels(expand(data.draw(workflows(recipe)))):
        counts = [len(producers(level, one.name)) for one in level.data]
        assert 0 in counts
        assert 1 in counts
        assert any(inputs(level, task) for task in level.task_names)


def test_data_pass_through_several_tasks_and_rarely_have_two_producers() -> None:
    drawn = [generate(Recipe(tasks=10, features=frozenset({"data"})), seed) for seed in range(60)]
    depths = [max(len(ancestors(one, task, "data")) for task in one.task_names) for one in drawn]
    shared = [any(len(producers(one, item.name)) > 1 for item in one.data) for one in drawn]
    assert sum(depth >= 4 for depth in depths) > 30
    assert 0 < sum(shared) < 20


@few
@given(st.data(), EVERYTHING)
def test_no_name_is_given_twice(data: st.DataObject, recipe: Recipe) -> None:
    whole = data.draw(workflows(recipe))
    every = [level for one in (whole, *whole.others) for _, level in levels(one)]
    names = [
        name
        for level in every
        for name in (
            level.name,
            *level.task_names,
            *(one.name for one in level.data),
            *(one.name for one in level.gateways),
        )
    ]
    assert len(set(names)) == len(names)
    assert all(name.isascii() and name.isidentifier() and name[0].isalpha() for name in names)


@few
@given(st.data(), recipes(max_tasks=30, features=["guards"], among=["exclusive", "inclusive", "loop", "domains"]))
def test_guards_of_a_choice_are_decided_and_no_two_choices_share_a_parameter(
    data: st.DataObject, recipe: Recipe
) -> None:
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


@few
@given(st.data(), LOOPS)
def test_every_loop_changes_the_parameter_that_it_asks_about(data: st.DataObject, recipe: Recipe) -> None:
    for _, level in levels(data.draw(workflows(recipe))):
        effects = {effect.parameter for task in level.tasks for effect in task.effects}
        asked = {link.guard.split()[0] for link in level.links if link.guard is not None}
        assert effects == asked - {OTHERWISE}


@few
@given(st.data(), recipes(max_tasks=30, features=["bindings"], among=["references", "hierarchy", "parallel"]))
def test_a_binding_joins_data_of_the_sub_workflow_to_data_of_the_task(data: st.DataObject, recipe: Recipe) -> None:
    whole = data.draw(workflows(recipe))
    bound = [
        (level, task) for one in (whole, *whole.others) for _, level in levels(one) for task in level.tasks
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


@few
@given(st.data(), recipes(max_tasks=30, features=["references"], among=FEATURES - {"derivation"}))
def test_references_form_chains_of_one_to_four(data: st.DataObject, recipe: Recipe) -> None:
    whole = data.draw(workflows(recipe))
    after = {
        one.name: [name.name for _, level in levels(one) for task in level.tasks if (name := task.reference)]
        for one in (whole, *whole.others)
    }
    chains = [[name] for name in after[whole.name]]
    for chain in chains:
        while following := after[chain[-1]]:
            chain += following
    assert chains
    assert all(1 <= len(chain) <= 4 for chain in chains)
    assert sorted(name for chain in chains for name in chain) == sorted(one.name for one in whole.others)

"""Every mutation does what its name says, remembers it, and leaves a workflow that can be read."""

from __future__ import annotations

from hashlib import sha256
from itertools import product
from random import Random

import pytest
from drawn_workflows import generate
from hypothesis import given
from hypothesis import strategies as st
from workflow_builders import block_tree

from pytest_taskgraph.errors import NoCaseError
from pytest_taskgraph.generation.flaws import MUTATIONS
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.notations.plain_json import dumps
from pytest_taskgraph.workflow.check import check
from pytest_taskgraph.workflow.features import features
from pytest_taskgraph.workflow.graph import is_connected, shortest_cycle
from pytest_taskgraph.workflow.model import OTHERWISE, Workflow
from pytest_taskgraph.workflow.references import levels, recursion

ACYCLIC = recipes(min_tasks=4, max_tasks=25, among=["parallel", "exclusive", "inclusive", "mixed", "data", "domains"])
REFERRING = recipes(max_tasks=25, features=["references"], among=["hierarchy", "bindings", "implementations"])


def draw_mutated(name: str, workflow: Workflow, data: st.DataObject) -> Workflow:
    flawed = MUTATIONS[name](workflow, data.draw(st.randoms(use_true_random=False)))
    check(flawed)
    assert flawed.flaw is not None
    assert flawed.flaw.kind == name
    return flawed


@given(st.data(), ACYCLIC)
def test_drop_link_takes_one_link_and_the_connection(data: st.DataObject, recipe: Recipe) -> None:
    workflow = data.draw(workflows(recipe))
    flawed = draw_mutated("drop-link", workflow, data)
    assert is_connected(workflow)
    assert not is_connected(flawed)
    [lost] = [link for link in workflow.links if link not in flawed.links]
    assert len(flawed.links) == len(workflow.links) - 1
    assert flawed.flaw is not None
    assert flawed.flaw.details == (lost.source, lost.target)


@pytest.mark.parametrize(("name", "answer"), [("disconnect", False), ("keep-connected", True)])
def test_connection_mutation_any_workflow_has_the_connection_it_promises(name: str, answer: bool) -> None:
    planted: list[bool] = []

    @given(data=st.data(), recipe=ACYCLIC)
    def hold_promise(data: st.DataObject, recipe: Recipe) -> None:
        try:
            flawed = draw_mutated(name, data.draw(workflows(recipe)), data)
        except NoCaseError:
            planted.append(False)  # few tasks leave no room for the drawn way
            return
        planted.append(True)
        assert is_connected(flawed) is answer
        assert flawed.flaw is not None
        if flawed.flaw.details[0] not in ("plain", "dropped link"):
            sources, targets = {link.source for link in flawed.links}, {link.target for link in flawed.links}
            assert sources.intersection(targets) >= set(flawed.task_names)

    hold_promise()
    assert sum(planted) > len(planted) / 4


@pytest.mark.parametrize(("name", "kinds"), [("disconnect", 5), ("keep-connected", 3)])
def test_connection_mutation_many_seeds_draws_every_kind(name: str, kinds: int) -> None:
    drawn_kinds = set()
    for seed in range(80):
        workflow = generate(Recipe(features=frozenset({"parallel", "exclusive"})), seed)
        try:
            flaw = MUTATIONS[name](workflow, Random(seed)).flaw
        except NoCaseError:
            continue
        assert flaw is not None
        drawn_kinds.add(flaw.details[0])
    assert len(drawn_kinds) == kinds


@given(st.data(), ACYCLIC)
def test_back_link_makes_a_loop_with_a_way_out(data: st.DataObject, recipe: Recipe) -> None:
    workflow = data.draw(workflows(recipe))
    flawed = draw_mutated("back-link", workflow, data)
    assert not shortest_cycle(workflow)
    assert shortest_cycle(flawed)
    assert is_connected(flawed)
    assert block_tree(flawed) is not None
    assert flawed.flaw is not None
    last, first = flawed.flaw.details
    ways = {link.target: link.guard for link in flawed.links if link.source == last}
    assert len(ways) == 2
    assert ways[first] not in (None, OTHERWISE)
    assert OTHERWISE in ways.values()


def test_forward_link_makes_a_way_past_tasks_and_no_loop() -> None:
    planted: list[bool] = []

    @given(st.data(), ACYCLIC)
    def make_way(data: st.DataObject, recipe: Recipe) -> None:
        workflow = data.draw(workflows(recipe))
        try:
            flawed = draw_mutated("forward-link", workflow, data)
        except NoCaseError:
            planted.append(False)  # blocks may leave no task a way past others
            return
        planted.append(True)
        assert not shortest_cycle(flawed)
        assert is_connected(flawed)
        assert block_tree(flawed) is not None
        assert flawed.flaw is not None
        first, last = flawed.flaw.details
        [guarded] = [link for link in flawed.links if link not in workflow.links and link.target == last]
        assert guarded.source == first
        assert guarded.guard not in (None, OTHERWISE)

    make_way()
    assert sum(planted) > len(planted) / 4


def test_forward_links_over_many_lengths_are_planted() -> None:
    chain = generate(Recipe(tasks=8), 1)
    order = _chain(chain)
    spans = set()
    for seed in range(100):
        flaw = MUTATIONS["forward-link"](chain, Random(seed)).flaw
        assert flaw is not None
        spans.add(order.index(flaw.details[1]) - order.index(flaw.details[0]))
    assert spans == set(range(2, 8))


def _chain(workflow: Workflow) -> list[str]:
    after = {link.source: link.target for link in workflow.links}
    names = [after["START"]]
    while after[names[-1]] != "END":
        names.append(after[names[-1]])
    return names


def test_loops_of_many_lengths_are_planted() -> None:
    chain = generate(Recipe(tasks=8), 1)
    lengths = {len(shortest_cycle(MUTATIONS["back-link"](chain, Random(seed)))) for seed in range(100)}
    assert lengths == set(range(1, 9))


@given(st.data(), REFERRING)
def test_close_cycle_makes_the_references_infinite(data: st.DataObject, recipe: Recipe) -> None:
    workflow = data.draw(workflows(recipe))
    flawed = draw_mutated("close-cycle", workflow, data)
    assert not recursion(workflow)
    assert flawed.flaw is not None
    assert set(flawed.flaw.details) == set(recursion(flawed))


@given(st.data(), REFERRING)
def test_cut_cycle_leaves_references_but_none_that_come_back(data: st.DataObject, recipe: Recipe) -> None:
    flawed = draw_mutated("cut-cycle", data.draw(workflows(recipe)), data)
    assert not recursion(flawed)
    assert "hierarchy" in features(flawed)


def test_cycles_of_length_one_to_four_are_planted() -> None:
    recipe = Recipe(tasks=20, features=frozenset({"references"}))
    closed = [MUTATIONS["close-cycle"](generate(recipe, seed), Random(seed)) for seed in range(60)]
    assert {len(recursion(project)) for project in closed} == {1, 2, 3, 4}


def test_reference_mutations_have_equal_diamonds_and_counts() -> None:
    recipe = Recipe(tasks=14, features=frozenset({"references"}))
    counts: dict[str, list[int]] = {"close-cycle": [], "cut-cycle": []}
    for name, count in counts.items():
        several = 0
        for seed in range(60):
            project = MUTATIONS[name](generate(recipe, f"{name} {seed}"), Random(seed))
            targets = [
                task.reference
                for root in (project, *project.others)
                for _, level in levels(root)
                for task in level.tasks
                if task.reference is not None
            ]
            several += len(set(targets)) < len(targets)
            count.append(len(targets) - len(project.others))
        assert several > 30
    assert abs(sum(counts["close-cycle"]) - sum(counts["cut-cycle"])) < 30


def test_close_cycle_many_seeds_omits_first_workflow_too() -> None:
    recipe = Recipe(tasks=14, features=frozenset({"references"}))
    closed = [MUTATIONS["close-cycle"](generate(recipe, seed), Random(seed)) for seed in range(40)]
    through = sum(project.flaw is not None and str(project.qualified) in project.flaw.details for project in closed)
    assert 0 < through < 20


@pytest.mark.parametrize("name", ["close-cycle", "cut-cycle"])
@pytest.mark.parametrize("features", [(), ("hierarchy",), ("references", "derivation")])
def test_mutation_without_place_raises_no_case(name: str, features: tuple[str, ...]) -> None:
    workflow = generate(Recipe(features=frozenset(features)), 1)
    with pytest.raises(NoCaseError, match=f"{name}.*Process"):
        MUTATIONS[name](workflow, Random(1))


def test_mutation_planted_already_raises_no_case() -> None:
    chain = generate(Recipe(tasks=5), 1)
    for name in ("back-link", "drop-link"):
        with pytest.raises(NoCaseError, match=name):
            MUTATIONS[name](MUTATIONS[name](chain, Random(1)), Random(2))


def test_cross_condition_target_has_links_of_both_kinds() -> None:
    recipe = Recipe(features=frozenset({"mixed", "parallel", "exclusive"}))
    for seed in range(30):
        workflow = generate(recipe, seed)
        flawed = MUTATIONS["cross-condition"](workflow, Random(seed))
        check(flawed)
        assert flawed.flaw is not None
        source, target = flawed.flaw.details
        assert {link.guard is None for link in flawed.links if link.target == target} == {True, False}
        assert len([link for link in flawed.links if link.source == source]) == 2


def test_repeat_name_half_of_the_workflows_have_a_name_at_two_levels() -> None:
    recipe = Recipe(features=frozenset({"hierarchy", "data"}))
    repeated = 0
    for seed in range(40):
        workflow = generate(recipe, seed)
        flawed = MUTATIONS["repeat-name"](workflow, Random(seed))
        check(flawed)
        names = [name for _, level in levels(flawed) for name in level.task_names]
        assert len(names) == 12
        repeated += len(set(names)) < len(names)
    assert 8 < repeated < 32


def test_nest_block_tasks_and_links_are_kept_below_a_composite_task() -> None:
    recipe = Recipe(features=frozenset({"parallel", "exclusive", "loop", "data", "domains"}))
    nested = 0
    for seed in range(40):
        workflow = generate(recipe, seed)
        flawed = MUTATIONS["nest-block"](workflow, Random(seed))
        check(flawed)
        below = [level for path, level in levels(flawed) if path]
        nested += len(below)
        assert sorted(name for _, level in levels(flawed) for name in level.task_names) == sorted(workflow.task_names)
        assert all(is_connected(level) for _, level in levels(flawed))
        guards = sorted(link.guard for link in workflow.links if link.guard)
        assert sorted(link.guard for _, level in levels(flawed) for link in level.links if link.guard) == guards
        for level in below:
            assert {parameter.name for parameter in level.parameters}.isdisjoint(
                parameter.name for parameter in flawed.parameters
            )
    assert nested > 20


PINNED_RECIPES = (
    Recipe(10, features=frozenset({"parallel", "exclusive", "hierarchy"})),
    Recipe(12, features=frozenset({"exclusive", "inclusive", "domains"})),
    Recipe(16, features=frozenset({"references", "data"})),
    *(
        Recipe(12, features=frozenset({"parallel", "data", "descriptions"}), vocabulary=name, complete=True, goal=goal)
        for name, goal in (("kitchen", True), ("travel", False))
    ),
)


def test_mutation_same_seed_gives_pinned_flaws() -> None:
    """Other flaws would change the prompts of all questions about them: that takes a new major version."""
    written, planted = sha256(), set[str]()
    for name, recipe, seed in product(MUTATIONS, PINNED_RECIPES, range(4)):
        try:
            written.update(dumps(MUTATIONS[name](generate(recipe, f"pinned {seed}"), Random(seed))).encode())
            planted.add(name)
        except NoCaseError as error:
            written.update(str(error).encode())
    assert planted == set(MUTATIONS)
    assert written.hexdigest() == "237d9a55cdad6d187895c865f403132134937daba463f4268f4864be4bf11a68"

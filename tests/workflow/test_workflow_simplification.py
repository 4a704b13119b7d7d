"""Smaller workflows out of a workflow: laws over what the generator builds, and what single cuts give."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from parallel_blocks import parallel_blocks
from workflow_builders import block_tree, level

from pytest_taskgraph.errors import NoCaseError
from pytest_taskgraph.generation.builder import build, shuffle_declarations
from pytest_taskgraph.generation.flaws import MUTATIONS
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.model import Gateway, Task, Workflow
from pytest_taskgraph.workflow.project import every_level
from pytest_taskgraph.workflow.simplification import cost, reductions
from pytest_taskgraph.workflow.simplification.flow_draft import Chain, chains_of, every_chain
from pytest_taskgraph.workflow.simplification.workflow_shape import shape

FORK = Gateway("Fork", "parallel", "split"), Gateway("Join", "parallel", "join")


def shrunk(project: Workflow, fails: Callable[[Workflow], bool]) -> Workflow:
    """Return what is left when every smaller workflow that fails too is taken, one after the other."""
    while (smaller := next(filter(fails, reductions(project)), None)) is not None:
        project = smaller
    return project


def links(project: Workflow) -> set[str]:
    return {f"{link.source} -> {link.target}" + (f" [{link.guard}]" if link.guard else "") for link in project.links}


@settings(max_examples=8, deadline=None)
@given(workflows(recipes(max_tasks=12, max_cross_links=2)))
def test_reductions_of_any_workflow_are_smaller_sound_and_different(project: Workflow) -> None:
    candidates = list(reductions(project))
    assert len(set(candidates)) == len(candidates)
    for candidate in candidates:
        assert cost(candidate) < cost(project)
        assert problems(candidate) == ()
    halves = [abs(2 * cost(candidate) - cost(project)) for candidate in candidates]
    assert halves == sorted(halves)


@settings(max_examples=8, deadline=None)
@given(workflows(recipes(max_tasks=10, max_cross_links=2)))
def test_reductions_repeated_end_at_one_plain_task(project: Workflow) -> None:
    left = shrunk(project, lambda one: True)
    assert (len(left.tasks), left.others, left.data, left.gateways) == (1, (), (), ())
    assert left.tasks == (Task(left.tasks[0].name),)


@settings(max_examples=6, deadline=None)
@given(workflows(recipes(max_tasks=10)))
def test_reductions_of_equal_workflows_are_equal(project: Workflow) -> None:
    assert list(reductions(project)) == list(reductions(project))


@settings(max_examples=8, deadline=None)
@given(workflows(recipes(max_tasks=10)))
def test_reductions_with_kept_tasks_keep_them(project: Workflow) -> None:
    names = [name for part in every_level(project) for name in part.task_names]
    kept_tasks = {names[0], names[-1]}
    candidates = list(reductions(project, kept_tasks, flow_only=True))
    for candidate in candidates:
        assert kept_tasks <= {name for part in every_level(candidate) for name in part.task_names}
        assert {task.name: task.description for task in candidate.tasks}.items() <= {
            task.name: task.description for task in project.tasks
        }.items()


EVERYTHING = frozenset({"parallel", "exclusive", "data", "descriptions", "kinds", "references", "guards", "mixed"})
DESCRIBED = frozenset({"parallel", "data", "descriptions"})
FLAWED_RECIPES = (  # one of them has a place for each mutation; large ones take long
    Recipe(8, features=DESCRIBED, vocabulary="kitchen", complete=True, goal=True),
    Recipe(8, features=DESCRIBED, vocabulary="travel", complete=True),
    Recipe(8, features=frozenset({"hierarchy", "data"})),
    Recipe(tasks=10, features=EVERYTHING, vocabulary="software_release", complete=True, goal=True),
)


@pytest.mark.parametrize("name", sorted(MUTATIONS))
def test_reductions_of_a_flawed_workflow_are_sound(name: str) -> None:
    rng = Random(name)
    for recipe in 5 * FLAWED_RECIPES:
        try:
            project = MUTATIONS[name](build(recipe, rng), rng)
        except NoCaseError:
            continue
        candidates = list(reductions(project))
        assert candidates
        assert not any(map(problems, candidates))
        return
    pytest.fail(f"{name} finds no place in these workflows")


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in (2, 3))])
def test_reductions_find_the_smallest_two_parallel_blocks(seed: int) -> None:
    recipe = Recipe(tasks=20, features=frozenset({"parallel", "exclusive", "data"}), cross_links=seed % 2)
    built = (build(recipe, Random(f"{seed}|{attempt}")) for attempt in range(50))
    project = next(workflow for workflow in built if parallel_blocks(workflow) > 1)
    left = shrunk(project, lambda workflow: parallel_blocks(workflow) > 1)
    assert parallel_blocks(left) == 2
    assert len(left.tasks) == 3  # one block in a branch of the other
    assert not left.data
    assert not any(workflow.guard for workflow in left.links)


def test_reductions_of_an_unstructured_workflow_keep_its_cross_link() -> None:
    crossed = "START -> A\nSTART -> B\nA -> C\nA -> D\nB -> D\nC -> E\nD -> E\nD -> F\nE -> G\nF -> G\nG -> H\nH -> END"
    left = shrunk(level(crossed), lambda one: block_tree(one) is None)
    assert block_tree(left) is None
    assert len(left.tasks) < 5


def test_reductions_of_a_loop_keep_body_and_way_back() -> None:
    project = level("START -> A\nA -> B\nB -> C\nC -> B [n < 3]\nC -> D [n >= 3]\nD -> END")

    def loops(one: Workflow) -> bool:
        tree = block_tree(one)
        return tree is not None and "loop" in repr(tree)

    left = shrunk(project, loops)
    assert len(left.tasks) == 1
    name = left.tasks[0].name
    assert any(link.source == name and link.target == name for link in left.links)


def test_reductions_of_a_choice_leave_a_sequence_without_guards() -> None:
    project = level("START -> A\nA -> B [n < 3]\nA -> C [n >= 3]\nB -> D\nC -> D\nD -> END")
    candidates = [links(candidate) for candidate in reductions(project)]
    assert {"START -> A", "A -> B", "B -> D", "D -> END"} in candidates
    assert {"START -> A", "A -> B", "B -> C", "C -> D", "D -> END"} in candidates


def test_reductions_of_a_task_where_branches_meet_and_part_put_gateways() -> None:
    project = level("START -> A\nSTART -> B\nA -> X\nB -> X\nX -> C\nX -> D\nC -> END\nD -> END")
    candidates = [candidate for candidate in reductions(project) if set(candidate.task_names) == {"A", "B", "C", "D"}]
    assert [parallel_blocks(candidate) for candidate in candidates] == [2]
    assert {gateway.kind for gateway in candidates[0].gateways} == {"parallel"}


def test_reductions_of_a_composite_task_open_it_or_close_it() -> None:
    inside = level("START -> X\nX -> Y\nY -> END")
    outer = level("START -> A\nA -> B\nB -> END")
    project = Workflow("W", tasks=(Task("A", subworkflow=inside), Task("B")), links=outer.links)
    candidates = list(reductions(project))
    assert {"START -> X", "X -> Y", "Y -> B", "B -> END"} in map(links, candidates)
    assert {"START -> X", "X -> Y", "Y -> END"} in map(links, candidates)
    assert any(candidate.tasks == (Task("A"), Task("B")) for candidate in candidates)


def test_chains_of_nested_blocks_are_nested() -> None:
    project = level("START -> A\nA -> Fork\nFork -> B\nFork -> C\nB -> Join\nC -> Join\nJoin -> END", *FORK)
    (chain,) = chains_of(project)
    assert [arc.node for arc in chain.arcs if arc.node] == ["START", "A", "Fork", "Join", "END"]
    (block,) = [element for element in chain.blocks if element]
    assert sorted(element.nodes for element in block.branches) == [frozenset({"B"}), frozenset({"C"})]


@settings(max_examples=8, deadline=None)
@given(workflows(recipes(max_tasks=10, max_cross_links=2)))
def test_chains_of_any_level_hold_each_connected_task_once(project: Workflow) -> None:
    chains = chains_of(project)
    held = [arc.node for chain in every_chain(chains) for arc in chain.arcs if arc.node in project.task_names]
    assert len(set(held)) == len(held)
    assert set(held) == _tasks_in(chains) & set(project.task_names)


def _tasks_in(chains: tuple[Chain, ...]) -> set[str]:
    return {name for chain in chains for name in chain.nodes}


@settings(max_examples=8, deadline=None)
@given(workflows(recipes(max_tasks=12)))
def test_shape_of_another_order_is_the_same(project: Workflow) -> None:
    assert shape(project) == shape(shuffle_declarations(project, Random(1)))


def test_shape_of_other_names_is_the_same_unless_they_count() -> None:
    first, second = level("START -> A\nA -> B\nB -> END"), level("START -> X\nX -> B\nB -> END")
    assert shape(first) == shape(second)
    assert shape(first, {"A"}) != shape(second, {"A"})
    assert shape(first) != shape(level("START -> A\nSTART -> B\nA -> END\nB -> END"))

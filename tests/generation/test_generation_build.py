"""Built workflows have what the recipe demands: all features, exactly the tasks, in blocks, in normal form."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from pathlib import Path

import bounded_process
import pytest
from canonical_form import canonical
from drawn_workflows import generate
from hypothesis import given
from hypothesis import strategies as st
from workflow_builders import block_tree

from pytest_taskgraph.errors import NoCaseError, RecipeTooSmallError
from pytest_taskgraph.generation.recipe import GUARDED, Recipe, demanded_features, least_tasks
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.generation.vocabularies import domain_names
from pytest_taskgraph.notations.plain_json import dumps
from pytest_taskgraph.workflow.check import check
from pytest_taskgraph.workflow.features import FEATURES, features
from pytest_taskgraph.workflow.graph import is_connected, shortest_cycle, starts, task_graph
from pytest_taskgraph.workflow.model import START, Workflow
from pytest_taskgraph.workflow.references import expand, levels
from pytest_taskgraph.workflow.semantics.block_structure import Block
from pytest_taskgraph.workflow.semantics.concurrency import block_after

ROOT = Path(__file__).parents[2]
SUBSETS = [*itertools.combinations(sorted(FEATURES), 1), *itertools.combinations(sorted(FEATURES), 2)]
RECIPES = recipes(max_tasks=30, vocabularies=("neutral", "kitchen", "orders"))


def count(level: Workflow) -> int:
    return sum(1 + (count(task.subworkflow) if task.subworkflow is not None else 0) for task in level.tasks)


def holds_what_is_demanded(recipe: Recipe, workflow: Workflow) -> bool:
    """Exactly that, but that guards without an operator of their own draw one."""
    present, demanded = features(workflow), demanded_features(recipe)
    if "guards" in recipe.features and not recipe.features.intersection(GUARDED):
        further = (demanded_features(Recipe(features=frozenset({name}))) for name in GUARDED)
        return demanded < present <= demanded.union(*further)
    return present == demanded


@pytest.mark.parametrize("subset", SUBSETS, ids="-".join)
def test_build_any_pair_of_features_has_them(subset: tuple[str, ...]) -> None:
    demanded = frozenset(subset)
    least = least_tasks(Recipe(features=demanded))
    for tasks in (least, least + 1, 12, 200):
        recipe = Recipe(tasks=tasks, features=demanded)
        assert holds_what_is_demanded(recipe, generate(recipe, "-".join(subset)))


@given(st.data(), RECIPES)
def test_build_has_exactly_demanded_features(data: st.DataObject, recipe: Recipe) -> None:
    assert holds_what_is_demanded(recipe, data.draw(workflows(recipe)))


@given(recipes(max_tasks=200, max_cross_links=5), st.integers())
def test_build_any_size_has_exact_tasks_and_is_well_formed(recipe: Recipe, seed: int) -> None:
    workflow = generate(recipe, seed)
    assert count(expand(workflow)) == recipe.tasks
    check(workflow)


@given(st.data(), RECIPES)
def test_build_levels_are_blocks_within_width_and_depth(data: st.DataObject, recipe: Recipe) -> None:
    for _, level in levels(expand(data.draw(workflows(recipe)))):
        tree = block_tree(level)
        assert tree is not None
        assert depth(tree) <= recipe.depth
        assert width(tree) <= recipe.width


def depth(block: Block) -> int:
    return (block.kind not in ("task", "sequence")) + max(map(depth, block.children), default=0)


def width(block: Block) -> int:
    own = len(block.children) if block.kind in ("parallel", "exclusive", "inclusive") else 0
    return max([own, *map(width, block.children)])


@given(st.data(), recipes(max_tasks=30, max_cross_links=4))
def test_build_result_is_in_normal_form(data: st.DataObject, recipe: Recipe) -> None:
    workflow = expand(data.draw(workflows(recipe)))
    same = dict(levels(canonical(workflow)))
    for path, level in levels(workflow):
        assert len(level.links) == len(same[path].links)
        assert len(level.gateways) == len(same[path].gateways)
        assert {gateway.kind for gateway in level.gateways} <= {"parallel"}
        assert {link.source for link in level.links if link.guard is not None} <= set(level.task_names)


@given(st.data(), recipes(max_tasks=30, features=["parallel"]))
def test_build_fork_follows_a_task(data: st.DataObject, recipe: Recipe) -> None:
    for _, level in levels(expand(data.draw(workflows(recipe)))):
        forks = {gateway.name for gateway in level.gateways if gateway.role == "split"}
        assert all(link.source in level.task_names for link in level.links if link.target in forks)
        assert len([link for link in level.links if link.source == START]) == len(starts(level)) == 1


OPERATOR_FEATURES = {
    "parallel": "parallel block", "exclusive": "exclusive choice", "inclusive": "inclusive choice", "loop": "loop",
}  # fmt: skip


@given(st.data(), recipes(max_tasks=30, features=["parallel"], among=OPERATOR_FEATURES))
def test_build_demanded_operator_follows_a_task(data: st.DataObject, recipe: Recipe) -> None:
    workflow = data.draw(workflows(recipe))
    for feature in sorted(recipe.features):
        assert any(block_after(workflow, task, OPERATOR_FEATURES[feature]) for task in workflow.task_names)


@given(st.data(), st.integers(1, 6))
def test_cross_links_are_new_forward_links(data: st.DataObject, links: int) -> None:
    blocks = recipes(max_tasks=25, features=["parallel"], among=["exclusive", "inclusive", "hierarchy"])
    recipe = data.draw(blocks)
    recipe = Recipe(recipe.tasks + 5, recipe.width, recipe.depth, recipe.features, cross_links=links)
    workflow = data.draw(workflows(recipe))
    assert not shortest_cycle(workflow)
    assert is_connected(workflow)
    direct = [(link.source, link.target) for link in workflow.links]
    assert len(set(direct)) == len(direct)
    unguarded = [link.source for link in workflow.links if link.guard is None and link.source in workflow.task_names]
    extra = len(unguarded) - len(set(unguarded))
    assert extra == links


def test_cross_links_break_the_blocks() -> None:
    recipe = Recipe(tasks=14, features=frozenset({"parallel"}), cross_links=4)
    assert any(block_tree(generate(recipe, seed)) is None for seed in range(10))


def test_build_declaration_order_does_not_reveal_flow() -> None:
    chain = generate(Recipe(tasks=40), 1)
    graph = task_graph(chain)
    order = list(starts(chain))
    while after := graph[order[-1]]:
        order.extend(after)
    assert sorted(order) == sorted(chain.task_names)
    assert order != list(chain.task_names)
    assert order != sorted(order, key=lambda name: int(name.removeprefix("Task")))


def test_build_without_demands_is_chain() -> None:
    workflow = generate(Recipe(tasks=9), 3)
    assert features(workflow) == frozenset()
    assert all(len(after) <= 1 for after in task_graph(workflow).values())


PROGRAM = """
import hashlib
from random import Random
from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.workflow.semantics.concurrency import block_after
from pytest_taskgraph.workflow.features import FEATURES
for size in (20, 60):
    whole = build(Recipe(tasks=size, features=FEATURES, cross_links=2), Random(7))
    print(hashlib.sha256(repr(whole).encode()).hexdigest())
for size in (12, 30):
    features = frozenset({"parallel", "data", "hierarchy"})
    whole = build(Recipe(tasks=size, features=features, vocabulary="kitchen"), Random(7))
    print(hashlib.sha256(repr(whole).encode()).hexdigest())
"""


def test_generate_same_seed_is_equal_in_any_process() -> None:
    texts = [
        bounded_process.run(
            [sys.executable, "-c", PROGRAM], env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1]
    assert len(set(texts[0].split())) == 4


def test_generate_other_seed_differs() -> None:
    recipe = Recipe(tasks=12, features=frozenset({"parallel", "data"}))
    assert len({generate(recipe, seed).links for seed in range(20)}) == 20


PINNED_FEATURES = (
    *(
        "",
        "parallel exclusive data",
        "loop inclusive",
        "hierarchy bindings data",
        "references exclusive",
        "mixed guards",
    ),
    *("derivation", "effects domains parameters descriptions"),
)


def pinned_recipes() -> Iterator[Recipe]:
    """Recipes of every kind of level, with neutral names and with those of domains."""
    words = ["neutral", *domain_names()]
    for wanted, tasks, vocabulary, misleading in product(PINNED_FEATURES, (7, 12, 25), words, (False, True)):
        yield Recipe(
            tasks=tasks,
            features=frozenset(wanted.split()),
            vocabulary=vocabulary,
            misleading=misleading and vocabulary != "neutral",
        )


def test_workflows_of_recipe_and_seed_stay_what_they_are() -> None:
    """Other workflows would change the prompts of all questions: that takes a new major version."""
    written = sha256()
    for recipe in pinned_recipes():
        try:
            written.update(dumps(generate(recipe, "pinned")).encode())
        except (NoCaseError, RecipeTooSmallError) as error:
            written.update(type(error).__name__.encode())
    assert written.hexdigest() == "01fda71460b8c875ef06532e27ea77529e74ad0ef6a395e8c7c42ba085fd60a2"

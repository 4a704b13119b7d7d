from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import networkx as nx
import pytest

from pytest_taskgraph.families.understanding.patterns.behaviour.task_order import (
    determine_order,
    order_of_many,
    order_of_two,
)
from pytest_taskgraph.families.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.families.understanding.patterns.scope import cases, scopes
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.workflow.graph import shortest_cycle, task_graph
from pytest_taskgraph.workflow.model import END, START, Effect, Link, Task, Workflow

PATTERNS = (order_of_two, order_of_many, determine_order)


def level(*chains: str, guard: str | None = None) -> Workflow:
    """Return a workflow of chains "A B C"; the last link of the last chain has the guard."""
    pairs = [pair for chain in chains for pair in pairwise(chain.split())]
    links = tuple(Link(a, b, guard if i == len(pairs) - 1 else None) for i, (a, b) in enumerate(pairs))
    names = dict.fromkeys(name for pair in pairs for name in pair if name not in ("START", "END"))
    return Workflow("Soup", tasks=tuple(map(Task, names)), links=links)


COOK = level("START Wash Chop Mix Serve END", "Wash Boil Salt Mix")


def before(workflow: Workflow) -> set[tuple[str, str]]:
    graph = nx.DiGraph([(a, b) for a, after in task_graph(workflow).items() for b in after])
    return {(a, b) for a in graph for b in nx.descendants(graph, a)}


def draw_cases(pattern: Pattern) -> list[tuple[Workflow, Case]]:
    projects = [draw(pattern, 12, 5, ordinal).project for ordinal in range(6)]
    return [
        (scope.workflow, case) for project in projects for scope in scopes(project) for case in cases(pattern, scope)
    ]


def sequence(case: Case) -> list[str]:
    return [name.strip("'") for name in str(case.fields["listed"]).split(", ")]


def test_order_of_two_equals_paths_in_both_directions() -> None:
    answers = {(case.fields["a"], case.fields["b"]): case.answer for case in order_of_two.cases(COOK)}
    assert answers["Wash", "Serve"] == "yes"
    assert answers["Salt", "Boil"] == "no"
    assert ("Chop", "Salt") not in answers
    for workflow, case in draw_cases(order_of_two):
        a, b = case.fields["a"], case.fields["b"]
        assert ((a, b) if case.answer == "yes" else (b, a)) in before(workflow)


def test_order_of_many_negative_has_one_reversed_pair() -> None:
    for workflow, case in draw_cases(order_of_many):
        if shortest_cycle(workflow):
            continue
        tasks, paths = sequence(case), before(workflow)
        assert len(set(tasks)) == len(tasks) in (3, 4, 5)
        assert sum((b, a) in paths for a, b in combinations(tasks, 2)) == (0 if case.answer == "yes" else 1)


def loop_workflow(step: str) -> Workflow:
    """Return a workflow in which Stir and Taste repeat until n is 5; Stir changes n by the step."""
    links = [(START, "Boil"), ("Boil", "Stir"), ("Stir", "Taste"), ("Serve", END)]
    guarded = [Link("Taste", "Stir", "n < 5"), Link("Taste", "Serve", "otherwise")]
    tasks = (Task("Boil"), Task("Stir", effects=(Effect("n", f"n {step}"),)), Task("Taste"), Task("Serve"))
    return Workflow("Soup", tasks=tasks, links=(*(Link(a, b) for a, b in links), *guarded))


def test_order_of_many_repeated_tasks_in_either_order() -> None:
    answers = {tuple(sequence(case)): case.answer for case in order_of_many.cases(loop_workflow("+ 1"))}
    assert answers["Boil", "Taste", "Stir"] == answers["Boil", "Stir", "Taste"] == "yes"
    assert answers["Stir", "Serve", "Taste"] == answers["Stir", "Boil", "Taste"] == "no"


def test_order_of_many_endless_loop_has_no_answer() -> None:
    sequences = {tuple(sequence(case)) for case in order_of_many.cases(loop_workflow("- 1"))}
    assert ("Boil", "Stir", "Taste") in sequences
    assert ("Boil", "Taste", "Stir") not in sequences


def test_order_of_many_unordered_tasks_in_both_orders() -> None:
    answers = {tuple(sequence(case)): case.answer for case in order_of_many.cases(COOK)}
    assert answers["Wash", "Chop", "Salt"] == answers["Wash", "Boil", "Salt"] == "yes"
    assert answers["Wash", "Salt", "Chop"] == "yes"
    assert answers["Wash", "Salt", "Boil"] == "no"


def test_determine_order_reference_equals_paths() -> None:
    for workflow, case in draw_cases(determine_order):
        reference: Any = case.answer
        names = reference["tasks"]
        assert names == sorted(workflow.task_names)
        graph = nx.DiGraph([(names[i], names[j]) for i, j in reference["before"]])
        assert {(a, b) for a in graph for b in nx.descendants(graph, a)} == before(workflow)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_order_patterns_guard_or_cycle_left_out(pattern: Pattern) -> None:
    assert not list(pattern.cases(level("START A B C D E END", "A C", guard="n = 1")))
    assert not list(pattern.cases(level("START A B C D E END", "C B")))


def test_determine_order_too_wide_left_out() -> None:
    wide = level(*(f"START T{i} END" for i in range(30)))
    assert not list(determine_order.cases(wide))

"""Which tasks of a domain are out of order: an oracle for what generation keeps and flaws break.

The order relation is read from the TOML files. What may run before what is found by walking the control flow of the
expanded workflow: a pair is out of order if some way, or a fork, lets the later task run before the earlier one.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any

import networkx as nx

from pytest_taskgraph.generation import vocabularies
from pytest_taskgraph.workflow.guards.solver import exclusive
from pytest_taskgraph.workflow.model import END, OTHERWISE, START, Workflow
from pytest_taskgraph.workflow.references import expand

Pair = tuple[str, str]


@cache
def order(domain: str) -> frozenset[Pair]:
    """Return all pairs of which the first comes before the second."""
    tasks = _file(domain)["tasks"]
    free = {(other, task["name"]) for task in tasks for other in task["free"]}
    return frozenset(pair for pair in combinations([task["name"] for task in tasks], 2) if pair not in free)


def out_of_order(project: Workflow) -> list[Pair]:
    """Return the pairs of the order relation of which the second can run before the first."""
    graph, together = _flat(expand(project))
    return sorted(
        (early, late)
        for early, late in order(project.package)
        if early in graph and late in graph and not nx.has_path(graph, early, late)
        and (nx.has_path(graph, late, early) or frozenset((early, late)) in together)
    )  # fmt: skip


def ordered_pairs(project: Workflow) -> tuple[set[Pair], set[Pair]]:
    """Return the pairs of the order relation that ways put in this order, and in the other."""
    graph, _ = _flat(expand(project))
    pairs = [(a, b) for a, b in order(project.package) if a in graph and b in graph]
    return {p for p in pairs if nx.has_path(graph, *p)}, {p for p in pairs if nx.has_path(graph, p[1], p[0])}


def _flat(project: Workflow) -> tuple[nx.DiGraph[str], set[frozenset[str]]]:
    """Return the control flow of all levels without ways back, and the pairs without a way that may both run."""
    whole: nx.DiGraph[str] = nx.DiGraph()
    together: set[frozenset[str]] = set()
    _add(project, "", whole, together)
    return whole, together


def _add(level: Workflow, prefix: str, whole: nx.DiGraph[str], together: set[frozenset[str]]) -> list[str]:
    """Add a level: a composite task is its beginning, its inside and its end. Return the atomic tasks in it."""
    flow: nx.DiGraph[str] = nx.DiGraph()
    flow.add_nodes_from([START, END, *level.task_names])
    flow.add_edges_from((link.source, link.target) for link in level.links)
    _cut_ways_back(flow)
    held: dict[str, list[str]] = {}
    for task in level.tasks:
        begin, end = f"{prefix}{task.name}/begin", f"{prefix}{task.name}/end"
        whole.add_edge(begin, end)
        if task.subworkflow is None:
            held[task.name] = [task.name]
            whole.add_edges_from([(begin, task.name), (task.name, end)])
        else:
            held[task.name] = _add(task.subworkflow, f"{prefix}{task.name}/", whole, together)
            whole.add_edges_from((begin, name) for name in held[task.name])
            whole.add_edges_from((name, end) for name in held[task.name])
    closure = nx.transitive_closure(flow)
    for a_task, b_task in combinations(level.task_names, 2):
        for before, after in ((a_task, b_task), (b_task, a_task)):
            if closure.has_edge(before, after):
                whole.add_edge(f"{prefix}{before}/end", f"{prefix}{after}/begin")
        if not (closure.has_edge(a_task, b_task) or closure.has_edge(b_task, a_task)) and _both_may_run(
            level, flow, a_task, b_task
        ):
            together.update(frozenset((a, b)) for a in held[a_task] for b in held[b_task])
    return [name for names in held.values() for name in names]


def _cut_ways_back(flow: nx.DiGraph[str]) -> None:
    """Remove the links that lead back to a node that every way from START to their source passes."""
    dominators = nx.immediate_dominators(flow, START)

    def above(node: str, other: str) -> bool:
        while node is not None and node != dominators.get(node, node):
            if node == other:
                return True
            node = dominators[node]
        return node == other

    flow.remove_edges_from([(a, b) for a, b in list(flow.edges) if b != START and above(a, b)])


def _both_may_run(level: Workflow, flow: nx.DiGraph[str], first: str, second: str) -> bool:
    """Return True unless the ways to the two tasks, which no way joins, part at a choice of exactly one branch.

    The node where their ways part is the nearest that all ways to both pass. It is an exclusive choice if all its
    links have guards and, as generated ones do, no two hold together.
    """
    above = [set(nx.ancestors(flow, task)) for task in (first, second)]
    dominators = nx.immediate_dominators(flow, START)
    node, chain = first, []
    while node != START:
        node = dominators[node]
        chain.append(node)
    node = second
    while node not in chain:
        node = dominators[node]
    assert node in above[0] & above[1]
    guards = [link.guard for link in level.links if link.source == node]
    if any(guard is None for guard in guards):
        return True
    if any(len(set(guards)) == len(guards) and set(guards) <= {*sides, OTHERWISE} for sides in condition_texts()):
        return False
    return exclusive([guard for guard in guards if guard is not None], level.parameters) is not True


@cache
def condition_texts() -> frozenset[tuple[str, str]]:
    """Return what is said of each condition of a domain if it holds and if it does not."""
    domains = (name for name in vocabularies.vocabulary_names() if name != "neutral")
    return frozenset((row["holds"], row["fails"]) for domain in domains for row in _file(domain)["conditions"])


@cache
def _file(domain: str) -> dict[str, Any]:
    return tomllib.loads(files(vocabularies).joinpath(f"{domain}.toml").read_text(encoding="utf-8"))

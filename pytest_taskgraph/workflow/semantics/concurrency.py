"""Regions of the control flow, and what can run in parallel in them. Answers are exact, or None.

Unlike the block structure (`block_structure.py`), they exist for any level. They rest on dominators: the nodes that all
paths from START to a node pass, and on post-dominators, the nodes that all paths from it to END pass.

Two tasks can run in parallel if some run holds both and neither must come before the other
(docs/explanation/patterns.md). `runs.py` computes the runs, and which guards can hold in the same run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from ...errors import UnknownNameError
from ..graph import cyclic_components, digraph, reachable_from, shortest_cycle
from ..model import END, START, Workflow
from .control_flow import ControlFlow
from .runs import Runs

if TYPE_CHECKING:
    import networkx as nx


class Regions:
    """The nodes between a node and its immediate post-dominator, where all ways out of it meet again."""

    def __init__(self, flow: ControlFlow) -> None:
        self.flow = flow
        self.after = {node: [link.target for link in links] for node, links in flow.out.items()}
        self.before = {node: [link.source for link in links] for node, links in flow.into.items()}
        self.graph = digraph(self.after)
        self.openers = Dominators(self.graph, START)
        self.closers = Dominators(self.graph.reverse(copy=False), END)

    def end(self, node: str) -> str | None:
        """Return the node where all ways out of the node meet again; None for END or if END cannot be reached."""
        return self.closers.nearest(node)

    def repeats(self, node: str) -> bool:
        """Return True if a way out of the node comes back to it before all ways meet, as where a loop repeats."""
        return node in reachable_from(self.after, self.after[node], self.end(node))

    def inside(self, node: str) -> frozenset[str] | None:
        """Return the nodes up to where the ways meet; None if ways lead back, in from elsewhere, or nowhere."""
        end = self.end(node)
        nodes = reachable_from(self.after, self.after[node], end)
        entered = all(self.closers.contains(inner) and self.openers.passes(inner, node) for inner in nodes)
        return None if end is None or node in nodes or not entered else nodes

    def fork(self, node: str) -> frozenset[str] | None:
        """Return the nodes between a fork and its join; None if no branches are separate or one may skip the join."""
        nodes, end = self.inside(node), self.end(node)
        heads = sorted(set(self.after[node]) - {end or END})
        ahead = {head: reachable_from(self.after, [head], end) for head in heads}
        branches_apart = any(a not in ahead[b] and b not in ahead[a] for a, b in combinations(heads, 2))
        if nodes is None or not branches_apart:
            return None
        passing = any(self.flow.split(inner) not in ("", "parallel") and self.end(inner) == end for inner in nodes)
        return None if passing and frozenset.intersection(*ahead.values()) else nodes

    def head(self, task: str) -> str:
        """Return the node that splits right after a task: the task, or a gateway that only the task leads to."""
        node = task
        while [link.guard for link in self.flow.out[node]] == [None]:
            after = self.after[node][0]
            if after not in self.flow.gateways or len(self.before[after]) != 1:
                break
            node = after
        return node

    def loop_after(self, task: str) -> frozenset[str] | None:
        """Return the nodes of the only loop whose single entry only this task leads to, through gateways.

        None if there is no such loop, or if several decisions lead back to the entry: these may be several loops.
        """
        loops = [loop for loop in self.loops if task not in loop and self._leading_to(loop) == {task}]
        return loops[0] if len(loops) == 1 else None

    @cached_property
    def loops(self) -> list[frozenset[str]]:
        """Return the nodes of every loop; an inner loop is part of the outer one."""
        return cyclic_components(self.graph)

    def _leading_to(self, loop: frozenset[str]) -> set[str]:
        """Return the tasks and START from which the loop is entered; none if it may be several loops."""
        entries = [node for node in loop if not loop.issuperset(self.before[node])]
        if len(entries) != 1:
            return set()
        splits = [node for node in loop if self.flow.split(node)]
        again = [node for node in splits if entries[0] in reachable_from(self.after, self.after[node], self.end(node))]
        waiting = [node for node in self.before[entries[0]] if node not in loop]
        for node in waiting:
            waiting += [source for source in self.before[node] if node in self.flow.gateways and source not in waiting]
        return {node for node in waiting if node not in self.flow.gateways} if len(again) <= 1 else set()


class Dominators:
    """For every node that the root leads to, the nodes on all paths to it, itself included; as bits."""

    def __init__(self, graph: nx.DiGraph[str], root: str) -> None:
        import networkx as nx

        dominators = nx.immediate_dominators(graph, root)
        self.above = {
            node: above for node, above in dominators.items() if node != root
        }  # networkx 3.5 has the root too
        self.bits = {node: 1 << i for i, node in enumerate([root, *self.above])}
        self.passed = {root: self.bits[root]}
        for first in self.above:
            waiting, node = [], first
            while node not in self.passed:
                waiting.append(node)
                node = self.above[node]
            for lower in reversed(waiting):  # each after the one above it
                self.passed[lower] = self.bits[lower] | self.passed[self.above[lower]]

    def contains(self, node: str) -> bool:
        """Return True if the root leads to the node."""
        return node in self.bits

    def passes(self, node: str, other: str) -> bool:
        """Return True if all paths to a node pass another; False for a node that the root does not lead to."""
        return bool(self.passed.get(node, 0) & self.bits.get(other, 0))

    def nearest(self, node: str) -> str | None:
        """Return the last other node on all paths to a node; None for the root and where the root does not lead."""
        return self.above.get(node)


@lru_cache(maxsize=128)
def regions_of(level: Workflow) -> Regions:
    """Return the regions of a level. Not to be changed."""
    return Regions(ControlFlow(level))


OPERATORS = ("parallel block", "exclusive choice", "inclusive choice", "loop")
_UNDECIDED = ("choice", "mixed", "unclear")


def can_run_in_parallel(level: Workflow, a: str, b: str) -> bool | None:
    """Return True if some run holds both tasks with neither having to come before the other; None if undecided.

    No task is parallel to itself. Undecided too if START does not lead to a task.

    Raises:
        UnknownNameError: if a task is not in the level.
    """
    for name in (a, b):
        _check_task_name(level, name)
    return _runs(level).parallel(a, b)


def parallel_pairs(level: Workflow, tasks: Sequence[str] | None = None) -> dict[tuple[str, str], bool | None]:
    """Return `can_run_in_parallel` for all pairs of some tasks, or of all tasks, each pair once, in their order."""
    runs = _runs(level)
    return {(a, b): runs.parallel(a, b) for a, b in combinations(level.task_names if tasks is None else tasks, 2)}


def parallel_to(level: Workflow, task: str) -> tuple[str, ...] | None:
    """Return the tasks that can run in parallel with a task; None if that is undecided for any task.

    Raises:
        UnknownNameError: if the task is not in the level.
    """
    _check_task_name(level, task)
    runs = _runs(level)
    answers = {other: runs.parallel(task, other) for other in level.task_names}
    return None if None in answers.values() else tuple(name for name, answer in answers.items() if answer)


def parallel_blocks(level: Workflow) -> tuple[tuple[str, ...], ...] | None:
    """Return the tasks of every outermost fork, at any nesting inside it; () if nothing forks.

    A block ends where all its branches meet again, at the latest at END. None if a block has no clear end, if links
    merely bypass tasks that run anyway, or if guarded and unguarded links leave one task. A fork of gateways alone is
    no block.
    """
    regions = regions_of(level)
    splits = {node: regions.flow.split(node) for node in regions.flow.nodes}
    forks = {node: regions.fork(node) for node, kind in splits.items() if kind == "parallel"}
    inside = {name for nodes in forks.values() for name in nodes or ()}
    outermost = [nodes for node, nodes in forks.items() if node not in inside]
    loose = any(kind in ("mixed", "unclear") and node not in inside for node, kind in splits.items())
    if loose or None in outermost:
        return None
    blocks = [_in_order_of_declaration(level, nodes or ()) for nodes in outermost]
    return tuple(sorted(filter(None, blocks), key=lambda block: level.task_names.index(block[0])))


def block_after(level: Workflow, task: str, operator: str) -> tuple[str, ...] | None:
    """Return the tasks of the fork, choice or loop that starts right after a task, at any nesting; None if unclear.

    The tasks of a fork or choice are those strictly between the task and where the branches meet again; those of a
    loop, which only the task may lead to, are all that can be repeated with its first task. A decision to repeat or
    leave a loop is not a choice here.

    Args:
        level: The level.
        task: The task before the block.
        operator: One of OPERATORS.

    Raises:
        UnknownNameError: if the task is not in the level, or the operator is unknown.
    """
    _check_task_name(level, task)
    if operator not in OPERATORS:
        raise UnknownNameError("operator", operator, OPERATORS)
    regions = regions_of(level)
    if operator == "loop":
        return _in_order_of_declaration(level, regions.loop_after(task) or ()) or None
    head = regions.head(task)
    if regions.flow.split(head) != operator.split()[0]:
        return None
    nodes = regions.fork(head) if operator == "parallel block" else regions.inside(head)
    return _in_order_of_declaration(level, nodes or ()) or None


def operators(level: Workflow) -> dict[str, bool | None]:
    """Return, for each of OPERATORS, whether the level contains it; None if that has two readings.

    So it is for an exclusive choice if the only one repeats or leaves a loop, and for both choices if guards leave the
    kind open, if a guarded link leaves a task alone, or if it stands beside an unguarded link.
    """
    regions = regions_of(level)
    answers_by_operator: dict[str, set[bool | None]] = {operator: {False} for operator in OPERATORS}
    for node in regions.flow.nodes:
        kind = regions.flow.split(node)
        plain = len(set(regions.after[node])) > 1 and not regions.repeats(node)
        single = not kind and any(link.guard is not None for link in regions.flow.out[node])
        for choice in ("exclusive", "inclusive"):
            if kind == choice or kind in _UNDECIDED or single:
                answers_by_operator[f"{choice} choice"].add(True if plain and kind == choice else None)
        if kind in ("parallel", "mixed", "unclear"):
            answers_by_operator["parallel block"].add(True if kind == "parallel" and regions.fork(node) else None)
    answers_by_operator["loop"].add(bool(shortest_cycle(level)))
    return {
        name: True if True in answers else None if None in answers else False
        for name, answers in answers_by_operator.items()
    }


def _check_task_name(level: Workflow, task: str) -> None:
    if task not in level.task_names:
        raise UnknownNameError(f"task of {level.name!r}", task, level.task_names)


def _in_order_of_declaration(level: Workflow, names: Iterable[str]) -> tuple[str, ...]:
    among = set(names)
    return tuple(task for task in level.task_names if task in among)


@lru_cache(maxsize=128)
def _runs(level: Workflow) -> Runs:
    return Runs(level)

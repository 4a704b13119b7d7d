"""Regions of the control flow, and what can run in parallel in them. Exact, or None.

Unlike the block structure (`blocks.py`), they are told of any level. They rest on dominators: the nodes that all paths
from START to a node pass, and on post-dominators, the nodes that all paths from it to END pass.

Two tasks can run in parallel if some run holds both and neither must come before the other (specs/patterns.md,
"Words"); how that is found: `runs.py`, and which guards can hold in one run: `joint_choices.py`. Where forks, choices
and loops begin and end: `regions.py`.
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
    """What lies between a node and the place where all ways out of it meet again (its immediate post-dominator)."""

    def __init__(self, flow: ControlFlow) -> None:
        self.flow = flow
        self.after = {node: [link.target for link in links] for node, links in flow.out.items()}
        self.before = {node: [link.source for link in links] for node, links in flow.into.items()}
        self.graph = digraph(self.after)
        self.openers = Dominators(self.graph, START)
        self.closers = Dominators(self.graph.reverse(copy=False), END)

    def end(self, node: str) -> str | None:
        """Where all ways out of the node meet again; None where END cannot be reached, or the node is END."""
        return self.closers.nearest(node)

    def repeats(self, node: str) -> bool:
        """Whether a way out of the node comes back to it before all of them meet: it repeats or leaves a loop."""
        return node in reachable_from(self.after, self.after[node], self.end(node))

    def inside(self, node: str) -> frozenset[str] | None:
        """The nodes up to where its ways meet; None where ways lead back, in from elsewhere, or nowhere."""
        end = self.end(node)
        found = reachable_from(self.after, self.after[node], end)
        entered = all(self.closers.known(one) and self.openers.passes(one, node) for one in found)
        return None if end is None or node in found or not entered else found

    def fork(self, node: str) -> frozenset[str] | None:
        """The nodes between a fork and its join; None where no two branches are apart, or one may pass the join by."""
        found, end = self.inside(node), self.end(node)
        heads = sorted(set(self.after[node]) - {end or END})
        ahead = {head: reachable_from(self.after, [head], end) for head in heads}
        apart = any(a not in ahead[b] and b not in ahead[a] for a, b in combinations(heads, 2))
        if found is None or not apart:
            return None
        passing = any(self.flow.split(one) not in ("", "parallel") and self.end(one) == end for one in found)
        return None if passing and frozenset.intersection(*ahead.values()) else found

    def head(self, task: str) -> str:
        """The node that splits right after a task: the task, or a gateway behind it to which nothing else leads."""
        node = task
        while [link.guard for link in self.flow.out[node]] == [None]:
            after = self.after[node][0]
            if after not in self.flow.gateways or len(self.before[after]) != 1:
                break
            node = after
        return node

    def loop_after(self, task: str) -> frozenset[str] | None:
        """The nodes of the one loop whose single entry only this task leads to, through gateways.

        None where there is no such loop, or several decisions lead back to the entry: these may be several loops.
        """
        found = [loop for loop in self.loops if task not in loop and self._leading_to(loop) == {task}]
        return found[0] if len(found) == 1 else None

    @cached_property
    def loops(self) -> list[frozenset[str]]:
        """The nodes of every loop; those of one inside another are of the outer one."""
        return cyclic_components(self.graph)

    def _leading_to(self, loop: frozenset[str]) -> set[str]:
        """The tasks and START from which the loop is entered; none where its entry is not one, or not of one loop."""
        entries = [node for node in loop if not loop.issuperset(self.before[node])]
        if len(entries) != 1:
            return set()
        splits = [node for node in loop if self.flow.split(node)]
        again = [one for one in splits if entries[0] in reachable_from(self.after, self.after[one], self.end(one))]
        waiting = [one for one in self.before[entries[0]] if one not in loop]
        for node in waiting:
            waiting += [one for one in self.before[node] if node in self.flow.gateways and one not in waiting]
        return {node for node in waiting if node not in self.flow.gateways} if len(again) <= 1 else set()


class Dominators:
    """For every node behind a root, the nodes that all paths from the root to it pass, itself included; as bits."""

    def __init__(self, graph: nx.DiGraph[str], root: str) -> None:
        import networkx as nx

        found = nx.immediate_dominators(graph, root)
        self.above = {node: above for node, above in found.items() if node != root}  # networkx 3.5 has the root too
        tree: nx.DiGraph[str] = nx.DiGraph((above, node) for node, above in self.above.items())
        tree.add_node(root)
        self.bits = {node: 1 << i for i, node in enumerate(tree)}
        self.passed: dict[str, int] = {}
        for node in nx.dfs_preorder_nodes(tree, root):  # each after the one above it
            self.passed[node] = self.bits[node] | (self.passed[self.above[node]] if node != root else 0)

    def known(self, node: str) -> bool:
        """Return True if the node lies behind the root."""
        return node in self.bits

    def passes(self, node: str, other: str) -> bool:
        """Return True if all paths to a node pass another; False for a node that is not behind the root."""
        return bool(self.passed.get(node, 0) & self.bits.get(other, 0))

    def nearest(self, node: str) -> str | None:
        """Return the last other node that all paths to a node pass; None for the root and for what is not behind it."""
        return self.above.get(node)


@lru_cache(maxsize=128)
def regions_of(level: Workflow) -> Regions:
    """Return the regions of a level. Not to be changed."""
    return Regions(ControlFlow(level))


OPERATORS = ("parallel block", "exclusive choice", "inclusive choice", "loop")
_UNDECIDED = ("choice", "mixed", "unclear")


def can_run_in_parallel(level: Workflow, a: str, b: str) -> bool | None:
    """Whether some run of the level holds both tasks with neither having to come before the other; None if undecided.

    No task is parallel to itself. Undecided too where a task does not lie behind START. Raises UnknownNameError.
    """
    for name in (a, b):
        _known(level, name)
    return _runs(level).parallel(a, b)


def parallel_pairs(level: Workflow, tasks: Sequence[str] | None = None) -> dict[tuple[str, str], bool | None]:
    """Return `can_run_in_parallel` for all pairs of some tasks, or of all tasks, each pair once, in their order."""
    found = _runs(level)
    return {(a, b): found.parallel(a, b) for a, b in combinations(level.task_names if tasks is None else tasks, 2)}


def parallel_to(level: Workflow, task: str) -> tuple[str, ...] | None:
    """The tasks that can run in parallel with a task; None if that is undecided of one. Raises UnknownNameError."""
    _known(level, task)
    found = _runs(level)
    answers = {other: found.parallel(task, other) for other in level.task_names}
    return None if None in answers.values() else tuple(name for name, answer in answers.items() if answer)


def parallel_blocks(level: Workflow) -> tuple[tuple[str, ...], ...] | None:
    """The tasks of every outermost fork, at any nesting inside it; () where nothing forks.

    A block ends where all its branches meet again, at the latest at END. None where one has no clear end, where links
    merely pass over tasks that run anyway, or where guarded and unguarded links leave one task.
    """
    regions = regions_of(level)
    splits = {node: regions.flow.split(node) for node in regions.flow.nodes}
    forks = {node: regions.fork(node) for node, kind in splits.items() if kind == "parallel"}
    inside = {name for found in forks.values() for name in found or ()}
    outermost = [found for node, found in forks.items() if node not in inside]
    loose = any(kind in ("mixed", "unclear") and node not in inside for node, kind in splits.items())
    if loose or None in outermost:
        return None
    blocks = [_declared(level, found or ()) for found in outermost]
    return tuple(sorted(blocks, key=lambda block: level.task_names.index(block[0])))


def block_after(level: Workflow, task: str, operator: str) -> tuple[str, ...] | None:
    """The tasks of the fork, choice or loop that starts right after a task, at any nesting; None if none clearly does.

    `operator` is one of OPERATORS. The tasks are those strictly between the task and where the branches meet again;
    those of a loop, which the task alone must lead to, are all that can be repeated with its first. A decision to
    repeat or leave a loop is no choice here. Raises UnknownNameError.
    """
    _known(level, task)
    if operator not in OPERATORS:
        raise UnknownNameError("operator", operator, OPERATORS)
    regions = regions_of(level)
    if operator == "loop":
        return _declared(level, regions.loop_after(task) or ()) or None
    head = regions.head(task)
    if regions.flow.split(head) != operator.split()[0]:
        return None
    found = regions.fork(head) if operator == "parallel block" else regions.inside(head)
    return _declared(level, found or ()) or None


def operators(level: Workflow) -> dict[str, bool | None]:
    """For each of OPERATORS, whether the level contains it; None where that can be read two ways.

    So it is for an exclusive choice if the only one repeats or leaves a loop, and for both choices if guards leave the
    kind open, if a guarded link leaves a task alone, or beside an unguarded one.
    """
    regions = regions_of(level)
    found: dict[str, set[bool | None]] = {operator: {False} for operator in OPERATORS}
    for node in regions.flow.nodes:
        kind = regions.flow.split(node)
        plain = len(set(regions.after[node])) > 1 and not regions.repeats(node)
        single = not kind and any(link.guard is not None for link in regions.flow.out[node])
        for choice in ("exclusive", "inclusive"):
            if kind == choice or kind in _UNDECIDED or single:
                found[f"{choice} choice"].add(True if plain and kind == choice else None)
        if kind in ("parallel", "mixed", "unclear"):
            found["parallel block"].add(True if kind == "parallel" and regions.fork(node) else None)
    found["loop"].add(bool(shortest_cycle(level)))
    return {name: True if True in answers else None if None in answers else False for name, answers in found.items()}


def _known(level: Workflow, task: str) -> None:
    if task not in level.task_names:
        raise UnknownNameError(f"task of {level.name!r}", task, level.task_names)


def _declared(level: Workflow, names: Iterable[str]) -> tuple[str, ...]:
    among = set(names)
    return tuple(task for task in level.task_names if task in among)


@lru_cache(maxsize=128)
def _runs(level: Workflow) -> Runs:
    return Runs(level)

"""Regions of the control flow: what lies between a split and where its ways meet again, and what a loop repeats.

Unlike the block structure (`blocks.py`), they are told of any level. They rest on dominators: the nodes that all paths
from START to a node pass, and on post-dominators, the nodes that all paths from it to END pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import combinations

from .control_flow import ControlFlow
from .graph import reached, strong_components
from .model import END, START, Workflow


class Regions:
    """What lies between a node and the place where all ways out of it meet again (its immediate post-dominator)."""

    def __init__(self, flow: ControlFlow) -> None:
        self.flow = flow
        self.after = {node: [link.target for link in links] for node, links in flow.out.items()}
        self.before = {node: [link.source for link in links] for node, links in flow.into.items()}
        self.openers = Dominators(self.after, self.before, START)
        self.closers = Dominators(self.before, self.after, END)

    def end(self, node: str) -> str | None:
        """Where all ways out of the node meet again; None where END cannot be reached, or the node is END."""
        return self.closers.nearest(node)

    def repeats(self, node: str) -> bool:
        """Whether a way out of the node comes back to it before all of them meet: it repeats or leaves a loop."""
        return node in reached(self.after, self.after[node], self.end(node))

    def inside(self, node: str) -> frozenset[str] | None:
        """The nodes up to where its ways meet; None where ways lead back, in from elsewhere, or nowhere."""
        end = self.end(node)
        found = reached(self.after, self.after[node], end)
        entered = all(self.closers.known(one) and self.openers.passes(one, node) for one in found)
        return None if end is None or node in found or not entered else found

    def fork(self, node: str) -> frozenset[str] | None:
        """The nodes between a fork and its join; None where no two branches are apart, or one may pass the join by."""
        found, end = self.inside(node), self.end(node)
        heads = sorted(set(self.after[node]) - {end or END})
        ahead = {head: reached(self.after, [head], end) for head in heads}
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
        parts = strong_components(self.after)
        return [part for part in parts if any(node in self.after[node] or len(part) > 1 for node in part)]

    def _leading_to(self, loop: frozenset[str]) -> set[str]:
        """The tasks and START from which the loop is entered; none where its entry is not one, or not of one loop."""
        entries = [node for node in loop if not loop.issuperset(self.before[node])]
        if len(entries) != 1:
            return set()
        splits = [node for node in loop if self.flow.split(node)]
        again = [one for one in splits if entries[0] in reached(self.after, self.after[one], self.end(one))]
        waiting = [one for one in self.before[entries[0]] if one not in loop]
        for node in waiting:
            waiting += [one for one in self.before[node] if node in self.flow.gateways and one not in waiting]
        return {node for node in waiting if node not in self.flow.gateways} if len(again) <= 1 else set()


class Dominators:
    """For every node behind a root, the nodes that all paths from the root to it pass, itself included; as bits."""

    def __init__(self, after: Mapping[str, list[str]], before: Mapping[str, list[str]], root: str) -> None:
        self.order = _reverse_postorder(after, root)
        self.bits = {node: 1 << i for i, node in enumerate(self.order)}
        self.passed = dict.fromkeys(self.order, (1 << len(self.order)) - 1) | {root: 1}
        changed = True
        while changed:
            changed = False
            for node in self.order[1:]:
                common = -1
                for one in before[node]:
                    common &= self.passed.get(one, -1)
                changed = changed or common | self.bits[node] != self.passed[node]
                self.passed[node] = common | self.bits[node]

    def known(self, node: str) -> bool:
        """Return True if the node lies behind the root."""
        return node in self.bits

    def passes(self, node: str, other: str) -> bool:
        """Return True if all paths to a node pass another; False for a node that is not behind the root."""
        return bool(self.passed.get(node, 0) & self.bits.get(other, 0))

    def nearest(self, node: str) -> str | None:
        """Return the last other node that all paths to a node pass; None for the root and for what is not behind it.

        In the order of the nodes, each stands behind all that it cannot do without.
        """
        strict = self.passed.get(node, 0) & ~self.bits.get(node, 0)
        return self.order[strict.bit_length() - 1] if strict else None


def _reverse_postorder(after: Mapping[str, list[str]], root: str) -> list[str]:
    """Return the nodes behind a root, each before those first reached through it."""
    found: list[str] = []
    seen = {root}
    ways = [(root, iter(after[root]))]
    while ways:
        node, further = ways[-1]
        new = next((one for one in further if one not in seen), None)
        if new is None:
            found.append(node)
            ways.pop()
        else:
            seen.add(new)
            ways.append((new, iter(after[new])))
    return found[::-1]


@lru_cache(maxsize=128)
def regions_of(level: Workflow) -> Regions:
    """Return the regions of a level. Not to be changed."""
    return Regions(ControlFlow(level))

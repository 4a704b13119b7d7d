"""Regions of the control flow: what lies between a split and where its ways meet again, and what a loop repeats.

Unlike the block structure (`blocks.py`), they are told of any level. They rest on dominators: the nodes that all paths
from START to a node pass, and on post-dominators, the nodes that all paths from it to END pass.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from ..graph import cyclic_components, digraph, reached
from ..model import END, START, Workflow
from .control_flow import ControlFlow

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
        return cyclic_components(self.graph)

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

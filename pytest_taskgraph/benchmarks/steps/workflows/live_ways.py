"""The ways through a level that are left if some of its tasks run.

An exclusive choice that every path to a task passes takes a way that leads to the task, so its other ways are dead.
Without them, more tasks are known to come before others. That decides most questions about beginnings at once, and
keeps a search from trying ways in vain.
"""

from __future__ import annotations

from collections.abc import Collection

from ....workflow.graph import digraph, reachable_from
from ....workflow.model import END, START, Link
from ....workflow.semantics.concurrency import Dominators
from ....workflow.semantics.control_flow import ControlFlow


class LiveWays:
    """The links that can be taken in a run that holds some tasks, and the order that they force.

    Args:
        flow: The control flow of a level without loops.
        wanted: The tasks that run.
    """

    def __init__(self, flow: ControlFlow, tasks: Collection[str]) -> None:
        self.flow, self.required = flow, tasks
        self.choices = [node for node in flow.nodes if flow.split(node) == "exclusive"]
        self.dead: set[Link] = set()
        self._link()
        while further := self._further():
            self.dead |= further
            self._link()

    @property
    def possible(self) -> bool:
        """Whether a path from START leads to each of the tasks."""
        return all(self.openers.contains(task) for task in self.required)

    def awaits(self, task: str, other: str) -> bool:
        """Return True if whenever one of the tasks that run does so, another node has run before it."""
        return task != other and self.openers.passes(task, other)

    def leads_to(self, node: str, task: str) -> bool:
        """Return True if whatever way is taken from a node that has run, a task runs after it."""
        return node != task and self.closers.passes(node, task)

    def _link(self) -> None:
        alive = {
            node: [link.target for link in links if link not in self.dead] for node, links in self.flow.out.items()
        }
        self.after = alive
        graph = digraph(alive)
        self.openers = Dominators(graph, START)
        self.closers = Dominators(graph.reverse(copy=False), END)

    def _further(self) -> set[Link]:
        """Return links that are found to be dead now."""
        dead_links: set[Link] = set()
        for node in self.choices:
            behind = {task for task in self.required if self.awaits(task, node)}
            for link in self.flow.out[node] if behind else ():
                if link not in self.dead and not behind <= reachable_from(self.after, [link.target]):
                    dead_links.add(link)
        return dead_links

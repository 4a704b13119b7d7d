"""The control flow of a level by node: the links into and out of it, and how the links out exclude each other."""

from __future__ import annotations

from typing import Literal

from ..guards.solver import exclusive
from ..model import END, START, Link, Parameter, Workflow

SplitKind = Literal["", "parallel", "exclusive", "inclusive", "choice", "mixed", "unclear"]


class ControlFlow:
    """The links of a level by node, and the meaning of several links out of one node."""

    def __init__(self, level: Workflow) -> None:
        self.level = level
        self.gateways = {gateway.name: gateway for gateway in level.gateways}
        self.nodes = (START, *level.task_names, *self.gateways, END)
        self.out: dict[str, list[Link]] = {node: [] for node in self.nodes}
        self.into: dict[str, list[Link]] = {node: [] for node in self.nodes}
        for link in level.links:
            if link.source in self.out and link.target in self.into:
                self.out[link.source].append(link)
                self.into[link.target].append(link)
        self._own = {task.name: task.parameters for task in level.tasks}
        self._kinds: dict[str, SplitKind] = {}

    def parameters(self, node: str) -> tuple[Parameter, ...]:
        """Return the parameters that guards of links out of the node read: those of the level, then the task's own."""
        return (*self.level.parameters, *self._own.get(node, ()))

    def chooses(self, node: str) -> bool:
        """Return True if the node is a gateway declared as an exclusive or inclusive split."""
        gateway = self.gateways.get(node)
        return gateway is not None and gateway.role == "split" and gateway.kind != "parallel"

    def takes_one(self, node: str) -> bool:
        """Return True if exactly one way out of the node is taken, also where only some ways have a guard."""
        declared = self.chooses(node) and self.gateways[node].kind == "exclusive"
        return self.split(node) == "exclusive" or (declared and any(link.guard is None for link in self.out[node]))

    def split(self, node: str) -> SplitKind:
        """Return the kind of split where the node has several links out; "" if it has not.

        Unguarded links fork; guarded ones are a choice of the kind that their guards provably make. A gateway's
        declared kind counts if the guards leave it open, but not directly after a task: there, other notations guard
        the links out of the task and the kind is lost. "mixed": guarded and unguarded links leave a task. "unclear":
        the links contradict the gateway.
        """
        if node not in self._kinds:
            self._kinds[node] = self._split(node)
        return self._kinds[node]

    def together(self, first: Link, second: Link) -> bool | None:
        """Return True if one run may take both of two links out of one node; None if that is undecided."""
        kind = self.split(first.source)
        if kind in ("parallel", "exclusive", "unclear"):
            return {"parallel": True, "exclusive": False, "unclear": None}[kind]
        if first.guard is None or second.guard is None:
            return True
        exclude_each_other = exclusive([first.guard, second.guard], self.parameters(first.source))
        if exclude_each_other is None:
            return True if kind == "inclusive" and self.trusted(first.source) else None
        return not exclude_each_other

    def trusted(self, node: str) -> bool:
        """Return True if the node is a choice whose declared kind counts: unguarded, or not directly after a task."""
        if not self.chooses(node):
            return False
        unguarded = all(link.guard is None for link in self.out[node])
        return unguarded or not any(link.source in self._own for link in self.into[node])

    def _split(self, node: str) -> SplitKind:
        guards = [link.guard for link in self.out[node] if link.guard is not None]
        gateway = self.gateways.get(node)
        if len(self.out[node]) < 2:
            return ""
        if not guards:
            return gateway.kind if gateway and self.chooses(node) else "parallel"
        if gateway and gateway.role == "split" and (len(guards) < len(self.out[node]) or not self.chooses(node)):
            return "unclear"
        if len(guards) < len(self.out[node]):
            return "mixed"
        return self._choice(node, exclusive(guards, self.parameters(node)))

    def _choice(self, node: str, exclude_each_other: bool | None) -> SplitKind:
        if not self.chooses(node):
            return "choice" if exclude_each_other is None else "exclusive" if exclude_each_other else "inclusive"
        stated = self.gateways[node].kind
        if exclude_each_other is None:
            return stated if self.trusted(node) else "choice"
        if exclude_each_other == (stated == "exclusive"):
            return stated
        return "choice" if exclude_each_other else "unclear"

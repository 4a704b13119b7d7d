"""The control flow of a level as BPMN can state it: the gateways of the workflow, and those that BPMN needs besides.

A workflow executes a task at which ways meet once, after all of them; BPMN executes it once for each token. So where
several tokens can come, an implied gateway stands before the task: a parallel one if they always come together, else an
inclusive one. Implied gateways also carry conditions where BPMN allows none: behind START, parallel gateways and joins.
They are no part of the workflow, and the reader removes them (`implied_gateways.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from ...workflow.graph import reachable, reachable_from
from ...workflow.model import END, START, Gateway, GatewayKind, Link, Workflow
from ..notation import IMPLIED
from .token_flow import Concurrency, Wire, targets_by_source
from .united_flows import united_joins

_JOIN: Final = f"{IMPLIED}join"
_SPLIT: Final = f"{IMPLIED}split"
SPLIT_OF_JOIN: Final = f"{IMPLIED}split behind a join"
"""The name of an implied gateway that shows that the gateway before it is a join."""


class ExplicitFlow:
    """The nodes and flows of a level.

    Args:
        level: The level.

    Attributes:
        gateways: The gateways by key, those of the workflow by their names; the names of the others begin with IMPLIED.
        flows: The sequence flows between START, END, tasks and gateways, by their keys.
        exceptions: For each task with exceptional links, the node to which the flow out of its error event leads.
    """

    def __init__(self, level: Workflow) -> None:
        self.gateways = {gateway.name: gateway for gateway in level.gateways}
        self.taken = {START, END, *level.task_names, *self.gateways}
        self.links = tuple(dict.fromkeys(level.links))
        self.ways: dict[str, list[Link]] = {}
        self.into: dict[str, int] = dict.fromkeys(self.taken, 0)
        for link in self.links:
            self.ways.setdefault(link.source, []).append(link)
            self.into[link.target] = self.into.get(link.target, 0) + 1
        self.flows: list[Wire] = []
        ports = {source: self._port(source) for source in (START, *level.task_names, *[*self.gateways])}
        self.flows += [Wire(ports[link.source], link.target, link.guard) for link in self.links]
        self._join_ways(level)
        self.entries: dict[int, str] = {}  # by flow: the gateway at which an exceptional way enters it
        self.exceptions: dict[str, str] = {}
        for task in level.task_names:
            if targets := [link.target for link in level.exceptional_links if link.source == task]:
                self.exceptions[task] = self._exceptional_way(task, dict.fromkeys(targets))

    def _imply(self, kind: GatewayKind, name: str, source: str = "") -> str:
        """Add an implied gateway, behind a node if one is given, and return its key."""
        number = 1
        while (key := f"{name} {number}") in self.taken:
            number += 1
        self.taken.add(key)
        self.gateways[key] = Gateway(name, kind, "join" if name == _JOIN else "split")
        if source:
            self.flows.append(Wire(source, key))
        return key

    def _port(self, source: str) -> str:
        """Return the node from which the flows out of a node of the workflow leave: itself, or an implied split.

        An implied split with conditions also has the ways without one, so that one way is always open.
        """
        ways, gateway = self.ways.get(source, []), self.gateways.get(source)
        guarded = any(link.guard is not None for link in ways)
        if gateway is None and source != START:
            return source
        if gateway is not None and gateway.role == "join":
            if self._is_seen_to_join(gateway, ways, guarded):
                return source
            return self._imply("inclusive" if guarded else "parallel", SPLIT_OF_JOIN, source)
        has_no_conditions = gateway is None or gateway.kind == "parallel"
        return self._imply("inclusive", _SPLIT, source) if guarded and has_no_conditions else source

    def _is_seen_to_join(self, gateway: Gateway, ways: list[Link], guarded: bool) -> bool:
        """Return True if the flows of a join show that it is one, or it makes no difference, and it can have them."""
        into = self.into[gateway.name]
        decides_nothing = gateway.kind == "parallel" and into == 1 and len(ways) == 1
        has_conditions = guarded and gateway.kind == "parallel"
        return len(ways) <= 1 and not has_conditions and (into > 1 or decides_nothing)

    def _join_ways(self, level: Workflow) -> None:
        """Put a join before each task, and before each split, at which several tokens can meet."""
        splits = {gateway.name for gateway in level.gateways if gateway.role == "split"}
        waiting = [node for node in (*level.task_names, *splits) if self.into[node] > 1]
        joins = {node: self._imply("inclusive", _JOIN) for node in sorted(waiting)}
        self.flows = [replace(flow, target=joins.get(flow.target, flow.target)) for flow in self.flows]
        self.flows += [Wire(join, node) for node, join in joins.items()]
        united = united_joins(self.flows, self.gateways)
        self.gateways |= {join: Gateway(_JOIN, "parallel", "join") for join in joins.values() if join in united}
        concurrency = self._concurrency()
        needless = dict[str, str]()
        for node, join in joins.items():
            if concurrency.meets(join):
                kind: GatewayKind = "parallel" if join in united else "inclusive"
            elif node in splits:
                kind = "exclusive"
            else:
                needless[join] = node
                del self.gateways[join]
                continue
            self.gateways[join] = Gateway(_JOIN, kind, "join")
        self.flows = [
            replace(flow, target=needless.get(flow.target, flow.target))
            for flow in self.flows
            if flow.source not in needless
        ]

    def _concurrency(self) -> Concurrency:
        """Return which flows can hold tokens together.

        Inclusive joins of a cycle may wait for each other, and count as waiting for nothing.
        """
        after = targets_by_source(self.flows)
        joins = [key for key, each in self.gateways.items() if (each.kind, each.role) == ("inclusive", "join")]
        repeated = [join for join in joins if join in reachable(after, join)]
        return Concurrency(self.flows, self.gateways | {join: Gateway(join, "exclusive", "join") for join in repeated})

    def _exceptional_way(self, task: str, targets: Iterable[str]) -> str:
        """Return the node to which the flow out of the error event of a task leads."""
        entries = [self._entry(task, target) for target in targets]
        if len(entries) == 1:
            return entries[0]
        split = self._imply("parallel", _SPLIT)
        self.flows += [Wire(split, entry) for entry in entries]
        return split

    def _entry(self, task: str, target: str) -> str:
        """Return the node at which an exceptional way enters: the target, or a join in front of one that would wait.

        A parallel join would wait for the exceptional way in every run. So would a split, as a gateway that joins, too.
        """
        gateway = self.gateways.get(target)
        into = [i for i, flow in enumerate(self.flows) if flow.target == target or self._enters(i, target)]
        if gateway is None or not into or (gateway.role == "join" and gateway.kind != "parallel"):
            return target
        behind = reachable_from(targets_by_source(self.flows), [task])
        chosen = next((i for i in into if self.flows[i].source in behind), into[0])
        if chosen not in self.entries:
            self.entries[chosen] = self._imply("exclusive", _JOIN)
            self.flows[chosen] = replace(self.flows[chosen], target=self.entries[chosen])
            self.flows.append(Wire(self.entries[chosen], target))
        return self.entries[chosen]

    def _enters(self, flow: int, target: str) -> bool:
        """Return True if a flow leads to a join that lets exceptional ways into the target."""
        return flow in self.entries and any(
            each.source == self.entries[flow] and each.target == target for each in self.flows
        )

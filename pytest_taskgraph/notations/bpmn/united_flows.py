"""Joins whose flows always get a token together, so that a parallel gateway is right for them.

Each flow has a cause, which decides whether and how often it gets a token: START, a condition, or a node at which flows
of several causes meet. A cause has a cause itself: that of the node whose condition it is. In runs without it, nothing
has a token of which it is the cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...workflow.model import START, Gateway
from .token_flow import Wire, by_ends


def united_joins(flows: Sequence[Wire], gateways: Mapping[str, Gateway]) -> set[str]:
    """Return the joins, and other nodes, whose flows all have the same cause."""
    causes = _Causes(flows, gateways)
    return {node for node in causes.into if causes.is_united(node)}


class _Causes:
    """The cause of each flow by its number, and of each cause its own."""

    def __init__(self, flows: Sequence[Wire], gateways: Mapping[str, Gateway]) -> None:
        self.flows, self.gateways = flows, gateways
        self.into, self.out = by_ends(flows)
        self.of_flow: dict[int, int] = {}
        self.above: list[int | None] = []
        for node in self._in_order():
            self._leave(node)

    def is_united(self, node: str) -> bool:
        """Return True if all flows into a node have the same cause."""
        causes = {self.of_flow.get(i) for i in self.into[node]}
        return len(causes) == 1 and None not in causes

    def _in_order(self) -> Iterator[str]:
        """Yield the nodes behind all that leads to them; where only cycles are left, in the order of the flows."""
        open_flows = {node: len(incoming) for node, incoming in self.into.items()}
        ready, rest, done = [START], iter(self.into), set[str]()
        while (node := ready.pop() if ready else next(rest, None)) is not None:
            if node in done:
                continue
            done.add(node)
            yield node
            for i in self.out.get(node, ()):
                target = self.flows[i].target
                open_flows[target] -= 1
                if not open_flows[target]:
                    ready.append(target)

    def _leave(self, node: str) -> None:
        """Set the causes of the flows out of a node."""
        own = self._cause(node)
        gateway = self.gateways.get(node)
        chooses = gateway is not None and gateway.role == "split" and gateway.kind != "parallel"
        for i in self.out.get(node, ()):
            is_conditional = chooses or self.flows[i].guard is not None
            self.of_flow[i] = self._new(own) if is_conditional else own

    def _cause(self, node: str) -> int:
        """Return the cause of a node: of its flows, that on which all others depend, else a new one."""
        causes = {self.of_flow.get(i) for i in self.into.get(node, ())}
        known = [cause for cause in causes if cause is not None]
        if not known or None in causes:
            return self._new(None)
        first, *others = ([*self._chain(cause)] for cause in known)
        common = next((each for each in first if all(each in chain for chain in others)), None)
        gateway = self.gateways.get(node)
        waits = gateway is not None and gateway.role == "join" and gateway.kind != "exclusive"
        if common in known and (waits or len(self.into[node]) == 1) and common is not None:
            return common
        return self._new(common)

    def _chain(self, cause: int | None) -> Iterator[int]:
        """Yield a cause, its cause, and so on."""
        while cause is not None:
            yield cause
            cause = self.above[cause]

    def _new(self, above: int | None) -> int:
        self.above.append(above)
        return len(self.above) - 1

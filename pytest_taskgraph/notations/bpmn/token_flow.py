"""Which wires of a level can hold a token at the same time, by BPMN's token semantics.

The relation is the smallest one that is closed under the steps of the tokens (Kovalyov 1992, for free-choice nets); it
may hold for more pairs than some run shows, never for fewer. Conditions count as independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from ...workflow.model import END, OTHERWISE, START

MOST_PAIRS: Final = 100_000  # of wires that are examined; beyond, everything counts as concurrent


@dataclass(frozen=True, slots=True)
class Wire:
    """A link of the control flow between START, END, activities and gateways, by their keys."""

    source: str
    target: str
    guard: str | None = None


def by_ends(wires: Sequence[Wire]) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Return the numbers of the wires into each node and of those out of it."""
    into, out = dict[str, list[int]](), dict[str, list[int]]()
    for i, wire in enumerate(wires):
        into.setdefault(wire.target, []).append(i)
        out.setdefault(wire.source, []).append(i)
    return into, out


def targets_by_source(wires: Sequence[Wire]) -> dict[str, list[str]]:
    """Return each node that wires leave, with the nodes to which they lead."""
    targets: dict[str, list[str]] = {}
    for wire in wires:
        targets.setdefault(wire.source, []).append(wire.target)
    return targets


class Gatewaylike(Protocol):
    """A gateway's kind and role."""

    @property
    def kind(self) -> str:
        """Return "parallel", "exclusive" or "inclusive"."""

    @property
    def role(self) -> str:
        """Return "split" or "join"."""


class Concurrency:
    """The relation between the wires of a level, and what follows from it.

    Args:
        wires: The wires.
        gateways: The gateways by key.
    """

    def __init__(self, wires: Sequence[Wire], gateways: Mapping[str, Gatewaylike]) -> None:
        self._relation = _Relation(wires, gateways)
        self._relation.close()

    def unjoined(self) -> list[str]:
        """Return the nodes, END and joins that wait excepted, at which several tokens can meet."""
        relation = self._relation
        waiting = {node for node in relation.gateways if relation.gate(node)[0] in ("parallel", "inclusive")}
        return [node for node in relation.into if node != END and node not in waiting and self.meets(node)]

    def meets(self, node: str) -> bool:
        """Return True if several tokens can come to a node."""
        relation = self._relation
        into = relation.into.get(node, [])
        return relation.exceeded or any(relation.beside[i] & _mask(into) for i in into)

    def any(self) -> bool:
        """Return True if any two wires can hold tokens at the same time."""
        return self._relation.exceeded or any(self._relation.beside)


class _Relation:
    """The relation, as bits: `beside[i]` are the wires that can hold a token while wire i holds another one."""

    def __init__(self, wires: Sequence[Wire], gateways: Mapping[str, Gatewaylike]) -> None:
        self.wires, self.gateways = wires, gateways
        self.into, self.out = by_ends(wires)
        self.beside = [0] * len(wires)
        self.reached = 0
        self.fired: set[str] = set()  # parallel joins that can fire
        self.entered: list[int] = []  # wires that have been reached, whose nodes have not been left yet
        self.waiting: list[tuple[int, int]] = []  # pairs whose consequences are not drawn yet
        self.pairs = 0
        self.ahead = {node: self._ahead(node) for node in gateways if self.gate(node) == ("inclusive", "join")}

    @property
    def exceeded(self) -> bool:
        """Return True if there are too many pairs."""
        return self.pairs > MOST_PAIRS

    def close(self) -> None:
        """Draw all consequences."""
        self._leave(START)
        while (self.entered or self.waiting) and not self.exceeded:
            if self.entered:
                self._reach(self.entered.pop())
                continue
            x, p = self.waiting.pop()
            node = self.wires[p].target
            if self.gate(node) == ("parallel", "join"):
                self._fire(node)
                if node not in self.fired or _mask(self.into[node]) & ~self.beside[x]:
                    continue
            elif node in self.ahead and self.ahead[node] >> x & 1:
                continue
            for after in self.out.get(node, ()):
                self._relate(x, after)

    def gate(self, node: str) -> tuple[str, str]:
        """Return kind and role of a gateway, ("", "") for any other node."""
        gateway = self.gateways.get(node)
        return (gateway.kind, gateway.role) if gateway is not None else ("", "")

    def _reach(self, wire: int) -> None:
        node = self.wires[wire].target
        if self.gate(node) == ("parallel", "join"):
            self._fire(node)
        elif node != END:
            self._leave(node)

    def _fire(self, node: str) -> None:
        """Let a parallel join fire once its wires can hold tokens together."""
        into = self.into[node]
        together = all(self.beside[i] >> j & 1 for i in into for j in into if i != j)
        if node not in self.fired and together and not _mask(into) & ~self.reached:
            self.fired.add(node)
            self._leave(node)
            for x in (x for x, beside in enumerate(self.beside) if not _mask(into) & ~beside):
                for after in self.out.get(node, ()):
                    self._relate(x, after)

    def _leave(self, node: str) -> None:
        """Put tokens on the wires out of a node."""
        out = self.out.get(node, ())
        self.entered += [i for i in out if not self.reached >> i & 1]
        self.reached |= _mask(out)
        if self.gate(node)[0] == "exclusive":
            return
        if len(out) ** 2 > MOST_PAIRS:
            self.pairs = MOST_PAIRS + 1
            return
        for i in out:
            for j in out:
                if i < j and (self.wires[i].guard is None or self.wires[j].guard is None or not self._apart(i, j)):
                    self._relate(i, j)

    def _apart(self, i: int, j: int) -> bool:
        """Return True if one of two conditions is `otherwise`, which holds if the other does not."""
        return (self.wires[i].guard == OTHERWISE) != (self.wires[j].guard == OTHERWISE)

    def _relate(self, x: int, y: int) -> None:
        if not self.beside[x] >> y & 1 and not self.exceeded:
            self.pairs += 1
            self.beside[x] |= 1 << y
            self.beside[y] |= 1 << x
            self.waiting += [(x, y), (y, x)] if x != y else [(x, y)]

    def _ahead(self, node: str) -> int:
        """Return the wires from which a token can still come to a node that it has not passed, as bits."""
        waiting, found = [*self.into.get(node, ())], 0
        while waiting:
            i = waiting.pop()
            if not found >> i & 1:
                found |= 1 << i
                if self.wires[i].source != node:
                    waiting += self.into.get(self.wires[i].source, [])
        return found


def _mask(wires: Iterable[int]) -> int:
    mask = 0
    for i in wires:
        mask |= 1 << i
    return mask

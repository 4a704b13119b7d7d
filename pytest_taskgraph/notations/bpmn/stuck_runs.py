"""Where runs of a level can get stuck: joins that wait for a token which does not come.

The markings are explored node by node: only the ways out of one node that can go on are tried at a time, which loses no
marking in which nothing can go on (Valmari 1991). An inclusive join goes on once nothing else can.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Final

from ...workflow.graph import reachable
from ...workflow.model import END, OTHERWISE, START
from .token_flow import Gatewaylike, Wire, by_ends, targets_by_source

MOST_WORK: Final = 5_000_000  # markings times wires
MOST_COMBINED: Final = 5  # conditional ways of which all combinations are tried

Marking = frozenset[int]  # the wires that hold a token


def stuck_joins(wires: Sequence[Wire], gateways: Mapping[str, Gatewaylike]) -> frozenset[str] | None:
    """Return the nodes at which tokens can wait for ever; None if there are too many markings to tell.

    A wire that gets a second token counts as a place where one waits.
    """
    game = _Game(wires, gateways)
    waiting = [frozenset(game.out.get(START, ())) - game.last]
    seen = set(waiting)
    found: set[str] = set()
    while waiting:
        marking = waiting.pop()
        node = game.able(marking)
        if node is None:
            found.update(wires[i].target for i in marking)
            continue
        taken = marking & frozenset(game.into[node]) if game.waits(node) else marking & {game.first_of(node, marking)}
        for ways in game.ways(node):
            if (marking - taken) & ways:
                found.update(wires[i].target for i in ways)
            after = (marking - taken | ways) - game.last
            if after not in seen:
                seen.add(after)
                waiting.append(after)
        if len(seen) * len(wires) > MOST_WORK:
            return None
    return frozenset(found)


def goes_round(wires: Sequence[Wire]) -> bool:
    """Return True if a node that is reached from START does not lead to END."""
    before: dict[str, list[str]] = {}
    for wire in wires:
        before.setdefault(wire.target, []).append(wire.source)
    return not reachable(targets_by_source(wires), START) <= reachable(before, END) | {END}


def waits_in_circle(wires: Sequence[Wire], gateways: Mapping[str, Gatewaylike]) -> bool:
    """Return True if inclusive joins lie on one cycle: each waits for the other, and which goes on first is open."""
    after = targets_by_source(wires)
    joins = [key for key, gate in gateways.items() if (gate.role, gate.kind) == ("join", "inclusive")]
    behind = {join: reachable(after, join) for join in joins}
    return any(first in behind[second] and second in behind[first] for first, second in combinations(joins, 2))


class _Game:
    def __init__(self, wires: Sequence[Wire], gateways: Mapping[str, Gatewaylike]) -> None:
        self.wires, self.gateways = wires, gateways
        self.into, self.out = by_ends(wires)
        self.last = frozenset(self.into.get(END, ()))

    def waits(self, node: str) -> bool:
        """Return True if the node is a join that takes several tokens at once."""
        gateway = self.gateways.get(node)
        return gateway is not None and gateway.role == "join" and gateway.kind != "exclusive"

    def first_of(self, node: str, marking: Marking) -> int:
        """Return the first wire into the node that holds a token."""
        return next(i for i in self.into[node] if i in marking)

    def able(self, marking: Marking) -> str | None:
        """Return a node that can go on; an inclusive join only if no other node can."""
        inclusive = None
        for i in sorted(marking):
            node = self.wires[i].target
            if not self.waits(node) or marking.issuperset(self.into[node]):
                return node
            if self.gateways[node].kind == "inclusive":
                inclusive = inclusive or node
        return inclusive

    def ways(self, node: str) -> Iterator[Marking]:
        """Yield the wires that get a token from the node, for each way in which it can choose."""
        out = self.out.get(node, [])
        gateway = self.gateways.get(node)
        if gateway is not None and gateway.kind != "inclusive":
            yield from (frozenset([i]) for i in out) if gateway.kind == "exclusive" else [frozenset(out)]
            return
        default = [i for i in out if self.wires[i].guard == OTHERWISE]
        splits = gateway is not None and gateway.role == "split"
        free = [i for i in out if not splits and self.wires[i].guard is None]
        chosen = [i for i in out if i not in default and i not in free]
        if not chosen or free or default:
            yield frozenset([*free, *default])
        sizes = range(1, len(chosen) + 1) if len(chosen) <= MOST_COMBINED else (1, len(chosen))
        for some in chain.from_iterable(combinations(chosen, size) for size in sizes):
            yield frozenset([*free, *some])

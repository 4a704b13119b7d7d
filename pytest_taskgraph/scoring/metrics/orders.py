"""The metric `order`: the least distance from a list of names to any linear extension of a partial order, by A*.

A state is the set of nodes placed (a downset, as bit mask) and the number of answer items used. The steps, with their
costs: use up an item (1), place a node (1), place a node against the next item (0 if the labels agree, else 1), and
swap. Two kinds of swap suffice, without intermediate states:

- The unrestricted distance permits that two neighbours change places and that further nodes or items are inserted or
  deleted between them, at 1 each. If both happen, substituting throughout costs no more. So either items are deleted
  or nodes are inserted.
- A swap of answer `y x` for nodes x, y pays only if x must come before y. Inserted nodes that need not lie between
  them can as well be placed before x or after y; so those between are exactly the nodes that must be.

The bound is max(items left, nodes left) - matched, where `matched` counts the labels that both still have. Of two nodes
in order whose items stand in reverse, at most one can be matched, or both at the price of a swap; such pairs form a
partial order again, so each chain in it counts once. The bound is consistent: an expanded state is never reached at a
lower cost.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ...errors import OrderTooWideError
from ...trial import Json
from ..partial_order import MOST_STATES, PartialOrder, partial_order, ready_nodes

_Step = tuple[int, int, int]  # nodes placed, items used, cost so far


def order_distance(order: PartialOrder, answer: Sequence[str], most: int = MOST_STATES) -> int:
    """Return the smallest unrestricted Damerau–Levenshtein distance between the answer and any linear extension.

    Args:
        order: The partial order.
        answer: The names in the order of the answer.
        most: The number of states that the search may visit.

    Returns:
        The exact distance, from 0 to the larger of both lengths.

    Raises:
        OrderTooWideError: if the search needs more states.
    """
    return _Search(order, answer).least(most)


class _Search:
    def __init__(self, order: PartialOrder, answer: Sequence[str]) -> None:
        names = {label: position for position, label in enumerate(dict.fromkeys(order.labels))}
        self.order = order
        self.all = (1 << len(order.labels)) - 1
        self.label = [names[label] for label in order.labels]
        self.nodes = [0] * len(names)  # label -> its nodes
        for node, label in enumerate(self.label):
            self.nodes[label] |= 1 << node
        self.items = [names.get(item, -1) for item in answer]
        self.positions_of: list[list[int]] = [[] for _ in names]  # label -> where the answer has it
        for position, label in enumerate(self.items):
            if label >= 0:
                self.positions_of[label].append(position)
        self.ready_by_downset: dict[int, tuple[tuple[int, int], ...]] = {}
        self._prepare_bound()

    def least(self, most: int) -> int:
        """Return the cost of the cheapest path from the empty state to a complete one."""
        width, items, longest = len(self.items) + 1, len(self.items), max(len(self.items), len(self.label))
        best = {0: 0}
        stacks: list[list[_Step]] = [[] for _ in range(longest + 1)]  # by cost so far plus bound
        priority = self._bound(0, 0)
        stacks[priority].append((0, 0, 0))
        while True:
            while not stacks[priority]:
                priority += 1
            placed, used, cost = stacks[priority].pop()
            if best[placed * width + used] < cost:
                continue
            if used == items or placed == self.all:
                return priority
            for step in self._steps(placed, used, cost):
                key = step[0] * width + step[1]
                if step[2] < best.get(key, longest + 1):
                    best[key] = step[2]
                    estimate = step[2] + self._bound(step[0], step[1])
                    if estimate <= longest:
                        stacks[estimate].append(step)
            if len(best) > most:
                raise OrderTooWideError(len(self.label), most)

    def _steps(self, placed: int, used: int, cost: int) -> Iterator[_Step]:
        """Yield the next states, the most promising last."""
        label = self.items[used]
        ready = self._ready(placed)
        waiting = self.nodes[label] & ~placed if label >= 0 else 0
        if waiting and self.positions_of[label][-1] == used and (waiting, label) in ready:
            # No other node and no later item has the label: the node may come first, and matching it is free.
            yield placed | waiting, used + 1, cost
            return
        yield placed, used + 1, cost + 1
        for bit, _ in ready:
            yield placed | bit, used, cost + 1
        for bit, other in ready:
            if other != label:
                yield placed | bit, used + 1, cost + 1
        if waiting:
            yield from self._swaps(placed, used, cost, waiting)
            for bit, other in ready:
                if other == label:
                    yield placed | bit, used + 1, cost

    def _ready(self, placed: int) -> tuple[tuple[int, int], ...]:
        """Return the nodes that may come next, each as bit and label, computed once for a downset."""
        if placed not in self.ready_by_downset:
            self.ready_by_downset[placed] = tuple(
                (1 << node, self.label[node]) for node in ready_nodes(self.order, placed)
            )
        return self.ready_by_downset[placed]

    def _swaps(self, placed: int, used: int, cost: int, waiting: int) -> Iterator[_Step]:
        """Yield swaps of the next item with a later one, for each node in `waiting` with its label."""
        while waiting:
            later = waiting & -waiting
            waiting ^= later
            between = self.order.ancestors[later.bit_length() - 1] & ~placed
            if not between:
                continue
            for bit, label in self.ready_by_downset[placed]:
                if between & ~self.order.descendants[bit.bit_length() - 1] != bit or label == self.items[used]:
                    continue
                positions = self.positions_of[label]
                next_at = bisect_left(positions, used + 1)
                if next_at < len(positions):
                    skipped = positions[next_at] - used - 1
                    if between == bit or not skipped:
                        yield placed | between | later, used + 2 + skipped, cost + between.bit_count() + skipped

    def _prepare_bound(self) -> None:
        single = [node for node, label in enumerate(self.label) if self.nodes[label] == 1 << node]
        self.singles_ahead = [0] * (
            len(self.items) + 1
        )  # items used -> nodes with unique labels that are still to come
        for used in range(len(self.items) - 1, -1, -1):
            label = self.items[used]
            alone = label >= 0 and not self.nodes[label] & self.nodes[label] - 1
            self.singles_ahead[used] = self.singles_ahead[used + 1] | (self.nodes[label] if alone else 0)
        chains = self._chains([node for node in single if self.positions_of[self.label[node]]])
        self.chains = [chain for chain in chains if chain & chain - 1]
        self.free = sum(1 << node for node in single) & ~sum(self.chains)
        self.shared: list[tuple[int, list[int]]] = []  # nodes of one label, items used -> items of it to come
        for label, nodes in enumerate(self.nodes):
            if nodes & nodes - 1 and self.positions_of[label]:
                counts = [
                    len(self.positions_of[label]) - bisect_left(self.positions_of[label], used)
                    for used in range(len(self.singles_ahead))
                ]
                self.shared.append((nodes, counts))

    def _bound(self, placed: int, used: int) -> int:
        remaining = self.all & ~placed
        common = remaining & self.singles_ahead[used]
        matched = (common & self.free).bit_count()
        for chain in self.chains:
            if common & chain:
                matched += 1
        for nodes, counts in self.shared:
            matched += min((remaining & nodes).bit_count(), counts[used])
        return max(remaining.bit_count(), len(self.items) - used) - matched

    def _chains(self, nodes: list[int]) -> list[int]:
        """Return as few chains as possible that cover these nodes, of nodes in order whose items stand in reverse."""
        first = {node: self.positions_of[self.label[node]][0] for node in nodes}
        last = {node: self.positions_of[self.label[node]][-1] for node in nodes}
        inverted = {
            node: [other for other in nodes if self.order.descendants[node] >> other & 1 and last[other] < first[node]]
            for node in nodes
        }
        return _chain_cover(inverted)


def _chain_cover(above: dict[int, list[int]]) -> list[int]:
    """Return a least cover by chains of a strict partial order, as bit masks, by bipartite matching (Dilworth).

    Hand-written, for speed at every reply: on 30 nodes `nx.bipartite.hopcroft_karp_matching` takes 14 to 24 times as
    long, and it recurses once for each step of an alternating path, which may be as long as the reply.
    """
    up: dict[int, int] = {}  # node -> the next one in its chain
    down: dict[int, int] = {}
    for start in above:
        _augment(above, up, down, start)
    return [_chain(node, up) for node in above if node not in down]


def _chain(node: int, up: dict[int, int]) -> int:
    chain = 1 << node
    while node in up:
        node = up[node]
        chain |= 1 << node
    return chain


def _augment(above: dict[int, list[int]], up: dict[int, int], down: dict[int, int], start: int) -> None:
    """Match `start` to a node above it, if an alternating path to an unmatched node permits it."""
    reached_from: dict[int, int] = {}  # a node above -> the node below from which it was reached
    queue = [start]
    for low in queue:
        for high in above[low]:
            if high not in reached_from:
                reached_from[high] = low
                if high not in down:
                    _flip(reached_from, up, down, high)
                    return
                queue.append(down[high])


def _flip(reached_from: dict[int, int], up: dict[int, int], down: dict[int, int], end: int) -> None:
    high: int | None = end
    while high is not None:
        low = reached_from[high]
        previous = up.get(low)
        up[low], down[high] = high, low
        high = previous


def order(given: Json, reference: Json) -> float:
    """Return 1 - d / max(names given, tasks), 0.0 to 1.0; 1.0 if there are neither.

    d is the smallest unrestricted Damerau–Levenshtein distance between the answer and any order that the reference
    (see `partial_order`) allows. Unknown and repeated names cost edits. An answer that is no list has no names.

    Raises:
        UsageError: if the reference is no partial order.
        OrderTooWideError: if d needs more than MOST_STATES states; never if the downsets of the reference, times the
            number of names given plus one, are fewer.
    """
    partial = partial_order(reference)
    answer = [str(name) for name in given] if isinstance(given, list) else []
    longest = max(len(answer), len(partial.labels))
    return 1.0 - order_distance(partial, answer) / longest if longest else 1.0

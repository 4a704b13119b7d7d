"""The least distance from a list of names to any linear extension of a partial order, by A*.

A state is the set of nodes placed (a downset, as bit mask) and the number of answer items used. The steps: use up an
item (1), place a node (1), place a node against the next item (0 where the labels agree, else 1), and swap. Why two
kinds of swap are enough, with no state between:

- The unrestricted distance lets two neighbours change places and more be inserted or deleted between them, at 1 each.
  Where both happens, substituting throughout costs no more. So either items are deleted or nodes are inserted.
- A swap of answer `y x` for nodes x, y pays only if x must come before y. Inserted nodes that need not lie between
  them can as well be placed before x or after y; so those between are exactly the nodes that must be.

The bound: max(items left, nodes left) - kept, where kept counts the labels that both still have. Of two nodes in
order whose items stand the other way round at most one can be kept, or both at the price of a swap; such pairs form a
partial order again, so of a chain in it one counts. The bound is consistent: no state taken up is reached cheaper.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ...errors import OrderTooWideError
from ...trial import Json
from ..partial_order import MOST_STATES, PartialOrder, partial_order, ready_nodes

_Step = tuple[int, int, int]  # nodes placed, items used, cost so far


def distance(order: PartialOrder, answer: Sequence[str], most: int = MOST_STATES) -> int:
    """The smallest unrestricted Damerau–Levenshtein distance between the answer and any linear extension.

    0 up to the larger of both lengths. Exact, or OrderTooWideError where more than `most` states would be visited.
    """
    return _Search(order, answer).least(most)


class _Search:
    def __init__(self, order: PartialOrder, answer: Sequence[str]) -> None:
        names = {label: at for at, label in enumerate(dict.fromkeys(order.labels))}
        self.order = order
        self.all = (1 << len(order.labels)) - 1
        self.label = [names[label] for label in order.labels]
        self.nodes = [0] * len(names)  # label -> its nodes
        for node, label in enumerate(self.label):
            self.nodes[label] |= 1 << node
        self.items = [names.get(item, -1) for item in answer]
        self.at: list[list[int]] = [[] for _ in names]  # label -> where the answer has it
        for at, label in enumerate(self.items):
            if label >= 0:
                self.at[label].append(at)
        self.known_ready: dict[int, tuple[tuple[int, int], ...]] = {}
        self._prepare_bound()

    def least(self, most: int) -> int:
        """The cost of the cheapest way from nothing to everything."""
        width, items, longest = len(self.items) + 1, len(self.items), max(len(self.items), len(self.label))
        best = {0: 0}
        stacks: list[list[_Step]] = [[] for _ in range(longest + 1)]  # by cost so far plus bound
        at = self._bound(0, 0)
        stacks[at].append((0, 0, 0))
        while True:
            while not stacks[at]:
                at += 1
            placed, used, cost = stacks[at].pop()
            if best[placed * width + used] < cost:
                continue
            if used == items or placed == self.all:
                return at
            for step in self._steps(placed, used, cost):
                key = step[0] * width + step[1]
                if step[2] < best.get(key, longest + 1):
                    best[key] = step[2]
                    whole = step[2] + self._bound(step[0], step[1])
                    if whole <= longest:
                        stacks[whole].append(step)
            if len(best) > most:
                raise OrderTooWideError(len(self.label), most)

    def _steps(self, placed: int, used: int, cost: int) -> Iterator[_Step]:
        """The ways on, the most promising last."""
        label = self.items[used]
        may = self._ready(placed)
        left = self.nodes[label] & ~placed if label >= 0 else 0
        if left and self.at[label][-1] == used and (left, label) in may:
            # No other node has the label and no later item: the node may as well come first, and keeping is free.
            yield placed | left, used + 1, cost
            return
        yield placed, used + 1, cost + 1
        for bit, _ in may:
            yield placed | bit, used, cost + 1
        for bit, other in may:
            if other != label:
                yield placed | bit, used + 1, cost + 1
        if left:
            yield from self._swaps(placed, used, cost, left)
            for bit, other in may:
                if other == label:
                    yield placed | bit, used + 1, cost

    def _ready(self, placed: int) -> tuple[tuple[int, int], ...]:
        """The nodes that may come next, each as bit and label; worked out once for a downset."""
        if placed not in self.known_ready:
            self.known_ready[placed] = tuple((1 << node, self.label[node]) for node in ready_nodes(self.order, placed))
        return self.known_ready[placed]

    def _swaps(self, placed: int, used: int, cost: int, left: int) -> Iterator[_Step]:
        """Swaps of the next item with a later one, for each of the nodes `left` that have its label and must wait."""
        while left:
            later = left & -left
            left ^= later
            between = self.order.ancestors[later.bit_length() - 1] & ~placed
            if not between:
                continue
            for bit, label in self.known_ready[placed]:
                if between & ~self.order.descendants[bit.bit_length() - 1] != bit or label == self.items[used]:
                    continue
                positions = self.at[label]
                next_at = bisect_left(positions, used + 1)
                if next_at < len(positions):
                    skipped = positions[next_at] - used - 1
                    if between == bit or not skipped:
                        yield placed | between | later, used + 2 + skipped, cost + between.bit_count() + skipped

    def _prepare_bound(self) -> None:
        single = [node for node, label in enumerate(self.label) if self.nodes[label] == 1 << node]
        self.ahead = [0] * (len(self.items) + 1)  # items used -> nodes of labels of their own that are still to come
        for used in range(len(self.items) - 1, -1, -1):
            label = self.items[used]
            alone = label >= 0 and not self.nodes[label] & self.nodes[label] - 1
            self.ahead[used] = self.ahead[used + 1] | (self.nodes[label] if alone else 0)
        chains = self._chains([node for node in single if self.at[self.label[node]]])
        self.chains = [chain for chain in chains if chain & chain - 1]
        self.free = sum(1 << node for node in single) & ~sum(self.chains)
        self.shared: list[tuple[int, list[int]]] = []  # nodes of one label, items used -> items of it to come
        for label, nodes in enumerate(self.nodes):
            if nodes & nodes - 1 and self.at[label]:
                counts = [len(self.at[label]) - bisect_left(self.at[label], used) for used in range(len(self.ahead))]
                self.shared.append((nodes, counts))

    def _bound(self, placed: int, used: int) -> int:
        rest = self.all & ~placed
        common = rest & self.ahead[used]
        kept = (common & self.free).bit_count()
        for chain in self.chains:
            if common & chain:
                kept += 1
        for nodes, counts in self.shared:
            kept += min((rest & nodes).bit_count(), counts[used])
        return max(rest.bit_count(), len(self.items) - used) - kept

    def _chains(self, nodes: list[int]) -> list[int]:
        """As few chains as possible that cover these nodes, each of nodes in order whose items stand in reverse."""
        first = {node: self.at[self.label[node]][0] for node in nodes}
        last = {node: self.at[self.label[node]][-1] for node in nodes}
        against = {
            node: [other for other in nodes if self.order.descendants[node] >> other & 1 and last[other] < first[node]]
            for node in nodes
        }
        return _cover(against)


def _cover(above: dict[int, list[int]]) -> list[int]:
    """A least cover by chains of a strict partial order, as bit masks, by bipartite matching (Dilworth).

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
    """Match `start` too to a node above it, if an alternating path to an unmatched one allows it."""
    came: dict[int, int] = {}  # a node above -> the node below that it was reached from
    todo = [start]
    for low in todo:
        for high in above[low]:
            if high not in came:
                came[high] = low
                if high not in down:
                    _flip(came, up, down, high)
                    return
                todo.append(down[high])


def _flip(came: dict[int, int], up: dict[int, int], down: dict[int, int], end: int) -> None:
    high: int | None = end
    while high is not None:
        low = came[high]
        former = up.get(low)
        up[low], down[high] = high, low
        high = former


def order(given: Json, reference: Json) -> float:
    """1 - d / max(names given, tasks), 0.0 to 1.0; 1.0 if there are neither; an answer that is no list has no names.

    d is the smallest unrestricted Damerau–Levenshtein distance between the answer and any order that the reference
    (see `partial_order`) allows. Unknown and repeated names cost edits. Raises UsageError for a reference that is no
    partial order, OrderTooWideError where d would need more than MOST_STATES states; never where the downsets of the
    reference times the names given and one are fewer.
    """
    partial = partial_order(reference)
    answer = [str(name) for name in given] if isinstance(given, list) else []
    longest = max(len(answer), len(partial.labels))
    return 1.0 - distance(partial, answer) / longest if longest else 1.0

"""The layers of a level, and the columns and rows of the boxes that stand on them.

After Sugiyama, Tagawa and Toda 1981: cycles are broken, layers are those of longest paths, crossings are reduced by
barycenters. Nodes are numbers, 0 to count - 1, in the order in which they are declared; ties keep that order.

A link passes each layer between those of its ends on a column of its own. A label stands on such a place, so that
nothing else is there. Lengths are in pixels.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import inf

Pair = tuple[int, int]
SWEEPS = 12  # down and up count one each
LAYERING_AFFORDED = 60_000  # nodes looked at in all sweeps, about
PATIENCE = 4  # sweeps without a better order, after which no better one is looked for


def ranking(count: int, control: Sequence[Pair], data: Sequence[Pair]) -> list[int]:
    """All nodes in an order against which as few links as a depth-first search finds point: the control flow decides.

    Nodes that only the data flow knows come right after the first that writes them, else right before the first that
    reads them.
    """
    places = _postorder(count, control or data)
    if control:
        _place_others(places, data)
    return sorted(range(count), key=lambda node: (places.get(node, float(count)), node))


def _postorder(count: int, links: Sequence[Pair]) -> dict[int, float]:
    """Every node that has a link, with its place in reverse postorder; search begins where nothing leads to."""
    import networkx as nx

    targets = {target for _, target in links}
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(sorted({source for source, _ in links}, key=lambda node: (node in targets, node)))
    graph.add_edges_from(links)
    done = list(nx.dfs_postorder_nodes(graph))
    return {node: float(place) for place, node in enumerate(reversed(done))}


def _place_others(places: dict[int, float], data: Sequence[Pair]) -> None:
    while True:
        found: dict[int, float] = {}
        for source, target in data:
            if source in places and target not in places:
                found[target] = min(found.get(target, places[source] + 0.5), places[source] + 0.5)
        if not found:
            for source, target in data:
                if target in places and source not in places:
                    found[source] = min(found.get(source, places[target] - 0.5), places[target] - 0.5)
        if not found:
            return
        places.update(found)


def ranks(order: Sequence[int], links: Iterable[tuple[int, int, int]]) -> list[int]:
    """The layer of each node, from 0: links (from, to, least layers between) all point along the order.

    Each node stands as high as its links allow; one that nothing leads to, as low. networkx has no longest paths to
    all nodes, and the order is topological already.
    """
    after: dict[int, list[Pair]] = {}
    found = [0] * len(order)
    led_to = set()
    for source, target, length in links:
        after.setdefault(source, []).append((target, length))
        led_to.add(target)
    for node in order:
        for target, length in after.get(node, ()):
            found[target] = max(found[target], found[node] + length)
    for node in reversed(order):
        if node not in led_to and node in after:
            found[node] = min(found[target] - length for target, length in after[node])
    lowest = min(found, default=0)
    return [rank - lowest for rank in found]


def untangled(layers: list[list[int]], above: list[list[int]], below: list[list[int]]) -> list[list[int]]:
    """The layers in an order of few crossings; `above` and `below` hold each node's neighbours in the next layers."""
    best, least = layers, crossings(layers, below)
    tried, since = layers, 0
    for sweep in range(min(SWEEPS, 2 + LAYERING_AFFORDED // (len(above) + 1))):
        if least == 0 or since == PATIENCE:
            break
        tried = _swept(tried, below if sweep % 2 else above, upward=bool(sweep % 2))
        found = crossings(tried, below)
        since += 1
        if found < least:
            best, least, since = tried, found, 0
    return best


def _swept(layers: list[list[int]], neighbours: list[list[int]], upward: bool) -> list[list[int]]:
    """Each layer sorted by the mean place of its neighbours; a node without any keeps its place."""
    made: list[list[int]] = []
    places: dict[int, int] = {}
    for layer in reversed(layers) if upward else layers:
        keys = {
            node: (sum(places[one] for one in near) / len(near) if (near := neighbours[node]) else float(at))
            for at, node in enumerate(layer)
        }
        made.append(sorted(layer, key=keys.__getitem__))
        places = {node: at for at, node in enumerate(made[-1])}
    return made[::-1] if upward else made


def crossings(layers: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> int:
    """How many pairs of links between neighbouring layers cross."""
    found = 0
    for upper, lower in pairwise(layers):
        places = {node: at for at, node in enumerate(lower)}
        ends: list[int] = []
        for node in upper:
            own = sorted(places[one] for one in below[node])
            found += sum(len(ends) - bisect_right(ends, end) for end in own)
            for end in own:
                insort(ends, end)
    return found


def apart(wanted: Sequence[float], weights: Sequence[float], distances: Sequence[float]) -> list[float]:
    """The numbers closest to the wanted ones, by weighted squares, of which each is `distances` or more after the last.

    distances[i] stands between i and i + 1. Exact: least squares under an order is pooling of adjacent violators.
    Hand-written: `scipy.optimize.isotonic_regression` is of scipy 1.12, and its import takes longer than a drawing.
    """
    offsets = [0.0]
    for distance in distances:
        offsets.append(offsets[-1] + distance)
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for value, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, heavy, size = value - offset, weight, 1
        while pools and pools[-1][0] >= mean:
            before, more, others = pools.pop()
            mean = (before * more + mean * heavy) / (more + heavy)
            heavy, size = heavy + more, size + others
        pools.append((mean, heavy, size))
    flat = [mean for mean, _, size in pools for _ in range(size)]
    return [base + offset for base, offset in zip(flat, offsets, strict=True)]


GAP = 18.0  # between two boxes side by side
LANE = 14.0  # between a box and what leads back beside it
BETWEEN = 22.0  # between two layers, at least
STEEP = 0.08  # and so much more for each pixel that a link goes aside there
ROUNDS = 6  # of coordinates
AFFORDED = 60_000  # vertices looked at in all rounds, about; a round takes a second for as many
STILL = 0.5  # pixels; a round that moves nothing further is the last

Near = list[list[tuple[int, float, float]]]  # of each vertex: a neighbour, its weight, where that one would have ours


@dataclass(frozen=True, slots=True)
class Item:
    """A box to place. `spread` is how much of its upper and lower side takes links; 0: only the middle."""

    width: float
    height: float
    spread: float = 0.0


@dataclass(frozen=True, slots=True)
class Wire:
    """A link between two items, by their numbers; `label` is the size of its label, width 0 for none."""

    source: int
    target: int
    data: bool = False
    label: tuple[float, float] = (0.0, 0.0)


@dataclass(slots=True)
class _Vertex:
    """What takes room on a layer: an item, or the place where a wire passes."""

    rank: int
    height: float
    left: float  # from its column
    right: float


class LevelGrid:
    """A level in the making. Vertices are the items, then the places where wires pass layers."""

    def __init__(self, items: Sequence[Item], wires: Sequence[Wire]) -> None:
        self.items, self.wires = items, wires
        self.pairs = [(one.source, one.target) for one in wires if one.source != one.target]
        self.linked = {end for pair in self.pairs for end in pair}
        self.lanes: list[list[int]] = [[] for _ in items]  # wires at the right side of each item
        self.lane: dict[tuple[int, int], float] = {}  # wire and item -> column of the lane, from the item's
        self.back: set[int] = set()
        self.vertices: list[_Vertex] = []
        self._rank()
        self._set_lanes()
        self.above: Near = [[] for _ in items]
        self.below: Near = [[] for _ in items]
        self.chains: list[list[int]] = [self._chain(number) for number in range(len(wires))]
        self.layers = self._layers()
        self.distances = [[self._distance(a, b) for a, b in pairwise(one)] for one in self.layers]
        self.x = [0.0] * len(self.vertices)

    def _rank(self) -> None:
        both = [(one.source, one.target, one.data) for one in self.wires if one.source != one.target]
        order = ranking(len(self.items), [(a, b) for a, b, data in both if not data],
                        [(a, b) for a, b, data in both if data])  # fmt: skip
        places = {node: at for at, node in enumerate(order)}
        lengths = []
        for number, wire in enumerate(self.wires):
            upper, lower = wire.source, wire.target
            if places[upper] >= places[lower]:
                self.back.add(number)
                upper, lower = lower, upper
            if upper != lower:
                lengths.append((upper, lower, 2 if wire.label[0] else 1))
        for item, rank in zip(self.items, ranks(order, lengths), strict=True):
            self.vertices.append(_Vertex(rank, item.height, item.width / 2, item.width / 2))

    def _set_lanes(self) -> None:
        """Room beside items for what leads back; what leads to the item itself is outermost, with its label."""
        for loops in (False, True):
            for number in sorted(self.back):
                wire = self.wires[number]
                if (wire.source == wire.target) == loops:
                    for end in dict.fromkeys((wire.target, wire.source)):
                        self._set_lane(number, end, wire.label[0] + 6 if loops else 0.0)

    def _set_lane(self, number: int, end: int, beside: float) -> None:
        vertex = self.vertices[end]
        vertex.right += LANE
        self.lane[number, end] = vertex.right
        vertex.right += beside
        self.lanes[end].append(number)

    def _chain(self, number: int) -> list[int]:
        """The vertices that a wire passes from top to bottom; new ones where it passes a layer."""
        wire = self.wires[number]
        back = number in self.back
        upper, lower = (wire.target, wire.source) if back else (wire.source, wire.target)
        if upper == lower:
            return []
        passed = range(self.vertices[upper].rank + 1, self.vertices[lower].rank)
        labelled = passed[-1 if back else 0] if wire.label[0] else None
        chain = [upper]
        for rank in passed:
            width, height = wire.label if rank == labelled else (0.0, 0.0)
            chain.append(len(self.vertices))
            self.vertices.append(_Vertex(rank, height, 4.0, width + 8 if width else 4.0))
            self.above.append([])
            self.below.append([])
        chain.append(lower)
        self._join(number, chain)
        return chain

    def _join(self, number: int, chain: list[int]) -> None:
        plain = 1.0 if self.wires[number].data else 3.0
        for a, b in pairwise(chain):
            weight = plain * (1 + (a >= len(self.items))) * (1 + (b >= len(self.items)))
            shift = self.lane.get((number, a), 0.0) - self.lane.get((number, b), 0.0)
            self.below[a].append((b, weight, -shift))
            self.above[b].append((a, weight, shift))

    def _layers(self) -> list[list[int]]:
        placed = [at for at in range(len(self.vertices)) if at >= len(self.items) or at in self.linked]
        layers: list[list[int]] = [[] for _ in range(max((self.vertices[at].rank for at in placed), default=-1) + 1)]
        for at in placed:
            layers[self.vertices[at].rank].append(at)
        above, below = ([[one[0] for one in near] for near in side] for side in (self.above, self.below))
        return untangled(layers, above, below)

    def set_columns(self) -> None:
        """The x of every vertex: close to its neighbours', as far apart as boxes are wide."""
        for layer, distances in zip(self.layers, self.distances, strict=True):
            for at, x in zip(layer, accumulate(distances, initial=0.0), strict=False):
                self.x[at] = x
        for _ in range(min(ROUNDS, 1 + AFFORDED // (len(self.vertices) + 1))):
            if max(self._swept(self.above), self._swept(self.below, upward=True)) < STILL:
                break
        self._swept(self.above, self.below)
        self._swept(self.above, self.below, upward=True)
        self._straighten()
        left = min((self.x[at] - self.vertices[at].left for layer in self.layers for at in layer), default=0.0)
        self.x = [float(round(x - left)) for x in self.x]

    def _swept(self, *sides: Near, upward: bool = False) -> float:
        """How far the vertex went that went furthest when each layer was set after its neighbours on those sides."""
        moved = 0.0
        layers = list(zip(self.layers, self.distances, strict=True))
        for layer, distances in reversed(layers) if upward else layers:
            wanted, weights = self._wanted(layer, sides)
            for at, x in zip(layer, apart(wanted, weights, distances), strict=True):
                moved = max(moved, abs(self.x[at] - x))
                self.x[at] = x
        return moved

    def _wanted(self, layer: list[int], sides: Sequence[Near]) -> tuple[list[float], list[float]]:
        """Where the neighbours on those sides would have each vertex of a layer, and how much they would."""
        wanted, weights = [], []
        for at in layer:
            total = heavy = 0.0
            for side in sides:
                for other, weight, shift in side[at]:
                    heavy += weight
                    total += (self.x[other] + shift) * weight
            wanted.append(total / heavy if heavy else self.x[at])
            weights.append(heavy or 0.01)
        return wanted, weights

    def _straighten(self) -> None:
        """Places that a wire passes brought into one column, for as many layers at a time as what is beside allows."""
        for layer in self.layers:
            for at in layer:
                self.x[at] = float(round(self.x[at]))
        beside = {at: (layer, place) for layer in self.layers for place, at in enumerate(layer)}
        for chain in self.chains:
            run: list[int] = []
            low, high = -inf, inf
            for at in chain[1:-1]:
                least, most = self._room(at, *beside[at])
                if max(low, least) > min(high, most):
                    self._set_run(run, low, high)
                    run, low, high = [], -inf, inf
                run, low, high = [*run, at], max(low, least), min(high, most)
            self._set_run(run, low, high)

    def _room(self, at: int, layer: list[int], place: int) -> tuple[float, float]:
        """Between which columns a vertex may stand without coming too close to those beside it."""
        x, last = self.x[at], place == len(layer) - 1
        least = self.x[layer[place - 1]] + self._distance(layer[place - 1], at) if place else -inf
        most = inf if last else self.x[layer[place + 1]] - self._distance(at, layer[place + 1])
        return min(least, x), max(most, x)

    def _set_run(self, run: list[int], low: float, high: float) -> None:
        columns = sorted(self.x[at] for at in run)
        for at in run:
            self.x[at] = min(high, max(low, columns[len(columns) // 2]))

    def _distance(self, a: int, b: int) -> float:
        boxes = (a < len(self.items)) + (b < len(self.items))
        return self.vertices[a].right + self.vertices[b].left + GAP * (0.4 + 0.3 * boxes)

    def set_rows(self) -> None:
        """The upper and lower edge of every layer, with more between layers where links go far aside."""
        self.tops: list[float] = []
        self.bottoms: list[float] = []
        y = 0.0
        for layer in self.layers:
            self.tops.append(y)
            self.bottoms.append(y + max(self.vertices[at].height for at in layer))
            aside = [abs(self.x[b] + shift - self.x[at]) for at in layer for b, _, shift in self.below[at]]
            y = self.bottoms[-1] + round(BETWEEN + min(40.0, STEEP * max(aside, default=0.0)))

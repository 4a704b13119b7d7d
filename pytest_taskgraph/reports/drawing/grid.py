"""Layers of a level, and the columns and rows of the boxes on them.

After Sugiyama, Tagawa and Toda (1981): cycles are broken, layers are those of longest paths, crossings are reduced by
barycenters. Nodes are numbers, 0 to count - 1, in their order of declaration; ties keep that order.

A link passes each layer between those of its ends on a column of its own. A label stands on such a place, so that
it overlaps no box. Lengths are in pixels.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import inf

Pair = tuple[int, int]
SWEEPS = 12  # down and up count one each
LAYERING_AFFORDED = 60_000  # about how many nodes all sweeps visit
PATIENCE = 4  # sweeps without a better order, after which the search ends


def flow_order(count: int, control: Sequence[Pair], data: Sequence[Pair]) -> list[int]:
    """Return all nodes in an order against which few links point, by a depth-first search; control flow decides.

    Nodes that only the data flow links come right after the first node that writes them, else right before the first
    that reads them.
    """
    places = _postorder(count, control or data)
    if control:
        _place_others(places, data)
    return sorted(range(count), key=lambda node: (places.get(node, float(count)), node))


def _postorder(count: int, links: Sequence[Pair]) -> dict[int, float]:
    """Return the place of every linked node in reverse postorder; searched from nodes without incoming links."""
    import networkx as nx

    targets = {target for _, target in links}
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(sorted({source for source, _ in links}, key=lambda node: (node in targets, node)))
    graph.add_edges_from(links)
    done = list(nx.dfs_postorder_nodes(graph))
    return {node: float(place) for place, node in enumerate(reversed(done))}


def _place_others(places: dict[int, float], data: Sequence[Pair]) -> None:
    while True:
        new_places: dict[int, float] = {}
        for source, target in data:
            if source in places and target not in places:
                new_places[target] = min(new_places.get(target, places[source] + 0.5), places[source] + 0.5)
        if not new_places:
            for source, target in data:
                if target in places and source not in places:
                    new_places[source] = min(new_places.get(source, places[target] - 0.5), places[target] - 0.5)
        if not new_places:
            return
        places.update(new_places)


def ranks(order: Sequence[int], links: Iterable[tuple[int, int, int]]) -> list[int]:
    """Return the layer of each node, from 0.

    Links (source, target, least distance in layers) all point along the order. Each node is as high as its links
    allow; a node without incoming links as low as possible. networkx has no longest paths to all nodes, and the
    order is topological already.
    """
    after: dict[int, list[Pair]] = {}
    layers = [0] * len(order)
    targets = set()
    for source, target, length in links:
        after.setdefault(source, []).append((target, length))
        targets.add(target)
    for node in order:
        for target, length in after.get(node, ()):
            layers[target] = max(layers[target], layers[node] + length)
    for node in reversed(order):
        if node not in targets and node in after:
            layers[node] = min(layers[target] - length for target, length in after[node])
    lowest = min(layers, default=0)
    return [rank - lowest for rank in layers]


def reduce_crossings(layers: list[list[int]], above: list[list[int]], below: list[list[int]]) -> list[list[int]]:
    """Return the layers in an order with few crossings.

    Args:
        layers: The nodes of each layer.
        above: The neighbours of each node in the layer above.
        below: The neighbours of each node in the layer below.
    """
    best, least = layers, crossings(layers, below)
    order, sweeps_without_gain = layers, 0
    for sweep in range(min(SWEEPS, 2 + LAYERING_AFFORDED // (len(above) + 1))):
        if least == 0 or sweeps_without_gain == PATIENCE:
            break
        order = _sort_by_barycenters(order, below if sweep % 2 else above, upward=bool(sweep % 2))
        now_crossing = crossings(order, below)
        sweeps_without_gain += 1
        if now_crossing < least:
            best, least, sweeps_without_gain = order, now_crossing, 0
    return best


def _sort_by_barycenters(layers: list[list[int]], neighbours: list[list[int]], upward: bool) -> list[list[int]]:
    """Return each layer sorted by the mean place of its neighbours; a node without neighbours keeps its place."""
    sorted_layers: list[list[int]] = []
    places: dict[int, int] = {}
    for layer in reversed(layers) if upward else layers:
        keys = {
            node: (
                sum(places[neighbour] for neighbour in near) / len(near) if (near := neighbours[node]) else float(at)
            )
            for at, node in enumerate(layer)
        }
        sorted_layers.append(sorted(layer, key=keys.__getitem__))
        places = {node: at for at, node in enumerate(sorted_layers[-1])}
    return sorted_layers[::-1] if upward else sorted_layers


def crossings(layers: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> int:
    """Return how many pairs of links between neighbouring layers cross."""
    total = 0
    for upper, lower in pairwise(layers):
        if len(upper) == 1 or len(lower) == 1:
            continue
        places = {node: at for at, node in enumerate(lower)}
        ends: list[int] = []
        for node in upper:
            own = sorted([places[neighbour] for neighbour in below[node]])
            before = len(ends)
            total += sum([before - bisect_right(ends, end) for end in own]) if before else 0
            for end in own:
                insort(ends, end)
    return total


def closest_positions(wanted: Sequence[float], weights: Sequence[float], distances: Sequence[float]) -> list[float]:
    """Return the positions closest to the wanted ones, by weighted squares, that keep the least distances.

    distances[i] stands between i and i + 1. Exact: isotonic regression by pooling of adjacent violators. Hand-written:
    `scipy.optimize.isotonic_regression` is of scipy 1.12, and its import takes longer than a drawing.
    """
    if not distances:
        return list(wanted)
    offsets = [0.0]
    for distance in distances:
        offsets.append(offsets[-1] + distance)
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for value, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, weight_of_pool, size = value - offset, weight, 1
        while pools and pools[-1][0] >= mean:
            before, more, others = pools.pop()
            mean = (before * more + mean * weight_of_pool) / (more + weight_of_pool)
            weight_of_pool, size = weight_of_pool + more, size + others
        pools.append((mean, weight_of_pool, size))
    flat = [mean for mean, _, size in pools for _ in range(size)]
    return [base + offset for base, offset in zip(flat, offsets, strict=True)]


GAP = 18.0  # between two boxes side by side
LANE = 14.0  # between a box and a back link beside it
BETWEEN = 22.0  # between two layers, at least
STEEP = 0.08  # additional distance for each pixel that a link moves sideways there
ROUNDS = 6  # of coordinates
AFFORDED = 60_000  # about how many vertices all rounds visit; a round takes a second for as many
STILL = 0.5  # pixels; the first round that moves no vertex further is the last

Near = list[list[tuple[int, float, float]]]  # of each vertex: a neighbour, its weight, the wanted distance from it


@dataclass(frozen=True, slots=True)
class LayoutNode:
    """A box to place. `spread` is the width of its upper and lower side that takes links; 0: only the middle."""

    width: float
    height: float
    spread: float = 0.0


@dataclass(frozen=True, slots=True)
class LayoutLink:
    """A link between two nodes, by their numbers; `label` is the size of its label, width 0 for none."""

    source: int
    target: int
    data: bool = False
    label: tuple[float, float] = (0.0, 0.0)


@dataclass(slots=True)
class _Vertex:
    """A place on a layer: a node, or the point where a link passes."""

    rank: int
    height: float
    left: float  # from its column
    right: float


class LevelGrid:
    """The grid of a level while it is built. Vertices are the nodes, then the points where links pass layers."""

    def __init__(self, nodes: Sequence[LayoutNode], links: Sequence[LayoutLink]) -> None:
        self.nodes, self.links = nodes, links
        self.pairs = [(link.source, link.target) for link in links if link.source != link.target]
        self.linked = {end for pair in self.pairs for end in pair}
        self.lanes: list[list[int]] = [[] for _ in nodes]  # links at the right side of each node
        self.lane: dict[tuple[int, int], float] = {}  # link and node -> column of the lane, from the node's
        self.back: set[int] = set()
        self.vertices: list[_Vertex] = []
        self._rank()
        self._set_lanes()
        self.above: Near = [[] for _ in nodes]
        self.below: Near = [[] for _ in nodes]
        self.chains: list[list[int]] = [self._chain(number) for number in range(len(links))]
        self.layers = self._layers()
        self.distances = [[self._distance(a, b) for a, b in pairwise(link)] for link in self.layers]
        self.x = [0.0] * len(self.vertices)

    def _rank(self) -> None:
        ends = [(link.source, link.target, link.data) for link in self.links if link.source != link.target]
        order = flow_order(len(self.nodes), [(a, b) for a, b, data in ends if not data],
                        [(a, b) for a, b, data in ends if data])  # fmt: skip
        places = {node: at for at, node in enumerate(order)}
        lengths = []
        for number, link in enumerate(self.links):
            upper, lower = link.source, link.target
            if places[upper] >= places[lower]:
                self.back.add(number)
                upper, lower = lower, upper
            if upper != lower:
                lengths.append((upper, lower, 2 if link.label[0] else 1))
        for node, rank in zip(self.nodes, ranks(order, lengths), strict=True):
            self.vertices.append(_Vertex(rank, node.height, node.width / 2, node.width / 2))

    def _set_lanes(self) -> None:
        """Reserve lanes beside nodes for back links; loops at the node itself are outermost, with their labels."""
        for loops in (False, True):
            for number in sorted(self.back):
                link = self.links[number]
                if (link.source == link.target) == loops:
                    for end in dict.fromkeys((link.target, link.source)):
                        self._set_lane(number, end, link.label[0] + 6 if loops else 0.0)

    def _set_lane(self, number: int, end: int, beside: float) -> None:
        vertex = self.vertices[end]
        vertex.right += LANE
        self.lane[number, end] = vertex.right
        vertex.right += beside
        self.lanes[end].append(number)

    def _chain(self, number: int) -> list[int]:
        """Return the vertices that a link passes from top to bottom; adds a vertex for each layer in between."""
        link = self.links[number]
        back = number in self.back
        upper, lower = (link.target, link.source) if back else (link.source, link.target)
        if upper == lower:
            return []
        passed = range(self.vertices[upper].rank + 1, self.vertices[lower].rank)
        labelled = passed[-1 if back else 0] if link.label[0] else None
        chain = [upper]
        for rank in passed:
            width, height = link.label if rank == labelled else (0.0, 0.0)
            chain.append(len(self.vertices))
            self.vertices.append(_Vertex(rank, height, 4.0, width + 8 if width else 4.0))
            self.above.append([])
            self.below.append([])
        chain.append(lower)
        self._join(number, chain)
        return chain

    def _join(self, number: int, chain: list[int]) -> None:
        plain = 1.0 if self.links[number].data else 3.0
        for a, b in pairwise(chain):
            weight = plain * (1 + (a >= len(self.nodes))) * (1 + (b >= len(self.nodes)))
            shift = self.lane.get((number, a), 0.0) - self.lane.get((number, b), 0.0)
            self.below[a].append((b, weight, -shift))
            self.above[b].append((a, weight, shift))

    def _layers(self) -> list[list[int]]:
        placed = [at for at in range(len(self.vertices)) if at >= len(self.nodes) or at in self.linked]
        layers: list[list[int]] = [[] for _ in range(max((self.vertices[at].rank for at in placed), default=-1) + 1)]
        for at in placed:
            layers[self.vertices[at].rank].append(at)
        above, below = ([[neighbour[0] for neighbour in near] for near in side] for side in (self.above, self.below))
        return reduce_crossings(layers, above, below)

    def set_columns(self) -> None:
        """Set the x of every vertex: close to its neighbours, with room for the boxes."""
        for layer, distances in zip(self.layers, self.distances, strict=True):
            for at, x in zip(layer, accumulate(distances, initial=0.0), strict=False):
                self.x[at] = x
        for _ in range(min(ROUNDS, 1 + AFFORDED // (len(self.vertices) + 1))):
            if max(self._set_after_neighbours(self.above), self._set_after_neighbours(self.below, upward=True)) < STILL:
                break
        self._set_after_neighbours(self.above, self.below)
        self._set_after_neighbours(self.above, self.below, upward=True)
        self._straighten()
        left = min((self.x[at] - self.vertices[at].left for layer in self.layers for at in layer), default=0.0)
        self.x = [float(round(x - left)) for x in self.x]

    def _set_after_neighbours(self, *sides: Near, upward: bool = False) -> float:
        """Move the vertices of each layer towards their neighbours on the given sides; return the longest move."""
        furthest = 0.0
        layers = list(zip(self.layers, self.distances, strict=True))
        for layer, distances in reversed(layers) if upward else layers:
            positions, weights = self._wanted_positions(layer, sides)
            for at, x in zip(layer, closest_positions(positions, weights, distances), strict=True):
                furthest = max(furthest, abs(self.x[at] - x))
                self.x[at] = x
        return furthest

    def _wanted_positions(self, layer: list[int], sides: Sequence[Near]) -> tuple[list[float], list[float]]:
        """Return the positions that the neighbours want for the vertices of a layer, and their weights."""
        positions, weights = [], []
        for at in layer:
            total = heavy = 0.0
            for side in sides:
                for other, weight, shift in side[at]:
                    heavy += weight
                    total += (self.x[other] + shift) * weight
            positions.append(total / heavy if heavy else self.x[at])
            weights.append(heavy or 0.01)
        return positions, weights

    def _straighten(self) -> None:
        """Move the vertices of each link into one column, for as many layers at a time as their neighbours allow."""
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
        """Return the range of columns in which a vertex keeps its distance from the vertices beside it."""
        x, last = self.x[at], place == len(layer) - 1
        least = self.x[layer[place - 1]] + self._distance(layer[place - 1], at) if place else -inf
        most = inf if last else self.x[layer[place + 1]] - self._distance(at, layer[place + 1])
        return min(least, x), max(most, x)

    def _set_run(self, run: list[int], low: float, high: float) -> None:
        columns = sorted(self.x[at] for at in run)
        for at in run:
            self.x[at] = min(high, max(low, columns[len(columns) // 2]))

    def _distance(self, a: int, b: int) -> float:
        boxes = (a < len(self.nodes)) + (b < len(self.nodes))
        return self.vertices[a].right + self.vertices[b].left + GAP * (0.4 + 0.3 * boxes)

    def set_rows(self) -> None:
        """Set the upper and lower edge of every layer, with longer distances where links move far sideways."""
        self.tops: list[float] = []
        self.bottoms: list[float] = []
        y = 0.0
        for layer in self.layers:
            self.tops.append(y)
            self.bottoms.append(y + max(self.vertices[at].height for at in layer))
            aside = [abs(self.x[b] + shift - self.x[at]) for at in layer for b, _, shift in self.below[at]]
            y = self.bottoms[-1] + round(BETWEEN + min(40.0, STEEP * max(aside, default=0.0)))

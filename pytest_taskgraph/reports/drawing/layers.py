"""The layers of a layered drawing: which way links point, on which layer each node stands, and in which order.

After Sugiyama, Tagawa and Toda 1981: cycles are broken, layers are those of longest paths, crossings are reduced by
barycenters. Nodes are numbers, 0 to count - 1, in the order in which they are declared; ties keep that order.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from itertools import pairwise

Pair = tuple[int, int]
SWEEPS = 12  # down and up count one each
AFFORDED = 60_000  # nodes looked at in all sweeps, about
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
    for sweep in range(min(SWEEPS, 2 + AFFORDED // (len(above) + 1))):
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

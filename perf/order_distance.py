"""Times of the exact distance to a partial order, compared to listing every order with rapidfuzz.

    python perf/order_distance.py        about 15 seconds; needs rapidfuzz (the extra `test`)

One row per kind of partial order and of reply; a round draws a partial order and a reply. Listing is omitted (-) if
there are more orders than MOST_ORDERS; otherwise it is timed in three rounds, and must give the same distance.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from random import Random
from statistics import median

from rapidfuzz.distance import DamerauLevenshtein

from pytest_taskgraph.scoring.metrics.orders import order_distance
from pytest_taskgraph.scoring.partial_order import PartialOrder, count_downsets, partial_order, ready_nodes
from pytest_taskgraph.trial import Json

ROUNDS = 20
MOST_ORDERS = 50_000  # orders
SECONDS = 50.0  # after which no further row is begun


def branches(width: int, length: int) -> Json:
    """Return `width` chains of `length` tasks in parallel."""
    tasks = width * length
    return _reference(tasks, [(at, at + 1) for at in range(tasks) if (at + 1) % length])


def blocks(tasks: int, width: int, rng: Random) -> Json:
    """Return parallel blocks in sequence, each of 2 to `width` branches of 1 to 3 tasks."""
    before: list[tuple[int, int]] = []
    last: list[int] = []
    at = 0
    while at < tasks:
        starts, ends = [], []
        for _ in range(rng.randint(2, width)):
            length = min(rng.randint(1, 3), tasks - at)
            if length:
                before += [(node, node + 1) for node in range(at, at + length - 1)]
                starts.append(at)
                at += length
                ends.append(at - 1)
        before += [(end, start) for end in last for start in starts]
        last = ends
    return _reference(tasks, before)


def loops(tasks: int, width: int, rng: Random) -> Json:
    """Return blocks whose labels repeat after ten tasks, as in an unrolled loop."""
    unrolled = blocks(tasks, width, rng)
    assert isinstance(unrolled, dict)
    return unrolled | {"tasks": [f"T{at % 10}" for at in range(tasks)]}


def _reference(tasks: int, before: list[tuple[int, int]]) -> Json:
    return {"tasks": [f"T{at}" for at in range(tasks)], "before": [[first, second] for first, second in before]}


def right(order: PartialOrder, rng: Random) -> list[str]:
    placed, labels = 0, []
    for _ in order.labels:
        node = rng.choice(list(ready_nodes(order, placed)))
        placed |= 1 << node
        labels.append(order.labels[node])
    return labels


def three_edits(order: PartialOrder, rng: Random) -> list[str]:
    answer = right(order, rng)
    for _ in range(3):
        at = rng.randrange(len(answer) - 1)
        first, second = answer[at : at + 2]
        answer[at : at + 2] = rng.choice([[second, first], [first], [first, second, "Extra"], ["Else", second]])
    return answer


def shuffled(order: PartialOrder, rng: Random) -> list[str]:
    return rng.sample(order.labels, len(order.labels))


def with_repetitions(order: PartialOrder, rng: Random) -> list[str]:
    return [rng.choice(order.labels) for _ in range(2 * len(order.labels))]


def backwards(order: PartialOrder, rng: Random) -> list[str]:
    return right(order, rng)[::-1]


def nothing(order: PartialOrder, rng: Random) -> list[str]:
    return []


REPLIES: dict[str, Callable[[PartialOrder, Random], list[str]]] = {
    "right": right, "3 edits": three_edits, "random": shuffled, "random, 2 n": with_repetitions, "reversed": backwards,
    "empty": nothing,
}  # fmt: skip

ORDERS: dict[str, Callable[[Random], Json]] = {
    "9 tasks, 3 x 3": lambda rng: branches(3, 3),
    "20 tasks, blocks <= 3": lambda rng: blocks(20, 3, rng),
    "12 tasks, 3 x 4": lambda rng: branches(3, 4),
    "20 tasks, 5 x 4": lambda rng: branches(5, 4),
    "20 tasks, loops": lambda rng: loops(20, 5, rng),
    "60 tasks, blocks <= 4": lambda rng: blocks(60, 4, rng),
    "60 tasks, loops": lambda rng: loops(60, 4, rng),
}


def count_orders(order: PartialOrder) -> int:
    """Return the number of allowed orders of the nodes, with equal labels distinguished."""
    level = {0: 1}
    for _ in order.labels:
        above: dict[int, int] = {}
        for placed, count in level.items():
            for node in ready_nodes(order, placed):
                above[placed | 1 << node] = above.get(placed | 1 << node, 0) + count
        level = above
    return sum(level.values())


def all_orders(order: PartialOrder, placed: int = 0, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every allowed order."""
    if len(before) == len(order.labels):
        yield before
    for node in ready_nodes(order, placed):
        yield from all_orders(order, placed | 1 << node, (*before, order.labels[node]))


def least_of_all(order: PartialOrder, answer: list[str]) -> int:
    return min(DamerauLevenshtein.distance(answer, other) for other in all_orders(order))


def measure_time(
    function: Callable[[PartialOrder, list[str]], int], order: PartialOrder, answer: list[str]
) -> list[float]:
    """Return the result and the milliseconds it took."""
    start = time.perf_counter()
    result = function(order, answer)
    return [result, 1000 * (time.perf_counter() - start)]


def row(name: str, kind: str, began: float) -> str:
    rng = Random(f"{name}|{kind}")
    ours, theirs, most = [], [], 0
    for at in range(ROUNDS):
        order = partial_order(ORDERS[name](rng))
        answer = REPLIES[kind](order, rng)
        least_distance, milliseconds = measure_time(order_distance, order, answer)
        ours.append(milliseconds)
        most = max(most, count_downsets(order))
        if at < 3 and count_orders(order) <= MOST_ORDERS and time.perf_counter() - began < SECONDS:
            least, longer = measure_time(least_of_all, order, answer)
            theirs.append(longer)
            assert least == least_distance, (name, kind, answer, least_distance, least)
    beside = f"{median(theirs):10.1f} {median(theirs) / median(ours):9.0f}x" if theirs else f"{'-':>10} {'-':>10}"
    return f"{name:22} {kind:12} {most:8} {median(ours):10.3f} {max(ours):10.3f} {beside}"


def main() -> None:
    began = time.perf_counter()
    titles = f"{'median ms':>10} {'max ms':>10} {'listing':>10} {'ratio':>10}"
    print(f"{'partial order':22} {'reply':12} {'downsets':>8} {titles}")
    for name in ORDERS:
        for kind in REPLIES:
            if time.perf_counter() - began < SECONDS:
                print(row(name, kind, began), flush=True)
    print(f"{time.perf_counter() - began:.0f} seconds")


if __name__ == "__main__":
    main()

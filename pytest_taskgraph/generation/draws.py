"""Shuffles and samples that draw the same numbers as those of `random.Random`, in less time.

A workflow takes hundreds of draws for the order of its declarations. Through the methods of `Random`, each would take
several calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from random import Random
from typing import Final, TypeVar

FEW: Final = 21  # from more items than these and three times the sample, `Random.sample` draws in another way

_T = TypeVar("_T")


def shuffle(items: list[_T], rng: Random) -> None:
    """Shuffle the items in place, as `rng.shuffle` does."""
    if type(rng) is not Random:  # another source of choice has draws of its own
        rng.shuffle(items)
        return
    draw = rng.getrandbits
    for last, bits in _places(len(items)):
        while (other := draw(bits)) > last:
            pass
        items[last], items[other] = items[other], items[last]


def skip_shuffle(count: int, rng: Random) -> None:
    """Draw what a shuffle of `count` items draws."""
    if type(rng) is not Random:
        rng.shuffle([None] * count)
        return
    draw = rng.getrandbits
    for last, bits in _places(count):
        while draw(bits) > last:
            pass


def shuffle_copy(items: Iterable[_T], rng: Random) -> tuple[_T, ...]:
    """Return the items in a drawn order."""
    order = list(items)
    if len(order) > 1:
        shuffle(order, rng)
    return tuple(order)


def sample(items: Sequence[_T], count: int, rng: Random) -> list[_T]:
    """Return `count` different items in a drawn order, as `rng.sample` does."""
    size = len(items)
    if type(rng) is not Random or not 0 <= count <= size <= max(FEW, 3 * count):
        return rng.sample(items, count)
    draw, left, chosen = rng.getrandbits, list(items), list[_T]()
    for last in range(size - 1, size - count - 1, -1):
        bits = (last + 1).bit_length()
        while (place := draw(bits)) > last:
            pass
        chosen.append(left[place])
        left[place] = left[last]
    return chosen


@lru_cache(maxsize=64)
def _places(count: int) -> tuple[tuple[int, int], ...]:
    """Return the places that a shuffle fills, from the last to the second, each with the number of bits to draw."""
    return tuple([(last, (last + 1).bit_length()) for last in range(count - 1, 0, -1)])

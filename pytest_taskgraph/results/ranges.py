"""Numbers in few ranges, so that a table by number stays readable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def ranges(numbers: Iterable[int], most: int) -> list[tuple[int, int]]:
    """At most `most` (>= 1) ranges, least and greatest number of each, that hold about equally many of the numbers.

    Every number is in exactly one of them, and each begins and ends with a number that is there. Few different numbers
    have a range each.
    """
    counts = sorted(Counter(numbers).items())
    if len(counts) <= most:
        return [(number, number) for number, _ in counts]
    total = sum(count for _, count in counts)
    before, found = 0, dict[int, tuple[int, int]]()
    for number, count in counts:
        # A number belongs where the middle of its ones would be, were all of them dealt out evenly.
        place = most * (2 * before + count) // (2 * total)
        found[place] = (found.get(place, (number, number))[0], number)
        before += count
    return list(found.values())

"""How far two lists of groups of names agree (patterns.md, S16)."""

from __future__ import annotations

from collections import Counter

from ...trial import Json
from .sets import names, overlap


def matching(given: Json, reference: Json) -> float:
    """The mean Jaccard index of the best one-to-one matching of groups, 0.0 to 1.0.

    The sum over the matched pairs is divided by the larger number of groups, so a missing group and a surplus one cost
    alike; identical groups are matched one by one. 1.0 if there are no groups on either side, 0.0 if on one.
    """
    ours, theirs = _groups(given), _groups(reference)
    if not ours or not theirs:
        return 1.0 if len(ours) == len(theirs) else 0.0
    if Counter(ours) == Counter(theirs):
        return 1.0  # as most answers are, and scipy takes half a second to import
    from scipy.optimize import linear_sum_assignment

    gain = [[overlap(one, other) for other in theirs] for one in ours]
    rows, columns = linear_sum_assignment(gain, maximize=True)
    total = sum(gain[row][column] for row, column in zip(rows.tolist(), columns.tolist(), strict=True))
    return total / max(len(ours), len(theirs))


def _groups(answer: Json) -> list[frozenset[str]]:
    return [names(group) for group in answer] if isinstance(answer, list) else []

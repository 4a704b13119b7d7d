"""Agreement of answers: equal ones, equivalent conditions, sets of names, and lists of groups of names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set

from ...trial import Json
from ..condition_meaning import is_same_condition


def correctness(given: Json, reference: Json) -> float:
    """1.0 if the answer equals the reference, case included, else 0.0."""
    return 1.0 if given == reference else 0.0


def equivalence(given: Json, reference: Json) -> float:
    """1.0 if the answer provably holds in the same situations as the reference (see `conditions`), else 0.0.

    Raises UsageError for a reference that states no condition.
    """
    return 1.0 if is_same_condition(given if isinstance(given, str) else "", reference) else 0.0


def jaccard(given: Json, reference: Json) -> float:
    """The Jaccard index |A ∩ R| / |A ∪ R|, 0.0 to 1.0; 1.0 if both are empty, 0.0 if one is."""
    return jaccard_index(name_set(given), name_set(reference))


def precision(given: Json, reference: Json) -> float | None:
    """The share of the given names that are right, 0.0 to 1.0; None if nothing was given."""
    return _share(name_set(given), name_set(reference))


def recall(given: Json, reference: Json) -> float | None:
    """The share of the right names that were given, 0.0 to 1.0; None if there are no right ones."""
    return _share(name_set(reference), name_set(given))


def name_set(answer: Json) -> frozenset[str]:
    """The names that an answer lists; nothing for an answer that is no list."""
    return frozenset(str(name) for name in answer) if isinstance(answer, list) else frozenset()


def jaccard_index(one: Set[str], other: Set[str]) -> float:
    """The Jaccard index of two sets; 1.0 if both are empty."""
    union = len(one | other)
    return len(one & other) / union if union else 1.0


def _share(whole: Set[str], part: Set[str]) -> float | None:
    return len(whole & part) / len(whole) if whole else None


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

    gain = [[jaccard_index(one, other) for other in theirs] for one in ours]
    rows, columns = linear_sum_assignment(gain, maximize=True)
    total = sum(gain[row][column] for row, column in zip(rows.tolist(), columns.tolist(), strict=True))
    return total / max(len(ours), len(theirs))


def _groups(answer: Json) -> list[frozenset[str]]:
    return [name_set(group) for group in answer] if isinstance(answer, list) else []

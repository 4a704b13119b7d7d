"""Agreement of answers: equal answers, equivalent conditions, sets of names, and lists of groups of names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set

from ...trial import Json
from ..condition_meaning import is_same_condition


def correctness(given: Json, reference: Json) -> float:
    """Return 1.0 if the answer equals the reference, case included, else 0.0."""
    return 1.0 if given == reference else 0.0


def equivalence(given: Json, reference: Json) -> float:
    """Return 1.0 if the answer provably holds in the same situations as the reference, else 0.0.

    `condition_meaning` compares the conditions.

    Raises:
        UsageError: if the reference states no condition.
    """
    return 1.0 if is_same_condition(given if isinstance(given, str) else "", reference) else 0.0


def jaccard(given: Json, reference: Json) -> float:
    """Return the Jaccard index |A ∩ R| / |A ∪ R|, 0.0 to 1.0; 1.0 if both are empty, 0.0 if one is."""
    return jaccard_index(name_set(given), name_set(reference))


def precision(given: Json, reference: Json) -> float | None:
    """Return the share of the given names that are right, 0.0 to 1.0; None if no name was given."""
    return _share(name_set(given), name_set(reference))


def recall(given: Json, reference: Json) -> float | None:
    """Return the share of the right names that were given, 0.0 to 1.0; None if there are no right names."""
    return _share(name_set(reference), name_set(given))


def name_set(answer: Json) -> frozenset[str]:
    """Return the names that an answer lists; the empty set for an answer that is no list."""
    return frozenset(str(name) for name in answer) if isinstance(answer, list) else frozenset()


def jaccard_index(first: Set[str], second: Set[str]) -> float:
    """Return the Jaccard index of two sets; 1.0 if both are empty."""
    union = len(first | second)
    return len(first & second) / union if union else 1.0


def _share(whole: Set[str], part: Set[str]) -> float | None:
    return len(whole & part) / len(whole) if whole else None


def matching(given: Json, reference: Json) -> float:
    """Return the mean Jaccard index of the best one-to-one matching of groups, 0.0 to 1.0.

    The sum over the matched pairs is divided by the larger number of groups, so missing and surplus groups cost
    the same; identical groups are matched one by one. 1.0 if there are no groups on either side, 0.0 if on one.
    """
    ours, theirs = _groups(given), _groups(reference)
    if not ours or not theirs:
        return 1.0 if len(ours) == len(theirs) else 0.0
    if Counter(ours) == Counter(theirs):
        return 1.0  # the common case, without the half second that the import of scipy takes
    from scipy.optimize import linear_sum_assignment

    gain = [[jaccard_index(own_group, other_group) for other_group in theirs] for own_group in ours]
    rows, columns = linear_sum_assignment(gain, maximize=True)
    total = sum(gain[row][column] for row, column in zip(rows.tolist(), columns.tolist(), strict=True))
    return total / max(len(ours), len(theirs))


def _groups(answer: Json) -> list[frozenset[str]]:
    return [name_set(group) for group in answer] if isinstance(answer, list) else []

"""How far two sets of names agree (metrics-spec, section 3). Repeated names count once."""

from __future__ import annotations

from collections.abc import Set

from ...trial import Json


def jaccard(given: Json, reference: Json) -> float:
    """The Jaccard index |A ∩ R| / |A ∪ R|, 0.0 to 1.0; 1.0 if both are empty, 0.0 if one is."""
    return overlap(names(given), names(reference))


def precision(given: Json, reference: Json) -> float | None:
    """The share of the given names that are right, 0.0 to 1.0; None if nothing was given."""
    return _share(names(given), names(reference))


def recall(given: Json, reference: Json) -> float | None:
    """The share of the right names that were given, 0.0 to 1.0; None if there are no right ones."""
    return _share(names(reference), names(given))


def names(answer: Json) -> frozenset[str]:
    """The names that an answer lists; nothing for an answer that is no list."""
    return frozenset(str(name) for name in answer) if isinstance(answer, list) else frozenset()


def overlap(one: Set[str], other: Set[str]) -> float:
    """The Jaccard index of two sets; 1.0 if both are empty."""
    union = len(one | other)
    return len(one & other) / union if union else 1.0


def _share(whole: Set[str], part: Set[str]) -> float | None:
    return len(whole & part) / len(whole) if whole else None

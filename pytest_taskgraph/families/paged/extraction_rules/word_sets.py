"""Sets of words, written as texts, and how alike two of them are."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, which blanks divide."""
    return frozenset(text.split())


def word_overlap(first: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard index of two sets of words, 0.0 to 1.0; 0.0 if both are empty."""
    return len(first & other) / max(1, len(first | other))

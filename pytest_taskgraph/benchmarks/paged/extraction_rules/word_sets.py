"""Sets of words, written as texts."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, which blanks divide."""
    return frozenset(text.split())

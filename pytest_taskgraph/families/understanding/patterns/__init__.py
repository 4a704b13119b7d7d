"""Catalogue of the patterns, and their selection by a suite."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from ....errors import UnknownNameError, UsageError
from .pattern import PATTERNS, Pattern

Selection = str | Pattern | Iterable["str | Pattern"]
_BUILT_IN: list[str] = []


def catalogue() -> dict[str, Pattern]:
    """Return all patterns by name: the built-in ones by topic, then the user's in the order of registration."""
    if not _BUILT_IN:
        from . import behaviour, functionality, structure, timing

        topics = [
            topic.__name__ for category in (structure, behaviour, functionality, timing) for topic in category.TOPICS
        ]
        built_in = (pattern for pattern in PATTERNS.values() if pattern.category != "custom")
        by_topic = sorted(built_in, key=lambda pattern: topics.index(pattern.cases.__module__))
        _BUILT_IN.extend(pattern.name for pattern in by_topic)
    return {name: PATTERNS[name] for name in (*_BUILT_IN, *(n for n in PATTERNS if n not in _BUILT_IN))}


def select(selection: Selection) -> tuple[Pattern, ...]:
    """Return the patterns that the selection names, in the order of the catalogue.

    Args:
        selection: A name, category, glob or pattern, or several of them.

    Raises:
        UnknownNameError: if a word selects no pattern; it lists the categories and names that exist.
        UsageError: if the selection is empty.
    """
    available = catalogue()
    selectors = [selection] if isinstance(selection, (str, Pattern)) else list(selection)
    if not selectors:
        raise UsageError("a suite without patterns; name a category, a pattern or several")
    names = {name for selector in selectors for name in _matching_names(selector, available)}
    return tuple(pattern for name, pattern in available.items() if name in names)


def _matching_names(selector: str | Pattern, available: dict[str, Pattern]) -> list[str]:
    """Return the names of the patterns that a name, category, glob or pattern selects."""
    if isinstance(selector, Pattern):
        return [selector.name]
    names = [name for name, p in available.items() if fnmatchcase(name, str(selector)) or p.category == selector]
    if not names:
        raise UnknownNameError("pattern", str(selector), {*available, *(p.category for p in available.values())})
    return names

"""The catalogue of patterns, and which of them a suite means."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from ....errors import UnknownNameError, UsageError
from .pattern import PATTERNS, Pattern

Selection = str | Pattern | Iterable["str | Pattern"]
_OURS: list[str] = []


def catalogue() -> dict[str, Pattern]:
    """All patterns by name: ours in the order of the specification, then the user's in the order of registration."""
    if not _OURS:
        from . import behaviour, functionality, structure

        topics = [topic.__name__ for one in (structure, behaviour, functionality) for topic in one.TOPICS]
        ours = (one for one in PATTERNS.values() if one.category != "custom")
        _OURS.extend(one.name for one in sorted(ours, key=lambda one: topics.index(one.cases.__module__)))
    return {name: PATTERNS[name] for name in (*_OURS, *(n for n in PATTERNS if n not in _OURS))}


def select(selection: Selection) -> tuple[Pattern, ...]:
    """The patterns meant by names, categories, globs or patterns themselves, in the order of the catalogue.

    Raises UnknownNameError, with the categories and the names there are, for a word that fits nothing.
    """
    known = catalogue()
    wanted = [selection] if isinstance(selection, (str, Pattern)) else list(selection)
    if not wanted:
        raise UsageError("a suite without patterns; name a category, a pattern or several")
    names = {name for one in wanted for name in _named(one, known)}
    return tuple(one for name, one in known.items() if name in names)


def _named(one: str | Pattern, known: dict[str, Pattern]) -> list[str]:
    if isinstance(one, Pattern):
        return [one.name]
    found = [name for name, p in known.items() if fnmatchcase(name, str(one)) or p.category == one]
    if not found:
        raise UnknownNameError("pattern", str(one), {*known, *(p.category for p in known.values())})
    return found

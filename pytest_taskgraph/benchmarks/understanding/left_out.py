"""What is not asked, and why: sizes too small, notations without words for it, own files with nothing to ask about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...errors import RecipeTooSmallError
from ...notations import notation
from ..settings import Settings
from . import projects
from .pattern import Pattern
from .sample import recipe_for


def recipe_features(pattern: Pattern, size: int) -> frozenset[str]:
    """The features that a workflow drawn for the pattern may hold, and a notation must say."""
    return recipe_for(pattern, size).features | pattern.varies


def least_tasks_of(pattern: Pattern, size: int) -> int:
    """The least size that the pattern's needs fit in, where this one is too small; else 0."""
    try:
        recipe_for(pattern, size)
    except RecipeTooSmallError as error:
        return error.least
    return 0


def too_small(patterns: Sequence[Pattern], settings: Settings) -> Iterator[str]:
    """A line for each pattern and size that its needs do not fit."""
    for size in settings.tasks:
        for pattern in patterns:
            if least := least_tasks_of(pattern, size):
                yield f"{pattern.name} is left out at {size} tasks: it needs at least {least}"


def unsaid(patterns: Sequence[Pattern], settings: Settings) -> Iterator[str]:
    """A line for each pattern and notation that has no words for what the pattern asks about."""
    for name in settings.notations:
        for pattern in patterns:
            sizes = [size for size in settings.tasks if not least_tasks_of(pattern, size)]
            lost = {f for size in sizes for f in recipe_features(pattern, size)} & notation(name).loses
            if lost:
                yield f"{pattern.name} is left out in {name}, which cannot say {', '.join(sorted(lost))}"


def silent(patterns: Sequence[Pattern], settings: Settings) -> Iterator[str]:
    """A line for each of the user's projects, with the patterns that find nothing in it."""
    for path in settings.workflows:
        for converted in settings.notations if settings.convert else ("",):
            none = [p.name for p in patterns if not projects.listing(p, path, converted)]
            if none:
                yield f"{path}{f' in {converted}' if converted else ''}: nothing to ask for {', '.join(none)}"

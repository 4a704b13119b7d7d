"""What is not asked, and why: sizes too small, notations without words for it, own files with nothing to ask about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ....errors import RecipeTooLargeError, RecipeTooSmallError
from ....notations import notation
from ..family_options import UnderstandingSettings
from ..own_files import projects
from ..own_files.choices import LONGEST, choose, list_cases, unbalanced
from ..patterns.pattern import Pattern
from .sample import recipe_for

MOST_NAMED = 5  # files that one line names


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


def misfit(pattern: Pattern, size: int) -> str:
    """Return why no workflow of that size can be drawn for the pattern; empty if one can."""
    try:
        recipe_for(pattern, size)
    except RecipeTooSmallError as error:
        return f"it needs at least {error.least}"
    except RecipeTooLargeError as error:
        return f"its domains have at most {error.most}"
    return ""


def misfits(patterns: Sequence[Pattern], settings: UnderstandingSettings) -> Iterator[str]:
    """Yield a line for each pattern and size that do not fit each other."""
    for size in settings.tasks:
        for pattern in patterns:
            if reason := misfit(pattern, size):
                yield f"{pattern.name} is left out at {size} tasks: {reason}"


def unsaid(patterns: Sequence[Pattern], settings: UnderstandingSettings) -> Iterator[str]:
    """A line for each pattern and notation that has no words for what the pattern asks about."""
    for name in settings.notations:
        for pattern in patterns:
            sizes = [size for size in settings.tasks if not misfit(pattern, size)]
            lost = {f for size in sizes for f in recipe_features(pattern, size)} & notation(name).unsupported
            if lost:
                yield f"{pattern.name} is left out in {name}, which cannot say {', '.join(sorted(lost))}"


def silent(patterns: Sequence[Pattern], settings: UnderstandingSettings) -> Iterator[str]:
    """A line for each of the user's projects, with the patterns that find nothing in it, or not all there is."""
    for path in settings.workflows:
        for converted in settings.notations if settings.convert else ("",):
            where = f"{path}{f' in {converted}' if converted else ''}"
            found = {one.name: list_cases(one, path, converted) for one in patterns}
            if none := [p.name for p in patterns if not _found(p, path, converted, settings.seed)]:
                yield f"{where}: nothing to ask for {', '.join(none)}"
            if long := [name for name, one in found.items() if one.too_long]:
                yield f"{where}: answers of more than {LONGEST} names are not asked for: {', '.join(long)}"
            if sampled := [name for name, one in found.items() if "cases" in one.bounds]:
                yield f"{where} is too large to ask about all of it; a sample is taken for {', '.join(sampled)}"
            if cut := [name for name, one in found.items() if "steps" in one.bounds]:
                yield f"{where} is too large to work out all answers; some cases are left out for {', '.join(cut)}"


def _found(pattern: Pattern, path: str, converted: str, seed: int) -> bool:
    """Return True if a pattern has a case about a project, or about a copy of it with a planted flaw."""
    found = list_cases(pattern, path, converted)
    return bool(found.cases or found.too_long or (pattern.planted and choose(pattern, path, converted, seed, 2)))


def one_sided(patterns: Sequence[Pattern], settings: UnderstandingSettings) -> Iterator[str]:
    """Yield a line for each of the user's projects, with the patterns to which it allows only one of yes and no."""
    for path in settings.workflows:
        for converted in settings.notations if settings.convert else ("",):
            answers = {
                one.name: unbalanced(one, path, converted, settings.seed, settings.instances) for one in patterns
            }
            told = [f"{name} (only {answer})" for name, answer in answers.items() if answer]
            if told:
                where = f"{path}{f' in {converted}' if converted else ''}"
                yield f"{where}: not asked, for no change of one step gives the other answer: {', '.join(told)}"


def left_alone(paths: Iterable[str]) -> Iterator[str]:
    """Yield a line for each of the user's folders with files that hold no workflow, though their suffix may."""
    for path in paths:
        if files := projects.load(path).left_alone:
            more = f" and {len(files) - MOST_NAMED} more" if len(files) > MOST_NAMED else ""
            yield f"{path}: left alone, for they hold no workflow: {', '.join(files[:MOST_NAMED])}{more}"

"""Questions and their twins: the same asked once more, varied in each relation that can be had."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from random import Random

from ...catalog import catalog_cache
from ...errors import NoCaseError
from ...notations import notation
from . import projects
from .asked import Asked, as_is, written
from .catalogue import catalogue
from .choices import text_of
from .left_out import recipe_features
from .pattern import Pattern
from .phrasings import worded
from .reference import PatternReference
from .scope import by_own_name
from .settings import UnderstandingSettings
from .shots import shots_of, unsolved
from .vary import hindrance, varied


def asked(reference: PatternReference, settings: UnderstandingSettings) -> Asked:
    """What a reference stands for. Raises NoCaseError where it cannot be had in the relation of the reference."""
    found = as_is(reference, settings)
    return _varied(found, reference, settings) if reference.relation else found


def with_varied(made: Iterable[PatternReference], settings: UnderstandingSettings) -> Iterator[PatternReference]:
    """Each question, and after it the same varied in each relation that can be had."""
    for one in made:
        yield one
        yield from (again for again in _twins(one, settings.vary) if not refusal(again, settings))


def refusal(reference: PatternReference, settings: UnderstandingSettings) -> str:
    """Why a question cannot be varied so; empty if it can."""
    pattern = catalogue()[reference.pattern]
    if reference.source < 0 and pattern.category != "custom" and not shots_of(settings):
        held, ways = recipe_features(pattern, reference.tasks), len(worded(pattern, settings.templates).templates)
        return hindrance(reference.relation, pattern, ways, held, reference.notation)
    # What a cached verdict hangs on besides: patterns and files may change within a process.
    own = projects.load(settings.workflows[reference.source]).digest if reference.source >= 0 else ""
    return _tried(reference, settings, pattern, own)


def not_varied(made: Iterable[PatternReference], settings: UnderstandingSettings) -> Iterator[str]:
    """A line for each relation in which some of the questions cannot be varied."""
    ones = list(made)
    for relation in dict.fromkeys(settings.vary):
        reasons = [refusal(again, settings) for one in ones for again in _twins(one, [relation])]
        if told := list(filter(None, reasons)):
            yield f"{len(told)} of {len(reasons)} questions are not asked varied in {relation}: {told[0]}"


def _twins(reference: PatternReference, relations: Iterable[str]) -> Iterator[PatternReference]:
    for relation in dict.fromkeys(relations):
        yield replace(reference, id=f"{reference.id}-vary-{relation}", relation=relation, twin=reference.id)


@catalog_cache
@lru_cache(maxsize=1 << 16)
def _tried(reference: PatternReference, settings: UnderstandingSettings, pattern: Pattern, own: str) -> str:
    try:
        asked(reference, settings)
    except NoCaseError as error:
        return str(error)
    return ""


def _varied(found: Asked, reference: PatternReference, settings: UnderstandingSettings) -> Asked:
    """The question in the relation of its reference. Raises NoCaseError where that cannot be had."""
    verbatim = reference.source >= 0 and not settings.convert
    if verbatim and reference.relation != "phrasing":
        raise NoCaseError("own files are shown as they are; --taskgraph-notation has them written anew")
    rng = Random(f"{reference.relation}|{found.pattern.name}|{reference.tasks}|{settings.seed}|{reference.ordinal}")
    again = varied(reference.relation, found, rng)
    if shots_of(settings) and unsolved(found.pattern, again.notation):
        raise NoCaseError(f"no example in {again.notation}")
    if verbatim:
        return again
    text = written(again.workflow, again.notation)
    if again.edit:
        path = settings.workflows[reference.source]
        text = text_of(path, again.workflow, notation(again.notation), again.edit)
    scope = by_own_name(again.scope, again.workflow, text) if found.scope.own_name else again.scope
    return replace(again, text=text, scope=scope)

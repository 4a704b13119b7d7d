"""Solved examples before a question: the same pattern, notation and size, about other workflows.

Yes and no alternate, and the ordinal's bit above the one that decides the answer decides which begins, so that the
answers of the examples tell nothing about the answer of the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from ....errors import NoCaseError
from ....notations import notation
from ....notations.plain_json import digest
from ....scoring.forms import form
from ....trial import Place
from ....workflow.model import Workflow
from ..family_options import UnderstandingSettings
from ..patterns.pattern import Pattern
from ..patterns.scope import sentence
from ..prompts import Example, prompt_template
from .ingredients import known_names
from .left_out import least_tasks_of, recipe_features
from .sample import Drawn, draw

USUAL_SIZE = 12  # of examples for questions about own files
ATTEMPTS = 20
MARKER = "Final answer: "


@dataclass(frozen=True, slots=True)
class ExampleSeries:
    """Which examples: how many, how large, and the seed and ordinal of the question that they stand before."""

    count: int
    size: int
    seed: int
    ordinal: int


def shots_of(settings: UnderstandingSettings) -> int:
    """How many examples stand before each question: what the run says, else what the prompt template wants."""
    return prompt_template(settings.prompt, settings.templates).shots if settings.shots is None else settings.shots


def size_of(pattern: Pattern, tasks: int) -> int:
    """The size of a pattern's examples: that of the question's workflow; for own files (0) the usual or least one."""
    return tasks or max(USUAL_SIZE, least_tasks_of(pattern, USUAL_SIZE))


def unsolved(pattern: Pattern, shown: str) -> frozenset[str]:
    """The features of examples for own files which the notation has no words for: none, if they can be shown."""
    return recipe_features(pattern, size_of(pattern, 0)) & notation(shown).unsupported


def drawn(pattern: Pattern, series: ExampleSeries, other_than: str) -> tuple[Drawn, ...]:
    """The cases of the examples: about workflows of different digests, none of them `other_than`.

    Raises NoCaseError where the pattern has no case, or always the same workflow.
    """
    seed = int(
        sha256(f"shots|{pattern.name}|{series.size}|{series.seed}|{series.ordinal}".encode()).hexdigest()[:16], 16
    )
    seen, found = {other_than}, []
    for place in range(series.count):
        side = (place + (series.ordinal >> 1)) % 2
        for one in _tries(pattern, series, seed, place, side):
            if digest(one.project) not in seen:
                break
        else:
            raise NoCaseError(f"pattern {pattern.name!r} finds no example that differs from the question's workflow")
        seen.add(digest(one.project))
        found.append(one)
    return tuple(found)


def _tries(pattern: Pattern, series: ExampleSeries, seed: int, place: int, side: int) -> Iterator[Drawn]:
    """Cases for one place; an ordinal's parity decides yes or no."""
    return (draw(pattern, series.size, seed, 2 * (place + series.count * i) + side) for i in range(ATTEMPTS))


def examples(
    found: Iterable[Drawn], worded: Pattern, phrasing: int, place: Place, write: Callable[[Workflow], str]
) -> tuple[Example, ...]:
    """The solved examples, asked in the words of the question and answered where the template wants the answer."""
    return tuple(
        Example(write(one.project), sentence(worded, phrasing, one.scope, one.case), _answer(worded, one, place))
        for one in found
    )


def _answer(pattern: Pattern, one: Drawn, place: Place) -> str:
    names = known_names(one.project, one.scope.workflow)
    return (MARKER if place == "marker" else "") + form(pattern.form).write(one.case.answer, names)

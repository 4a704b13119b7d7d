"""Solved examples before a question: the same pattern, notation and size, about other workflows.

Yes and no alternate. The ordinal's second bit decides which comes first, and not the lowest, which decides the answer
of the question: so the answers of the examples do not reveal it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from ....errors import NoCaseError
from ....notations import NOTATIONS, notation
from ....notations.plain_json import digest
from ....scoring.forms import form
from ....trial import Place
from ....workflow.model import Workflow
from ..patterns.pattern import Pattern
from ..patterns.scope import sentence
from ..prompts import Example, prompt_template
from ..understanding_settings import UnderstandingSettings
from .ingredients import known_names
from .left_out import least_tasks_of, recipe_features
from .sample import DrawnCase, draw

USUAL_SIZE = 12  # tasks of the examples for questions about own files
ATTEMPTS = 20
MARKER = "Final answer: "


@dataclass(frozen=True, slots=True)
class ExampleSeries:
    """Number and size of the examples, with the seed and ordinal of the question that they precede."""

    count: int
    size: int
    seed: int
    ordinal: int


def shots_of(settings: UnderstandingSettings) -> int:
    """Return the number of examples before each question: of the settings, else of the prompt template."""
    return prompt_template(settings.prompt, settings.templates).shots if settings.shots is None else settings.shots


def size_of(pattern: Pattern, tasks: int) -> int:
    """Return the size of a pattern's examples: the question's; for own files (0) the usual or least possible size."""
    return tasks or max(USUAL_SIZE, least_tasks_of(pattern, USUAL_SIZE))


def unsupported_by_examples(pattern: Pattern, notation_name: str) -> frozenset[str]:
    """Return the features of examples for own files that the notation does not support; none is written in a format."""
    if notation_name not in NOTATIONS:
        return frozenset({"writing"})
    return recipe_features(pattern, size_of(pattern, 0)) & notation(notation_name).unsupported


def draw_examples(pattern: Pattern, series: ExampleSeries, other_than: str) -> tuple[DrawnCase, ...]:
    """Return the cases of the examples, about workflows of different digests.

    Args:
        pattern: The pattern of the question.
        series: Number, size, seed and ordinal.
        other_than: Digest of the question's workflow, which no example has.

    Raises:
        NoCaseError: if the pattern has no case, or always the same workflow.
    """
    seed = int(
        sha256(f"shots|{pattern.name}|{series.size}|{series.seed}|{series.ordinal}".encode()).hexdigest()[:16], 16
    )
    seen, cases = {other_than}, []
    for place in range(series.count):
        side = (place + (series.ordinal >> 1)) % 2
        for drawn_case in _attempts(pattern, series, seed, place, side):
            if digest(drawn_case.project) not in seen:
                break
        else:
            raise NoCaseError(f"pattern {pattern.name!r} finds no example that differs from the question's workflow")
        seen.add(digest(drawn_case.project))
        cases.append(drawn_case)
    return tuple(cases)


def _attempts(pattern: Pattern, series: ExampleSeries, seed: int, place: int, side: int) -> Iterator[DrawnCase]:
    """Yield cases for one place among the examples; an ordinal's parity decides yes or no."""
    return (
        draw(pattern, series.size, seed, 2 * (place + series.count * attempt) + side) for attempt in range(ATTEMPTS)
    )


def solve_examples(
    cases: Iterable[DrawnCase], pattern: Pattern, phrasing: int, place: Place, write: Callable[[Workflow], str]
) -> tuple[Example, ...]:
    """Return the solved examples, in the words of the question, with the answer where the template expects it."""
    return tuple(
        Example(
            write(drawn_case.project),
            sentence(pattern, phrasing, drawn_case.scope, drawn_case.case),
            _answer(pattern, drawn_case, place),
        )
        for drawn_case in cases
    )


def _answer(pattern: Pattern, drawn_case: DrawnCase, place: Place) -> str:
    names = known_names(drawn_case.project, drawn_case.scope.workflow)
    return (MARKER if place == "marker" else "") + form(pattern.form).write(drawn_case.case.answer, names)

"""Instances of any family for fuzzing: questions of drawn seeds and references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from hypothesis import reject
from hypothesis import strategies as st

from ..errors import NoCaseError
from ..trial import Question
from .instances import RENDERS, Check, Instance

if TYPE_CHECKING:
    from ..diagram import Diagram
    from .settings import Settings

SEEDS: Final = 10_000


class NamedReference(Protocol):
    """A reference to a question of a group."""

    @property
    def id(self) -> str:
        """Return the name of the question."""
        ...

    @property
    def group(self) -> str:
        """Return the group of the question."""
        ...


R = TypeVar("R", bound=NamedReference)


class QuestionSource(Protocol[R]):
    """The part of a `Family` that draws its instances here by default."""

    @property
    def name(self) -> str:
        """Return the name of the family."""
        ...

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[R]:
        """Return the questions of a suite."""
        ...

    def question(self, reference: R, settings: Settings) -> Question:
        """Return the question of a reference."""
        ...

    def diagram(self, reference: R, settings: Settings) -> Diagram | None:
        """Return the diagram of what the question is about; None if nothing is drawn."""
        ...


def instances_of(
    family: QuestionSource[R], group: str, settings: Settings, options: Mapping[str, Any]
) -> st.SearchStrategy[Instance]:
    """Return a strategy for questions of a group, of any seed; it shrinks towards the first questions.

    Args:
        family: The family.
        group: The group.
        settings: The settings of the run; their seed is replaced.
        options: The keyword arguments of a suite that asks questions of the group.
    """
    by_seed: dict[int, Sequence[R]] = {}

    @st.composite
    def draw_instance(draw: st.DrawFn) -> Instance:
        seed = draw(st.integers(0, SEEDS))
        seeded = replace(settings, seed=seed)
        if seed not in by_seed:
            by_seed[seed] = _references(family, group, seeded, options)
        if not by_seed[seed]:
            reject()
        return instance_of(family, draw(st.sampled_from(by_seed[seed])), seeded)

    return draw_instance()


def _references(family: QuestionSource[R], group: str, settings: Settings, options: Mapping[str, Any]) -> list[R]:
    try:
        return [reference for reference in family.references(settings, options) if reference.group == group]
    except NoCaseError:
        return []


def instance_of(family: QuestionSource[R], reference: R, settings: Settings) -> Instance:
    """Return the question of a reference as an instance; an unbuilt one if the family raises an exception."""
    try:
        question = family.question(reference, settings)
    except NoCaseError:
        reject()
    except Exception as error:  # any exception is a finding of the property `renders`
        return unbuilt_instance(family.name, reference.group, error, reference.id)
    drawing = _drawing(family, reference, settings)
    again = Check("deterministic", partial(_differs, question, family, reference, settings))
    return Instance(question, drawing, size=len(drawing) or question.prompt.count("\n"), checks=(again,))


def unbuilt_instance(
    family: str, group: str, error: Exception, name: str = "", drawing: Sequence[str] = (), size: int = 0
) -> Instance:
    """Return an instance of a question that cannot be built: its check of `renders` raises the error.

    Args:
        family: The name of the family.
        group: The group of the question.
        error: The error that building it raised.
        name: The id of the question.
        drawing: The drawing of what it is about.
        size: The size of that.
    """

    def fail() -> str:
        raise error

    question = Question(name, family, group, "", "", "", "text", "", "")
    return Instance(question, tuple(drawing), size=size, checks=(Check(RENDERS, fail),))


def differences(question: Question, again: Question) -> str:
    """Return what differs in a question that was built again; empty if it is equal."""
    parts = ("text", "prompt", "system", "reference", "names", "episode_settings")
    names = [name for name in parts if getattr(question, name) != getattr(again, name)]
    return f"built once more, its {' and '.join(names)} came out different; expected the same" if names else ""


def _differs(question: Question, family: QuestionSource[R], reference: R, settings: Settings) -> str:
    return differences(question, family.question(reference, settings))


def _drawing(family: QuestionSource[R], reference: R, settings: Settings) -> tuple[str, ...]:
    """Return what the question is about as lines of text; none if the family draws nothing."""
    from ..reports.drawing.diagram_text import diagram_lines

    try:
        diagram = family.diagram(reference, settings)
    except Exception:  # a drawing that fails hides no finding
        return ()
    return tuple(diagram_lines(diagram)) if diagram is not None else ()

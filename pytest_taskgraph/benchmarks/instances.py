"""Instances: questions for fuzzing and shrinking, with what shows and repeats each, and how to make it smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from ..trial import Question

RENDERS: Final = "renders"
"""Name of the property that a question and its prompt can be built. If it fails, no other is checked."""
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Check:
    """A property that a family demands of one of its questions.

    Args:
        property: The name of the property, such as "read-back".
        run: Returns the empty text if the property holds, else one line: the actual and the expected value.
    """

    property: str
    run: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Instance:
    """A question, with what shows and repeats it.

    Args:
        question: The question, with the reference answer that holds for it.
        drawing: A drawing of what the question is about, as lines of text; empty if there is none.
        files: By file name, the texts that a run reads to ask about the same.
        size: The size of what it is about, which shrinking reduces.
        checks: The properties that the family demands of it.
        suite: The keyword arguments with which `@suite` asks this question, given the files: options of the family, and
            those in `Family.suite_options`. A value that names one of the files is its name.
    """

    question: Question
    drawing: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    size: int = 0
    checks: tuple[Check, ...] = ()
    suite: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), hash=False)


class GroupViolation(NamedTuple):
    """A violated property of a group: the actual and the expected value, and the smallest instance that shows it."""

    message: str
    instance: Instance


@dataclass(frozen=True, slots=True)
class GroupCheck:
    """A property that a family demands of many questions of a group together.

    Args:
        property: The name of the property.
        run: Returns the violation; None if the property holds.
    """

    property: str
    run: Callable[[], GroupViolation | None]


class Reducible(Protocol[S]):
    """A question that can be made smaller by a smaller subject, the graph or document that it is about.

    All methods depend on their arguments only, so their results are equal in any process.
    """

    start: S
    """The subject of the question as it was asked."""

    def smaller(self, subject: S) -> Iterable[S]:
        """Yield subjects that are strictly smaller, each key once, in the order to try: about half the size first."""
        ...

    def key(self, subject: S) -> str:
        """Return a key that equal subjects share; of several with one key, only the first is asked about."""
        ...

    def size(self, subject: S) -> int:
        """Return the size of a subject, as a person counts it."""
        ...

    def instance(self, subject: S) -> Instance | None:
        """Return the question about a subject, with the reference answer computed for it.

        None if no such question can be asked about it.
        """
        ...

"""Questions as fuzzing and shrinking handle them: with what shows and repeats each, and how it can be made smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from ..trial import Question

RENDERS: Final = "renders"
"""The name of the property that a question and its prompt can be built. Where it fails, no other is checked."""
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Check:
    """A property that a family demands of a question of its own.

    Args:
        property: The name of the property, such as "read-back".
        run: Returns the empty text if the property holds, else one line: what was found, and what was expected.
    """

    property: str
    run: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Instance:
    """A question, with what shows and repeats it.

    Args:
        question: The question, with the reference answer that holds for it.
        drawing: What the question is about, as lines of text; none if that cannot be drawn.
        files: By file name, the text of what a run reads to ask about the same.
        size: How large what it is about is. Shrinking makes it small.
        checks: The properties that the family demands of it.
        suite: The keyword arguments with which `@suite` asks this question, given the files: options of the family,
            and those in `Family.suite_options`. A value that names one of the files is its name.
    """

    question: Question
    drawing: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    size: int = 0
    checks: tuple[Check, ...] = ()
    suite: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), hash=False)


class GroupViolation(NamedTuple):
    """What is wrong with a group as a whole: what was found and expected, and the smallest instance that shows it."""

    message: str
    instance: Instance


@dataclass(frozen=True, slots=True)
class GroupCheck:
    """A property that a family demands of many questions of a group together, not of each.

    Args:
        property: The name of the property.
        run: Returns what is wrong; None if the property holds.
    """

    property: str
    run: Callable[[], GroupViolation | None]


class Reducible(Protocol[S]):
    """A question whose subject can be made smaller: what it is about, such as a graph or a document.

    All methods are functions of their arguments: the same in any process.
    """

    start: S
    """The subject of the question as it was asked."""

    def smaller(self, subject: S) -> Iterable[S]:
        """Yield subjects that are strictly smaller, each key once, in the order to try: about half the size first."""
        ...

    def key(self, subject: S) -> str:
        """Return what equal subjects share: of several with one key, one is asked about."""
        ...

    def size(self, subject: S) -> int:
        """Return how large a subject is, as people count."""
        ...

    def instance(self, subject: S) -> Instance | None:
        """Return the question about a subject, with the reference answer computed for it.

        None if nothing of the kind can be asked about it.
        """
        ...

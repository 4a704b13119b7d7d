"""What a benchmark family offers to the plugin, and the reference that stands for a question until it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..asking import Episode, Model
from ..diagram import Diagram
from ..trial import Question
from .settings import Settings


@dataclass(frozen=True, slots=True)
class QuestionReference:
    """Enough to build one question again, anywhere: small, so that ten thousand of them collect fast."""

    id: str
    pattern: str
    notation: str
    ordinal: int
    tasks: int = 0  # the size of the generated workflow
    source: int = -1  # the place of the user's own project among those given; -1: generated
    relation: str = ""  # how the question is varied; none where empty
    twin: str = ""  # the id of the question that it varies
    repetition: int = 1


@dataclass(frozen=True, slots=True)
class Label:
    """A label that questions may have: its values, as far as they can be listed; where it is `closed`, all of them."""

    values: tuple[str, ...] = ()
    closed: bool = False


class Family(Protocol):
    """One benchmark: which questions there are, how each is built, and which baselines answer from the prompt alone."""

    name: str
    baselines: tuple[str, ...]  # names; the first is the default

    def options(self) -> frozenset[str]:
        """The keyword arguments that `@suite` takes for this family."""
        ...

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        """The questions of a suite, in order. Raises UsageError for options that cannot be met."""
        ...

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        """The question that a reference stands for; the same for the same arguments, in any process."""
        ...

    def episode(self, name: str) -> Episode:
        """Return how a question that names this episode is put: the family's own, or a shared one.

        Raises:
            UnknownNameError: if there is none of that name.
        """
        ...

    def labels(self) -> Mapping[str, Label]:
        """The labels that the questions may have, by name; patterns of users may have others."""
        ...

    def known_labels(self, reference: QuestionReference, settings: Settings) -> Mapping[str, str | int | None]:
        """Which labels a question that is not varied will have, as far as that takes no building; None: it has none.

        Ten thousand questions are asked for theirs while pytest collects.
        """
        ...

    def metrics(self, pattern: str, settings: Settings) -> Sequence[str]:
        """The metrics that may mark answers to a pattern that a reference names, the main one first."""
        ...

    def graded(self, pattern: str, settings: Settings) -> bool:
        """Return True if the questions of a pattern have scores, none of which is right or wrong (Question.graded)."""
        ...

    def diagram(self, reference: QuestionReference, settings: Settings) -> Diagram | None:
        """What the question is about, to be drawn; None where that is no workflow. Equal for questions of a cluster."""
        ...

    def baseline(self, name: str) -> Model:
        """The embedded baseline of that name. Raises UnknownNameError."""
        ...

    def notices(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[str]:
        """What a user should know about the questions that a suite leaves out, a line each."""
        ...

    def check(self, settings: Settings) -> None:
        """Nothing, if the settings can be met. Raises UsageError before anything is asked."""
        ...

    def category(self, pattern: str) -> str:
        """The category of a pattern that a reference names."""
        ...

    def question_set(self, pattern: str) -> int | None:
        """Return the version of the question set that a pattern belongs to; None where runs say nothing of one.

        It is raised whenever the same reference gives another prompt or another right answer. Runs of different
        versions are not compared.
        """
        ...

    def order(self) -> Sequence[str]:
        """The names of the patterns as reports list them."""
        ...

"""What a benchmark family offers to the plugin, and the reference that stands for a question until it is asked."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from ..errors import UnknownNameError
from .settings import Option, Settings, as_json

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..asking import Episode, Model
    from ..diagram import Diagram, DiagramPair
    from ..family_description import FamilyDescription
    from ..trial import Json, Question, Score
    from .instances import Check, GroupCheck, Instance, Reducible
    from .lint_rule import LintRule, SourcePlace


@dataclass(frozen=True, slots=True)
class QuestionReference:
    """What stands for a question until it is built. It is small, so that ten thousand of them collect fast.

    Args:
        id: The name of the item.
        group: What a row of the family's table is about.
        payload: What the family needs to build the question in any process: JSON that nobody else reads.
        labels: The labels that the question will have, as far as they are known before it is built; None for a label
            that it will not have. References may share one mapping.
        cluster: What questions that are not independent share; empty if that is known only once they are built.
        relation: How the question is varied; empty if it is not.
        twin: The id of the question that it varies.
        repetition: Which of several askings of the same question it is, from 1.
    """

    id: str
    group: str
    payload: Mapping[str, Any] = field(default_factory=dict, hash=False)
    labels: Mapping[str, str | int | None] = field(default_factory=dict, hash=False)
    cluster: str = ""
    relation: str = ""
    twin: str = ""
    repetition: int = 1


@dataclass(frozen=True, slots=True)
class Label:
    """A label that questions may have: its values, as far as they can be listed; where it is `closed`, all of them."""

    values: tuple[str, ...] = ()
    closed: bool = False


class Command(Protocol):
    """A module behind `python -m pytest_taskgraph NAME`."""

    SUMMARY: str

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command to the parser."""
        ...

    def run(self, options: argparse.Namespace) -> int:
        """Return the exit code. Raises UsageError."""
        ...


class Family(ABC):
    """One benchmark: its questions, how each is built and put, and what the plugin tells of them.

    A family has at least a `name`, `references` and `question`. Everything else has a default.
    """

    name: ClassVar[str]
    topic: ClassVar[str] = ""
    """What the benchmark is about, for the heading of its options in the help."""
    asked: ClassVar[str] = "a question"
    """What an LLM judge is told that it compares answers to."""
    options: ClassVar[tuple[Option, ...]] = ()
    """The options of its own. Families that mean the same declare the same one."""
    option_help: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """The words that stand in the help of shared options, by the name of the option."""
    profiles: ClassVar[Mapping[str, Mapping[str, str]]] = MappingProxyType({})
    """The values that profiles give options of its own, by the name of the profile."""
    suite_options: ClassVar[Collection[str]] = frozenset()
    """The keyword arguments that `@suite` takes for it."""
    data_names: ClassVar[tuple[str, ...]] = ()
    """The data sets that `--taskgraph-data` names for it."""
    episode_metrics: ClassVar[tuple[str, ...]] = ()
    """The names of the metrics that its episodes measure themselves (`Transcript.metrics`), for gates."""
    open_section: ClassVar[str | None] = None
    """The section of the groups that users add, of which nothing is known beforehand; None if they add none."""
    baselines: ClassVar[tuple[str, ...]] = ()
    """The names of its baselines, which answer from the prompt alone; the first is the default."""
    prompt_templates: ClassVar[bool] = True
    """Whether its questions are put with the prompt template that `Settings.prompt` names."""
    commands: ClassVar[tuple[str, ...]] = ()
    """The names of its commands, each a `python -m pytest_taskgraph NAME`."""

    @abstractmethod
    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        """Return the questions of a suite, in order.

        Args:
            settings: What the user of the run asked for.
            options: The keyword arguments of the suite. What the user stated goes before them (`Settings.given`).

        Raises:
            NothingToAskError: if the user's own files hold nothing for this suite, which is then skipped.
            UsageError: if the options cannot be met.
        """

    @abstractmethod
    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        """Return the question that a reference stands for: the same for the same arguments, in any process."""

    def check(self, settings: Settings) -> None:
        """Check that the settings can be met, before anything is asked. Raises UsageError."""
        return

    def notices(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[str]:
        """Return what a user should know about the questions that a suite leaves out, a line each."""
        return ()

    def episode(self, name: str) -> Episode:
        """Return how a question that names this episode is put: the family's own, or a shared one.

        Raises:
            UnknownNameError: if there is none of that name.
        """
        from .episodes import episode

        return episode(name)

    def labels(self) -> Mapping[str, Label]:
        """Return the labels that the questions may have, by name; questions of users may have others."""
        return {}

    def metrics(self, group: str, settings: Settings) -> Sequence[str] | None:
        """Return the metrics that may score answers of a group, the main one first; None if that is not known."""
        return None

    def graded(self, group: str, settings: Settings) -> bool:
        """Return True if the questions of a group have scores, none of which is right or wrong (Question.graded)."""
        return False

    def diagram(self, reference: QuestionReference, settings: Settings) -> Diagram | None:
        """Return what the question is about, to be drawn; None if it cannot be. Equal for questions of a cluster."""
        return None

    def diagram_pair(self, question: Question, score: Score) -> DiagramPair | None:
        """Return what was expected and what a parsed answer gives, to be drawn side by side; None if it cannot be.

        Computed from the question and the score alone: a record that is scored again asks for it too.
        """
        return None

    def fuzz_groups(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[str]:
        """Return the groups of a suite that are searched for questions that are not sound, one item each.

        Args:
            settings: What the user of the run asked for.
            options: The keyword arguments of the suite.

        Raises:
            UsageError: as `references` does.
        """
        return list(dict.fromkeys(reference.group for reference in self.references(settings, options)))

    def instances(self, group: str, settings: Settings, options: Mapping[str, Any]) -> SearchStrategy[Instance]:
        """Return a Hypothesis strategy for questions of a group; by default those of any seed.

        Args:
            group: One of `fuzz_groups`.
            settings: What the user of the run asked for.
            options: The keyword arguments of the suite.
        """
        from .drawn_instances import instances_of

        return instances_of(self, group, settings, options)

    def group_checks(
        self, group: str, settings: Settings, options: Mapping[str, Any], examples: int
    ) -> Sequence[GroupCheck]:
        """Return the properties demanded of the questions of a group together.

        Args:
            group: One of `fuzz_groups`.
            settings: What the user of the run asked for.
            options: The keyword arguments of the suite.
            examples: About how many questions to look at.
        """
        return ()

    def properties(self) -> Mapping[str, str]:
        """Return the properties that it demands of its questions beside those of every family, each in a sentence."""
        return {}

    def question_checks(self, reference: QuestionReference, question: Question, settings: Settings) -> Sequence[Check]:
        """Return the properties that it demands of a question of a suite, beside those of every family.

        Those of drawn questions come with `instances`; here stand those of questions that are not drawn.
        """
        return ()

    def lint_rules(self) -> Sequence[LintRule]:
        """Return the rules by which suites of the family are checked, beside those of every family."""
        return ()

    def group_source(self, group: str, settings: Settings) -> SourcePlace | None:
        """Return where a user finds what makes the questions of a group; None if that is nowhere or not known."""
        return None

    def reducible(self, reference: QuestionReference, settings: Settings) -> Reducible[Any] | None:
        """Return the question with all that makes it smaller; None if it cannot be."""
        return None

    def roles(self, settings: Settings) -> Collection[str]:
        """Return the roles in which its episodes ask further models: of "judge", "embedder"."""
        return ()

    def baseline(self, name: str, settings: Settings) -> Model:
        """Return the embedded baseline of that name.

        Args:
            name: One of `baselines`.
            settings: The settings of the run, without those of its suites.

        Raises:
            UnknownNameError: if there is none of that name.
            UsageError: if data that it needs are missing.
        """
        raise UnknownNameError("baseline", name, self.baselines)

    def command(self, name: str) -> Command:
        """Return the command of that name. Raises UnknownNameError."""
        raise UnknownNameError("command", name, self.commands)

    def section(self, group: str) -> str:
        """Return the section that a group belongs to; empty for none."""
        return ""

    def question_set(self, group: str) -> int | None:
        """Return the version of the question set that a group belongs to; None where runs say nothing of one.

        It is raised whenever the same reference gives another prompt or another right answer. Runs of different
        versions are not compared.
        """
        return None

    def description(self, settings: Settings) -> FamilyDescription:
        """Return the words, the order and the tables of the family, for the record and the reports of a run."""
        from ..family_description import FamilyDescription

        return FamilyDescription(self.name)

    def stated(self, settings: Settings) -> Mapping[str, Json]:
        """Return the values of its own options, by name, as the record of a run states them."""
        return {option.name: as_json(settings.value_of(option)) for option in self.options}

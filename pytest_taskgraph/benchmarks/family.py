"""What a benchmark family offers to the plugin, and the reference that stands for a question until it is asked."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from ..errors import UnknownNameError
from .option import Option, as_json
from .settings import Settings

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..asking import Episode, Model
    from ..diagram import Diagram, DiagramPair
    from ..family_description import FamilyDescription
    from ..trial import Json, Question, Score
    from .instances import Check, GroupCheck, Instance, Reducible
    from .lint_rule import LintRule, SourcePlace
    from .tuning_task import TuningTask


@dataclass(frozen=True, slots=True)
class QuestionReference:
    """A small stand-in for a question until it is built, so that ten thousand of them are collected fast.

    Args:
        id: The name of the item.
        group: The group, which is a row of the family's table.
        payload: What the family needs to build the question in any process: JSON that nothing else reads.
        labels: The labels that the question will have, as far as they are known before it is built; None for a label
            that it will not have. References may share one mapping.
        cluster: A name that dependent questions share; empty if it is known only once they are built.
        relation: How the question is varied; empty if it is not.
        twin: The id of the question that it varies.
        repetition: Which repetition of the same question it is, from 1.
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
    """A label that questions may have: its values as far as they can be listed; if `closed`, all of them."""

    values: tuple[str, ...] = ()
    closed: bool = False


class Command(Protocol):
    """A module behind `python -m pytest_taskgraph NAME`."""

    SUMMARY: str

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command to the parser."""
        ...

    def run(self, options: argparse.Namespace) -> int:
        """Run the command and return its exit code.

        Raises:
            UsageError: if the options cannot be met.
        """
        ...


class ShownFile(NamedTuple):
    """What is read of files of the user's own: lines to print, remarks on what is lost, and diagrams."""

    lines: Sequence[str]
    remarks: Sequence[str] = ()
    diagrams: Sequence[Diagram] = ()


class Family(ABC):
    """One benchmark: its questions, how each is built and presented, and what the plugin reports about them.

    A family has at least a `name`, `references` and `question`. Everything else has a default.
    """

    name: ClassVar[str]
    topic: ClassVar[str] = ""
    """What the benchmark is about, for the help of the commands."""
    asked: ClassVar[str] = "a question"
    """What the answers answer, in the words of the prompt of an LLM judge."""
    options: ClassVar[tuple[Option, ...]] = ()
    """Its own options. Families that share an option declare the same object."""
    option_help: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Text for the help of shared options, by the name of the option; that of families of this package is shown."""
    suite_options: ClassVar[Collection[str]] = frozenset()
    """The keyword arguments that `@suite` takes for it."""
    data_names: ClassVar[tuple[str, ...]] = ()
    """The data sets that `--taskgraph-data` names for it."""
    generated_data: ClassVar[tuple[str, ...]] = ()
    """Those that it generates if `--taskgraph-data` states `generated` instead of a path."""
    episode_metrics: ClassVar[tuple[str, ...]] = ()
    """The names of the metrics that its episodes measure themselves (`Transcript.metrics`), for gates."""
    open_section: ClassVar[str | None] = None
    """The section of groups that users add, which are not known beforehand; None if users add none."""
    baselines: ClassVar[tuple[str, ...]] = ()
    """The names of its baselines, which answer from the prompt alone; the first is the default."""
    prompt_templates: ClassVar[bool] = True
    """Whether its questions use the prompt template that `Settings.prompt` names."""
    commands: ClassVar[tuple[str, ...]] = ()
    """The names of its commands, each a `python -m pytest_taskgraph NAME`."""

    @abstractmethod
    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        """Return references to the questions of a suite, in order.

        Args:
            settings: The settings of the run.
            options: The keyword arguments of the suite. Settings that the user stated override them (`Settings.given`).

        Raises:
            NothingToAskError: if the user's own files hold nothing for this suite, which is then skipped.
            UsageError: if the options cannot be met.
        """

    @abstractmethod
    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        """Return the question of a reference: equal for equal arguments, in any process."""

    def show_file(self, path: str, form: str) -> ShownFile | None:
        """Return what is read of a file of the user's own, for the command `show`; None if no such files are read.

        Args:
            path: The path of files, as the user typed it.
            form: The form to convert the content into; empty for a description.

        Raises:
            UsageError: if the files cannot be read, or there is no such form.
        """
        return None

    def question_identity(self, reference: QuestionReference, settings: Settings) -> Json:
        """Return what determines the question beside reference, settings and this package, so that it may be kept.

        Such as the content of a file as it was read, or the version of another package. Questions with equal
        references, settings and identities must be equal. None if the question must be built in each run.
        """
        return None

    def check(self, settings: Settings) -> None:
        """Check that the settings can be met, before anything is asked.

        Raises:
            UsageError: if they cannot.
        """
        return

    def notices(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[str]:
        """Return notices for the user about the questions that a suite omits, a line each."""
        return ()

    def source_lines(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[str]:
        """Return lines for the header of any run on the user's own files that a suite asks about."""
        return ()

    def episode(self, name: str) -> Episode:
        """Return the episode of that name, which asks a question: one of the family, or a shared one.

        Raises:
            UnknownNameError: if there is none of that name.
        """
        from .episodes import episode

        return episode(name)

    def labels(self) -> Mapping[str, Label]:
        """Return the labels that the questions may have, by name; questions of users may have others."""
        return {}

    def metrics(self, group: str, settings: Settings) -> Sequence[str] | None:
        """Return the metrics that may score answers of a group, the main one first; None if unknown."""
        return None

    def graded(self, group: str, settings: Settings) -> bool:
        """Return True if the questions of a group have scores that are neither right nor wrong (Question.graded)."""
        return False

    def diagram(self, reference: QuestionReference, settings: Settings) -> Diagram | None:
        """Return a diagram of what the question is about; None if there is none.

        Questions of a cluster have equal diagrams.
        """
        return None

    def diagram_pair(self, question: Question, score: Score) -> DiagramPair | None:
        """Return diagrams of the expected and the parsed answer, to be drawn side by side; None if there are none.

        They depend on the question and the score alone, since a record that is scored again needs them too.
        """
        return None

    def fuzz_groups(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[str]:
        """Return the groups of a suite that are searched for unsound questions, one item each.

        Args:
            settings: The settings of the run.
            options: The keyword arguments of the suite.

        Raises:
            UsageError: as `references` does.
        """
        return list(dict.fromkeys(reference.group for reference in self.references(settings, options)))

    def instances(self, group: str, settings: Settings, options: Mapping[str, Any]) -> SearchStrategy[Instance]:
        """Return a Hypothesis strategy for questions of a group; by default questions of any seed.

        Args:
            group: One of `fuzz_groups`.
            settings: The settings of the run.
            options: The keyword arguments of the suite.
        """
        from .drawn_instances import instances_of

        return instances_of(self, group, settings, options)

    def group_checks(
        self, group: str, settings: Settings, options: Mapping[str, Any], examples: int
    ) -> Sequence[GroupCheck]:
        """Return the properties that the questions of a group must have together.

        Args:
            group: One of `fuzz_groups`.
            settings: The settings of the run.
            options: The keyword arguments of the suite.
            examples: Approximate number of questions to examine.
        """
        return ()

    def properties(self) -> Mapping[str, str]:
        """Return the properties that its questions must have beside those of every family, each with a sentence."""
        return {}

    def question_checks(self, reference: QuestionReference, question: Question, settings: Settings) -> Sequence[Check]:
        """Return the checks of a question of a suite beside those of every family.

        Checks of drawn questions are part of `instances`; these are for questions that are not drawn.
        """
        return ()

    def lint_rules(self) -> Sequence[LintRule]:
        """Return the lint rules for suites of the family, beside those of every family."""
        return ()

    def group_source(self, group: str, settings: Settings) -> SourcePlace | None:
        """Return where in the user's files the questions of a group come from; None if that is nowhere or unknown."""
        return None

    def reducible(self, reference: QuestionReference, settings: Settings) -> Reducible[Any] | None:
        """Return the question with the means to make it smaller; None if it cannot be made smaller."""
        return None

    def roles(self, settings: Settings) -> Collection[str]:
        """Return the roles in which its episodes ask further models: "judge", "embedder"."""
        return ()

    def baseline(self, name: str, settings: Settings) -> Model:
        """Return the embedded baseline of that name.

        Args:
            name: One of `baselines`.
            settings: The settings of the run, without those of its suites.

        Raises:
            UnknownNameError: if there is none of that name.
            UsageError: if its data are missing.
        """
        raise UnknownNameError("baseline", name, self.baselines)

    def command(self, name: str) -> Command:
        """Return the command of that name.

        Raises:
            UnknownNameError: if there is none.
        """
        raise UnknownNameError("command", name, self.commands)

    def tuning_tasks(self) -> Sequence[TuningTask]:
        """Return what local models can be tuned for, for the command `tune`."""
        return ()

    def section(self, group: str) -> str:
        """Return the section that a group belongs to; empty for none."""
        return ""

    def question_set(self, group: str) -> int | None:
        """Return the version of the question set that a group belongs to; None if the family has no versions.

        The version is raised whenever the same reference gives another prompt or another right answer. Runs of
        different versions are not compared.
        """
        return None

    def description(self, settings: Settings) -> FamilyDescription:
        """Return the texts, the order and the tables of the family, for the record and the reports of a run."""
        from ..family_description import FamilyDescription

        return FamilyDescription(self.name)

    def stated(self, settings: Settings) -> Mapping[str, Json]:
        """Return the values of its own options, by name, for the record of a run."""
        return {option.name: as_json(settings.value_of(option)) for option in self.options}

"""The benchmark of workflow understanding: patterns of questions about generated and own workflows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ...benchmarks.family import Command, Family, Label, QuestionReference, ShownFile
from ...benchmarks.settings import Settings
from ...errors import UnknownNameError
from .family_options import HELP, OPTIONS
from .understanding_settings import UnderstandingSettings

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ...asking import Episode, Model
    from ...benchmarks.instances import Check, GroupCheck, Instance, Reducible
    from ...benchmarks.lint_rule import LintRule, SourcePlace
    from ...diagram import Diagram
    from ...family_description import FamilyDescription
    from ...trial import Json, Question


# Increased whenever a released pattern, notation, prompt template or generator changes a prompt of the same seed.
QUESTION_SET: Final = 4
DIFFICULTY: Final = {
    "size": "size of the workflow",
    "tasks": "number of tasks",
    "depth": "depth",
    "width": "width",
    "guards": "number of guards",
}


class Understanding(Family):
    """The family of patterns; the modules that do the work are imported when they are needed."""

    name = "understanding"
    topic = "workflow understanding"
    asked = "a question about a workflow specification"
    options = OPTIONS
    option_help = HELP
    suite_options = frozenset({"patterns", "tasks", "instances", "notations", "question"})
    episode_metrics = ("specifications_read",)
    open_section = "custom"
    commands = ("init", "patterns")
    baselines = ("reader", "lexical", "random", "constant", "first-mentioned")

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        """Return the references of a suite's questions, in the order of the catalogue.

        Raises:
            UsageError: if a setting is invalid or no question is possible.
        """
        from .questions.assembly import references
        from .questions.labels import known_labels

        own = UnderstandingSettings.of(settings)
        pattern_references = references(own, options)
        return [
            reference.generic(labels)
            for reference, labels in zip(pattern_references, known_labels(pattern_references, own), strict=True)
        ]

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        """Return the question that a reference identifies."""
        from .questions.assembly import question
        from .questions.ingredients import PatternReference

        return question(PatternReference.of(reference), UnderstandingSettings.of(settings))

    def episode(self, name: str) -> Episode:
        """Return an episode of this family, the agent's, or a shared one.

        Raises:
            UnknownNameError: if there is no episode of that name.
        """
        from ...benchmarks.episodes import episode
        from .agent import agent

        return episode(name, {"agent": agent})

    def labels(self) -> Mapping[str, Label]:
        """Return the labels that the questions of the patterns can have."""
        from .questions.labels import labels

        return labels()

    def metrics(self, group: str, settings: Settings) -> Sequence[str]:
        """Return the metrics of the pattern's form, the chosen ones for texts, and those of an agent."""
        from .questions.assembly import metrics

        return metrics(group, UnderstandingSettings.of(settings))

    def graded(self, group: str, settings: Settings) -> bool:
        """Return True if the pattern asks for a text and no pass threshold is set, or if the threshold is 0."""
        from ...scoring.forms import form
        from ...trial import is_graded
        from .patterns.pattern import PATTERNS
        from .questions.composition import pass_threshold

        return is_graded(pass_threshold(form(PATTERNS[group].form), UnderstandingSettings.of(settings)))

    def diagram(self, reference: QuestionReference, settings: Settings) -> Diagram:
        """Return the workflow that the question is about: the same for all questions of its cluster."""
        from ...workflow.workflow_diagram import diagram
        from .questions.ingredients import PatternReference, workflow_of_question
        from .variations import resolve_reference

        own, pattern_reference = UnderstandingSettings.of(settings), PatternReference.of(reference)
        return diagram(workflow_of_question(resolve_reference(pattern_reference, own), pattern_reference, own))

    def instances(self, group: str, settings: Settings, options: Mapping[str, Any]) -> SearchStrategy[Instance]:
        """Return a strategy for questions of a pattern; about the user's own files, with any seed.

        Raises:
            NoCaseError: if none of the notations supports what the pattern needs.
        """
        from .question_soundness.question_instances import question_instances

        if UnderstandingSettings.of(settings).workflows:
            return super().instances(group, settings, {**options, "patterns": [group]})
        return question_instances(group, self._of_suite(settings, options))

    def group_checks(
        self, group: str, settings: Settings, options: Mapping[str, Any], examples: int
    ) -> Sequence[GroupCheck]:
        """Return the check that only the workflow determines the answers of a pattern."""
        from .question_soundness.answer_giveaways import giveaway_checks

        own = self._of_suite(settings, options)
        return () if own.workflows else giveaway_checks(group, own, examples)

    def _of_suite(self, settings: Settings, options: Mapping[str, Any]) -> UnderstandingSettings:
        """Return the settings with the suite's options, and `convert` where the suite or the user names notations."""
        from .questions.assembly import with_options

        own = UnderstandingSettings.of(settings)
        return replace(with_options(own, options), convert=own.convert or "notations" in options)

    def fuzz_groups(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[str]:
        """Return the patterns of a suite.

        Raises:
            UsageError: if a name is unknown or there is no pattern.
        """
        from .patterns import select

        if UnderstandingSettings.of(settings).workflows:
            return super().fuzz_groups(settings, options)
        return [pattern.name for pattern in select(options.get("patterns", "*"))]

    def reducible(self, reference: QuestionReference, settings: Settings) -> Reducible[Any] | None:
        """Return the question in a form that can be asked about smaller workflows.

        Returns:
            None for a pattern that asks for a text about something planted: its reference, which is recorded and not
            computed, describes the whole workflow. None for a user's own file in a format of another tool.
        """
        from ...notations import FILE_FORMATS
        from .patterns import catalogue
        from .question_soundness.reducible_question import ReducibleQuestion
        from .questions.ingredients import PatternReference

        pattern = catalogue()[reference.group]
        if pattern.planted and pattern.form == "text":
            return None
        pattern_reference = PatternReference.of(reference)
        own = UnderstandingSettings.of(settings)
        if pattern_reference.source >= 0 and not own.convert and pattern_reference.notation in FILE_FORMATS:
            return None
        return ReducibleQuestion.of(pattern_reference, own)

    def properties(self) -> Mapping[str, str]:
        """Return the properties of questions about workflows."""
        from .question_soundness.question_checks import PROPERTIES

        return PROPERTIES

    def question_checks(self, reference: QuestionReference, question: Question, settings: Settings) -> Sequence[Check]:
        """Return the checks of a question about the user's own files that apply to any file."""
        from .question_soundness.question_checks import own_file_checks
        from .questions.ingredients import PatternReference
        from .variations import resolve_reference

        own = UnderstandingSettings.of(settings)
        if not own.workflows or reference.relation:
            return ()
        return own_file_checks(resolve_reference(PatternReference.of(reference), own), question)

    def lint_rules(self) -> Sequence[LintRule]:
        """Return the rules about patterns, their templates and their examples."""
        from .question_soundness.pattern_lint_rules import LINT_RULES

        return LINT_RULES

    def group_source(self, group: str, settings: Settings) -> SourcePlace | None:
        """Return the source of a pattern's templates."""
        from .question_soundness.pattern_lint_rules import pattern_source

        return pattern_source(group, UnderstandingSettings.of(settings))

    def baseline(self, name: str, settings: Settings) -> Model:
        """Return an embedded baseline.

        Raises:
            UnknownNameError: if there is no baseline of that name.
        """
        from .baselines import BASELINES

        if name not in BASELINES:
            raise UnknownNameError("baseline", name, BASELINES)
        return BASELINES[name]()

    def command(self, name: str) -> Command:
        """Return the command: `init` writes a project to start from, `patterns` lists the patterns.

        Raises:
            UnknownNameError: for any other name.
        """
        if name not in self.commands:
            return super().command(name)
        from . import init_command, patterns_command

        return init_command if name == "init" else patterns_command

    def notices(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[str]:
        """Return a line for everything that is left out of a suite, with the reason."""
        from .questions.assembly import notices

        return notices(UnderstandingSettings.of(settings), options)

    def source_lines(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[str]:
        """Return lines on the user's own workflow files, by format."""
        own = UnderstandingSettings.of(settings)
        if not own.workflows or options.get("question"):
            return ()
        from .questions.assembly import with_options
        from .questions.left_out import source_lines

        return source_lines(with_options(own, options))

    def show_file(self, path: str, form: str) -> ShownFile:
        """Return what is read of a workflow file."""
        from .own_files.file_view import show_file

        return show_file(path, form)

    def question_identity(self, reference: QuestionReference, settings: Settings) -> Json:
        """Return the user's templates of a generated workflow; None for own patterns, own workflows and subclasses."""
        from .questions.identity import templates_of
        from .questions.ingredients import PatternReference

        if type(self) is not Understanding:  # its code is not part of this package
            return None
        return templates_of(PatternReference.of(reference), settings)

    def check(self, settings: Settings) -> None:
        """Validate notations, prompt templates, variations and own files.

        Raises:
            UsageError: if a setting is invalid.
        """
        from .questions.assembly import check

        check(UnderstandingSettings.of(settings))

    def section(self, group: str) -> str:
        """Return the category of a pattern."""
        from .patterns.pattern import PATTERNS

        return PATTERNS[group].category

    def question_set(self, group: str) -> int | None:
        """Return QUESTION_SET for built-in patterns; None for a user's own, whose versions are unknown."""
        from .patterns import catalogue

        pattern = catalogue().get(group)
        return None if pattern is None or pattern.category == "custom" else QUESTION_SET

    def description(self, settings: Settings) -> FamilyDescription:
        """Return patterns and categories in the order of reports, their tables, and the notations of workflows."""
        from ...family_description import FamilyDescription
        from .family_tables import TABLES
        from .patterns import catalogue

        own, patterns = UnderstandingSettings.of(settings), catalogue()
        notations = own.notations if own.convert or not own.workflows else ("as written",)
        return FamilyDescription(
            self.name,
            group="pattern",
            section="category",
            cluster="workflow",
            presented_by=("notation",),
            difficulty=DIFFICULTY,
            groups=tuple(patterns),
            sections=tuple(dict.fromkeys(pattern.category for pattern in patterns.values())),
            facts={"notation": ", ".join(notations)},
            question_set=QUESTION_SET,
            tables=TABLES,
        )

    def stated(self, settings: Settings) -> Mapping[str, Json]:
        """Return the workflows, phrasings and variations of a run."""
        own = UnderstandingSettings.of(settings)
        return {
            "tasks": list(own.tasks),
            "names": own.names,
            "phrasing": own.phrasing,
            "workflow": list(own.workflows),
            **({"vary": list(own.vary)} if own.vary else {}),
        }


understanding = Understanding()

"""The benchmark PAGED (Du et al. 2024): a procedural graph out of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ...benchmarks.family import Command, Family, Label, QuestionReference
from ...benchmarks.settings import Settings
from ...errors import UnknownNameError
from .paged_options import DATA, HELP, OPTIONS, PagedSettings

if TYPE_CHECKING:
    from ...asking import Episode, Model
    from ...diagram import DiagramPair
    from ...family_description import FamilyDescription
    from ...trial import Question, Score

# Raised whenever the same reference gives another prompt or another right answer.
QUESTION_SET: Final = 1


class Paged(Family):
    """The family of procedural documents. The modules of this package are imported when they are first needed."""

    name = "paged"
    topic = "procedural documents"
    asked = "the procedural graph of a document"
    options = OPTIONS
    option_help = HELP
    suite_options = frozenset({"instances"})
    data_names = (DATA,)
    generated_data = (DATA,)
    prompt_templates = False
    baselines = ("rules",)
    commands = ("paged",)

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        """Return the questions about the documents, for each method. Raises UsageError."""
        from .document_questions import references

        return references(PagedSettings.of(settings), options.get("instances"))

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        """Return the question that a reference stands for."""
        from .document_questions import question

        return question(reference, PagedSettings.of(settings))

    def check(self, settings: Settings) -> None:
        """Check methods, rounds, verifier and prompts. Raises UsageError."""
        from .document_questions import check

        check(PagedSettings.of(settings))

    def notices(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[str]:
        """Return the problems of the data, the counts of the user's own, and that worked examples are too few."""
        from .document_questions import notices

        return list(notices(PagedSettings.of(settings)))

    def episode(self, name: str) -> Episode:
        """Return the episode of a method, or a shared one. Raises UnknownNameError."""
        from ...benchmarks.episodes import episode
        from .extraction_methods import extraction_episodes

        return episode(name, extraction_episodes())

    def labels(self) -> Mapping[str, Label]:
        """Return how many actions and splits the gold graph has."""
        return {"actions": Label(), "gateways": Label()}

    def metrics(self, group: str, settings: Settings) -> Sequence[str]:
        """Return the only metric."""
        from .document_questions import METRIC

        return (METRIC,)

    def graded(self, group: str, settings: Settings) -> bool:
        """Return True unless a pass threshold is set."""
        return not settings.pass_threshold

    def diagram_pair(self, question: Question, score: Score) -> DiagramPair | None:
        """Return the gold graph and that of the answer."""
        from .procedure_pair import procedure_pair

        return procedure_pair(question, score)

    def baseline(self, name: str, settings: Settings) -> Model:
        """Return the embedded baseline. Raises UnknownNameError."""
        from .paged_baselines import BASELINES

        if name not in BASELINES:
            raise UnknownNameError("baseline", name, BASELINES)
        return BASELINES[name](settings)

    def command(self, name: str) -> Command:
        """Return the command about documents and their quality. Raises UnknownNameError for any other name."""
        if name not in self.commands:
            return super().command(name)
        from . import paged_command

        return paged_command

    def section(self, group: str) -> str:
        """Return the section of all methods."""
        from .extraction_methods import SECTION

        return SECTION

    def question_set(self, group: str) -> int:
        """Return QUESTION_SET."""
        return QUESTION_SET

    def description(self, settings: Settings) -> FamilyDescription:
        """Return the methods in the order of reports, their tables, and which documents are asked about."""
        from ...family_description import FamilyDescription
        from .extraction_methods import METHODS, SECTION
        from .paged_tables import AGGREGATES, TABLES

        own = PagedSettings.of(settings)
        return FamilyDescription(
            self.name,
            group="method",
            section="kind",
            cluster="document",
            groups=tuple(METHODS),
            sections=(SECTION,),
            facts={"documents": f"{own.source} ({own.split} split)", "worked examples": str(own.examples)},
            question_set=QUESTION_SET,
            aggregates=AGGREGATES,
            tables=TABLES,
            difficulty={"actions": "number of actions", "gateways": "gateways that split"},
        )


paged = Paged()

"""The benchmark PAGED (Du et al. 2024): a procedural graph out of a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...benchmarks.family import Command, Label
from ...benchmarks.method_family import MethodFamily, QuestionModule
from ...benchmarks.settings import Settings
from .paged_options import DATA, HELP, OPTIONS
from .paged_settings import PagedSettings

if TYPE_CHECKING:
    from ...asking import Episode, Model
    from ...benchmarks.tuning_task import TuningTask
    from ...diagram import DiagramPair
    from ...family_description import FamilyDescription
    from ...trial import Question, Score


class Paged(MethodFamily[PagedSettings]):
    """The family of procedural documents. The modules of this package are imported when they are first needed."""

    name = "paged"
    topic = "procedural documents"
    asked = "the procedural graph of a document"
    version = 1
    cluster = "document"
    options = OPTIONS
    option_help = HELP
    data_names = (DATA,)
    generated_data = (DATA,)
    baselines = ("rules",)
    commands = ("paged",)

    def own(self, settings: Settings) -> PagedSettings:
        """Return the settings with the family's own."""
        return PagedSettings.of(settings)

    def questions(self) -> QuestionModule[PagedSettings]:
        """Return the module of questions about documents."""
        from . import document_questions

        return document_questions

    def baseline_makers(self) -> Mapping[str, Callable[[PagedSettings], Model]]:
        """Return what makes the embedded baseline."""
        from .paged_baselines import BASELINES

        return BASELINES

    def command_module(self) -> Command:
        """Return the command about documents and their quality."""
        from . import paged_command

        return paged_command

    def tuning_tasks(self) -> Sequence[TuningTask]:
        """Return the extraction of graphs, for which the paper tunes models with LoRA."""
        from .graph_tuning import TASKS

        return TASKS

    def episode(self, name: str) -> Episode:
        """Return the episode of a method, or a shared one. Raises UnknownNameError."""
        from ...benchmarks.episodes import episode
        from .extraction_methods import extraction_episodes

        return episode(name, extraction_episodes())

    def labels(self) -> Mapping[str, Label]:
        """Return how many actions and splits the gold graph has."""
        return {"actions": Label(), "gateways": Label()}

    def graded(self, group: str, settings: Settings) -> bool:
        """Return True unless a pass threshold is set."""
        return not settings.pass_threshold

    def diagram_pair(self, question: Question, score: Score) -> DiagramPair | None:
        """Return the gold graph and that of the answer."""
        from .document_questions import procedure_pair

        return procedure_pair(question, score)

    def description(self, settings: Settings) -> FamilyDescription:
        """Return the methods in the order of reports, their tables, and which documents are asked about."""
        from .paged_tables import AGGREGATES, TABLES

        own = self.own(settings)
        return self.described(
            {"documents": f"{own.source} ({own.split} split)", "worked examples": str(own.examples)},
            aggregates=AGGREGATES,
            tables=TABLES,
            difficulty={"actions": "number of actions", "gateways": "gateways that split"},
        )


paged = Paged()

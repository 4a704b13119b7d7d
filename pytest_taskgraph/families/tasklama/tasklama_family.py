"""The benchmark TaskLAMA (Yuan et al. 2024): the steps of a complex task, and the order between them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ...benchmarks.family import Command, Label
from ...benchmarks.method_family import MethodFamily, QuestionModule
from ...benchmarks.settings import Settings
from .tasklama_options import DATA, FILTER_DATA, HELP, OPTIONS, SIMILARITY
from .tasklama_settings import TaskLamaSettings

if TYPE_CHECKING:
    from ...asking import Episode, Model
    from ...benchmarks.tuning_task import TuningTask
    from ...diagram import DiagramPair
    from ...family_description import FamilyDescription
    from ...trial import Json, Question, Score


class TaskLama(MethodFamily[TaskLamaSettings]):
    """The family of complex tasks. The modules of this package are imported when they are first needed."""

    name = "tasklama"
    topic = "steps of complex tasks"
    asked = "how a complex task is done"
    version = 1
    cluster = "task"
    options = OPTIONS
    option_help = HELP
    data_names = (DATA, "tasklama-queries", "tasklama-similar", FILTER_DATA)
    generated_data = (DATA,)
    commands = ("tasklama",)
    baselines = ("repeat-task", "repeat-similar", "co-occurrence", "hierarchy")
    episode_metrics = ("best_sample_f1", "mean_sample_f1")

    def own(self, settings: Settings) -> TaskLamaSettings:
        """Return the settings with the family's own."""
        return TaskLamaSettings.of(settings)

    def questions(self) -> QuestionModule[TaskLamaSettings]:
        """Return the module of questions about tasks."""
        from . import task_questions

        return task_questions

    def baseline_makers(self) -> Mapping[str, Callable[[TaskLamaSettings], Model]]:
        """Return what makes the baselines of the paper."""
        from .task_baselines import BASELINES

        return BASELINES

    def command_module(self) -> Command:
        """Return the command that fits a filter."""
        from . import tasklama_command

        return tasklama_command

    def tuning_tasks(self) -> Sequence[TuningTask]:
        """Return what the paper tunes soft prompts for: steps, and pairs of steps."""
        from .task_tuning import TASKS

        return TASKS

    def episode(self, name: str) -> Episode:
        """Return the episode of a method, or a shared one. Raises UnknownNameError."""
        from ...benchmarks.episodes import episode
        from .methods import episodes

        return episode(name, episodes())

    def labels(self) -> Mapping[str, Label]:
        """Return whether the context was shown, and how many gold steps there are."""
        return {"context": Label(("with", "without"), closed=True), "steps": Label()}

    def graded(self, group: str, settings: Settings) -> bool:
        """Return True unless a pass threshold is set."""
        return not settings.pass_threshold

    def stated(self, settings: Settings) -> Mapping[str, Json]:
        """Return the values of its options for the record, where a sentence model has a name and no path."""
        from ...scoring.task_graphs.step_matching import similarity_label

        return {**super().stated(settings), SIMILARITY.name: similarity_label(self.own(settings).similarity)}

    def roles(self, settings: Settings) -> Collection[str]:
        """Return the embedder if it measures the similarity of steps."""
        return ("embedder",) if self.own(settings).similarity == "embeddings" else ()

    def diagram_pair(self, question: Question, score: Score) -> DiagramPair | None:
        """Return the gold graph and that of the answer."""
        from .task_questions import graph_pair

        return graph_pair(question, score)

    def description(self, settings: Settings) -> FamilyDescription:
        """Return the methods in the order of reports, their tables, and which tasks are asked about."""
        from ...scoring.task_graphs.step_matching import similarity_label
        from .tasklama_tables import AGGREGATES, TABLES

        own = self.own(settings)
        note = "" if own.similarity == "embeddings" else " (not comparable with the paper)"
        return self.described(
            {"tasks": f"{own.source} ({own.split} split)", "similarity": f"{similarity_label(own.similarity)}{note}"},
            presented_by=("context",),
            aggregates=AGGREGATES,
            tables=TABLES,
            difficulty={"steps": "number of steps"},
        )


tasklama = TaskLama()

"""The benchmark TaskLAMA (Yuan et al. 2024): the steps of a complex task, and the order between them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ...benchmarks.family import Command, Family, Label, QuestionReference
from ...benchmarks.settings import Settings
from ...errors import UnknownNameError
from .tasklama_options import DATA, FILTER_DATA, HELP, OPTIONS, TaskLamaSettings

if TYPE_CHECKING:
    from ...asking import Episode, Model
    from ...diagram import DiagramPair
    from ...family_description import FamilyDescription
    from ...trial import Question, Score

# Raised whenever the same reference gives another prompt or another right answer.
QUESTION_SET: Final = 1


class TaskLama(Family):
    """The family of complex tasks. The modules of this package are imported when they are first needed."""

    name = "tasklama"
    topic = "steps of complex tasks"
    asked = "how a complex task is done"
    options = OPTIONS
    option_help = HELP
    suite_options = frozenset({"instances"})
    data_names = (DATA, "tasklama-queries", "tasklama-similar", FILTER_DATA)
    generated_data = (DATA,)
    commands = ("tasklama",)
    prompt_templates = False
    baselines = ("repeat-task", "repeat-similar", "co-occurrence", "hierarchy")
    episode_metrics = ("best_sample_f1", "mean_sample_f1")

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        """Return the questions about the tasks, for each method. Raises UsageError."""
        from .task_questions import references

        return references(TaskLamaSettings.of(settings), options.get("instances"))

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        """Return the question that a reference stands for."""
        from .task_questions import question

        return question(reference, TaskLamaSettings.of(settings))

    def check(self, settings: Settings) -> None:
        """Check methods, similarity and filter. Raises UsageError."""
        from .task_questions import check

        check(TaskLamaSettings.of(settings))

    def notices(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[str]:
        """Return the problems of the data and what is left out, a line each."""
        from .task_questions import notices

        return list(notices(TaskLamaSettings.of(settings)))

    def episode(self, name: str) -> Episode:
        """Return the episode of a method, or a shared one. Raises UnknownNameError."""
        from ...benchmarks.episodes import episode
        from .methods import episodes

        return episode(name, episodes())

    def labels(self) -> Mapping[str, Label]:
        """Return whether the context was shown, and how many gold steps there are."""
        return {"context": Label(("with", "without"), closed=True), "steps": Label()}

    def metrics(self, group: str, settings: Settings) -> Sequence[str]:
        """Return the metrics of a method, and those that its episode measures."""
        from .methods import METHODS

        method = METHODS[group]
        return (method.metric, *method.further, *method.episode_metrics)

    def graded(self, group: str, settings: Settings) -> bool:
        """Return True unless a pass threshold is set."""
        return not settings.pass_threshold

    def roles(self, settings: Settings) -> Collection[str]:
        """Return the embedder if it measures the similarity of steps."""
        return ("embedder",) if TaskLamaSettings.of(settings).similarity == "embeddings" else ()

    def diagram_pair(self, question: Question, score: Score) -> DiagramPair | None:
        """Return the gold graph and that of the answer."""
        from .task_questions import graph_pair

        return graph_pair(question, score)

    def baseline(self, name: str, settings: Settings) -> Model:
        """Return an embedded baseline. Raises UnknownNameError, UsageError."""
        from .task_baselines import BASELINES

        if name not in BASELINES:
            raise UnknownNameError("baseline", name, BASELINES)
        return BASELINES[name](TaskLamaSettings.of(settings))

    def command(self, name: str) -> Command:
        """Return the command that fits a filter. Raises UnknownNameError for any other name."""
        from . import tasklama_command

        return tasklama_command if name in self.commands else super().command(name)

    def section(self, group: str) -> str:
        """Return what a method asks for."""
        from .methods import METHODS

        return METHODS[group].section

    def question_set(self, group: str) -> int:
        """Return QUESTION_SET."""
        return QUESTION_SET

    def description(self, settings: Settings) -> FamilyDescription:
        """Return the methods in the order of reports, their tables, and which tasks are asked about."""
        from ...family_description import FamilyDescription
        from .methods import METHODS, SECTIONS
        from .tasklama_tables import AGGREGATES, TABLES

        own = TaskLamaSettings.of(settings)
        note = "" if own.similarity == "embeddings" else " (not comparable with the paper)"
        return FamilyDescription(
            self.name,
            group="method",
            section="kind",
            cluster="task",
            presented_by=("context",),
            groups=tuple(METHODS),
            sections=SECTIONS,
            facts={"tasks": f"{own.source} ({own.split} split)", "similarity": f"{own.similarity}{note}"},
            question_set=QUESTION_SET,
            aggregates=AGGREGATES,
            tables=TABLES,
            difficulty={"steps": "number of steps"},
        )


tasklama = TaskLama()

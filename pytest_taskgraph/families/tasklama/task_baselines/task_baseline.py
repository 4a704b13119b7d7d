"""A model that answers the requests of TaskLAMA by a rule, from the prompt alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise

from ....errors import NotAskedError, unsupported_kind
from ....scoring.forms.task_graph_form import write_graph
from ....trial import Json, Reply, Request
from ..task_sets import TaskSet, load
from ..task_sets.embedded import read_embedded
from ..tasklama_options import TaskLamaSettings
from .task_prompts import AskedTask, read_prompt
from .tuning import RankedSteps, tuned_length

MakeRanking = Callable[[TaskLamaSettings, TaskSet], RankedSteps]
"""From the settings and the tasks to the ranked steps of a title."""


class TaskBaseline:
    """A baseline: it ranks steps by the title of a task, and gives so many as are best on the validation tasks.

    It has no opinion on dependencies: of two steps it says that neither must be done before the other, which most
    pairs are; given steps stay in the order in which they are shown, and make a chain, as its own steps do. For a task
    without ranked steps, the title is the only step.

    Nothing is read or tuned before the first answer. Where the data have no training or no validation tasks, those
    that come with the package stand in for them.

    Args:
        name: The name of the baseline.
        settings: The settings of the run.
        make: Makes the ranking, at the first request for steps.
    """

    def __init__(self, name: str, settings: TaskLamaSettings, make: MakeRanking) -> None:
        self.name = f"baseline:{name}"
        self._settings = settings
        self._make = make

    async def answer(self, request: Request) -> Reply:
        """Return the reply.

        Raises:
            NotAskedError: for anything but chat, for tools, and for a prompt that shows no task.
            UsageError: if a file that the user supplies cannot be used.
        """
        if request.kind != "chat":
            raise unsupported_kind(request.kind, f"{self.name} cannot answer a request of kind {request.kind!r}")
        if request.tools:
            raise NotAskedError(f"{self.name} cannot call tools: it goes by the task in the prompt")
        return Reply(self._text(read_prompt(request.prompt)), source=self.name)

    def steps(self, title: str) -> list[str]:
        """Return the steps of a task."""
        ranked, length = self._ranking
        return list(ranked(title)[:length])

    @cached_property
    def _ranking(self) -> tuple[RankedSteps, int]:
        tasks, embedded = load(self._settings), read_embedded()
        ranking = self._make(self._settings, tasks if tasks.train else embedded)

        def ranked(title: str) -> Sequence[str]:
            return ranking(title) or [title]

        return ranked, tuned_length(ranked, tasks.validation or embedded.validation)

    def _text(self, task: AskedTask) -> str:
        match task.kind:
            case "steps":
                return write_graph({"steps": [*self.steps(task.title)]})
            case "entire graph":
                steps = self.steps(task.title)
                return write_graph({"steps": [*steps], "dependencies": _chain(steps)})
            case "graph":
                return ", ".join(f"{before} -> {after}" for before, after in pairwise(task.numbers)) or "none"
            case "order":
                return ", ".join(map(str, task.numbers))
            case "pair":
                return "no"


def _chain(steps: Sequence[str]) -> list[Json]:
    return [[at - 1, at] for at in range(1, len(steps))]

"""A model that answers the requests of TaskLAMA by a rule, from the prompt alone.

A prompt tells what it asks for. The asked task stands last, as a line `Task: TITLE`; in-context examples of the same
form stand above it. Below it, two lines `First step:` and `Second step:` are a pair of steps, and numbered lines are
given steps. An arrow between numbers, such as "1 -> 3", shows that dependencies are asked for: in the instruction or in
an answer of an example.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from ....errors import NotAskedError, PromptNotUnderstoodError, unsupported_kind
from ....scoring.forms.task_graph_form import write_graph
from ....trial import Json, Reply, Request
from ..task_sets import TaskSet, load
from ..task_sets.embedded import read_embedded
from ..tasklama_settings import TaskLamaSettings
from .content_words import LONGEST_TEXT
from .list_length import RankedSteps, tuned_length

Kind = Literal["steps", "pair", "order", "graph", "entire graph"]
_TASK = re.compile(r"[ \t]*Task:[ \t]*(\S.*)")
_PAIR = ("First step:", "Second step:")
_DATA_LINES = (
    "Task:",
    "Context:",
    *_PAIR,
)  # texts of the data follow, whose arrows do not count
_NUMBERED = re.compile(r"[ \t]*(\d{1,4})[.)][ \t].*")
_ARROW = re.compile(r"\d[ \t]?->[ \t]?\d")
MakeRanking = Callable[[TaskLamaSettings, TaskSet], RankedSteps]
"""From the settings and the tasks to the ranked steps of a title."""


@dataclass(frozen=True, slots=True)
class AskedTask:
    """What a prompt asks.

    Args:
        kind: "steps": the steps of the task. "pair": whether the first of two steps must be done before the second.
            "order": an order of given steps. "graph": the dependencies between given steps. "entire graph": steps and
            dependencies.
        title: The title of the task; of a longer one the first 500 characters.
        numbers: The numbers of the given steps, in their order.
    """

    kind: Kind
    title: str
    numbers: tuple[int, ...]


def read_prompt(prompt: str) -> AskedTask:
    """Return what a prompt asks.

    Raises:
        PromptNotUnderstoodError: if it has no line `Task: TITLE`.
    """
    lines = prompt.splitlines()
    last = next((at for at in reversed(range(len(lines))) if _TASK.fullmatch(lines[at])), None)
    if last is None:
        raise PromptNotUnderstoodError("the baseline finds no line 'Task: TITLE' in the prompt; add it to the template")
    title = lines[last].partition(":")[2].strip()[:LONGEST_TEXT]
    numbers = tuple(int(match[1]) for line in lines[last:] if (match := _NUMBERED.fullmatch(line)))
    return AskedTask(_kind(lines, lines[last:], bool(numbers)), title, numbers)


def _kind(lines: list[str], asked_lines: list[str], numbered: bool) -> Kind:
    """Return what is asked for.

    Args:
        lines: The lines of the prompt.
        asked_lines: Those from the asked task on.
        numbered: Whether steps are given below it.
    """
    if all(any(line.lstrip().startswith(head) for line in asked_lines) for head in _PAIR):
        return "pair"
    own = (line for line in lines if not line.lstrip().startswith(_DATA_LINES) and not _NUMBERED.fullmatch(line))
    arrows = any(_ARROW.search(line) for line in own)
    if numbered:
        return "graph" if arrows else "order"
    return "entire graph" if arrows else "steps"


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

"""What a prompt of TaskLAMA asks for, and about which task and steps: what the baselines go by.

The asked task stands last, as a line `Task: TITLE`; in-context examples of the same form stand above it. Below it,
two lines `First step:` and `Second step:` are a pair of steps, and numbered lines are given steps. An arrow between
numbers, such as "1 -> 3", shows that dependencies are asked for: in the instruction or in an answer of an example.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ....errors import PromptNotUnderstoodError
from .content_words import LONGEST_TEXT

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

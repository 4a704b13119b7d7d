"""What a prompt of STEPS asks: what the baselines go by.

Two shapes are known, and the last question of a prompt counts; demonstrations stand above it:

- lines "Steps done so far:", the numbered steps, and either "Candidate for the next step: TEXT" or "Options for the
  next step:" with a line "LETTER. TEXT" for each option;
- the query of Wang et al. (2023), a line of its own: "STEPS . Is the next step of CANDIDATE a reasonable step in this
  recipe ?".

Steps and options are one line each. In the first shape they may hold anything. In the second the candidate begins
behind the last " . Is the next step of ": a candidate that holds this text itself is cut there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ....errors import PromptNotUnderstoodError
from ..next_step_samples import QUERY_END, QUERY_MIDDLE, join_steps

STEPS_HEAD: Final = "Steps done so far:"
CANDIDATE_HEAD: Final = "Candidate for the next step:"
OPTIONS_HEAD: Final = "Options for the next step:"

_NUMBER: Final = re.compile(r"\d{1,6}[.)](?:\s|$)")
_OPTION: Final = re.compile(r"([A-Z])[.)](?:\s(.*))?")


@dataclass(frozen=True, slots=True)
class AskedCandidate:
    """A question of the classification: whether the candidate is the next step.

    Args:
        previous: The steps done so far in one text, with " . " between them; empty if there are none.
        candidate: The step that is asked about.
    """

    previous: str
    candidate: str


@dataclass(frozen=True, slots=True)
class AskedChoice:
    """A multiple choice: which of the options is the next step.

    Args:
        previous: The steps done so far in one text, with " . " between them; empty if there are none.
        options: At least two, by letter, in the order of the prompt.
    """

    previous: str
    options: Mapping[str, str]


AskedStep = AskedCandidate | AskedChoice


def read_step_prompt(prompt: str) -> AskedStep:
    """Return what the last question of a prompt asks.

    Raises:
        PromptNotUnderstoodError: if it has none of a known shape.
    """
    lines = [line.strip() for line in prompt.split("\n")]
    head = next((at for at in reversed(range(len(lines))) if lines[at] == STEPS_HEAD), None)
    step = (None if head is None else _numbered_question(lines[head + 1 :])) or _query(lines)
    if step is None:
        raise PromptNotUnderstoodError(
            f"the baseline finds no question about the next step in the prompt; expected a line {STEPS_HEAD!r} and "
            f"below it {CANDIDATE_HEAD!r} or {OPTIONS_HEAD!r} with at least two letters, or the query of the paper"
        )
    return step


def _numbered_question(lines: Sequence[str]) -> AskedStep | None:
    """Return what is asked below the head of the steps."""
    steps: list[str] = []
    for at, line in enumerate(lines):
        if line.startswith(CANDIDATE_HEAD):
            return AskedCandidate(join_steps(steps), line.removeprefix(CANDIDATE_HEAD).strip())
        if line == OPTIONS_HEAD:
            options = _options(lines[at + 1 :])
            return AskedChoice(join_steps(steps), options) if len(options) > 1 else None
        if number := _NUMBER.match(line):
            steps.append(line[number.end() :].strip())
    return None


def _options(lines: Sequence[str]) -> dict[str, str]:
    """Return the options that the lines begin with; none if a letter occurs twice."""
    options: dict[str, str] = {}
    for line in lines:
        option = _OPTION.fullmatch(line)
        if option is None:
            break
        if option[1] in options:
            return {}
        options[option[1]] = (option[2] or "").strip()
    return options


def _query(lines: Sequence[str]) -> AskedCandidate | None:
    """Return what the last line asks that is a query of the paper."""
    for line in reversed(lines):
        if line.endswith(QUERY_END):
            previous, middle, candidate = f" {line.removesuffix(QUERY_END)}".rpartition(QUERY_MIDDLE)
            if middle:
                return AskedCandidate(previous.strip(), candidate.strip())
    return None

"""Models that answer the questions of STEPS by a rule, from the request alone; two that do not look at the steps.

What a prompt of STEPS asks: what the baselines go by.

Two shapes are known, and the last question of a prompt counts; demonstrations stand above it:

- lines "Steps done so far:", the numbered steps, and either "Candidate for the next step: TEXT" or "Options for the
  next step:" with a line "LETTER. TEXT" for each option;
- the query of Wang et al. (2023), a line of its own: "STEPS . Is the next step of CANDIDATE a reasonable step in this
  recipe ?".

Steps and options are one line each. In the first shape they may hold anything. In the second the candidate begins
behind the last " . Is the next step of ": a candidate that holds this text itself is cut there.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from random import Random
from typing import Any, Final

from ....errors import CannotScoreError, NotAskedError, PromptNotUnderstoodError
from ....trial import Reply, Request, digest_of
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


class StepBaseline(ABC):
    """A baseline: it reads from a prompt what is asked about the next step, and answers by a rule.

    Args:
        name: The name of the baseline.
    """

    def __init__(self, name: str) -> None:
        self.name = f"baseline:{name}"

    async def answer(self, request: Request) -> Reply:
        """Return the reply.

        Raises:
            CannotScoreError: for texts to score that the baseline has no probabilities for.
            NotAskedError: for a prompt that asks nothing about the next step, for tools, and for requests of any other
                kind.
            UsageError: if a file that the user supplies cannot be used.
        """
        if request.kind == "score":
            return await self.score(request)
        if request.kind != "chat":
            raise NotAskedError(f"{self.name} cannot answer a request of kind {request.kind!r}")
        if request.tools:
            raise NotAskedError(f"{self.name} cannot call tools: it goes by the steps in the prompt")
        return Reply(self.choose(read_step_prompt(request.prompt), request), source=self.name)

    @abstractmethod
    def choose(self, step: AskedStep, request: Request) -> str:
        """Return the text of the reply: "Yes" or "No" about a candidate, a letter for a choice.

        Args:
            step: What the prompt asks.
            request: The whole request.
        """

    async def score(self, request: Request) -> Reply:
        """Return the reply to a request to score texts.

        Raises:
            CannotScoreError: if the baseline has no probabilities for them.
        """
        raise CannotScoreError(f"{self.name} cannot score texts: it has no probabilities, and answers by text")


class MajorityBaseline(StepBaseline):
    """Says No to every candidate, which is right most often, and takes the first option of every choice.

    With all later steps as candidates, N - 1 of N + 1 questions about a recipe of N steps have the answer No. In a
    choice no class is more frequent: the options are shuffled.
    """

    def choose(self, step: AskedStep, request: Request) -> str:
        """Return "No", or the first letter."""
        return next(iter(step.options)) if isinstance(step, AskedChoice) else "No"


class RandomBaseline(StepBaseline):
    """Says Yes or No, or takes an option, with equal probability.

    The seed and the request decide: the same request has the same reply in every run, another repetition of a question
    has a draw of its own.

    Args:
        name: The name of the baseline.
        seed: The seed of the run.
    """

    def __init__(self, name: str, seed: int | str) -> None:
        super().__init__(name)
        self._seed = seed

    def choose(self, step: AskedStep, request: Request) -> str:
        """Return one of the possible answers."""
        possible = [*step.options] if isinstance(step, AskedChoice) else ["Yes", "No"]
        return self._draw(request).choice(possible)

    async def score(self, request: Request) -> Reply:
        """Return the reply: the logarithm of a random number for each text, as if it were one token.

        So each of several texts is the most probable, and has the lowest perplexity, with equal
        probability, whatever their lengths.
        """
        draw = self._draw(request)
        rows: list[list[Any]] = [[log(1.0 - draw.random()), 1, None] for _ in request.texts]
        return Reply("", source=self.name, logprobs=rows)

    def _draw(self, request: Request) -> Random:
        seen = [request.kind, request.messages, request.context, request.texts, request.repetition]
        return Random(f"{self._seed}|steps random|{digest_of(json.dumps(seen, sort_keys=True))}")

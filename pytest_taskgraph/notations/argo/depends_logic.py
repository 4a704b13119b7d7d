"""The logic of `depends`: which tasks an expression names, and when it holds; as Argo's controller evaluates it.

    "A && (B.Succeeded || B.Failed)"

A name without a result means (Succeeded || Skipped || Daemoned). A task waits until all tasks that the expression names
have ended, and is omitted if the expression does not hold then (docs/enhanced-depends-logic.md of Argo Workflows).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final, Literal

RESULTS: Final = frozenset(
    {"Succeeded", "Failed", "Errored", "Skipped", "Omitted", "Daemoned", "AnySucceeded", "AllFailed"}
)
ANY_RESULT: Final = frozenset({"Succeeded", "Skipped", "Omitted"})  # of a task in runs in which none fails
_DEFAULT: Final = frozenset({"Succeeded", "Skipped", "Daemoned"})
_MAX_DEPTH: Final = 50  # of parentheses and negations
_MAX_COMBINATIONS: Final = 4096  # of results that are tried
_TOKEN = re.compile(r"\s*(?:(&&|\|\||[!()])|(\w[-\w]*)(?:\.(\w+))?)\s*")

Reach = Literal["always", "if before", "on failure", "unclear"]


@dataclass(frozen=True, slots=True)
class TaskResult:
    """True where the task has one of the results."""

    task: str
    accepted: frozenset[str]


@dataclass(frozen=True, slots=True)
class Operation:
    """True where all, any or none of the parts are."""

    kind: Literal["all", "any", "none"]
    parts: tuple[Logic, ...]


Logic = TaskResult | Operation


@dataclass(frozen=True, slots=True)
class Depends:
    """What a task depends on: the tasks named, in their order, and the logic; None if it is no logic of Argo's."""

    tasks: tuple[str, ...] = ()
    logic: Logic | None = Operation("all", ())
    unknown: str = ""  # a result that Argo does not have

    def reach(self, possible: Mapping[str, frozenset[str]]) -> Reach:
        """Return how the task is reached.

        "always": in every run in which no task fails. "if before": if the only task named has run, or was skipped where
        the expression allows it. "on failure": if the only task named fails. "unclear": in another way.

        Args:
            possible: The results that each task may have in runs in which none fails.
        """
        choices = [sorted(possible[task]) for task in self.tasks]
        if self.logic is None or prod(map(len, choices)) > _MAX_COMBINATIONS:
            return "unclear"
        held = {self._holds_for(dict(zip(self.tasks, results, strict=True))) for results in product(*choices)}
        omitted = any("Omitted" in possible[task] for task in self.tasks)
        if held == {True} and not omitted:
            return "always"
        if len(self.tasks) > 1:
            return "unclear"
        (task,) = self.tasks
        if omitted and self._holds_for({task: "Omitted"}):  # no link leads past a task that is not reached
            return "unclear"
        if self._holds_for({task: "Succeeded"}):
            return "if before"
        return "on failure" if held == {False} and self._holds_for({task: "Failed"}) else "unclear"

    def passes_skipped(self, task: str) -> bool:
        """Return True if the expression can hold where this task was skipped and all others have succeeded."""
        return self._holds_for({other: "Skipped" if other == task else "Succeeded" for other in self.tasks})

    def _holds_for(self, results: Mapping[str, str]) -> bool:
        found = {task: frozenset(result.split()) for task, result in results.items()}
        return self.logic is not None and _holds(self.logic, found)


def parse_depends(text: str) -> Depends:
    """Return what an expression says; its `logic` is None for a text that Argo's documentation does not describe."""
    tokens, end = list[re.Match[str]](), 0
    while match := _TOKEN.match(text, end):
        tokens.append(match)
        end = match.end()
    tasks = tuple(dict.fromkeys(token[2] for token in tokens if token[2]))
    unknown = next((token[3] for token in tokens if token[3] and token[3] not in RESULTS), "")
    reader = _LogicReader(tokens)
    logic = reader.either(0) if end == len(text) else None
    return Depends(tasks, logic if reader.is_done() else None, unknown)


def all_of(tasks: tuple[str, ...]) -> Depends:
    """Return what a list of `dependencies` says: all of them, each with the default results."""
    names = tuple(dict.fromkeys(tasks))
    return Depends(names, Operation("all", tuple([TaskResult(task, _DEFAULT) for task in names])))


def _holds(logic: Logic, results: Mapping[str, frozenset[str]]) -> bool:
    if isinstance(logic, TaskResult):
        return not logic.accepted.isdisjoint(results[logic.task])
    holding = (_holds(part, results) for part in logic.parts)
    return all(holding) if logic.kind == "all" else any(holding) == (logic.kind == "any")


class _LogicReader:
    """Reader of the tokens of an expression; "||" binds less than "&&", and "!" most. None where it cannot go on."""

    def __init__(self, tokens: list[re.Match[str]]) -> None:
        self.tokens = tokens
        self.at = 0

    def is_done(self) -> bool:
        """Return True if all tokens are read."""
        return self.at == len(self.tokens)

    def either(self, depth: int) -> Logic | None:
        """Read parts joined by "||"."""
        return self._joined("any", "||", self._both, depth)

    def _both(self, depth: int) -> Logic | None:
        return self._joined("all", "&&", self._single, depth)

    def _joined(
        self, kind: Literal["all", "any"], sign: str, read_part: Callable[[int], Logic | None], depth: int
    ) -> Logic | None:
        parts: list[Logic] = []
        while True:
            part = read_part(depth)
            if part is None:
                return None
            parts.append(part)
            if not self._takes(sign):
                return Operation(kind, tuple(parts)) if len(parts) > 1 else part

    def _single(self, depth: int) -> Logic | None:
        if depth > _MAX_DEPTH or self.is_done():
            return None
        if self._takes("!"):
            part = self._single(depth + 1)
            return None if part is None else Operation("none", (part,))
        if self._takes("("):
            part = self.either(depth + 1)
            return part if self._takes(")") else None
        token = self.tokens[self.at]
        self.at += 1
        return TaskResult(token[2], frozenset({token[3]}) if token[3] else _DEFAULT) if token[2] else None

    def _takes(self, sign: str) -> bool:
        taken = not self.is_done() and self.tokens[self.at][1] == sign
        self.at += taken
        return taken

"""Comparison of the reference answers of drawn questions with independent answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import brute_force_behaviour
import brute_force_structure
import brute_force_timing
from brute_force_game import TooMuchError

from pytest_taskgraph.errors import RecipeTooSmallError
from pytest_taskgraph.families.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.families.understanding.patterns.scope import Scope, cases, scopes
from pytest_taskgraph.families.understanding.questions.sample import draw, recipe_for
from pytest_taskgraph.trial import Json
from pytest_taskgraph.workflow.model import Workflow

ANSWERS = brute_force_structure.ANSWERS | brute_force_behaviour.ANSWERS | brute_force_timing.ANSWERS


@dataclass(frozen=True)
class Difference:
    """A case whose reference differs from the independent answer."""

    where: str
    case: Case
    independent: object

    def __str__(self) -> str:
        case = self.case
        return f"{self.where}, {case.fields}: reference {case.answer!r}, independent {self.independent!r}"


def feasible_size(pattern: Pattern, tasks: int) -> int:
    """Return the given number of tasks, or the least that a pattern takes."""
    try:
        recipe_for(pattern, tasks)
    except RecipeTooSmallError as error:
        return error.least
    return tasks


def draw_cases(pattern: Pattern, seeds: range, tasks: int, every: bool = False) -> Iterator[tuple[str, Scope, Case]]:
    """Yield the cases of both parities of each seed, with their place; `every`: all cases of the drawn workflows."""
    for seed in seeds:
        for ordinal in (0, 1):
            drawn_case = draw(pattern, feasible_size(pattern, tasks), seed, ordinal)
            places = scopes(drawn_case.project) if every else [drawn_case.scope]
            for place in places:
                for case in cases(pattern, place) if every else [drawn_case.case]:
                    yield f"seed {seed}, ordinal {ordinal}, {place.place}", place, case


def independent(pattern: Pattern, level: Workflow, case: Case) -> object:
    """Return the independent answer, or the error if there is none."""
    try:
        return ANSWERS[pattern.name](level, case.fields)
    except (AssertionError, ValueError, KeyError, TooMuchError) as error:
        return error


def compare(pattern: Pattern, where: str, level: Workflow, case: Case) -> Difference | None:
    """Return the difference between the reference of a case and the independent answer, or None."""
    answer = independent(pattern, level, case)
    if not isinstance(answer, Exception) and agrees(pattern.form, case.answer, answer, level):
        return None
    return Difference(where, case, answer)


def agrees(form: str, reference: Json, answer: object, level: Workflow) -> bool:
    """Return True if an independent answer agrees with the reference."""
    if form == "task-order":
        return brute_force_behaviour.prefixes(reference) == answer  # type: ignore[arg-type]
    if form == "schedule":
        return brute_force_timing.constraints_of(reference) == answer  # type: ignore[arg-type]
    if form == "condition":
        assert isinstance(reference, dict)
        return brute_force_behaviour.alike(str(reference["condition"]), str(answer), level)
    return answer == (sorted(reference) if form == "groups" else reference)  # type: ignore[arg-type,type-var]

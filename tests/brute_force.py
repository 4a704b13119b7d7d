"""The reference answers of drawn questions beside independent ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import brute_force_behaviour
import brute_force_structure
from brute_force_game import TooMuchError

from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.benchmarks.understanding.patterns.scope import Scope, cases, scopes
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw, recipe_for
from pytest_taskgraph.errors import RecipeTooSmallError
from pytest_taskgraph.trial import Json
from pytest_taskgraph.workflow.model import Workflow

ANSWERS = brute_force_structure.ANSWERS | brute_force_behaviour.ANSWERS


@dataclass(frozen=True)
class Difference:
    """A case whose reference is another than the independent answer."""

    where: str
    case: Case
    independent: object

    def __str__(self) -> str:
        case = self.case
        return f"{self.where}, {case.fields}: reference {case.answer!r}, independent {self.independent!r}"


def size(pattern: Pattern, wanted: int) -> int:
    """The wanted number of tasks, or the least that a pattern takes."""
    try:
        recipe_for(pattern, wanted)
    except RecipeTooSmallError as error:
        return error.least
    return wanted


def drawn(pattern: Pattern, seeds: range, tasks: int, every: bool = False) -> Iterator[tuple[str, Scope, Case]]:
    """The cases of both parities of each seed, and where they stand; `every`: all those of the workflows drawn."""
    for seed in seeds:
        for ordinal in (0, 1):
            found = draw(pattern, size(pattern, tasks), seed, ordinal)
            places = scopes(found.project) if every else [found.scope]
            for place in places:
                for case in cases(pattern, place) if every else [found.case]:
                    yield f"seed {seed}, ordinal {ordinal}, {place.place}", place, case


def independent(pattern: Pattern, level: Workflow, case: Case) -> object:
    """The independent answer; the error where it does not come to one."""
    try:
        return ANSWERS[pattern.name](level, case.fields)
    except (AssertionError, ValueError, KeyError, TooMuchError) as error:
        return error


def compare(pattern: Pattern, where: str, level: Workflow, case: Case) -> Difference | None:
    """The difference between the reference of a case and the independent answer; None if there is none."""
    found = independent(pattern, level, case)
    if not isinstance(found, Exception) and same(pattern.form, case.answer, found, level):
        return None
    return Difference(where, case, found)


def same(form: str, reference: Json, found: object, level: Workflow) -> bool:
    """Whether an independent answer says the same as the reference."""
    if form == "task-order":
        return brute_force_behaviour.prefixes(reference) == found  # type: ignore[arg-type]
    if form == "condition":
        assert isinstance(reference, dict)
        return brute_force_behaviour.alike(str(reference["condition"]), str(found), level)
    return found == (sorted(reference) if form == "groups" else reference)  # type: ignore[arg-type,type-var]

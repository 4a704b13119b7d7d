"""Situations: values for the parameters of a level, as text, and the values that stand for all situations.

    n = 3, mode = fast, Train.rate = 0.5, "Mix it.speed" = "very slow"

One value stands for every cell of a parameter (`cells.py`). For a parameter that tasks change by fixed steps, some of
the values are one to STEPS steps before a constant of the guards, so that loops repeat a few times, and so for the sum
of all steps if several tasks change it; for a parameter that tasks change in other ways, some are -1, 0 and 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from ..guards.cells import Constant, Situation, cells, exact_value, in_domain
from ..guards.solver import comparisons
from ..guards.syntax import write_value
from ..model import Workflow
from .variables import Variables, variables_of

STEPS = 3


def write_situation(situation: Situation) -> str:
    """Return the situation as text, "" for an empty one.

    Raises:
        ValueError: for a name or word with both kinds of quotes, and for a number without a finite decimal.
    """
    return ", ".join(
        f"{write_value(name, bare=True)} = {write_value(exact_value(value), bare=True)}"
        for name, value in situation.items()
    )


@lru_cache(maxsize=256)
def representatives(level: Workflow, wide: bool, steps: int = STEPS) -> dict[str, tuple[Constant, ...]] | None:
    """Return, for every variable that decides a way, the values that stand for all; sorted by name. Do not change it.

    Without a domain, the `wide` reading has reals, the other one integers. None if a variable is compared with words
    and numbers. With more `steps` than usual, loops are repeated more often.
    """
    variables = variables_of(level)
    constants: dict[str, set[Constant]] = {name: set() for name in sorted(variables.relevant)}
    for ways in variables.ways.values():
        for comparison in (
            comparison for way in ways if way.guard is not None for comparison in comparisons(way.guard)
        ):
            constants[comparison.parameter].add(comparison.value)
    values_by_name = {name: _values(variables, name, compared, wide, steps) for name, compared in constants.items()}
    nonempty = {name: values for name, values in values_by_name.items() if values}
    return nonempty if len(nonempty) == len(values_by_name) else None


def _values(
    variables: Variables, name: str, constants: set[Constant], wide: bool, steps: int
) -> tuple[Constant, ...] | None:
    domain = variables.domains.get(name)
    if not constants and domain is None:
        constants = {Fraction(0)}
    values = cells(constants, domain, wide)
    if values is None or any(isinstance(number, str) for number in values):
        return values
    numbers = [number for number in constants if isinstance(number, Fraction)]
    further = [number for step in _steps_of(variables, name) for number in _starting_values(numbers, step, steps)]
    return tuple(
        dict.fromkeys((*values, *(number for number in further if domain is None or in_domain(number, domain))))
    )


def _steps_of(variables: Variables, name: str) -> list[Fraction | None]:
    """Return the fixed steps by which tasks change a variable, and their sum; None for a change of another kind."""
    all_changes = (change for changes in variables.changes.values() for change in changes)
    moves = [change.step for change in all_changes if change.variable == name]
    fixed = [move for move in moves if move is not None]
    return [*moves, sum(fixed, Fraction(0))] if len(fixed) > 1 else moves


def _starting_values(constants: Sequence[Fraction], step: Fraction | None, steps: int) -> list[Fraction]:
    """Return values from which a loop that changes a variable by the step passes the constants."""
    if step is None:
        return [Fraction(constant) for constant in (-1, 0, 1)]
    return [constant - i * step for constant in constants for i in range(1, steps + 1)]

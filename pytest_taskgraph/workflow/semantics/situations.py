"""Situations: values for the parameters of a level, as text and as families that stand for all situations.

    n = 3, mode = fast, Train.rate = 0.5, "Mix it.speed" = "very slow"

One value stands for every cell of a parameter (`cells.py`). For a parameter that tasks change by fixed steps, some of
the values are one to STEPS steps before a constant of the guards, so that loops repeat a few times, and so for the sum
of all steps if several tasks change it; for a parameter that tasks change in other ways, some are -1, 0 and 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from random import Random

from ...errors import ReadError
from ..guards.cells import Constant, Situation, cells, exact_value, in_domain
from ..guards.solver import comparisons
from ..guards.syntax import write_value
from ..model import Workflow
from .variables import Variables, variables_of

MAX_FAMILY = 200
"""Largest number of situations that `situations` lists."""

STEPS = 3

_WORD = r"""([^\W\d]\w*(?:\.[^\W\d]\w*)*)|"([^"]*)"|'([^']*)'"""
_BLANK, _SIGN, _COMMA = re.compile(r"\s*"), re.compile(r"=\s*"), re.compile(r"(,)\s*|\Z")
_NAME = re.compile(rf"(?:{_WORD})\s*")
_VALUE = re.compile(rf"(?:{_WORD}|(-?\d{{1,100}}(?:\.\d{{1,100}})?)(?![\w.]))\s*")


def write_situation(situation: Situation) -> str:
    """Return the situation as text, "" for an empty one; `read_situation` parses it.

    Raises:
        ValueError: for a name or word with both kinds of quotes, and for a number without a finite decimal.
    """
    return ", ".join(
        f"{write_value(name, bare=True)} = {write_value(exact_value(value), bare=True)}"
        for name, value in situation.items()
    )


def read_situation(text: str, where: str = "") -> dict[str, Constant]:
    """Parse a situation: numbers become exact fractions; names and words may stand in quotes.

    Raises:
        ReadError: with line and column, for any other text and for a parameter with two values.
    """
    situation: dict[str, Constant] = {}
    match, at = _match_at(_BLANK, text, 0, "", where)
    while at < len(text):
        match, after = _match_at(_NAME, text, at, "the name of a parameter", where)
        name = match[match.lastindex or 0]
        if name in situation:
            raise _error(text, at, "a parameter that has no value yet", where)
        _, at = _match_at(_SIGN, text, after, "'='", where)
        match, at = _match_at(_VALUE, text, at, "a number or a word", where)
        situation[name] = Fraction(match[4]) if match[4] else match[match.lastindex or 0]
        match, at = _match_at(_COMMA, text, at, "',' or the end", where)
        if match[1] and at == len(text):
            raise _error(text, at, "the name of a parameter", where)
    return situation


@lru_cache(maxsize=128)
def situations(level: Workflow) -> tuple[Mapping[str, Constant], ...]:
    """Return situations that stand for all: one for every combination of cells of the parameters that guards read.

    If these are more than MAX_FAMILY, a fixed sample of that size, in which every value occurs. () if a parameter is
    compared with words and numbers.
    """
    values = representatives(level, wide=False)
    if values is None:
        return ()
    if math.prod(map(len, values.values())) <= MAX_FAMILY:
        return tuple(dict(zip(values, row, strict=True)) for row in product(*values.values()))
    return tuple(dict(zip(values, row, strict=True)) for row in dict.fromkeys(_sample(values)))


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


def _sample(values: Mapping[str, tuple[Constant, ...]]) -> Iterator[tuple[Constant, ...]]:
    rng = Random("situations")
    columns = []
    for options in values.values():
        column = [*options] * (MAX_FAMILY // len(options) + 1)
        rng.shuffle(column)
        columns.append((*options, *column))
    yield from zip(*(column[:MAX_FAMILY] for column in columns), strict=True)


def _match_at(pattern: re.Pattern[str], text: str, at: int, expected: str, where: str) -> tuple[re.Match[str], int]:
    """Match the pattern at the position; return the match and its end."""
    match = pattern.match(text, at)
    if match is None:
        raise _error(text, at, expected, where)
    return match, match.end()


def _error(text: str, at: int, expected: str, where: str) -> ReadError:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return ReadError(where, line, column, repr(text[at]) if at < len(text) else "the end", expected)

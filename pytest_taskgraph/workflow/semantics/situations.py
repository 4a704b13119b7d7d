"""Situations: values for the parameters of a level, as text and as families that stand for all there are.

    n = 3, mode = fast, Train.rate = 0.5, "Mix it.speed" = "very slow"

One value stands for every cell of a parameter (`guard_cells.py`). For a parameter that tasks change by fixed steps,
some of the values are one to STEPS steps before a constant of the guards, so that loops repeat a few times, and so for
the sum of all steps where several tasks change it; for one that tasks change otherwise, some are -1, 0 and 1.
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
from .variables import Variables, fixed_step, variables_of

MAX_FAMILY = 200
"""How many situations `situations` lists."""

STEPS = 3

_WORD = r"""([^\W\d]\w*(?:\.[^\W\d]\w*)*)|"([^"]*)"|'([^']*)'"""
_BLANK, _SIGN, _COMMA = re.compile(r"\s*"), re.compile(r"=\s*"), re.compile(r"(,)\s*|\Z")
_NAME = re.compile(rf"(?:{_WORD})\s*")
_VALUE = re.compile(rf"(?:{_WORD}|(-?\d{{1,100}}(?:\.\d{{1,100}})?)(?![\w.]))\s*")


def write_situation(situation: Situation) -> str:
    """The situation as text, "" for an empty one; `read_situation` reads it back.

    Raises ValueError for a name or word with both kinds of quotes, and for a number without a finite decimal.
    """
    return ", ".join(
        f"{write_value(name, bare=True)} = {write_value(exact_value(value), bare=True)}"
        for name, value in situation.items()
    )


def read_situation(text: str, where: str = "") -> dict[str, Constant]:
    """The situation that a text tells: numbers as exact fractions, words; names and words may stand in quotes.

    Raises ReadError, with line and column, for any other text and for a parameter told twice.
    """
    found: dict[str, Constant] = {}
    match, at = _next(_BLANK, text, 0, "", where)
    while at < len(text):
        match, after = _next(_NAME, text, at, "the name of a parameter", where)
        name = match[match.lastindex or 0]
        if name in found:
            raise _error(text, at, "a parameter that has no value yet", where)
        _, at = _next(_SIGN, text, after, "'='", where)
        match, at = _next(_VALUE, text, at, "a number or a word", where)
        found[name] = Fraction(match[4]) if match[4] else match[match.lastindex or 0]
        match, at = _next(_COMMA, text, at, "',' or the end", where)
        if match[1] and at == len(text):
            raise _error(text, at, "the name of a parameter", where)
    return found


@lru_cache(maxsize=128)
def situations(level: Workflow) -> tuple[Mapping[str, Constant], ...]:
    """Situations that stand for all there are: one for every combination of cells of the parameters that guards read.

    Where these are more than MAX_FAMILY, so many of them, drawn once and for all, in which every value occurs. () if a
    parameter is compared with words and numbers.
    """
    values = representatives(level, wide=False)
    if values is None:
        return ()
    if math.prod(map(len, values.values())) <= MAX_FAMILY:
        return tuple(dict(zip(values, row, strict=True)) for row in product(*values.values()))
    return tuple(dict(zip(values, row, strict=True)) for row in dict.fromkeys(_sample(values)))


@lru_cache(maxsize=256)
def representatives(level: Workflow, wide: bool, steps: int = STEPS) -> dict[str, tuple[Constant, ...]] | None:
    """For every variable on which a way hangs, the values that stand for all; sorted by name. Not to be changed.

    Where no domain is shown, the `wide` reading has reals, the other one integers. None where a variable is compared
    with words and numbers. With more `steps` than usual, loops are repeated more often.
    """
    known = variables_of(level)
    constants: dict[str, set[Constant]] = {name: set() for name in sorted(known.relevant)}
    for ways in known.ways.values():
        for one in (one for way in ways if way.guard is not None for one in comparisons(way.guard)):
            constants[one.parameter].add(one.value)
    found = {name: _values(known, name, told, wide, steps) for name, told in constants.items()}
    whole = {name: values for name, values in found.items() if values}
    return whole if len(whole) == len(found) else None


def _values(
    known: Variables, name: str, constants: set[Constant], wide: bool, steps: int
) -> tuple[Constant, ...] | None:
    domain = known.domains.get(name)
    if not constants and domain is None:
        constants = {Fraction(0)}
    found = cells(constants, domain, wide)
    if found is None or any(isinstance(one, str) for one in found):
        return found
    numbers = [one for one in constants if isinstance(one, Fraction)]
    further = [one for step in _moves(known, name) for one in _begun(numbers, step, steps)]
    return tuple(dict.fromkeys((*found, *(one for one in further if domain is None or in_domain(one, domain)))))


def _moves(known: Variables, name: str) -> list[Fraction | None]:
    """The fixed steps by which tasks change a variable, and their sum; None for a change of another kind."""
    changes = [change for found in known.changes.values() for change in found if change.variable == name]
    moves = [None if one.expression is None else fixed_step(one.expression, name) for one in changes]
    fixed = [move for move in moves if move is not None]
    return [*moves, sum(fixed, Fraction(0))] if len(fixed) > 1 else moves


def _begun(constants: Sequence[Fraction], step: Fraction | None, steps: int) -> list[Fraction]:
    """Where a loop may begin that moves a variable by the step."""
    if step is None:
        return [Fraction(one) for one in (-1, 0, 1)]
    return [one - i * step for one in constants for i in range(1, steps + 1)]


def _sample(values: Mapping[str, tuple[Constant, ...]]) -> Iterator[tuple[Constant, ...]]:
    rng = Random("situations")
    columns = []
    for found in values.values():
        column = [*found] * (MAX_FAMILY // len(found) + 1)
        rng.shuffle(column)
        columns.append((*found, *column))
    yield from zip(*(column[:MAX_FAMILY] for column in columns), strict=True)


def _next(pattern: re.Pattern[str], text: str, at: int, expected: str, where: str) -> tuple[re.Match[str], int]:
    """What stands next in the text, and where it ends."""
    match = pattern.match(text, at)
    if match is None:
        raise _error(text, at, expected, where)
    return match, match.end()


def _error(text: str, at: int, expected: str, where: str) -> ReadError:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return ReadError(where, line, column, repr(text[at]) if at < len(text) else "the end", expected)

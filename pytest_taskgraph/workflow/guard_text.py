"""Guards written as text, and the opposite of a guard."""

from __future__ import annotations

import re

from .guard_cells import Constant
from .guard_syntax import And, Comparison, Guard, Not, Operator, Or, Otherwise

_BARE = re.compile(r"(?!(?:or|and)\Z|(?:not|otherwise)(?!\w))[^\W\d]\w*(\.[^\W\d]\w*)*\Z", re.IGNORECASE)
_NEGATED: dict[Operator, Operator] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}


def write_guard(guard: Guard) -> str:
    """The text of a guard: for every guard that was read, `read_guard(write_guard(guard)) == guard`, unless
    its blanks make it longer than MAX_LENGTH.

    Raises ValueError for what the language cannot say: a fraction without a finite decimal, a word with both kinds of
    quotes or with blanks that do not stand alone, an "otherwise" inside another guard, parts that are none.
    """
    return "otherwise" if isinstance(guard, Otherwise) else _written(guard, inside=False)


def write_value(value: Constant, bare: bool = False) -> str:
    """A number as an exact decimal, or a word, in quotes unless `bare` and fit to stand without. Raises ValueError."""
    if isinstance(value, str):
        return value if bare and _BARE.match(value) else _quoted(value)
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
        if places > 100:
            raise ValueError(f"{value} has no decimal of at most 100 places")
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def negated(guard: Guard) -> Guard:
    """The guard that holds where this one does not, "not" driven inwards. Raises ValueError for "otherwise"."""
    match guard:
        case Comparison(name, operator, value, bare):
            return Comparison(name, _NEGATED[operator], value, bare)
        case Not(part):
            return part
        case And(parts):
            return Or(tuple(map(negated, parts)))
        case Or(parts):
            return And(tuple(map(negated, parts)))
    raise ValueError("'otherwise' is negated only together with the guards beside it")


def _written(guard: Guard, inside: bool) -> str:
    match guard:
        case Comparison(name, operator, value, bare):
            return f"{name} {operator} {write_value(value, bare)}"
        case Not(part):
            return f"not {_written(part, inside=True)}"
        case And((first, *rest)) | Or((first, *rest)):
            told = " and " if isinstance(guard, And) else " or "
            text = told.join(_written(part, _enclosed(guard, part)) for part in (first, *rest))
            return f"({text})" if inside else text
    raise ValueError(f"the language of guards cannot say {guard} here")


def _enclosed(guard: Guard, part: Guard) -> bool:
    """Whether a part needs brackets: "and" binds closer than "or"."""
    return isinstance(guard, And) or isinstance(part, Or)


def _quoted(word: str) -> str:
    mark = "'" if '"' in word else '"'
    if mark in word or any(one.isspace() and one != " " for one in word) or "  " in word:
        raise ValueError(f"the language of guards cannot say the word {word!r}")
    return f"{mark}{word}{mark}"

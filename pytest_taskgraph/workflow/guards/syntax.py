"""The language of guards: comparisons of parameters with numbers or words, joined by and, or, not; read and written.

n > 1      0 < n <= 5      mode = "fast" or not (n != 2 and mode == slow)      otherwise

Any other text is prose: people understand it, nothing here computes with it. Words may stand bare; numbers are exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Literal

from ...errors import ReadError
from .cells import Constant

Operator = Literal["<", "<=", ">", ">=", "=", "!="]

MAX_LENGTH = 1000
"""A longer text is taken as prose; it bounds how deep a guard can nest."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A parameter compared with a number or a word; only = and != compare words."""

    parameter: str
    operator: Operator
    value: Constant
    bare: bool = field(default=False, compare=False)  # a word without quotes: it might be meant as a parameter


@dataclass(frozen=True, slots=True)
class Not:
    """Holds where its part does not."""

    part: Guard


@dataclass(frozen=True, slots=True)
class And:
    """Holds where all of its parts do; without parts, always."""

    parts: tuple[Guard, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Holds where one of its parts does; without parts, never."""

    parts: tuple[Guard, ...]


@dataclass(frozen=True, slots=True)
class Otherwise:
    """Holds where none of the other guards beside it does."""


Guard = Comparison | Not | And | Or | Otherwise

_GRAMMAR = r"""
?start: either | _OTHERWISE -> otherwise
?either: both (_OR both)*
?both: one (_AND one)*
?one: _NOT one -> negation | "(" either ")" | comparison
?comparison: NAME EQUAL value -> compared
           | NAME ORDER NUMBER -> compared
           | NUMBER (ORDER | EQUAL) NAME -> turned
           | NUMBER ORDER NAME ORDER NUMBER -> between
value: NUMBER -> number | QUOTED -> quoted | NAME -> bare
_OTHERWISE.2: /otherwise(?!\w)/i
_OR.2: /or(?!\w)/i
_AND.2: /and(?!\w)/i
_NOT.2: /not(?!\w)/i
NAME: /(?!(?:not|otherwise)(?!\w))[^\W\d]\w*(\.[^\W\d]\w*)*/i
NUMBER: /-?\d{1,100}(\.\d{1,100})?(?![\w.%])/
QUOTED: /"[^"]*"|'[^']*'/
EQUAL: "==" | "=" | "!=" | "≠"
ORDER: "<=" | ">=" | "<" | ">" | "≤" | "≥"
%import common.WS
%ignore WS
"""

# One comparison of a name with a number or a word, as most guards are; the grammar takes forty times as long.
_NAME = r"((?!(?:not|otherwise|and|or)(?!\w))[^\W\d]\w*(?:\.[^\W\d]\w*)*)"
_SIMPLE = re.compile(
    rf"{_NAME} ?(?:(<|>|<=|>=|≤|≥|=|==|!=|≠) ?(-?\d{{1,100}}(?:\.\d{{1,100}})?)"
    rf"|(=|==|!=|≠) ?(?:\"([^\"]*)\"|{_NAME}))",
    re.IGNORECASE,
)
_PLAIN: dict[str, Operator] = {"==": "=", "≠": "!=", "≤": "<=", "≥": ">="}
_TURNED: dict[Operator, Operator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


_TOLD = {
    "_OTHERWISE": "'otherwise'",
    "_OR": "'or'",
    "_AND": "'and'",
    "_NOT": "'not'",
    "NAME": "a name",
    "NUMBER": "a number",
    "QUOTED": "a quoted word",
    "EQUAL": "= or !=",
    "ORDER": "<, <=, > or >=",
    "LPAR": "'('",
    "RPAR": "')'",
    "$END": "the end",
}


def parse_guard(text: str) -> Guard | None:
    """The guard that a text says; None for prose, that is, any text outside the language."""
    if len(text) > MAX_LENGTH or not text.strip():
        return None
    found = _parse(" ".join(text.split()))
    return None if isinstance(found, _Slip) else found


def read_guard(text: str, where: str = "") -> Guard:
    """The guard that a text says; `where` names the place of the text in errors.

    Raises ReadError with line and column in the text, what was found and what was expected, for prose and for more
    than MAX_LENGTH characters.
    """
    if len(text) > MAX_LENGTH:
        raise ReadError(where, *_place(text, MAX_LENGTH), f"{len(text)} characters", f"a guard of at most {MAX_LENGTH}")
    found = _parse(" ".join(text.split()))
    if isinstance(found, _Slip):
        raise ReadError(where, *_place(text, _offset(text, found.at)), found.found, found.expected)
    return found


def comparisons(guard: Guard) -> Iterator[Comparison]:
    """The comparisons of a guard, from left to right."""
    match guard:
        case Comparison():
            yield guard
        case Not(part):
            yield from comparisons(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from comparisons(part)


def rename_parameters(guard: Guard, name: Callable[[str], str]) -> Guard:
    """The guard with every parameter called as `name` calls it."""
    match guard:
        case Comparison():
            return replace(guard, parameter=name(guard.parameter))
        case Not(part):
            return Not(rename_parameters(part, name))
        case And(parts):
            return And(tuple(rename_parameters(part, name) for part in parts))
        case Or(parts):
            return Or(tuple(rename_parameters(part, name) for part in parts))
    return guard


@dataclass(frozen=True, slots=True)
class _Slip:
    """Why and where, counted in the text with single blanks, a text is no guard."""

    at: int
    found: str
    expected: str


def _offset(text: str, at: int) -> int:
    """Where in the text the character stands that is number `at` once all runs of blanks are single ones."""
    starts = [match.start() + i for match in re.finditer(r"\S+", text) for i in range(len(match.group()) + 1)]
    return starts[at] if at < len(starts) - 1 else len(text.rstrip())


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


@lru_cache(maxsize=65536)
def _parse(text: str) -> Guard | _Slip:
    if (simple := _simple(text)) is not None:
        return simple
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        return _parser()(text)
    except UnexpectedCharacters as error:
        at = error.pos_in_stream or 0
        return _Slip(at, repr(text[at]), _expected(error.allowed))
    except UnexpectedToken as error:
        end = error.token.type == "$END"
        at = len(text) if end else error.pos_in_stream or 0
        return _Slip(at, "the end" if end else repr(str(error.token)), _expected(error.accepts))


def _expected(terminals: set[str] | None) -> str:
    return " or ".join(told for name, told in _TOLD.items() if name in (terminals or ())) or "the end"


@cache
def _parser() -> Callable[[str], Guard]:
    from lark import Lark, Transformer, v_args

    builder = v_args(inline=True)(type("Builder", (Transformer,), dict(_BUILD)))()
    parse: Callable[[str], Any] = Lark(_GRAMMAR, parser="lalr", transformer=builder).parse
    return parse


def _simple(text: str) -> Guard | None:
    """The guard, where it is `otherwise` or a few simple comparisons, all of which must hold; None for any other."""
    if text == "otherwise":
        return Otherwise()
    parts = [_SIMPLE.fullmatch(part) for part in text.split(" and ")]
    read = tuple(_comparison(*part.groups()) for part in parts if part)
    if len(read) < len(parts):
        return None
    return And(read) if len(read) > 1 else read[0]


def _comparison(
    name: str, order: str | None, number: str | None, equal: str | None, word: str | None, bare: str | None
) -> Guard:
    if order is not None and number is not None:
        return Comparison(name, _operator(order), Fraction(number))
    return Comparison(name, _operator(equal or ""), word or bare or "", bare is not None)


def _operator(text: str) -> Operator:
    return _PLAIN.get(str(text), str(text))  # type: ignore[arg-type]


def _negation(part: Guard) -> Guard:
    return part.part if isinstance(part, Not) else Not(part)


def _compared(name: str, operator: str, value: tuple[Constant, bool] | str) -> Guard:
    constant, bare = (Fraction(str(value)), False) if isinstance(value, str) else value
    return Comparison(str(name), _operator(operator), constant, bare)


def _turned(value: str, operator: str, name: str) -> Guard:
    return Comparison(str(name), _TURNED[_operator(operator)], Fraction(str(value)))


def _between(low: str, first: str, name: str, second: str, high: str) -> Guard:
    return And((_turned(low, first, name), _compared(name, second, high)))


_BUILD: dict[str, Callable[..., Any]] = {
    "otherwise": lambda _: Otherwise(),
    "negation": lambda _, part: _negation(part),
    "either": lambda _, *parts: Or(parts),
    "both": lambda _, *parts: And(parts),
    "compared": lambda _, *found: _compared(*found),
    "turned": lambda _, *found: _turned(*found),
    "between": lambda _, *found: _between(*found),
    "number": lambda _, text: (Fraction(str(text)), False),
    "quoted": lambda _, text: (str(text[1:-1]), False),
    "bare": lambda _, text: (str(text), True),
}


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


def negate(guard: Guard) -> Guard:
    """The guard that holds where this one does not, "not" driven inwards. Raises ValueError for "otherwise"."""
    match guard:
        case Comparison(name, operator, value, bare):
            return Comparison(name, _NEGATED[operator], value, bare)
        case Not(part):
            return part
        case And(parts):
            return Or(tuple(map(negate, parts)))
        case Or(parts):
            return And(tuple(map(negate, parts)))
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

"""The language of guards: comparisons of parameters with numbers or words, joined by and, or, not; read and written.

n > 1      0 < n <= 5      mode = "fast" or not (n != 2 and mode == slow)      otherwise

A text in backquotes, such as `startsWith(ref, 'v')`, is one condition that is true or false: a parameter of that name
compared with "true". Any other text is prose, which is not computed with. Words may stand without quotes; numbers are
exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Literal

from ...errors import ReadError
from .cells import Constant

Operator = Literal["<", "<=", ">", ">=", "=", "!="]

MAX_LENGTH = 1000
"""Largest length of a guard; a longer text is prose. It bounds how deep a guard can nest."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A parameter compared with a number or a word; only = and != compare words."""

    parameter: str
    operator: Operator
    value: Constant
    bare: bool = field(default=False, compare=False)  # a word without quotes: it might be meant as a parameter


@dataclass(frozen=True, slots=True)
class Not:
    """True where its part is not."""

    part: Guard


@dataclass(frozen=True, slots=True)
class And:
    """True where all of its parts are; without parts, always."""

    parts: tuple[Guard, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """True where one of its parts is; without parts, never."""

    parts: tuple[Guard, ...]


@dataclass(frozen=True, slots=True)
class Otherwise:
    """True where none of the other guards beside it is."""


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
           | STATED EQUAL value -> compared
           | STATED -> stated
value: NUMBER -> number | QUOTED -> quoted | NAME -> bare
_OTHERWISE.2: /otherwise(?!\w)/i
_OR.2: /or(?!\w)/i
_AND.2: /and(?!\w)/i
_NOT.2: /not(?!\w)/i
NAME: /(?!(?:not|otherwise)(?!\w))[^\W\d]\w*(\.[^\W\d]\w*)*/i
NUMBER: /-?\d{1,100}(\.\d{1,100})?(?![\w.%])/
QUOTED: /"[^"]*"|'[^']*'/
STATED: /`[^`]+`/
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


_TERMINAL_NAMES = {
    "_OTHERWISE": "'otherwise'",
    "_OR": "'or'",
    "_AND": "'and'",
    "_NOT": "'not'",
    "NAME": "a name",
    "NUMBER": "a number",
    "QUOTED": "a quoted word",
    "STATED": "a condition in backquotes",
    "EQUAL": "= or !=",
    "ORDER": "<, <=, > or >=",
    "LPAR": "'('",
    "RPAR": "')'",
    "$END": "the end",
}


def parse_guard(text: str) -> Guard | None:
    """Parse a guard; return None for prose, that is, any text outside the language."""
    if len(text) > MAX_LENGTH or not text.strip():
        return None
    parsed = _parse(" ".join(text.split()))
    return None if isinstance(parsed, _SyntaxSlip) else parsed


def read_guard(text: str, where: str = "") -> Guard:
    """Parse a guard; `where` names the place of the text in errors.

    Raises:
        ReadError: for prose and for more than MAX_LENGTH characters; with line and column in the text, what was found
            and what was expected.
    """
    if len(text) > MAX_LENGTH:
        raise ReadError(
            where, *_line_and_column(text, MAX_LENGTH), f"{len(text)} characters", f"a guard of at most {MAX_LENGTH}"
        )
    parsed = _parse(" ".join(text.split()))
    if isinstance(parsed, _SyntaxSlip):
        raise ReadError(where, *_line_and_column(text, _offset(text, parsed.at)), parsed.actual, parsed.expected)
    return parsed


def comparisons(guard: Guard) -> Iterator[Comparison]:
    """Yield the comparisons of a guard, from left to right."""
    match guard:
        case Comparison():
            yield guard
        case Not(part):
            yield from comparisons(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from comparisons(part)


def rename_parameters(guard: Guard, name: Callable[[str], str]) -> Guard:
    """Return the guard with every parameter renamed by the function `name`."""
    match guard:
        case Comparison(parameter, operator, value, bare):
            return Comparison(name(parameter), operator, value, bare)
        case Not(part):
            return Not(rename_parameters(part, name))
        case And(parts):
            return And(tuple(rename_parameters(part, name) for part in parts))
        case Or(parts):
            return Or(tuple(rename_parameters(part, name) for part in parts))
    return guard


@dataclass(frozen=True, slots=True)
class _SyntaxSlip:
    """The reason and the place, counted in the text with single blanks, why a text is not a guard."""

    at: int
    actual: str
    expected: str


def _offset(text: str, at: int) -> int:
    """Return the offset in the text of character number `at` of the text with all runs of blanks made single."""
    starts = [match.start() + i for match in re.finditer(r"\S+", text) for i in range(len(match.group()) + 1)]
    return starts[at] if at < len(starts) - 1 else len(text.rstrip())


def _line_and_column(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


@lru_cache(maxsize=65536)
def _parse(text: str) -> Guard | _SyntaxSlip:
    if (simple := _parse_simple(text)) is not None:
        return simple
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        return _parser()(text)
    except UnexpectedCharacters as error:
        at = error.pos_in_stream or 0
        return _SyntaxSlip(at, repr(text[at]), _expected(error.allowed))
    except UnexpectedToken as error:
        end = error.token.type == "$END"
        at = len(text) if end else error.pos_in_stream or 0
        return _SyntaxSlip(at, "the end" if end else repr(str(error.token)), _expected(error.accepts))


def _expected(terminals: set[str] | None) -> str:
    return (
        " or ".join(description for name, description in _TERMINAL_NAMES.items() if name in (terminals or ()))
        or "the end"
    )


@cache
def _parser() -> Callable[[str], Guard]:
    from lark import Lark, Transformer, v_args

    builder = v_args(inline=True)(type("Builder", (Transformer,), dict(_BUILD)))()
    parse: Callable[[str], Any] = Lark(_GRAMMAR, parser="lalr", transformer=builder).parse
    return parse


def _parse_simple(text: str) -> Guard | None:
    """Parse `otherwise` or simple comparisons joined by "and" and "or"; return None for any other guard.

    A quoted word with " and " or " or " in it is no simple comparison: each part would have a single quotation mark.
    """
    if text == "otherwise":
        return Otherwise()
    alternatives: list[Guard] = []
    for alternative in text.split(" or "):
        parts = [_SIMPLE.fullmatch(part) for part in alternative.split(" and ")]
        comparisons_found = tuple(_comparison(*part.groups()) for part in parts if part)
        if len(comparisons_found) < len(parts):
            return None
        alternatives.append(And(comparisons_found) if len(comparisons_found) > 1 else comparisons_found[0])
    return Or(tuple(alternatives)) if len(alternatives) > 1 else alternatives[0]


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


def _comparison_of_tokens(name: str, operator: str, value: tuple[Constant, bool] | str) -> Guard:
    constant, bare = (Fraction(str(value)), False) if isinstance(value, str) else value
    return Comparison(str(name), _operator(operator), constant, bare)


def _turned_comparison(value: str, operator: str, name: str) -> Guard:
    return Comparison(str(name), _TURNED[_operator(operator)], Fraction(str(value)))


def _range(low: str, first: str, name: str, second: str, high: str) -> Guard:
    return And((_turned_comparison(low, first, name), _comparison_of_tokens(name, second, high)))


_BUILD: dict[str, Callable[..., Any]] = {
    "otherwise": lambda _: Otherwise(),
    "negation": lambda _, part: _negation(part),
    "either": lambda _, *parts: Or(parts),
    "both": lambda _, *parts: And(parts),
    "compared": lambda _, *tokens: _comparison_of_tokens(*tokens),
    "turned": lambda _, *tokens: _turned_comparison(*tokens),
    "between": lambda _, *tokens: _range(*tokens),
    "number": lambda _, text: (Fraction(str(text)), False),
    "quoted": lambda _, text: (str(text[1:-1]), False),
    "bare": lambda _, text: (str(text), True),
    "stated": lambda _, text: Comparison(str(text), "=", "true"),
}


_BARE = re.compile(r"(?!(?:or|and)\Z|(?:not|otherwise)(?!\w))[^\W\d]\w*(\.[^\W\d]\w*)*\Z", re.IGNORECASE)
_NEGATED: dict[Operator, Operator] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}


def write_guard(guard: Guard) -> str:
    """Return the text of a guard.

    For every guard that was read, `read_guard(write_guard(guard)) == guard`, unless its blanks make it longer than
    MAX_LENGTH.

    Raises:
        ValueError: for what the language cannot express: a fraction without a finite decimal, a word with both kinds of
            quotes or with blanks that are not single spaces, an "otherwise" inside another guard, no parts.
    """
    return "otherwise" if isinstance(guard, Otherwise) else _write(guard, inside=False)


def write_value(value: Constant, bare: bool = False) -> str:
    """Return a number as an exact decimal, or a word, in quotes unless `bare` is set and the word needs none.

    Raises:
        ValueError: if the language cannot express the value.
    """
    if isinstance(value, str):
        return value if bare and _BARE.match(value) else _quote(value)
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
        if places > 100:
            raise ValueError(f"{value} has no decimal of at most 100 places")
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def negate(guard: Guard) -> Guard:
    """Return the guard that holds where the given guard does not, with "not" driven inwards.

    Raises:
        ValueError: for "otherwise".
    """
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


def _write(guard: Guard, inside: bool) -> str:
    match guard:
        case Comparison(name, operator, value, bare):
            return f"{name} {operator} {write_value(value, bare)}"
        case Not(part):
            return f"not {_write(part, inside=True)}"
        case And((first, *rest)) | Or((first, *rest)):
            joiner = " and " if isinstance(guard, And) else " or "
            text = joiner.join(_write(part, _needs_brackets(guard, part)) for part in (first, *rest))
            return f"({text})" if inside else text
    raise ValueError(f"the language of guards cannot say {guard} here")


def _needs_brackets(guard: Guard, part: Guard) -> bool:
    """Return True if a part needs brackets: "and" binds closer than "or"."""
    return isinstance(guard, And) or isinstance(part, Or)


def _quote(word: str) -> str:
    quote = "'" if '"' in word else '"'
    if quote in word or any(char.isspace() and char != " " for char in word) or "  " in word:
        raise ValueError(f"the language of guards cannot say the word {word!r}")
    return f"{quote}{word}{quote}"

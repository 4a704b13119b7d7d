"""The language of guards: comparisons of parameters with numbers or words, joined by and, or, not; and "otherwise".

    n > 1      0 < n <= 5      mode = "fast" or not (n != 2 and mode == slow)      otherwise

Any other text is prose: people understand it, nothing here computes with it. Words may stand bare; numbers are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations
from typing import Any, Literal

from .guard_cells import Constant, Situation, exact, situations
from .model import Parameter

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
NAME: /[^\W\d]\w*(\.[^\W\d]\w*)*/
NUMBER: /-?\d{1,100}(\.\d{1,100})?(?![\w.%])/
QUOTED: /"[^"]*"|'[^']*'/
EQUAL: "==" | "=" | "!=" | "≠"
ORDER: "<=" | ">=" | "<" | ">" | "≤" | "≥"
%import common.WS
%ignore WS
"""

_PLAIN: dict[str, Operator] = {"==": "=", "≠": "!=", "≤": "<=", "≥": ">="}
_TURNED: dict[Operator, Operator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


def parse_guard(text: str) -> Guard | None:
    """The guard that a text says; None for prose, that is, any text outside the language."""
    return None if len(text) > MAX_LENGTH else _parse(" ".join(text.split()))


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


def holds(guard: Guard, situation: Situation) -> bool:
    """Whether the guard holds. A number never equals a word.

    Raises KeyError where the situation lacks a parameter of the guard, TypeError where it orders a word and a number,
    ValueError for "otherwise", whose truth depends on the guards beside it (see `holding`).
    """
    match guard:
        case Comparison(name, operator, value):
            return _compare(exact(situation[name]), operator, value)
        case Not(part):
            return not holds(part, situation)
        case And(parts):
            return all(holds(part, situation) for part in parts)
        case Or(parts):
            return any(holds(part, situation) for part in parts)
    raise ValueError("'otherwise' holds where none of the guards beside it does; ask holding() about all of them")


def holding(guards: Sequence[Guard], situation: Situation) -> tuple[bool, ...]:
    """Which of the guards that leave one task hold; "otherwise" does where none of the others does.

    Raises as `holds`.
    """
    found = [not isinstance(guard, Otherwise) and holds(guard, situation) for guard in guards]
    none = not any(found)
    return tuple(none if isinstance(guard, Otherwise) else one for guard, one in zip(guards, found, strict=True))


def exclusive(guards: Sequence[str], parameters: Sequence[Parameter]) -> bool | None:
    """Whether no situation satisfies two of the guards; None where that is undecided.

    Decided exactly over the domains of the parameters (`guard_cells.py`). Where no domain is shown, only if integers
    and reals give the same answer. "Otherwise" excludes all others. Two equal texts never exclude each other; prose
    beside any other guard is undecided, and so are more than MAX_SITUATIONS situations.
    """
    answer: bool | None = True
    for one, other in combinations(guards, 2):
        verdict = _exclude(one, other, tuple(parameters))
        if verdict is False:
            return False
        answer = answer and verdict
    return answer


def satisfiable(guards: Sequence[Guard], parameters: Sequence[Parameter]) -> bool | None:
    """Whether some situation satisfies all of the guards; None where that is undecided, for the reasons of `exclusive`.

    Guards without a parameter in common are looked at apart, so only entangled ones are expensive. Raises ValueError
    for "otherwise".
    """
    answer: bool | None = True
    for group in _entangled([clause for guard in guards for clause in _clauses(guard)]):
        verdict = _satisfiable(group, parameters)
        if verdict is False:
            return False
        answer = answer and verdict
    return answer


@lru_cache(maxsize=65536)
def _exclude(one: str, other: str, parameters: tuple[Parameter, ...]) -> bool | None:
    first, second = parse_guard(one), parse_guard(other)
    if isinstance(first, Otherwise) or isinstance(second, Otherwise):
        return None if first == second else True
    if first is None or second is None:
        return False if one.split() == other.split() else None
    together = satisfiable((first, second), parameters)
    return None if together is None else not together


def _clauses(guard: Guard) -> tuple[Guard, ...]:
    return guard.parts if isinstance(guard, And) else (guard,)


def _entangled(guards: Sequence[Guard]) -> list[list[Guard]]:
    """The guards in groups; no parameter occurs in two of them."""
    groups: list[tuple[set[str], list[Guard]]] = []
    for guard in guards:
        names, members, apart = {c.parameter for c in comparisons(guard)}, [guard], []
        for group in groups:
            if group[0].isdisjoint(names):
                apart.append(group)
            else:
                names, members = names | group[0], group[1] + members
        groups = [*apart, (names, members)]
    return [members for _, members in groups]


def _satisfiable(guards: Sequence[Guard], parameters: Sequence[Parameter]) -> bool | None:
    found = [comparison for guard in guards for comparison in comparisons(guard)]
    if any(_might_be_a_parameter(comparison, parameters) for comparison in found):
        return None
    constants = {c.parameter: {d.value for d in found if d.parameter == c.parameter} for c in found}
    narrow = situations(constants, parameters, wide=False)
    if narrow is not None and any(all(holds(guard, one) for guard in guards) for one in narrow):
        return True  # more values cannot take that back
    wide = situations(constants, parameters, wide=True)
    if wide is None or any(all(holds(guard, one) for guard in guards) for one in wide):
        return None
    return False


def _might_be_a_parameter(comparison: Comparison, parameters: Sequence[Parameter]) -> bool:
    """Whether a bare word is the name of a parameter and no word of the compared parameter's domain."""
    named = {parameter.name: parameter for parameter in parameters}
    if not comparison.bare or comparison.value not in named:
        return False
    compared = named.get(comparison.parameter)
    return compared is None or compared.domain is None or comparison.value not in compared.domain.words


def _compare(value: Constant, operator: Operator, constant: Constant) -> bool:
    if operator in ("=", "!="):
        return (value == constant) == (operator == "=")
    if isinstance(value, str) or isinstance(constant, str):
        raise TypeError(f"{value!r} {operator} {constant!r}: a word and a number have no order")
    less, equal = value < constant, value == constant
    return {"<": less, "<=": less or equal, ">": not (less or equal), ">=": not less}[operator]


@lru_cache(maxsize=65536)
def _parse(text: str) -> Guard | None:
    from lark.exceptions import UnexpectedInput

    try:
        return _parser()(text)
    except UnexpectedInput:
        return None


@cache
def _parser() -> Callable[[str], Guard]:
    from lark import Lark, Transformer, v_args

    builder = v_args(inline=True)(type("Builder", (Transformer,), dict(_BUILD)))()
    parse: Callable[[str], Any] = Lark(_GRAMMAR, parser="lalr", transformer=builder).parse
    return parse


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

"""What effects do: expressions of numbers, names of parameters, +, -, * and parentheses; or one word.

    n + 1      2 * (n - step)      -n      "fast"

All is exact. An expression can also be followed over the passes of a loop: where parameters change by the same amount
each time, it tells by how much the expression does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Literal

from .guard_cells import Constant

MAX_LENGTH = 200
"""A longer text is no expression; it bounds how deep one can nest."""

MAX_BITS = 2000
"""Numbers with a numerator or denominator of more bits are not computed with."""


@dataclass(frozen=True, slots=True)
class Literally:
    """A number, or a word in quotes."""

    value: Constant


@dataclass(frozen=True, slots=True)
class Name:
    """The value of a parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class Operation:
    """Two expressions and what joins them."""

    operator: Literal["+", "-", "*"]
    left: Expression
    right: Expression


Expression = Literally | Name | Operation

_GRAMMAR = r"""
?start: sum | QUOTED -> quoted
?sum: product | sum "+" product -> plus | sum "-" product -> minus
?product: factor | product "*" factor -> times
?factor: "-" factor -> opposite | NUMBER -> number | NAME -> name | "(" sum ")"
NAME: /[^\W\d]\w*(\.[^\W\d]\w*)*/
NUMBER: /\d{1,100}(\.\d{1,100})?(?![\w.])/
QUOTED: /"[^"]*"|'[^']*'/
%import common.WS
%ignore WS
"""


@lru_cache(maxsize=4096)
def parse_expression(text: str) -> Expression | None:
    """The expression that a text says; None for any text outside the language."""
    from lark.exceptions import UnexpectedInput

    try:
        return _parser()(text) if len(text) <= MAX_LENGTH else None
    except UnexpectedInput:
        return None


def names(expression: Expression) -> Iterator[str]:
    """The names of parameters in an expression, from left to right."""
    if isinstance(expression, Name):
        yield expression.name
    if isinstance(expression, Operation):
        yield from names(expression.left)
        yield from names(expression.right)


def evaluate(expression: Expression, values: Mapping[str, Constant]) -> Constant:
    """The value of an expression.

    Raises KeyError where a parameter has no value, TypeError where it computes with a word, OverflowError for numbers
    of more than MAX_BITS bits.
    """
    match expression:
        case Literally(value):
            return value
        case Name(name):
            return values[name]
        case Operation(operator, left, right):
            one, other = evaluate(left, values), evaluate(right, values)
            if isinstance(one, str) or isinstance(other, str):
                raise TypeError(f"{one!r} {operator} {other!r}: a word is no number")
            found = one * other if operator == "*" else one + other if operator == "+" else one - other
            if max(abs(found.numerator), found.denominator).bit_length() > MAX_BITS:
                raise OverflowError(f"a number of more than {MAX_BITS} bits")
            return found


def slope(
    expression: Expression, values: Mapping[str, Constant], slopes: Mapping[str, Fraction | None]
) -> Fraction | None:
    """By how much an expression changes each time if every parameter changes by its slope each time.

    None where it does not change by the same amount. A parameter without a slope keeps its value.
    """
    match expression:
        case Literally():
            return Fraction(0)
        case Name(name):
            return slopes.get(name, Fraction(0))
        case Operation(operator, left, right):
            one, other = slope(left, values, slopes), slope(right, values, slopes)
            if one is None or other is None:
                return None
            if operator != "*":
                return one + other if operator == "+" else one - other
            first, second = evaluate(left, values), evaluate(right, values)
            if (one and other) or isinstance(first, str) or isinstance(second, str):
                return None
            return one * second + other * first


def fixed_step(expression: Expression, name: str) -> Fraction | None:
    """What the expression adds to the parameter of that name; None if it does not just add a number to it."""
    if {*names(expression)} != {name}:
        return None
    zero = {name: Fraction(0)}
    step = evaluate(expression, zero) if slope(expression, zero, {name: Fraction(1)}) == 1 else None
    return None if isinstance(step, str) else step


@cache
def _parser() -> Callable[[str], Expression]:
    from lark import Lark, Transformer, v_args

    builder = v_args(inline=True)(type("Builder", (Transformer,), dict(_BUILD)))()
    parse: Callable[[str], Any] = Lark(_GRAMMAR, parser="lalr", transformer=builder).parse
    return parse


_BUILD: dict[str, Callable[..., Expression]] = {
    "plus": lambda _, left, right: Operation("+", left, right),
    "minus": lambda _, left, right: Operation("-", left, right),
    "times": lambda _, left, right: Operation("*", left, right),
    "opposite": lambda _, part: Operation("-", Literally(Fraction(0)), part),
    "number": lambda _, text: Literally(Fraction(str(text))),
    "name": lambda _, text: Name(str(text)),
    "quoted": lambda _, text: Literally(str(text[1:-1])),
}

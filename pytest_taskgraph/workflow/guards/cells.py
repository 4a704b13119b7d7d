"""The cells of a parameter's domain: between two neighbouring constants of some guards, no guard changes its truth.

So one value of each cell stands for all of it, and a finite set of situations decides what infinitely many would. The
cells of numbers are the points (constants and the domain's ends) and the open intervals between them; for integers only
those that hold an integer. The cells of words are the words of the domain; where none is shown, the words that the
guards name and one more that stands for any other.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product

from ..model import Domain, Parameter, Scalar

Constant = Fraction | str
Situation = Mapping[str, Scalar | Fraction]

MAX_SITUATIONS = 20_000
"""How many situations are looked at for one answer; a question that would need more is undecided."""

_TRUTH = frozenset({"true", "false"})


def exact_value(value: Scalar | Fraction) -> Constant:
    """A value as guards compare it: numbers as exact fractions (0.1 is one tenth), True and False as words."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, (str, Fraction)) else Fraction(str(value))


def in_domain(value: Constant, domain: Domain) -> bool:
    """Whether a value is of the domain."""
    if isinstance(value, str) or domain.kind == "words":
        return value in domain.words
    low, high = _bound(domain.low), _bound(domain.high)
    above, below = low is None or value >= low, high is None or value <= high
    return above and below and (domain.kind == "real" or value.denominator == 1)


def is_unbounded(domain: Domain, move: Fraction) -> bool:
    """Whether a number of the domain stays in it however often the move is added to it."""
    end = _bound(domain.high if move > 0 else domain.low)
    return domain.kind != "words" and end is None and (domain.kind == "real" or move.denominator == 1)


def cells(constants: Collection[Constant], domain: Domain | None, wide: bool) -> tuple[Constant, ...] | None:
    """One value of every cell; None where words and numbers are mixed.

    Where no domain is shown there are two readings: the `wide` one takes all reals, or any word; the narrow one takes
    the integers, and for words that are all true or false just those two.
    """
    words = sorted(c for c in constants if isinstance(c, str))
    numbers = sorted(c for c in constants if not isinstance(c, str))
    if (words and numbers) or (domain is not None and (domain.kind == "words") != bool(words)):
        return None
    if numbers or (domain is not None and domain.kind != "words"):
        return tuple(_of_numbers(numbers, domain or Domain("real" if wide else "integer")))
    if domain is not None:
        return tuple(dict.fromkeys(domain.words))
    if _TRUTH.issuperset(words) and not wide:
        return tuple(sorted(_TRUTH))
    return (*words, _another(words))


def situations(
    constants: Mapping[str, Collection[Constant]], parameters: Sequence[Parameter], *, wide: bool
) -> list[dict[str, Constant]] | None:
    """A situation for every combination of cells of the named parameters, whose constants are given.

    None where a parameter is compared with words and numbers, or where there are more than MAX_SITUATIONS.
    """
    domains = {parameter.name: parameter.domain for parameter in reversed(parameters)}
    values = [cells(found, domains.get(name), wide) for name, found in constants.items()]
    known = [found for found in values if found is not None]
    if len(known) < len(values) or math.prod(map(len, known)) > MAX_SITUATIONS:
        return None
    return [dict(zip(constants, row, strict=True)) for row in product(*known)]


def _of_numbers(constants: Sequence[Fraction], domain: Domain) -> Iterator[Fraction]:
    low, high = _bound(domain.low), _bound(domain.high)
    ends = [end for end in (low, high) if end is not None]
    points = [p for p in sorted({*constants, *ends}) if (low is None or p >= low) and (high is None or p <= high)]
    whole = domain.kind == "integer"
    yield from (p for p in points if not whole or p.denominator == 1)
    yield from (value for a, b in pairwise(points) if (value := _between(a, b, whole)) is not None)
    if low is None and points:
        yield Fraction(math.ceil(points[0]) - 1)
    if high is None and points:
        yield Fraction(math.floor(points[-1]) + 1)


def _between(low: Fraction, high: Fraction, whole: bool) -> Fraction | None:
    """A value of the open interval; None where it holds no integer and only those count."""
    if not whole:
        return (low + high) / 2
    above = Fraction(math.floor(low) + 1)
    return above if above < high else None


def _bound(end: float | None) -> Fraction | None:
    return None if end is None or math.isinf(end) else Fraction(str(end))


def _another(words: Sequence[str]) -> str:
    return max(words, key=len) + "'"

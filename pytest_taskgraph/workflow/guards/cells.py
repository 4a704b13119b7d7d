"""The cells of a parameter's domain: between two neighbouring constants of some guards, no guard changes its truth.

So one value of each cell stands for all of it, and a finite set of situations decides for infinitely many. The cells of
numbers are the points (constants and the domain's ends) and the open intervals between them; for integers only those
that hold an integer. The cells of words are the words of the domain; without a domain, the words in the guards and one
more that stands for any other.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product

from ..model import Domain, Parameter, Scalar

Constant = Fraction | str
Situation = Mapping[str, Scalar | Fraction]

MAX_SITUATIONS = 20_000
"""Largest number of situations evaluated for one answer; a question that needs more is undecided."""

_TRUTH = frozenset({"true", "false"})


def exact_value(value: Scalar | Fraction) -> Constant:
    """Return a value as guards compare it: numbers as exact fractions (0.1 is one tenth), True and False as words."""
    if isinstance(value, (Fraction, str)):
        return value
    return str(value).lower() if isinstance(value, bool) else Fraction(str(value))


def in_domain(value: Constant, domain: Domain) -> bool:
    """Return True if a value is in the domain."""
    if isinstance(value, str) or domain.kind == "words":
        return value in domain.words
    low, high = _bound(domain.low), _bound(domain.high)
    above, below = low is None or value >= low, high is None or value <= high
    return above and below and (domain.kind == "real" or value.denominator == 1)


def is_unbounded(domain: Domain, move: Fraction) -> bool:
    """Return True if a number of the domain stays in it however often `move` is added to it."""
    end = _bound(domain.high if move > 0 else domain.low)
    return domain.kind != "words" and end is None and (domain.kind == "real" or move.denominator == 1)


def cells(constants: Collection[Constant], domain: Domain | None, wide: bool) -> tuple[Constant, ...] | None:
    """Return one value of every cell; None if words and numbers are mixed.

    Without a domain there are two readings: the `wide` reading takes all reals, or any word; the narrow reading takes
    the integers, and for words that are all true or false just those two.
    """
    return _cells(frozenset(constants), domain, wide)


@lru_cache(maxsize=4096)
def _cells(constants: frozenset[Constant], domain: Domain | None, wide: bool) -> tuple[Constant, ...] | None:
    words = sorted(c for c in constants if isinstance(c, str))
    numbers = sorted(c for c in constants if not isinstance(c, str))
    if (words and numbers) or (domain is not None and (domain.kind == "words") != bool(words)):
        return None
    if numbers or (domain is not None and domain.kind != "words"):
        return tuple(_number_cells(numbers, domain or Domain("real" if wide else "integer")))
    if domain is not None:
        return tuple(dict.fromkeys(domain.words))
    if _TRUTH.issuperset(words) and not wide:
        return tuple(sorted(_TRUTH))
    return (*words, _other_word(words))


def situations(
    constants: Mapping[str, Collection[Constant]], parameters: Sequence[Parameter], *, wide: bool
) -> list[dict[str, Constant]] | None:
    """Return a situation for every combination of cells of the parameters, which are given with their constants.

    None if a parameter is compared with words and numbers, or if there are more than MAX_SITUATIONS.
    """
    domains = {parameter.name: parameter.domain for parameter in reversed(parameters)}
    all_values: list[tuple[Constant, ...]] = []
    for name, compared in constants.items():
        values = cells(compared, domains.get(name), wide)
        if values is None:
            return None
        all_values.append(values)
    if math.prod(map(len, all_values)) > MAX_SITUATIONS:
        return None
    return [dict(zip(constants, row, strict=True)) for row in product(*all_values)]


def _number_cells(constants: Sequence[Fraction], domain: Domain) -> Iterator[Fraction]:
    low, high = _bound(domain.low), _bound(domain.high)
    ends = [end for end in (low, high) if end is not None]
    points = [p for p in sorted({*constants, *ends}) if (low is None or p >= low) and (high is None or p <= high)]
    integers_only = domain.kind == "integer"
    yield from (p for p in points if not integers_only or p.denominator == 1)
    yield from (value for a, b in pairwise(points) if (value := _value_between(a, b, integers_only)) is not None)
    if low is None and points:
        yield Fraction(math.ceil(points[0]) - 1)
    if high is None and points:
        yield Fraction(math.floor(points[-1]) + 1)


def _value_between(low: Fraction, high: Fraction, integers_only: bool) -> Fraction | None:
    """Return a value of the open interval; None if only integers count and it holds none."""
    if not integers_only:
        return (low + high) / 2
    above = Fraction(math.floor(low) + 1)
    return above if above < high else None


@lru_cache(maxsize=1024, typed=True)  # 1 and True are equal, as are 1e23 and the integer nearest to it
def _bound(end: float | None) -> Fraction | None:
    return None if end is None or math.isinf(end) else Fraction(str(end))


def _other_word(words: Sequence[str]) -> str:
    return max(words, key=len) + "'"

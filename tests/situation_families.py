"""Situations of tests: read from text, and a family that stands for all situations of a level."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from random import Random

from pytest_taskgraph.workflow.guards.cells import Constant
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.semantics.situations import representatives

MAX_FAMILY = 200
"""Largest number of situations that `situations` lists."""

_WORD = r"""([^\W\d]\w*(?:\.[^\W\d]\w*)*)|"([^"]*)"|'([^']*)'"""
_VALUE = rf"(?:{_WORD}|(-?\d{{1,100}}(?:\.\d{{1,100}})?)(?![\w.]))"
_ENTRY = re.compile(rf"\s*(?:{_WORD})\s*=\s*{_VALUE}\s*(?:,(?=.)|\Z)", re.DOTALL)


def read_situation(text: str) -> dict[str, Constant]:
    """Return the situation that `write_situation` wrote: numbers become exact fractions."""
    situation: dict[str, Constant] = {}
    at = 0
    while at < len(text):
        match = _ENTRY.match(text, at)
        assert match is not None, f"no entry of a situation at column {at + 1} of {text!r}"
        name = next(group for group in match.groups()[:3] if group is not None)
        word = next((group for group in match.groups()[3:6] if group is not None), "")
        situation[name] = word if match[7] is None else Fraction(match[7])
        at = match.end()
    return situation


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


def _sample(values: Mapping[str, tuple[Constant, ...]]) -> Iterator[tuple[Constant, ...]]:
    rng = Random("situations")
    columns = []
    for options in values.values():
        column = [*options] * (MAX_FAMILY // len(options) + 1)
        rng.shuffle(column)
        columns.append((*options, *column))
    yield from zip(*(column[:MAX_FAMILY] for column in columns), strict=True)

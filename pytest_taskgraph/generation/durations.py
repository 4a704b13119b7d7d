"""Draw how long the tasks of a workflow take, so that the number of tasks on a path does not tell how long it is.

A task on a branch with fewer tasks than the longest branch of its fork takes longer by their ratio, and more: mostly
the branch with few tasks is then the long one. The share PLAIN of the workflows is drawn without this, so that the
opposite of the obvious is no rule either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Final

from ..workflow.model import SECONDS, Duration, TimeUnit
from .draft import Branch, Draft, DraftStep

PLAIN: Final = 0.1
AMOUNTS: Final = range(3, 15)  # of the task of a branch with the most tasks
LARGEST: Final = 12.0  # factor by which a task takes longer because of its branches
MIXED: Final = 0.5  # share of the workflows with two units
UNITS: Final[tuple[tuple[TimeUnit, TimeUnit], ...]] = (
    ("seconds", "minutes"),
    ("minutes", "hours"),
    ("hours", "days"),
)  # neighbours: the smaller and the larger
ROUNDED: Final = 0.6  # probability that a task that takes at least half of a larger unit is told in larger units


def add_durations(levels: Iterable[Draft], rng: Random) -> None:
    """Draw a duration for every atomic task of the levels."""
    units = rng.choice(UNITS)
    mixed, plain = rng.random() < MIXED, rng.random() < PLAIN
    unit = units[0] if mixed else rng.choice(units)
    for level in levels:
        factors = {} if plain else _factors(level)
        for step in level.steps:
            if step.inner is None:
                amount = max(1, round(rng.choice(AMOUNTS) * factors.get(id(step), 1.0)))
                step.duration = _in_units(_spread(amount, units) if mixed else amount, unit, units, mixed, rng)


def _spread(amount: int, units: tuple[TimeUnit, TimeUnit]) -> int:
    """Return an amount in smaller units that is of the size of the larger unit."""
    return amount if SECONDS[units[1]] // SECONDS[units[0]] < 60 else 5 * amount


def _in_units(amount: int, unit: TimeUnit, units: tuple[TimeUnit, TimeUnit], mixed: bool, rng: Random) -> Duration:
    """Return the duration of an amount of a unit or, of mixed units, at times of about as much of the larger unit."""
    ratio = SECONDS[units[1]] // SECONDS[units[0]]
    if mixed and 2 * amount >= ratio and rng.random() < ROUNDED:
        return Duration(round(amount / ratio) or 1, units[1])
    return Duration(amount, unit)


def _factors(level: Draft) -> dict[int, float]:
    """Return for each step, by identity, the factor by which it takes longer because of the forks around it."""
    sizes = Counter(branch for step in level.steps for branch in step.branches)
    largest: dict[int, int] = {}
    for branch, size in sizes.items():
        largest[branch.block] = max(size, largest.get(branch.block, 0))
    return {id(step): _factor(step, sizes, largest) for step in level.steps}


def _factor(step: DraftStep, sizes: Counter[Branch], largest: dict[int, int]) -> float:
    factor = 1.0
    for branch in step.branches:
        if branch.kind == "parallel":
            factor *= (largest[branch.block] / sizes[branch]) ** 1.8
    return min(factor, LARGEST)

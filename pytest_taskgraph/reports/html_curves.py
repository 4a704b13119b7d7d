"""Difficulty curves: the pass rate over the number of tasks and the like, laid out for an inline SVG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..results.tally import Group, Tally
from .columns import FEW
from .wording import interval, number

LABELS = {"tasks": "number of tasks", "depth": "depth", "width": "width", "guards": "number of guards"}
RANGES = 6  # of a label with many numbers
WIDTH, HEIGHT = 420, 240
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 44
MARKERS = (  # one a model, and again from the first: a shape for those who see no colours
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
    "M-4,-4h8v8h-8z",
    "M0,-5L5,4H-5z",
    "M0,-5.5L5.5,0L0,5.5L-5.5,0z",
    "M0,5L5,-4H-5z",
    "M-5,-1.7H-1.7V-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5z",
)


@dataclass(frozen=True, slots=True)
class Point:
    """One value of the label for one model; x, y, low and high are in the coordinates of the drawing."""

    x: float
    y: float
    low: float
    high: float
    few: bool


@dataclass(frozen=True, slots=True)
class Series:
    """The points of one model from left to right."""

    model: str
    look: int  # 0 to 5: colour, dashes and marker
    points: list[Point]

    @property
    def line(self) -> str:
        """The points for an SVG polyline."""
        return " ".join(f"{one.x:g},{one.y:g}" for one in self.points)

    @property
    def marker(self) -> str:
        """The path of the marker, around 0, 0."""
        return MARKERS[self.look]


@dataclass(frozen=True, slots=True)
class Curve:
    """A chart, and the numbers it is drawn from: rows of value, model, n, rate and interval."""

    label: str
    title: str
    ticks: list[tuple[float, str]]
    grid: list[tuple[float, str]]
    series: list[Series]
    numbers: list[list[str]]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM

    @property
    def told(self) -> str:
        """The chart in a sentence for each model: its first and its last rate."""
        return " ".join(self._ends(one.model) for one in self.series)

    def _ends(self, model: str) -> str:
        own = [row for row in self.numbers if row[1] == model]
        first, last = own[0], own[-1]
        return f"{model}: {first[3]} at {first[0]}, {last[3]} at {last[0]}."


def curves(tally: Tally) -> list[Curve]:
    """A chart for each of the labels of difficulty that takes more than one value among the answered questions."""
    varying = [label for label in LABELS if label in tally.labels()]
    found = [_curve(tally, label, LABELS[label]) for label in varying]
    return [one for one in found if len(one.ticks) > 1]


def _curve(tally: Tally, label: str, title: str) -> Curve:
    groups = [one for one in tally.groups(label, most=RANGES) if one.questions]
    names = sorted({one.name for one in groups}, key=_size)
    xs = dict(zip(names, _spread(len(names)), strict=True))
    models = [model for model in tally.models if any(one.model == model for one in groups)]
    series = [
        Series(model, at % len(MARKERS), [_point(tally, one, xs[one.name] + _beside(at, len(models))) for one in own])
        for at, model in enumerate(models)
        if (own := [one for one in groups if one.model == model])
    ]
    grid = [(round(_y(share / 4), 1), f"{share / 4:g}") for share in range(5)]
    return Curve(label, title, [(xs[name], name) for name in names], grid, series, [_told(tally, g) for g in groups])


def _size(name: str) -> tuple[int, str]:
    """Numbers and ranges of them by their first number."""
    first = re.match(r"\d{1,18}", name)
    return (int(first[0]) if first else 0, name)


def _spread(of: int) -> Sequence[float]:
    room = WIDTH - LEFT - RIGHT
    return [round(LEFT + room * (at + 0.5) / of, 1) for at in range(of)]


def _beside(at: int, of: int) -> float:
    """How far from its place a model's points stand, so that intervals of several do not hide each other."""
    return round((at - (of - 1) / 2) * min(8, 24 / max(of, 1)), 1)


def _y(share: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)


def _point(tally: Tally, group: Group, x: float) -> Point:
    rate = tally.row(group).rate or 0.0
    low, high = group.interval or (rate, rate)
    y, bottom, top = (round(_y(one), 1) for one in (rate, low, high))
    return Point(round(x, 1), y, bottom, top, group.questions < FEW)


def _told(tally: Tally, group: Group) -> list[str]:
    row = tally.row(group)
    few = "*" if group.questions < FEW else ""
    return [group.name, group.model, f"{row.n:,}{few}", number(row.rate), interval(group.interval)]

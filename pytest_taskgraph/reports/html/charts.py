"""The charts of the page: difficulty curves, and right answers against given ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...results.tables import FEW
from ...results.tally import ANSWERED, Group, Row, Tally
from ...scoring.forms import find_form
from ...scoring.forms.form import Form
from ...trial import Json, Trial
from ..wording import interval, number

RATE, MEAN = "pass rate", "mean score"
SMALL = 0.7  # the marker of a mean, beside that of a rate
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
    """One value of the label for one model, in the coordinates of the drawing; a mean has no interval."""

    x: float
    y: float
    interval: tuple[float, float] | None
    few: bool


@dataclass(frozen=True, slots=True)
class CurveSeries:
    """The points of one model and one measure from left to right."""

    model: str
    measure: str  # RATE or MEAN
    look: int  # 0 to 5: colour and marker of the model, and its dashes where RATE is the only measure
    points: list[Point]

    @property
    def line(self) -> str:
        """The points for an SVG polyline."""
        return " ".join(f"{one.x:g},{one.y:g}" for one in self.points)

    @property
    def marker(self) -> str:
        """The path of the marker, around 0, 0."""
        return MARKERS[self.look]

    @property
    def size(self) -> float:
        """By how much the marker is drawn larger than its path."""
        return SMALL if self.measure == MEAN else 1


@dataclass(frozen=True, slots=True)
class Curve:
    """A chart, and the numbers it is drawn from, rows as `titles`."""

    key: str  # unlike that of any other chart
    title: str
    measures: list[str]  # RATE, and MEAN where it is another anywhere
    ticks: list[tuple[float, str]]
    grid: list[tuple[float, str]]
    series: list[CurveSeries]
    numbers: list[list[str]]
    family: str = ""  # where there are several
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM

    @property
    def heading(self) -> str:
        """What is drawn over what."""
        drawn = f"{' and '.join(self.measures).capitalize()} by {self.title}"
        return f"{self.family}: {drawn}" if self.family else drawn

    @property
    def titles(self) -> list[str]:
        """The columns of `numbers`."""
        return [self.title, "model", "n", *self.measures, "95 % interval"]

    @property
    def both(self) -> bool:
        """Whether mean scores are drawn too."""
        return MEAN in self.measures

    @property
    def several(self) -> bool:
        """Whether more than one model has a line."""
        return len({one.model for one in self.series}) > 1

    @property
    def told(self) -> str:
        """The chart in a sentence for each line: its first and its last number."""
        return " ".join(map(self._ends, self.series))

    def _ends(self, series: CurveSeries) -> str:
        own = [row for row in self.numbers if row[1] == series.model]
        at, first, last = self.titles.index(series.measure), own[0], own[-1]
        name = f"{series.model}, {series.measure}" if self.both else series.model
        return f"{name}: {first[at]} at {first[0]}, {last[at]} at {last[0]}."


def curves(tally: Tally) -> list[Curve]:
    """A chart for each family and label of difficulty that takes more than one value among the answered questions."""
    found, several = list[Curve](), len(tally.families) > 1
    for at, family in enumerate(tally.families):
        part = tally.of_family(family)
        titles, varied = tally.descriptions[family].difficulty, part.labels()
        for label, title in titles.items():
            if label in varied:
                key, named = (f"{at}-{label}", family) if several else (label, "")
                found.append(replace(_curve(part, label, title), key=key, family=named))
    return [one for one in found if len(one.ticks) > 1]


def _curve(tally: Tally, label: str, title: str) -> Curve:
    groups = [(one, tally.row(one)) for one in tally.groups(label, most=RANGES) if one.questions]
    names = sorted({one.name for one, _ in groups}, key=_size)
    xs = dict(zip(names, _spread(len(names)), strict=True))
    measures = [RATE, MEAN] if any(row.mean != row.rate for _, row in groups) else [RATE]
    models = [model for model in tally.models if any(one.model == model for one, _ in groups)]
    lines = [(at, model, measure) for at, model in enumerate(models) for measure in measures]
    series = [
        CurveSeries(model, measure, at % len(MARKERS), [
            _point(measure, group, row, xs[group.name] + _beside(place, len(lines)))
            for group, row in groups
            if group.model == model
        ])
        for place, (at, model, measure) in enumerate(lines)
    ]  # fmt: skip
    grid = [(round(_y(share / 4), 1), f"{share / 4:g}") for share in range(5)]
    numbers = [_told(group, row, measures) for group, row in groups]
    return Curve(label, title, measures, [(xs[name], name) for name in names], grid, series, numbers)


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


def _point(measure: str, group: Group, row: Row, x: float) -> Point:
    few = group.questions < FEW
    if measure == MEAN:
        return Point(round(x, 1), round(_y(row.mean or 0.0), 1), None, few)
    rate = row.rate or 0.0
    low, high = group.interval or (rate, rate)
    return Point(round(x, 1), round(_y(rate), 1), (round(_y(low), 1), round(_y(high), 1)), few)


def _told(group: Group, row: Row, measures: Sequence[str]) -> list[str]:
    few = "*" if group.questions < FEW else ""
    means = [number(row.mean)] if MEAN in measures else []
    return [group.name, group.model, f"{row.n:,}{few}", number(row.rate), *means, interval(group.interval)]


NEITHER = "neither"  # unparseable, refused, or no answer of the form


@dataclass(frozen=True, slots=True)
class Confusion:
    """The answers of one model: for each class of right answers how often it gave each class, or none."""

    model: str
    classes: tuple[str, ...]
    rows: list[tuple[str, list[int]]]

    @property
    def told(self) -> str:
        """How often the first class was given and how often it was right: a lean towards one answer shows."""
        given = sum(row[1][0] for row in self.rows)
        expected = sum(self.rows[0][1])
        first = self.classes[0]
        return f"Said {first} {given:,} times; {first} was right {expected:,} times."


def confusions(tally: Tally) -> list[Confusion]:
    """Return a table for each model and each set of classes that it answered questions about."""
    found = [one for model in tally.models for one in _confusions(model, tally.total_group(model).trials)]
    return [one for one in found if any(any(counts) for _, counts in one.rows)]


def _confusions(model: str, trials: Sequence[Trial]) -> Iterator[Confusion]:
    """Yield the tables of one model; forms of the same classes share one."""
    pairs: dict[tuple[str, ...], Counter[tuple[str, str]]] = {}
    for one in trials:
        form = find_form(one.question.form)
        if form is None or not form.classes or one.outcome not in ANSWERED:
            continue
        given = _class(form, one.score.given) if one.score else NEITHER
        pairs.setdefault(form.classes, Counter())[_class(form, one.question.reference), given] += 1
    for classes, counted in pairs.items():
        rows = [(right, [counted[right, given] for given in (*classes, NEITHER)]) for right in classes]
        yield Confusion(model, classes, rows)


def _class(form: Form, answer: Json) -> str:
    told = form.classify(answer)
    return told if isinstance(told, str) and told in form.classes else NEITHER

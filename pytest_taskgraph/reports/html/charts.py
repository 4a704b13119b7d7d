"""Charts of the page: difficulty curves, and right answers against given ones."""

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
MARKERS = (  # a shape for each model, for those who do not see colours; they repeat after the last
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
    "M-4,-4h8v8h-8z",
    "M0,-5L5,4H-5z",
    "M0,-5.5L5.5,0L0,5.5L-5.5,0z",
    "M0,5L5,-4H-5z",
    "M-5,-1.7H-1.7V-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5z",
)


@dataclass(frozen=True, slots=True)
class Point:
    """A value of the label for one model, in the coordinates of the drawing; a mean has no interval."""

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
        """Return the points for an SVG polyline."""
        return " ".join(f"{point.x:g},{point.y:g}" for point in self.points)

    @property
    def marker(self) -> str:
        """Return the path of the marker, around 0, 0."""
        return MARKERS[self.look]

    @property
    def size(self) -> float:
        """Return the factor by which the path of the marker is enlarged."""
        return SMALL if self.measure == MEAN else 1


@dataclass(frozen=True, slots=True)
class Curve:
    """A chart with the numbers that it shows, in rows as `titles`."""

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
        """Return the heading: the measures and the label."""
        heading = f"{' and '.join(self.measures).capitalize()} by {self.title}"
        return f"{self.family}: {heading}" if self.family else heading

    @property
    def titles(self) -> list[str]:
        """Return the titles of the columns of `numbers`."""
        return [self.title, "model", "n", *self.measures, "95 % interval"]

    @property
    def both(self) -> bool:
        """Return True if mean scores are drawn too."""
        return MEAN in self.measures

    @property
    def several(self) -> bool:
        """Return True if there are several models."""
        return len({series.model for series in self.series}) > 1

    @property
    def description(self) -> str:
        """Return a sentence for each line of the chart: its first and its last number."""
        return " ".join(map(self._ends, self.series))

    def _ends(self, series: CurveSeries) -> str:
        own = [row for row in self.numbers if row[1] == series.model]
        at, first, last = self.titles.index(series.measure), own[0], own[-1]
        name = f"{series.model}, {series.measure}" if self.both else series.model
        return f"{name}: {first[at]} at {first[0]}, {last[at]} at {last[0]}."


def curves(tally: Tally) -> list[Curve]:
    """Return a chart for each family and label of difficulty with several values among the answered questions."""
    charts, several = list[Curve](), len(tally.families) > 1
    for at, family in enumerate(tally.families):
        part = tally.of_family(family)
        titles, varied = tally.descriptions[family].difficulty, part.labels()
        for label, title in titles.items():
            if label in varied:
                key, family_title = (f"{at}-{label}", family) if several else (label, "")
                charts.append(replace(_curve(part, label, title), key=key, family=family_title))
    return [chart for chart in charts if len(chart.ticks) > 1]


def _curve(tally: Tally, label: str, title: str) -> Curve:
    groups = [(group, tally.row(group)) for group in tally.groups(label, most=RANGES) if group.questions]
    names = sorted({group.name for group, _ in groups}, key=_size)
    xs = dict(zip(names, _columns(len(names)), strict=True))
    measures = [RATE, MEAN] if any(row.mean != row.rate for _, row in groups) else [RATE]
    models = [model for model in tally.models if any(group.model == model for group, _ in groups)]
    lines = [(at, model, measure) for at, model in enumerate(models) for measure in measures]
    series = [
        CurveSeries(model, measure, at % len(MARKERS), [
            _point(measure, group, row, xs[group.name] + _offset(place, len(lines)))
            for group, row in groups
            if group.model == model
        ])
        for place, (at, model, measure) in enumerate(lines)
    ]  # fmt: skip
    grid = [(round(_y(share / 4), 1), f"{share / 4:g}") for share in range(5)]
    numbers = [_numbers_row(group, row, measures) for group, row in groups]
    return Curve(label, title, measures, [(xs[name], name) for name in names], grid, series, numbers)


def _size(name: str) -> tuple[int, str]:
    """Return a sort key for numbers and ranges: the first number."""
    first = re.match(r"\d{1,18}", name)
    return (int(first[0]) if first else 0, name)


def _columns(of: int) -> Sequence[float]:
    room = WIDTH - LEFT - RIGHT
    return [round(LEFT + room * (at + 0.5) / of, 1) for at in range(of)]


def _offset(at: int, of: int) -> float:
    """Return how far a model's points are from their column, so that intervals do not hide each other."""
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


def _numbers_row(group: Group, row: Row, measures: Sequence[str]) -> list[str]:
    few_mark = "*" if group.questions < FEW else ""
    means = [number(row.mean)] if MEAN in measures else []
    return [group.name, group.model, f"{row.n:,}{few_mark}", number(row.rate), *means, interval(group.interval)]


NEITHER = "neither"  # unparseable, refused, or no answer of the form


@dataclass(frozen=True, slots=True)
class Confusion:
    """The answers of one model: how often it gave each class, or none, for each class of right answers."""

    model: str
    classes: tuple[str, ...]
    rows: list[tuple[str, list[int]]]

    @property
    def description(self) -> str:
        """Return how often the first class was given and how often it was right; it shows a bias towards one answer."""
        given = sum(row[1][0] for row in self.rows)
        expected = sum(self.rows[0][1])
        first = self.classes[0]
        return f"Said {first} {given:,} times; {first} was right {expected:,} times."


def confusions(tally: Tally) -> list[Confusion]:
    """Return a table for each model and each set of classes that it answered questions about."""
    tables = [table for model in tally.models for table in _model_confusions(model, tally.total_group(model).trials)]
    return [table for table in tables if any(any(counts) for _, counts in table.rows)]


def _model_confusions(model: str, trials: Sequence[Trial]) -> Iterator[Confusion]:
    """Yield the tables of one model; forms of the same classes share one."""
    pairs: dict[tuple[str, ...], Counter[tuple[str, str]]] = {}
    for trial in trials:
        form = find_form(trial.question.form)
        if form is None or not form.classes or trial.outcome not in ANSWERED:
            continue
        given = _class(form, trial.score.given) if trial.score else NEITHER
        pairs.setdefault(form.classes, Counter())[_class(form, trial.question.reference), given] += 1
    for classes, counted in pairs.items():
        rows = [(right, [counted[right, given] for given in (*classes, NEITHER)]) for right in classes]
        yield Confusion(model, classes, rows)


def _class(form: Form, answer: Json) -> str:
    name = form.classify(answer)
    return name if isinstance(name, str) and name in form.classes else NEITHER

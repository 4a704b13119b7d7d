"""Charts of the page: difficulty curves, and right answers against given ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from ...results.scoreboard import order_models
from ...results.tables import FEW
from ...results.tally import ANSWERED, Group, Row, Tally
from ...scoring.forms import find_form
from ...scoring.forms.form import Form
from ...trial import Json, Trial
from ..wording import interval, model_name, number

SMALL_WIDTH, SMALL_HEIGHT, EDGE = 168, 72, 8  # of the chart of a group
MARKERS = (  # a shape for each model, for those who do not see colours; they repeat after the last
    "m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
    "m-4,-4h8v8h-8z",
    "m0,-5l5,9h-10z",
    "m0,-5.5l5.5,5.5l-5.5,5.5l-5.5,-5.5z",
    "m0,5l5,-9h-10z",
    "m-5,-1.7h3.3v-3.3h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3z",
)
Cell = tuple[int, float]  # questions, pass rate
RATE, MEAN = "pass rate", "mean score"
SMALL = 0.7  # the marker of a mean, beside that of a rate
RANGES = 6  # of a label with many numbers
WIDTH, HEIGHT = 420, 240
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 44
NEITHER = "neither"  # unparseable, refused, or no answer of the form


@dataclass(frozen=True, slots=True)
class GroupLine:
    """The rates of one model, as paths in the coordinates of the drawing; a path without points is empty."""

    look: int  # colour and marker of the model
    line: str
    full: str  # markers of rates of FEW questions or more
    few: str  # markers of the other rates


@dataclass(frozen=True, slots=True)
class GroupChart:
    """The pass rates of one group over the values of a label."""

    name: str
    n: str  # questions behind a point
    description: str  # all numbers in words
    ends: tuple[str, str]  # the first and the last value
    lines: tuple[GroupLine, ...]
    width: int = SMALL_WIDTH
    height: int = SMALL_HEIGHT

    @property
    def frame(self) -> str:
        """Return the path of the lines at 0, 0.5 and 1."""
        return "".join(f"M{EDGE / 2:g},{_height(rate):g}H{SMALL_WIDTH - EDGE / 2:g}" for rate in (0, 0.5, 1))


def group_charts(
    names: Iterable[str], by_value: Sequence[Group], values: Sequence[str], models: Sequence[str]
) -> list[GroupChart]:
    """Return a chart for each group that was asked at two values or more; none if there is only one group.

    Args:
        names: The names of the groups, in the order of the charts.
        by_value: The trials of each model at each value.
        values: The names of the values, in their order.
        models: The names of the models, in their order.
    """
    cells = {(row.model, row.name): _rates(row.trials) for row in by_value}
    if len({name for cell in cells.values() for name in cell}) < 2:
        return []
    nothing = dict[str, Cell]()
    tables = {
        name: {model: [cells.get((model, value), nothing).get(name, (0, 0.0)) for value in values] for model in models}
        for name in names
    }
    charts = (_group_chart(name, rows, values) for name, rows in tables.items())
    return [chart for chart in charts if chart is not None]


def _rates(trials: Iterable[Trial]) -> dict[str, Cell]:
    """Return the number of answered questions of each group, each counted once, and their pass rate."""
    passes: dict[str, dict[str, list[bool]]] = {}
    for trial in trials:
        if trial.outcome in ANSWERED:
            passes.setdefault(trial.question.group, {}).setdefault(trial.question.once, []).append(trial.passed)
    return {group: (len(of), fmean(map(fmean, of.values()))) for group, of in passes.items()}


def _group_chart(name: str, rows: Mapping[str, Sequence[Cell]], values: Sequence[str]) -> GroupChart | None:
    if not any(sum(n > 0 for n, _ in row) > 1 for row in rows.values()):
        return None
    asked = {model: row for model, row in rows.items() if any(n for n, _ in row)}
    lines = tuple(_line(look % len(MARKERS), rows[model]) for look, model in enumerate(rows) if model in asked)
    sizes = sorted({n for row in asked.values() for n, _ in row if n})
    questions = f"n {sizes[0]:,}" if len(sizes) == 1 else f"n {sizes[0]:,}–{sizes[-1]:,}"
    description = " ".join(_describe(model, row, values) for model, row in asked.items())
    return GroupChart(name, questions, description, (values[0], values[-1]), lines)


def _line(look: int, row: Sequence[Cell]) -> GroupLine:
    places = [(_x(at, len(row)), _height(rate), n) for at, (n, rate) in enumerate(row) if n]
    line = "M" + "L".join(f"{x:g},{y:g}" for x, y, _ in places)
    marks = [(f"M{x:g},{y:g}{MARKERS[look]}", n < FEW) for x, y, n in places]
    full, few = ("".join(path for path, is_few in marks if is_few == side) for side in (False, True))
    return GroupLine(look, line, full, few)


def _describe(model: str, row: Sequence[Cell], values: Sequence[str]) -> str:
    texts = [f"{number(rate)} of {n:,} at {value}" for value, (n, rate) in zip(values, row, strict=True) if n]
    return f"{model_name(model)}: {', '.join(texts)}."


def _x(at: int, of: int) -> float:
    return round(EDGE + (SMALL_WIDTH - 2 * EDGE) * at / (of - 1), 1)


def _height(rate: float) -> float:
    return round(EDGE + (SMALL_HEIGHT - 2 * EDGE) * (1 - rate), 1)


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
    word: str = "group"  # what the family calls a group
    parts: tuple[GroupChart, ...] = ()  # a small chart for each group, if there are several
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
        at = self.titles.index(series.measure)
        first, last = own[0], own[-1]
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
    numbers = [_Numbers(group, row) for group, row in groups]
    measures = [RATE, MEAN] if any(of.partial for of in numbers) else [RATE]
    models = [model for model in order_models(tally.models) if any(of.group.model == model for of in numbers)]
    lines = [(at, model, measure) for at, model in enumerate(models) for measure in measures]
    series = [
        CurveSeries(model_name(model), measure, at % len(MARKERS), [
            _point(measure, of, xs[of.group.name] + _offset(place, len(lines)))
            for of in numbers
            if of.group.model == model
        ])
        for place, (at, model, measure) in enumerate(lines)
    ]  # fmt: skip
    grid = [(round(_y(share / 4), 1), f"{share / 4:g}") for share in range(5)]
    group_names = dict.fromkeys(group.name for group in tally.groups(pooled=True))
    parts = group_charts(group_names, [group for group, _ in groups], names, models)
    return Curve(
        label, title, measures, [(xs[name], name) for name in names], grid, series,
        [of.texts(measures) for of in numbers], word=tally.word("group"), parts=tuple(parts),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The numbers of one model at one value."""

    group: Group
    row: Row

    @property
    def partial(self) -> bool:
        """Return True if a score is neither 0 nor 1."""
        return self.row.mean != self.row.rate

    @property
    def few(self) -> bool:
        """Return True if few questions enter."""
        return self.group.questions < FEW

    def drawn_rate(self, measure: str) -> float | None:
        """Return what is drawn."""
        return self.row.mean if measure == MEAN else self.row.rate

    def texts(self, measures: Sequence[str]) -> list[str]:
        """Return the row of the table below the chart."""
        rates = (number(self.drawn_rate(measure)) for measure in measures)
        n = f"{self.row.n:,}{'*' * self.few}"
        return [self.group.name, model_name(self.group.model), n, *rates, interval(self.group.interval)]


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


def _point(measure: str, of: _Numbers, x: float) -> Point:
    ends = of.group.interval if measure == RATE else None
    heights = (round(_y(ends[0]), 1), round(_y(ends[1]), 1)) if ends else None
    return Point(round(x, 1), round(_y(of.drawn_rate(measure) or 0.0), 1), heights, of.few)


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
    models = order_models(tally.models)
    tables = [table for model in models for table in _model_confusions(model, tally.total_group(model).trials)]
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
        yield Confusion(model_name(model), classes, rows)


def _class(form: Form, answer: Json) -> str:
    name = form.classify(answer)
    return name if isinstance(name, str) and name in form.classes else NEITHER

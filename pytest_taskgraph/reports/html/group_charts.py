"""Small charts of the page, one for each group, and the notes on how the chart above them is adjusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...results.adjusted_rates import LEAST, AdjustedRates
from ...results.tables import FEW
from ...results.tally import Tally
from ..wording import number

WIDTH, HEIGHT, EDGE = 168, 72, 8
MARKERS = (  # a shape for each model, for those who do not see colours; they repeat after the last
    "m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
    "m-4,-4h8v8h-8z",
    "m0,-5l5,9h-10z",
    "m0,-5.5l5.5,5.5l-5.5,5.5l-5.5,-5.5z",
    "m0,5l5,-9h-10z",
    "m-5,-1.7h3.3v-3.3h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3z",
)


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
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def frame(self) -> str:
        """Return the path of the lines at 0, 0.5 and 1."""
        return "".join(f"M{EDGE / 2:g},{_y(rate):g}H{WIDTH - EDGE / 2:g}" for rate in (0, 0.5, 1))


def adjustment_notes(adjusted: AdjustedRates, word: str, cluster: str) -> Iterator[str]:
    """Yield how the rates are adjusted, in a sentence, and what does not enter.

    Args:
        adjusted: The rates.
        word: What the family calls a group.
        cluster: What it calls a cluster.
    """
    if adjusted.adjustment == "none":
        return
    if adjusted.adjustment == "direct":
        every = (
            f"all {adjusted.groups}"
            if adjusted.groups == adjusted.all_groups
            else f"{adjusted.groups} of {adjusted.all_groups}"
        )
        yield (
            f"Adjusted for the mix of {word}s: each point is the mean of the rates of {every} {word}s, those with at "
            f"least {LEAST} questions at every point, and each {word} has the same weight at every point."
        )
    else:
        yield (
            f"Adjusted for the mix of {word}s: from point to point the line changes by the mean difference within "
            f"{word}s (Mantel-Haenszel), because the {word}s with at least {LEAST} questions at every point hold less "
            "than half of the questions."
        )
    rates = [
        (value, rate) for row in adjusted.models.values() for value, rate in zip(adjusted.values, row, strict=True)
    ]
    unconnected = {value for value, rate in rates if rate is not None and rate.rate is None}
    if names := ", ".join(value for value in adjusted.values if value in unconnected):
        yield f"Without a point at {names}: no {word} was asked both there and at the other values."
    single = {value for value, rate in rates if rate is not None and rate.rate is not None and rate.interval is None}
    if names := ", ".join(value for value in adjusted.values if value in single):
        yield f"Without an interval at {names}: one {cluster} alone connects a point there with the others."
    if not adjusted.alike:
        yield f"The models answered different {word}s, so the heights of their lines cannot be compared."


def group_charts(tally: Tally, adjusted: AdjustedRates) -> list[GroupChart]:
    """Return a chart for each group that was asked at two values or more, in the order of the descriptions.

    Args:
        tally: The trials of one family.
        adjusted: The rates by the values of a label.
    """
    if adjusted.all_groups < 2 or len(adjusted.values) < 2:
        return []
    names = dict.fromkeys(group.name for group in tally.groups(pooled=True))
    charts = (_group_chart(name, adjusted) for name in names)
    return [chart for chart in charts if chart is not None]


def _group_chart(name: str, adjusted: AdjustedRates) -> GroupChart | None:
    rows = {model: cells[name] for model, cells in adjusted.cells.items() if name in cells}
    if not any(sum(n > 0 for n, _ in row) > 1 for row in rows.values()):
        return None
    models = list(adjusted.cells)
    lines = tuple(_line(models.index(model) % len(MARKERS), row) for model, row in rows.items())
    sizes = sorted({n for row in rows.values() for n, _ in row if n})
    questions = f"n {sizes[0]:,}" if len(sizes) == 1 else f"n {sizes[0]:,}–{sizes[-1]:,}"
    description = " ".join(_describe(model, row, adjusted.values) for model, row in rows.items())
    return GroupChart(name, questions, description, (adjusted.values[0], adjusted.values[-1]), lines)


def _line(look: int, row: Sequence[tuple[int, float]]) -> GroupLine:
    places = [(_x(at, len(row)), _y(passed / n), n) for at, (n, passed) in enumerate(row) if n]
    line = "M" + "L".join(f"{x:g},{y:g}" for x, y, _ in places)
    marks = [(f"M{x:g},{y:g}{MARKERS[look]}", n < FEW) for x, y, n in places]
    full, few = ("".join(path for path, is_few in marks if is_few == side) for side in (False, True))
    return GroupLine(look, line, full, few)


def _describe(model: str, row: Sequence[tuple[int, float]], values: Sequence[str]) -> str:
    texts = [f"{number(passed / n)} of {n:,} at {value}" for value, (n, passed) in zip(values, row, strict=True) if n]
    return f"{model}: {', '.join(texts)}."


def _x(at: int, of: int) -> float:
    return round(EDGE + (WIDTH - 2 * EDGE) * at / (of - 1), 1)


def _y(rate: float) -> float:
    return round(EDGE + (HEIGHT - 2 * EDGE) * (1 - rate), 1)

"""Small charts of the page: the pass rates of each group by the values of a label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from ...results.tables import FEW
from ...results.tally import ANSWERED, Group
from ...trial import Trial
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

Cell = tuple[int, float]  # questions, pass rate


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
    places = [(_x(at, len(row)), _y(rate), n) for at, (n, rate) in enumerate(row) if n]
    line = "M" + "L".join(f"{x:g},{y:g}" for x, y, _ in places)
    marks = [(f"M{x:g},{y:g}{MARKERS[look]}", n < FEW) for x, y, n in places]
    full, few = ("".join(path for path, is_few in marks if is_few == side) for side in (False, True))
    return GroupLine(look, line, full, few)


def _describe(model: str, row: Sequence[Cell], values: Sequence[str]) -> str:
    texts = [f"{number(rate)} of {n:,} at {value}" for value, (n, rate) in zip(values, row, strict=True) if n]
    return f"{model}: {', '.join(texts)}."


def _x(at: int, of: int) -> float:
    return round(EDGE + (WIDTH - 2 * EDGE) * at / (of - 1), 1)


def _y(rate: float) -> float:
    return round(EDGE + (HEIGHT - 2 * EDGE) * (1 - rate), 1)

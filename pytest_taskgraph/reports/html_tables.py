"""The tables of the page: rates by pattern and model, and how varied questions came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..results.tally import Group, Row, Tally
from .columns import FEW
from .wording import interval, number

GRADED = (
    *("pattern", "model", "n", "mean score", "95 % interval", "chance", "above chance"),
    *("unreadable", "refused", "errors", "skipped"),
)

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Cell:
    """A rate and what it stands on."""

    row: Row
    interval: Interval | None
    few: bool

    @property
    def n(self) -> str:
        """How many were answered, with the mark of few."""
        return f"{self.row.n:,}{'*' if self.few else ''}"

    @property
    def rate(self) -> str:
        """The pass rate, a dash for none."""
        return number(self.row.rate)

    @property
    def mean(self) -> str:
        """The mean of the main score, a dash for none."""
        return number(self.row.mean)

    @property
    def above(self) -> str:
        """The mean above chance, a dash where chance is not known."""
        return number(self.row.above_chance)

    @property
    def between(self) -> str:
        """The 95 % interval of the pass rate, a dash for none."""
        return interval(self.interval).replace("-", "–") if self.interval else "-"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table: a pattern below its category, a category, or the total."""

    name: str
    kind: str  # "category", "pattern" or "total"
    cells: list[Cell | None]  # one a model, None where the model was not asked


@dataclass(frozen=True, slots=True)
class Rates:
    """The table of patterns and models."""

    models: list[str]
    lines: list[Line]
    extras: list[str]  # of the counts of what was not answered, those that are not all 0

    @property
    def few(self) -> bool:
        """Whether any rate is one of few."""
        return any(cell.few for line in self.lines for cell in line.cells if cell)


def rates(tally: Tally) -> Rates:
    """Pass rates with Wilson's intervals by category and pattern, a column for each model; the total last."""
    models = list(tally.models)
    sections = [one.name for one in tally.groups("section", pooled=True)]
    groups = tally.groups("group", pooled=True)
    found = {(one.section, one.name, one.model): one for one in tally.groups("group")}
    above = {(one.name, one.model): one for one in tally.groups("section")}
    lines = []
    for section in sections:
        lines.append(Line(section, "section", [_cell(tally, above.get((section, model))) for model in models]))
        for one in groups:
            if one.section == section:
                cells = [_cell(tally, found.get((section, one.name, model))) for model in models]
                lines.append(Line(one.name, "group", cells))
    if lines:
        lines.append(Line("total", "total", [_cell(tally, tally.whole(model)) for model in models]))
    return Rates(models, lines, _extras(tally.rows("model")))


def graded(tally: Tally) -> list[list[str]]:
    """Return a row of GRADED for each pattern and model whose questions are graded."""
    rows = []
    for group in tally.groups(graded=True):
        row, mark = tally.row(group), "*" if 0 < group.questions < FEW else ""
        others = (row.unreadable, row.refused, row.errors, row.skipped)
        means = [number(row.mean), interval(group.interval), number(row.chance), number(row.above_chance)]
        rows.append([group.name, group.model, f"{row.n:,}{mark}", *means, *(f"{of:,}" for of in others)])
    return rows


def _cell(tally: Tally, group: Group | None) -> Cell | None:
    return None if group is None else Cell(tally.row(group), group.interval, 0 < group.questions < FEW)


def _extras(rows: Sequence[Row]) -> list[str]:
    names = ("unreadable", "refused", "errors", "skipped")
    return [name for name in names if any(getattr(row, name) for row in rows)]


def relations(tally: Tally) -> list[list[str]]:
    """For each model and each way in which questions were varied: how often the verdict stayed the same."""
    return [
        [one.name, one.model, f"{one.pairs:,}", number(one.share), interval(one.interval)] for one in tally.relations()
    ]

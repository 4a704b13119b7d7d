"""Gantt charts: when tasks run, a bar each, as SVG and as lines of text; and those of an expected and a given schedule.

The expected and the given schedule have the same scale and the same rows. What is wrong with the given one is what its
score says: `Schedule.faults`. Bounds, text and colours are as in svg.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from ...diagram import Diagram
from ...errors import UsageError
from ...scoring.schedules import Fault, Schedule, schedule, starts_by_task
from ...trial import Trial
from ..escape import columns, one_line, shorten
from ..wording import count
from .marks import MARK_LOOKS, MarkKind

FORM: Final = "schedule"
MOST_ROWS: Final = 400
LATEST: Final = 10**15  # a time of a damaged record beyond this is not drawn
ROW: Final = 21.0
BAR: Final = 13.0
PLOT: Final = 340.0
WIDEST: Final = 22  # columns of a name beside its bar
TEXT_PLOT: Final = 36  # columns of all bars in lines of text
LONGEST_TITLE: Final = 300  # columns
_COLUMN: Final = 7.3  # pixels that a column of text takes
_MOST_TICKS: Final = 6
_GAP: Final = 8.0


@dataclass(frozen=True, slots=True)
class GanttRow:
    """A task with its runs, from start to end; none where nothing says when it runs."""

    name: str
    runs: Sequence[tuple[int, int]]
    kind: MarkKind | None = None
    critical: bool = False

    @property
    def times(self) -> str:
        """Return start and end in words."""
        runs = [f"{start:,}–{end:,}" if end > start else f"{start:,}" for start, end in self.runs]
        return ", ".join(runs) or "no start"

    @property
    def words(self) -> str:
        """Return the row as a phrase."""
        remarks = [MARK_LOOKS[self.kind].words] if self.kind else ["critical"] * self.critical
        return f"{one_line(self.name, LONGEST_TITLE)}: {self.times}" + (f" ({', '.join(remarks)})" if remarks else "")


@dataclass(frozen=True, slots=True)
class Gantt:
    """Rows of tasks on one scale, which begins at 0 or at the first start below it."""

    title: str
    unit: str
    rows: Sequence[GanttRow]
    end: int
    first: int = 0
    limit: int | None = None
    omitted: int = 0
    beside: int = 0  # least columns of the times beside the names, so that two charts stand alike

    def share(self, time: int) -> float:
        """Return where a time stands on the scale, 0.0 to 1.0."""
        return (time - self.first) / max(self.end - self.first, 1)

    @property
    def summary(self) -> str:
        """Return unit and limit in words."""
        limit = f", limit {self.limit:,}" if self.limit is not None else ""
        omitted = f", {count(self.omitted, 'task')} left out" if self.omitted else ""
        return f"in {self.unit}{limit}{omitted}"


def of_diagram(diagram: Diagram) -> Gantt | None:
    """Return the chart of the times in a diagram; None if it has none."""
    bars = diagram.bars
    rows = [GanttRow(bar.label, [(bar.start, bar.start + bar.length)], critical=bar.critical) for bar in bars]
    end = max((bar.start + bar.length for bar in bars), default=0)
    title = "When tasks run, each as early as it can"
    return (
        Gantt(title, diagram.unit, rows[:MOST_ROWS], end, omitted=max(0, len(rows) - MOST_ROWS))
        if 0 < end < LATEST
        else None
    )


def schedule_charts(trial: Trial) -> tuple[Gantt, Gantt] | None:
    """Return the charts of the expected and the given schedule of a trial; None for other trials."""
    if trial.question.form != FORM or trial.score is None or trial.score.status != "read":
        return None
    try:
        expected = schedule(trial.question.reference)
    except UsageError:  # of a damaged record
        return None
    faults = expected.faults(trial.score.given)
    rows = list(_given_rows(expected, starts_by_task(trial.score.given), faults))
    order = sorted(range(len(expected.tasks)), key=lambda i: (expected.starts[i], i))
    right = [
        GanttRow(expected.tasks[i], [(expected.starts[i], expected.starts[i] + expected.durations[i])]) for i in order
    ]
    times = [time for row in (*rows, *right) for run in row.runs for time in run]
    if max(map(abs, [expected.limit, *times])) > LATEST:
        return None
    first, end, limit = min([0, *times]), max([1, expected.limit, *times]), expected.limit
    workers = f", {count(expected.workers, 'worker')}" if expected.workers else ""
    beside = max(columns(row.times) for row in (*rows, *right))
    expected_chart, given_chart = (
        Gantt(title, expected.unit, own[:MOST_ROWS], end, first, limit, max(0, len(own) - MOST_ROWS), beside)
        for title, own in ((f"Expected schedule{workers}, for example", right), (f"Given schedule{workers}", rows))
    )
    return expected_chart, given_chart


def _given_rows(expected: Schedule, stated: dict[str, tuple[int, ...]], faults: Sequence[Fault]) -> Iterator[GanttRow]:
    broken = {fault.tasks[0] for fault in faults if fault.times}
    for i in sorted(range(len(expected.tasks)), key=lambda i: (expected.starts[i], i)):
        task = expected.tasks[i]
        kind: MarkKind = "missing" if task not in stated else "broken" if task in broken else "right"
        yield GanttRow(task, [(start, start + expected.durations[i]) for start in stated.get(task, ())], kind)
    for name, starts in stated.items():
        if name not in expected.tasks:
            yield GanttRow(name, [(start, start) for start in starts], "extra")


def gantt_lines(chart: Gantt) -> list[str]:
    """Return the chart as printable lines: a name, its bar of `=` (of critical tasks `#`), its times and marks."""
    names = [shorten(one_line(row.name), WIDEST) for row in chart.rows]
    widest = max(map(columns, names), default=0)
    key = ", # critical" if any(row.critical for row in chart.rows) else ""
    lines = [one_line(f"{chart.title} ({chart.summary}{key})")]
    for name, row in zip(names, chart.rows, strict=True):
        cells = ["."] * TEXT_PLOT
        for start, end in row.runs:
            left = min(round(chart.share(start) * TEXT_PLOT), TEXT_PLOT - 1)
            right = max(left + 1, min(round(chart.share(end) * TEXT_PLOT), TEXT_PLOT))
            cells[left:right] = ("#" if row.critical else "=" if end > start else "|") * (right - left)
        remark = f"  # {MARK_LOOKS[row.kind].words}" if row.kind not in (None, "right") else ""
        pad = " " * (widest - columns(name))
        lines.append(f"  {name}{pad}  {''.join(cells)}  {row.times}{remark}")
    return lines


def gantt_svg(chart: Gantt, description: str = "", *, style: str = "") -> str:
    """Return the chart as an `<svg>` element.

    Args:
        chart: The chart.
        description: Further sentences of its description.
        style: The style to include.
    """
    body, width, height = gantt_body(chart)
    words = " ".join((description, f"{chart.summary.capitalize()}.", *chart_sentences(chart))).strip()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tg" role="img" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}"><title>{escape(one_line(chart.title, LONGEST_TITLE))}</title>'
        f"<desc>{escape(words)}</desc>{f'<style>{style}</style>' if style else ''}{body}</svg>"
    )


def chart_sentences(chart: Gantt) -> Iterator[str]:
    """Yield a sentence for each row."""
    yield from (f"{row.words}." for row in chart.rows)


def gantt_body(chart: Gantt, *, heading: bool = False) -> tuple[str, float, float]:
    """Return the elements of a chart, with its title as a heading if it stands in another drawing; width and height."""
    names = [shorten(one_line(row.name), WIDEST) for row in chart.rows]
    label = max((_COLUMN * columns(name) for name in names), default=0.0)
    times = 0.92 * _COLUMN * max([chart.beside, *(columns(row.times) for row in chart.rows)])
    left, top = label + times + 3 * _GAP, ROW * (2 if heading else 1)
    bottom = top + ROW * len(chart.rows)
    words = f"{chart.title} (dark: critical)" if heading else ""
    title = f'<text class="h" x="4" y="14">{escape(words)}</text>' if heading else ""
    unit = f'<text class="l" x="4" y="{bottom + 17:.0f}">in {escape(one_line(chart.unit, WIDEST))}</text>'
    parts = [title, unit, *_scale(chart, left, top, bottom)]
    for at, (name, row) in enumerate(zip(names, chart.rows, strict=True)):
        y = top + ROW * at
        look = f' class="{MARK_LOOKS[row.kind].code}"' if row.kind else ""
        parts.append(
            f"<g{look}><title>{escape(row.words)}</title>"
            f'<text class="h" x="4" y="{y + 14:.0f}">{escape(name)}</text>'
            f'<text class="l" x="{label + 2 * _GAP:.0f}" y="{y + 14:.0f}">{escape(row.times)}</text>'
            + "".join(_bar(chart, run, left, y, row.critical) for run in row.runs)
            + "</g>"
        )
    width = max(left + PLOT + 3 * _GAP, 0.95 * _COLUMN * columns(words))
    return "".join(parts), width, bottom + ROW + 4


def _bar(chart: Gantt, run: tuple[int, int], left: float, y: float, critical: bool) -> str:
    x, end = (left + PLOT * chart.share(time) for time in run)
    if run[0] == run[1]:  # of a name that is no task: nobody knows how long it takes
        return f'<path class="a" d="M{x:.0f} {y + 4:.0f}l5 6.5l-5 6.5l-5-6.5z"/>'
    look = "n c" if critical else "n"
    return f'<rect class="{look}" x="{x:.1f}" y="{y + 4:.0f}" width="{max(end - x, 1):.1f}" height="{BAR:.0f}" rx="2"/>'


def _scale(chart: Gantt, left: float, top: float, bottom: float) -> Iterator[str]:
    """Yield the lines of the scale with their times, and the limit."""
    for time in range(-(-chart.first // _step(chart)) * _step(chart), chart.end + 1, _step(chart)):
        x = left + PLOT * chart.share(time)
        yield f'<path class="r" d="M{x:.1f} {top:.0f}V{bottom + 4:.0f}"/>'
        yield f'<text class="s" x="{x:.1f}" y="{bottom + 17:.0f}">{time:,}</text>'
    if chart.limit is not None:
        x = left + PLOT * chart.share(chart.limit)
        yield f'<path class="e f" d="M{x:.1f} {top - 4:.0f}V{bottom + 4:.0f}"/>'
        yield f'<text class="s" x="{x:.1f}" y="{top - 7:.0f}">limit {chart.limit:,}</text>'


def _step(chart: Gantt) -> int:
    """Return the distance of the lines: 1, 2 or 5 times a power of ten."""
    least, power = (chart.end - chart.first) / _MOST_TICKS, 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= least:
                return factor * power
        power *= 10

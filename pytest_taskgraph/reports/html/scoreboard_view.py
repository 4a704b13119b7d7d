"""Scoreboard of the page: the rows of each block with their cells as texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...results.scoreboard import ScoreboardRow, scoreboard
from ...results.tables import Cell
from ...results.tally import Tally
from ..scoreboard_text import (
    NONE,
    UNKNOWN,
    answered_text,
    block_name,
    cost_of,
    has_prompts,
    score_title,
    scoreboard_notes,
    seconds_text,
    time_of,
    tokens_text,
)
from ..wording import interval, number


@dataclass(frozen=True, slots=True)
class ScoreboardCell:
    """A cell: a text, the number it is sorted by, a second line, and the interval that is drawn beside it."""

    text: str
    sort: float | None = None  # None sorts last
    below: str = ""
    interval: tuple[float, float] | None = None
    value: float | None = None


@dataclass(frozen=True, slots=True)
class ScoreboardLine:
    """A row: a model, its prompt template if models have several rows, and its numbers."""

    model: str
    prompt: str
    highest: bool
    cells: list[ScoreboardCell]


@dataclass(frozen=True, slots=True)
class ScoreboardView:
    """The scoreboard."""

    prompts: bool  # True if a column names the prompt template
    titles: list[str]  # of the cells
    blocks: list[tuple[str, list[ScoreboardLine]]]  # name and rows; a single block needs no name
    few: bool  # True if a score rests on few questions
    notes: list[str]


def scoreboard_view(tally: Tally) -> ScoreboardView | None:
    """Return the scoreboard; None if no question was asked."""
    blocks = scoreboard(tally)
    rows = [row for block in blocks for row in block.rows]
    if not rows:
        return None
    title = score_title(blocks)
    cells_by_row = [dict(_cells(row, title)) for row in rows]
    titles = [
        name for name in cells_by_row[0] if any(cells[name].text not in (NONE, UNKNOWN) for cells in cells_by_row)
    ]
    cells_of = iter(cells_by_row)
    lines = [
        [
            ScoreboardLine(row.model, row.prompt, row.highest, [cells[name] for name in titles])
            for row, cells in zip(block.rows, cells_of, strict=False)
        ]
        for block in blocks
    ]
    names = [block_name(block, blocks) if len(blocks) > 1 else "" for block in blocks]
    return ScoreboardView(
        has_prompts(blocks),
        titles,
        list(zip(names, lines, strict=True)),
        any(row.few for row in rows),
        scoreboard_notes(blocks),
    )


def _cells(row: ScoreboardRow, score: str) -> Iterator[tuple[str, ScoreboardCell]]:
    """Yield the title and the cell of each column."""
    effort, usage = row.effort, row.effort.usage
    yield score, _figure(row.score, drawn=True)
    yield "pass rate", _figure(row.rate) if row.rate else ScoreboardCell(NONE)
    yield "above chance", ScoreboardCell(number(row.above_chance), row.above_chance)
    yield "answered", ScoreboardCell(answered_text(row), row.answered)
    yield "errors", ScoreboardCell(f"{row.errors:,}", row.errors)
    yield "tokens in", ScoreboardCell(tokens_text(usage.tokens_in, usage), usage.tokens_in)
    reasoning = "" if usage.tokens_reasoning is None else f"{usage.tokens_reasoning:,} reasoning"
    yield "tokens out", ScoreboardCell(tokens_text(usage.tokens_out, usage), usage.tokens_out, reasoning)
    yield "cost", ScoreboardCell(cost_of(usage), usage.cost)
    median = "" if effort.median is None else f"median {seconds_text(effort.median)}"
    yield "time", ScoreboardCell(time_of(effort), usage.latency, median)


def _figure(cell: Cell, drawn: bool = False) -> ScoreboardCell:
    between = interval(cell.ends).replace("-", "–") if cell.ends else ""
    return ScoreboardCell(number(cell.value), cell.value, between, cell.ends if drawn else None, cell.value)

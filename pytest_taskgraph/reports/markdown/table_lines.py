"""Tables of a run in Markdown: the scoreboard, and those of families with a line for each row and model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...family_description import STATISTICS, Column
from ...results.scoreboard import ScoreboardBlock, ScoreboardRow, scoreboard
from ...results.tables import Cell, Line, Table, TableEntry
from ...results.tally import Tally
from ..columns import PUBLISHED, SIGN, cell_text, published_text, source_line, source_marks, title_of
from ..scoreboard_text import (
    NONE,
    RATE,
    SAME,
    UNKNOWN,
    answered_text,
    block_name,
    cost_of,
    has_prompts,
    repeats_score,
    score_title,
    scoreboard_notes,
    time_of,
    tokens_text,
)
from ..wording import count, interval, model_name, number
from .elements import cell, fold_lines, pipe_table, words

LONG = 30  # rows of a table that is not folded
WIDE = 8  # models side by side in one table

_Row = tuple[Line, TableEntry]


def markdown_table(table: Table, most: int) -> Iterator[str]:
    """Yield the table; rows of sections that are all right are folded if there are more than LONG rows.

    Args:
        table: The table.
        most: The greatest number of rows.
    """
    rows = _rows(table)
    folds = len(rows) > LONG and any(line.kind == "section" for line in table.lines)
    opened = [row for row in rows if row[0].kind in ("section", "total") or not row[1].accepted] if folds else rows
    is_grid = table.arrangement == "grid"
    if table.titled or is_grid:
        yield from ("", words(table.spec.caption or table.spec.name))
    if is_grid and len(table.models) <= WIDE:
        yield from (*_grid(table, most), *_note_lines(table))
        return
    yield from _table(table, opened[:most])
    if len(opened) > most:
        yield from ("", f"And {count(len(opened) - most, 'more row')}.")
    if len(opened) < len(rows):
        yield from fold_lines(f"All {len(rows)} rows", list(_table(table, rows[:most]))[1:])
    for source, mark in source_marks(table.sources).items():
        yield from ("", source_line(words(source), mark, table.entries))
    yield from _note_lines(table)


def _note_lines(table: Table) -> Iterator[str]:
    for note in table.notes:
        yield from ("", words(note))


def _grid(table: Table, most: int) -> list[str]:
    """Return a row for each value of the label, with a cell for each model: rate or mean score, its interval, and n."""
    titles = [f"{_heading(table.spec.title)}", *(cell(model_name(model)) for model in table.models)]
    rows = [[_name(line), *(_interval_cell(table, entry) for entry in line.entries)] for line in table.lines[:most]]
    more = ["", f"And {count(len(table.lines) - most, 'more row')}."] if len(table.lines) > most else []
    return [*pipe_table(titles, rows), *more]


def _interval_cell(table: Table, entry: TableEntry | None) -> str:
    if entry is None:
        return "-"
    main, mark = entry.cells[table.main], r"\*" if entry.few else ""
    return f"{number(main.value)} ({interval(main.ends)}, n {entry.count('n')}{mark})"


def _rows(table: Table) -> list[_Row]:
    """Return the rows: of rates row by row, the models below each other; of graded questions model by model."""
    if table.spec.graded:
        columns = zip(*(line.entries for line in table.lines), strict=True)
        pairs = [(line, entry) for column in columns for line, entry in zip(table.lines, column, strict=True)]
    else:
        pairs = [(line, entry) for line in table.lines for entry in line.entries]
    return [(line, entry) for line, entry in pairs if entry is not None]


def _table(table: Table, rows: Sequence[_Row]) -> list[str]:
    by_model = table.names_models
    columns, marks = table.columns("md"), source_marks(table.sources)
    headings = [title for column in columns for title in _titles(table, column)]
    cells = [
        [
            _name(line),
            *([cell(model_name(entry.model))] if by_model else []),
            *(text for column in columns for text in _texts(table, column, entry, marks)),
        ]
        for line, entry in rows
    ]
    return pipe_table(
        [_heading(table.spec.title), *(["model"] if by_model else []), *headings], cells, 2 if by_model else 1
    )


def _heading(text: str) -> str:
    """Return a text from outside as a heading of a table."""
    return words(text).replace("|", r"\|")


def _name(line: Line) -> str:
    if line.kind == "total":
        return "**total**"
    name = cell(line.name)
    return {"section": f"**{name}**", "published": f"{name} {SIGN}"}.get(line.kind, name)


def _titles(table: Table, column: Column) -> list[str]:
    title = title_of(column)
    titles = [title if title == title_of(Column(column.value)) and column.value in STATISTICS else _heading(title)]
    titles += ["95% interval"] if _has_ends(table, column) else []
    return [*titles, *([PUBLISHED] if table.has_references(column.value) else [])]


def _texts(table: Table, column: Column, entry: TableEntry, marks: dict[str, str]) -> list[str]:
    value_cell = entry.cells[column.value]
    texts = [cell_text(column.value, entry, marks) + (r"\*" if column.value == "n" and entry.few else "")]
    texts += [interval(value_cell.ends)] if _has_ends(table, column) else []
    return [*texts, *([_published_cell(value_cell, entry, marks)] if table.has_references(column.value) else [])]


def _has_ends(table: Table, column: Column) -> bool:
    """Return True if the column has intervals beside its values; those of statistics have a column of their own."""
    return column.value not in STATISTICS and any(entry.cells[column.value].ends for entry in table.entries)


def _published_cell(value_cell: Cell, entry: TableEntry, marks: dict[str, str]) -> str:
    return "" if entry.published else published_text(value_cell.references, marks)


def scoreboard_lines(tally: Tally, most: int) -> Iterator[str]:
    """Yield the scoreboard under its heading, without columns of which nothing is known; no lines without questions.

    Args:
        tally: The trials of the run.
        most: The greatest number of rows.
    """
    blocks = scoreboard(tally)
    rows = [(block, row) for block in blocks for row in block.rows]
    if not rows:
        return
    yield from ("", "### Scores")
    with_names, prompts, title = len(blocks) > 1, has_prompts(blocks), score_title(blocks)
    numbers = [dict(_numbers(row, title)) for _, row in rows]
    titles = [name for name in numbers[0] if any(texts[name] not in (NONE, UNKNOWN) for texts in numbers)]
    lines = [
        [
            *([_block_cell(block, blocks)] if with_names else []),
            cell(model_name(row.model)) + (" ★" if row.highest else ""),
            *([cell(row.prompt)] if prompts else []),
            *(texts[name] for name in titles),
        ]
        for (block, row), texts in zip(rows, numbers, strict=True)
    ]
    heads = [*(["questions"] if with_names else []), "model", *(["prompt"] if prompts else [])]
    yield from pipe_table([*heads, *(words(name).replace("|", r"\|") for name in titles)], lines[:most], len(heads))
    if len(lines) > most:
        yield from ("", f"And {count(len(lines) - most, 'more row')}.")
    for note in scoreboard_notes(blocks):
        yield from ("", note)


def _block_cell(block: ScoreboardBlock, blocks: Sequence[ScoreboardBlock]) -> str:
    name = words(block_name(block, blocks)).replace("|", r"\|")
    return name if block.family else f"**{name}**"


def _numbers(row: ScoreboardRow, score: str) -> Iterator[tuple[str, str]]:
    """Yield the title and the text of each number."""
    effort, usage = row.effort, row.effort.usage
    yield score, number(row.score.value)
    yield "95% interval", interval(row.score.ends)
    if score != RATE:
        yield RATE, SAME if repeats_score(row) else number(row.rate.value if row.rate else None)
    yield "above chance", number(row.above_chance)
    yield "answered", answered_text(row).replace("*", r"\*")
    yield "errors", f"{row.errors:,}"
    yield "tokens in", tokens_text(usage.tokens_in, usage)
    yield "tokens out", tokens_text(usage.tokens_out, usage)
    yield "reasoning", NONE if usage.tokens_reasoning is None else f"{usage.tokens_reasoning:,}"
    yield "cost", cost_of(usage)
    yield "time", time_of(effort)

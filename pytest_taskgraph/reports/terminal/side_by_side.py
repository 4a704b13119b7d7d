"""Tables that show several models side by side, a column each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...results.tables import FEW, Table, TableEntry
from ...results.tally import Tally
from ...trial import Trial
from ..columns import NO_MARK, Lines, fit_table, mark
from ..escape import columns, one_line
from ..table import GAP
from ..table import table as text_table
from ..wording import interval, model_name, number

_REMARK = re.compile(r"(?<=\S) \([^()]*\)$")
NARROW_GAP = " "  # between columns where all models fit one table then
COUNTS = ("errors", "unparseable", "refused", "skipped")  # shown where there are any


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Return the printable name of each model, without a remark in brackets at its end if the names differ then."""
    shown = [model_name(model) for model in models]
    names = [one_line(_REMARK.sub("", name)) for name in shown]
    if not all(names) or len(set(names)) < len(names):
        names = [*map(one_line, shown)]
    return dict(zip(models, names, strict=True))


def titles_of(tally: Tally, width: int, rows: str) -> dict[str, str]:
    """Return the title of each model in tables: its short name, what follows its last "/", or "[1]" if neither fits.

    Args:
        tally: The trials.
        width: The width of the terminal in columns.
        rows: What the rows of the tables are about: "group" or "section".
    """
    names = [*short_names(tally.models).values()]
    ends = [name.rpartition("/")[2] for name in names]
    first = max((columns(group.name) + 2 for group in tally.groups(rows, pooled=True)), default=0)
    for titles in (names, ends):
        used = first + sum(len(GAP) + max(columns(title + NO_MARK), columns("0.000*")) for title in titles)
        if used <= width and all(titles) and len(set(titles)) == len(titles):
            return dict(zip(tally.models, titles, strict=True))
    return {model: f"[{at}]" for at, model in enumerate(tally.models, 1)}


def title_of_model_row(name: str, titles: Mapping[str, str]) -> str:
    """Return the name of a row about a model, or about a model and a group, with the title of the model."""
    for model in sorted(titles, key=len, reverse=True):
        if name == model or name.startswith(f"{model}, "):
            return titles[model] + name[len(model) :]
    return name


def legend(titles: Mapping[str, str], width: int) -> Lines:
    """Return a line for each model whose title does not contain its name."""
    return [
        (one_line(f"{title} {model_name(model)}", width), {})
        for model, title in titles.items()
        if title.startswith("[")
    ]


def side_by_side(table: Table, titles: Mapping[str, str], width: int, total: dict[str, bool]) -> Lines:
    """Return sections with their groups below them, and the total: the pass rate of each model, the mean if it fits.

    Below them stand the counts of answers and, if there are any, of errors and the like. Models that do not fit follow
    in tables of their own.

    Args:
        table: The table.
        titles: The title of each model.
        width: The width of the terminal in columns.
        total: The markup of the line of the total.
    """
    lines = _lines(table, total)
    models, size, gap = [model for model in titles if model in table.models], len(table.models), GAP
    if not _blocks_fit(lines, [models], titles, width, False):
        gap = NARROW_GAP
    while size > 1 and not _blocks_fit(lines, _blocks(models, size), titles, width, False, gap):
        size -= 1
    blocks = _blocks(models, size)
    with_mean = _blocks_fit(lines, blocks, titles, width, True, gap)
    markup = [line_markup for _, _, line_markup in lines]
    tables: Lines = []
    for block in blocks:
        head, rows = _cells(lines, block, titles, with_mean)
        tables += [("", {}), *fit_table([(head, rows)], width, markup + [{}] * (len(rows) - len(lines)), gap)]
    return tables


def grid(table: Table, titles: Mapping[str, str], width: int) -> Lines:
    """Return a row for each value of a label: each model's pass rate or mean score with its 95 % interval and n.

    Models that do not fit follow in tables of their own.
    """
    rows = [(line.name, dict(zip(table.models, line.entries, strict=True))) for line in table.lines]
    shown_models = [model for model in titles if model in table.models]
    size = len(shown_models)
    while True:
        tables: list[tuple[list[str], list[list[str]]]] = []
        for models in _blocks(shown_models, size):
            head = [table.spec.title, *(titles[model] + NO_MARK for model in models)]
            tables.append(
                (head, [[name, *(_interval_cell(table, of[model]) for model in models)] for name, of in rows])
            )
        texts = [text_table(head, cells, "l" + "r" * (len(head) - 1)) for head, cells in tables]
        if size == 1 or all(columns(line) <= width for lines in texts for line in lines):
            break
        size -= 1
    return [line for choice in tables for line in [("", {}), *fit_table([choice], width)]]


def rates_by_group(tally: Tally, label: str, width: int) -> Lines:
    """Return the pass rates of each group at each value of a label, of one model; nothing for a single group.

    Args:
        tally: The trials of one family and one model.
        label: The label.
        width: The width of the terminal in columns.
    """
    by_value = tally.groups(label)
    rows: dict[str, list[str]] = {}
    for at, of_value in enumerate(by_value):
        trials: dict[str, list[Trial]] = {}
        for trial in of_value.trials:
            trials.setdefault(trial.question.group, []).append(trial)
        for name, own in trials.items():
            group = replace(of_value, trials=own)
            rate = f"{number(tally.row(group).rate)}{'*' if group.questions < FEW else NO_MARK}"
            rows.setdefault(name, [f"-{NO_MARK}"] * len(by_value))[at] = rate
    if len(rows) < 2:
        return []
    names = dict.fromkeys(group.name for group in tally.groups())
    cells = [[name, *rows[name]] for name in names if name in rows]
    titles = [f"{tally.word('group')}, by {label}", *(f"{group.name}{NO_MARK}" for group in by_value)]
    return [("", {}), *fit_table([(titles, cells)], width)]


def _interval_cell(table: Table, entry: TableEntry | None) -> str:
    if entry is None or entry.cells[table.main].value is None:
        return f"-{NO_MARK}"
    cell = entry.cells[table.main]
    return f"{number(cell.value)} {interval(cell.ends)} n={entry.count('n')}{mark(entry)}"


def _blocks(models: Sequence[str], size: int) -> list[Sequence[str]]:
    return [models[at : at + size] for at in range(0, len(models), size)]


_Line = tuple[str, dict[str, TableEntry | None], dict[str, bool]]  # title, each model's entry, markup


def _lines(table: Table, total: dict[str, bool]) -> list[_Line]:
    markup = {"section": {"bold": True}, "total": {"bold": True, **total}}
    below = any(line.kind == "section" for line in table.lines)
    return [
        (
            ("  " if below and line.kind == "group" else "") + line.name,
            dict(zip(table.models, line.entries, strict=True)),
            markup.get(line.kind, {}),
        )
        for line in table.lines
    ]


def _cells(
    lines: Sequence[_Line], models: Sequence[str], titles: Mapping[str, str], with_mean: bool
) -> tuple[list[str], list[list[str]]]:
    """Return the titles of the columns, and the rows below them."""
    head = ["pass rate/mean" if with_mean else "pass rate", *(titles[model] + NO_MARK for model in models)]
    rows = [[name, *(_rate_cell(entries[model], with_mean) for model in models)] for name, entries, _ in lines]
    return head, rows + [[name, *cells] for name, cells in _count_rows(lines[-1][1], models).items()]


def _rate_cell(entry: TableEntry | None, with_mean: bool) -> str:
    """Return the pass rate of an entry, with the mean score if `with_mean`."""
    if entry is None or entry.cells["rate"].value is None:
        return f"-{NO_MARK}"
    mean = f"/{number(entry.cells['mean'].value)}" if with_mean and "mean" in entry.cells else ""
    return number(entry.cells["rate"].value) + mean + mark(entry)


def _count_rows(total: Mapping[str, TableEntry | None], models: Sequence[str]) -> dict[str, list[str]]:
    rows = {"answered": [_count(total[model], "n") for model in models]}
    for name in COUNTS:
        if any(entry is not None and entry.count(name) for entry in total.values()):
            rows[name] = [_count(total[model], name) for model in models]
    return rows


def _count(entry: TableEntry | None, name: str) -> str:
    return f"{entry.count(name) if entry else 0}{NO_MARK}"


def _blocks_fit(
    lines: Sequence[_Line],
    blocks: Sequence[Sequence[str]],
    titles: Mapping[str, str],
    width: int,
    with_mean: bool,
    gap: str = GAP,
) -> bool:
    """Return True if the tables of all blocks fit the width."""
    cells = [_cells(lines, block, titles, with_mean) for block in blocks]
    return all(
        columns(line) <= width
        for head, rows in cells
        for line in text_table(head, rows, "l" + "r" * (len(head) - 1), gap=gap)
    )

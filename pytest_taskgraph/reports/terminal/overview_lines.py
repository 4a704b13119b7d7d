"""The overview of a family in the terminal: a line for each section or method with its headline score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...results.overview import TOTAL, OverviewEntry, OverviewRow
from ..columns import NO_MARK, Lines, mark
from ..escape import columns, one_line
from ..table import folded_table
from ..table import table as text_table
from ..wording import interval, model_name, number
from .side_by_side import COUNTS

_MEASURES = {"rate": "pass rate", "mean": "mean score"}

_Column = tuple[str, str, list[str]]  # title, alignment, cells


def overview_lines(
    family: str, rows: Sequence[OverviewRow], models: Mapping[str, str], width: int, total: dict[str, bool]
) -> Lines:
    """Return the table of a family: several models side by side, or all numbers of a single one.

    Args:
        family: The name of the family.
        rows: Its rows.
        models: The models of the entries, each with its title.
        width: The width of the terminal in columns.
        total: The markup of the line of the total.
    """
    names: _Column = (family, "l", [one_line(row.name) for row in rows])
    markup = [{"bold": True, **total} if row.name == TOTAL else {} for row in rows]
    if len(models) == 1:
        lines = _fitting([[names, *chosen] for chosen in _choices_of_one(rows)], width)
        return _marked(lines, markup)
    by_count = _counts_of_models(rows, len(models))
    names = (family, "l", [*names[2], *by_count])
    markup += [{}] * len(by_count)
    several = [
        (
            title + NO_MARK,
            "r",
            [*(_score(row.entries[at]) for row in rows), *(f"{of[at]}{NO_MARK}" for of in by_count.values())],
        )
        for at, title in enumerate(models.values())
    ]
    measured: _Column = ("measure", "l", [*map(_measure, rows), *([""] * len(by_count))])
    blocks = [[names, measured, *several]]
    for size in range(len(several), 0, -1):
        if _fit(blocks, width):
            break
        blocks = [[names, *several[at : at + size]] for at in range(0, len(several), size)]
    return [line for block in blocks for line in [("", {}), *_marked(_fitting([block], width), markup)]][1:]


def _counts_of_models(rows: Sequence[OverviewRow], models: int) -> dict[str, list[int]]:
    """Return how many questions each model answered; of errors and the like too, where there are any."""
    parts = [row for row in rows if row.name != TOTAL]
    entries = [[entry.row for row in parts if (entry := row.entries[at]) is not None] for at in range(models)]
    by_count = {name: [sum(getattr(row, name) for row in of) for of in entries] for name in ("n", *COUNTS)}
    return {"answered": by_count.pop("n"), **{name: numbers for name, numbers in by_count.items() if any(numbers)}}


def _choices_of_one(rows: Sequence[OverviewRow]) -> Iterator[list[_Column]]:
    """Yield the columns of a single model from the widest selection to the narrowest."""
    entries = [entry for row in rows for entry in row.entries if entry is not None]
    number_of = ("n" + NO_MARK, "r", [f"{entry.row.n}{mark(entry)}" for entry in entries])
    score = ("score", "r", [number(entry.score.value) for entry in entries])
    ends = ("95% interval", "l", [interval(entry.score.ends) for entry in entries])
    by_count = {name: [getattr(entry.row, name) for entry in entries] for name in COUNTS}
    counts = [(name, "r", [str(of) for of in numbers]) for name, numbers in by_count.items() if any(numbers)]
    measure = ("measure", "l", [_measure(row) for row in rows])
    baselines = [_baselines(entry.baselines) for entry in entries]
    answered = [("answered by", "l", baselines)] if any(baselines) else []
    yield [number_of, score, ends, *counts, measure, *answered]
    yield [number_of, score, *counts, measure, *answered]
    yield [number_of, score, *counts, measure]
    yield [number_of, score, *counts]


def _baselines(names: Sequence[str]) -> str:
    return f"{len(names)} baselines" if len(names) > 1 else "".join(map(model_name, names))


def _measure(row: OverviewRow) -> str:
    return _MEASURES.get(row.value, row.value)


def _score(entry: OverviewEntry | None) -> str:
    return f"-{NO_MARK}" if entry is None else f"{number(entry.score.value)}{mark(entry)}"


def _fitting(choices: Sequence[Sequence[_Column]], width: int) -> list[list[str]]:
    """Return the lines of the heading and of each row, by the first selection of columns that fits."""
    chosen = next((choice for choice in choices if _fit([choice], width)), choices[-1])
    return folded_table(*_cells(chosen), width)


def _fit(blocks: Sequence[Sequence[_Column]], width: int) -> bool:
    return all(columns(line) <= width for block in blocks for line in text_table(*_cells(block)))


def _cells(chosen: Sequence[_Column]) -> tuple[list[str], list[list[str]], str]:
    """Return the titles, the cells of each row, and the alignment."""
    rows = zip(*(cells for _, _, cells in chosen), strict=True)
    return [title for title, _, _ in chosen], [list(row) for row in rows], "".join(align for _, align, _ in chosen)


def _marked(lines: Sequence[Sequence[str]], markup: Sequence[dict[str, bool]]) -> Lines:
    return [(line, style) for part, style in zip(lines, [{"bold": True}, *markup], strict=True) for line in part]

"""Several models in one table, a column each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...family_description import STATISTICS
from ...results.tables import Table, TableEntry
from ...results.tally import Tally
from ..columns import NO_MARK, Lines, fitting, mark
from ..escape import columns, one_line
from ..table import table
from ..wording import interval, number

COUNTS = ("errors", "unparseable", "refused", "skipped")  # told where there are any


def titles_of(tally: Tally, width: int) -> dict[str, str]:
    """What each model is called in tables: its name, what follows its last "/", or where there is no room "[1]"."""
    names = [one_line(model) for model in tally.models]
    ends = [name.rpartition("/")[2] for name in names]
    first = max((columns(group.name) + 2 for group in tally.groups("group", pooled=True)), default=0)
    for titles in (names, ends):
        cells = [[" " * first, *("0.000 " for _ in titles)]]
        fits = columns(table(["", *titles], cells, "l" + "r" * len(titles))[0]) <= width
        if fits and all(titles) and len(set(titles)) == len(titles):
            return dict(zip(tally.models, titles, strict=True))
    return {model: f"[{at}]" for at, model in enumerate(tally.models, 1)}


def legend(titles: Mapping[str, str], width: int) -> Lines:
    """A line for each model whose title does not hold its name."""
    return [(one_line(f"{title} {model}", width), {}) for model, title in titles.items() if title.startswith("[")]


def has_rates_alone(shown: Table) -> bool:
    """Return True if the table has the pass rate and no number that only a column of its own can show."""
    values = shown.values
    published = any(cell.references for one in shown.entries for cell in one.cells.values())
    return shown.rows != "model" and "rate" in values and all(one in STATISTICS for one in values) and not published


def side_by_side(shown: Table, titles: Mapping[str, str], width: int, total: dict[str, bool]) -> Lines:
    """Sections with their groups below them, and the total: the pass rate of each model, the mean where it fits.

    Below them how many answered, and errors and the like where there are any. Models that find no room in `width`
    follow in tables of their own. `total` is the markup of the total's line.
    """
    lines = _lines(shown, total)
    every, size = [one for one in titles if one in shown.models], len(shown.models)
    while size > 1 and not _fit(lines, _blocks(every, size), titles, width, False):
        size -= 1
    blocks = _blocks(every, size)
    with_mean = _fit(lines, blocks, titles, width, True)
    markup = [one for _, _, one in lines]
    found: Lines = []
    for block in blocks:
        head, rows = _cells(lines, block, titles, with_mean)
        found += [("", {}), *fitting([(head, rows)], width, markup + [{}] * (len(rows) - len(lines)))]
    return found


def grid(shown: Table, titles: Mapping[str, str], width: int) -> Lines:
    """A row for each value of a label: the pass rate or mean score of each model with its 95 % interval and n.

    Models that find no room in `width` follow in tables of their own.
    """
    rows = [(one.name, dict(zip(shown.models, one.entries, strict=True))) for one in shown.lines]
    every = [one for one in titles if one in shown.models]
    size = len(every)
    while True:
        found: list[tuple[list[str], list[list[str]]]] = []
        for models in _blocks(every, size):
            head = [shown.spec.title, *(titles[model] + NO_MARK for model in models)]
            found.append((head, [[name, *(_with_interval(shown, of[model]) for model in models)] for name, of in rows]))
        drawn = [table(head, cells, "l" + "r" * (len(head) - 1)) for head, cells in found]
        if size == 1 or all(columns(line) <= width for lines in drawn for line in lines):
            break
        size -= 1
    return [line for one in found for line in [("", {}), *fitting([one], width)]]


def _with_interval(shown: Table, one: TableEntry | None) -> str:
    if one is None or one.cells[shown.main].value is None:
        return f"-{NO_MARK}"
    cell = one.cells[shown.main]
    return f"{number(cell.value)} {interval(cell.ends)} n={one.count('n')}{mark(one)}"


def _blocks(models: Sequence[str], size: int) -> list[Sequence[str]]:
    return [models[at : at + size] for at in range(0, len(models), size)]


_Line = tuple[str, dict[str, TableEntry | None], dict[str, bool]]  # title, each model's entry, markup


def _lines(shown: Table, total: dict[str, bool]) -> list[_Line]:
    markup = {"section": {"bold": True}, "total": {"bold": True, **total}}
    below = any(one.kind == "section" for one in shown.lines)
    return [
        (
            ("  " if below and one.kind == "group" else "") + one.name,
            dict(zip(shown.models, one.entries, strict=True)),
            markup.get(one.kind, {}),
        )
        for one in shown.lines
    ]


def _cells(
    lines: Sequence[_Line], models: Sequence[str], titles: Mapping[str, str], with_mean: bool
) -> tuple[list[str], list[list[str]]]:
    """The titles of the columns, and the rows below them."""
    head = ["pass rate/mean" if with_mean else "pass rate", *(titles[model] + NO_MARK for model in models)]
    rows = [[name, *(_cell(entries[model], with_mean) for model in models)] for name, entries, _ in lines]
    return head, rows + [[name, *cells] for name, cells in _counts(lines[-1][1], models).items()]


def _cell(one: TableEntry | None, with_mean: bool) -> str:
    if one is None or one.cells["rate"].value is None:
        return f"-{NO_MARK}"
    mean = f"/{number(one.cells['mean'].value)}" if with_mean and "mean" in one.cells else ""
    return number(one.cells["rate"].value) + mean + mark(one)


def _counts(total: Mapping[str, TableEntry | None], models: Sequence[str]) -> dict[str, list[str]]:
    found = {"answered": [_count(total[model], "n") for model in models]}
    for name in COUNTS:
        if any(one is not None and one.count(name) for one in total.values()):
            found[name] = [_count(total[model], name) for model in models]
    return found


def _count(one: TableEntry | None, name: str) -> str:
    return f"{one.count(name) if one else 0}{NO_MARK}"


def _fit(
    lines: Sequence[_Line], blocks: Sequence[Sequence[str]], titles: Mapping[str, str], width: int, with_mean: bool
) -> bool:
    """Whether the tables of all blocks are within the width."""
    cells = [_cells(lines, block, titles, with_mean) for block in blocks]
    return all(
        columns(line) <= width for head, rows in cells for line in table(head, rows, "l" + "r" * (len(head) - 1))
    )

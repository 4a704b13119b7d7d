"""Several models in one table, a column each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..results.tally import Group, Row, Tally
from .columns import NO_MARK, Entry, Lines, entry, fitting
from .escape import columns, one_line
from .table import table
from .wording import number

COUNTS = ("errors", "unreadable", "refused", "skipped")  # told where there are any


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


def side_by_side(tally: Tally, titles: Mapping[str, str], width: int, total: dict[str, bool]) -> Lines:
    """Categories with their patterns below them, and the total: the pass rate of each model, the mean where it fits.

    Below them how many answered, and errors and the like where there are any. Models that find no room in `width`
    follow in tables of their own. `total` is the markup of the total's line.
    """
    lines = _lines(tally, total)
    every, size = list(titles), len(titles)
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


def _blocks(models: Sequence[str], size: int) -> list[Sequence[str]]:
    return [models[at : at + size] for at in range(0, len(models), size)]


_Line = tuple[str, dict[str, Entry], dict[str, bool]]  # title, each model's entry, markup


def _lines(tally: Tally, total: dict[str, bool]) -> list[_Line]:
    groups = tally.groups("group", pooled=True)
    found = list[_Line]()
    for section in tally.groups("section", pooled=True):
        found.append((section.name, _entries(tally, section), {"bold": True}))
        below = [one for one in groups if one.section == section.name]
        found += [("  " + one.name, _entries(tally, one), {}) for one in below]
    return [*found, ("total", _entries(tally, tally.whole()), {"bold": True, **total})]


def _entries(tally: Tally, group: Group) -> dict[str, Entry]:
    """The group's row for each model; that of no trials where a model was not asked any."""
    return {model: entry(tally, _part(group, model)) for model in tally.models}


def _part(group: Group, model: str) -> Group:
    return Group(group.name, model, group.section, [one for one in group.trials if one.model == model])


def _cells(
    lines: Sequence[_Line], models: Sequence[str], titles: Mapping[str, str], with_mean: bool
) -> tuple[list[str], list[list[str]]]:
    """The titles of the columns, and the rows below them."""
    head = ["pass rate/mean" if with_mean else "pass rate", *(titles[model] + NO_MARK for model in models)]
    rows = [[name, *(_cell(entries[model], with_mean) for model in models)] for name, entries, _ in lines]
    return head, rows + [[name, *cells] for name, cells in _counts(lines[-1][1], models).items()]


def _cell(one: Entry, with_mean: bool) -> str:
    if one.row.rate is None:
        return f"-{NO_MARK}"
    return number(one.row.rate) + (f"/{number(one.row.mean)}" if with_mean else "") + one.mark


def _counts(total: Mapping[str, Entry], models: Sequence[str]) -> dict[str, list[str]]:
    rows: list[Row] = [total[model].row for model in models]
    found = {"answered": [f"{row.n}{NO_MARK}" for row in rows]}
    for name in COUNTS:
        if any(getattr(one.row, name) for one in total.values()):
            found[name] = [f"{getattr(row, name)}{NO_MARK}" for row in rows]
    return found


def _fit(
    lines: Sequence[_Line], blocks: Sequence[Sequence[str]], titles: Mapping[str, str], width: int, with_mean: bool
) -> bool:
    """Whether the tables of all blocks are within the width."""
    cells = [_cells(lines, block, titles, with_mean) for block in blocks]
    return all(
        columns(line) <= width for head, rows in cells for line in table(head, rows, "l" + "r" * (len(head) - 1))
    )

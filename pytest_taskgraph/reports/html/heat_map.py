"""Heat map of the page: the pass rate or mean score of every group for each model and prompt template."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...family_description import Column, FamilyDescription, TableSpec
from ...results.scoreboard import order_models
from ...results.tables import Line, Table, TableEntry, table_of
from ...results.tally import Tally
from ...trial import PROMPT
from ..columns import MARK
from ..wording import number

LEVELS = 10  # colours of the scale from 0 to 1
_RATES = TableSpec("pass rates", "", (Column("rate"), Column("n")), sections=True)
_SCORES = TableSpec("mean scores", "", (Column("mean"), Column("n")), graded=True, total=False)


@dataclass(frozen=True, slots=True)
class HeatColumn:
    """A column: a model, with a prompt template if there are several."""

    model: str
    prompt: str


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A number with the level of its colour, from 0 to LEVELS - 1; None if nothing was answered."""

    text: str
    level: int | None


@dataclass(frozen=True, slots=True)
class HeatLine:
    """A row; `kind` is "section", "group", "plain" for a group without a section row above, or "total"."""

    name: str
    kind: str
    cells: list[HeatCell | None]  # one for each column, None if the model was not asked


@dataclass(frozen=True, slots=True)
class HeatPart:
    """Rows with the same kind of number."""

    title: str
    lines: list[HeatLine]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The heat map of one family."""

    family: str
    group: str  # the word of the family for a group
    columns: list[HeatColumn]
    parts: list[HeatPart]
    few: bool  # True if a number rests on few questions


def heat_maps(tally: Tally) -> list[HeatMap]:
    """Return the heat map of each family with at least two groups, in the order of the families."""
    maps = (_heat_map(tally.of_family(name), name) for name in tally.families)
    return [heat_map for heat_map in maps if heat_map is not None]


def _heat_map(tally: Tally, family: str) -> HeatMap | None:
    description = tally.descriptions[family]
    prompts = tally.pooled_prompts or ("",)
    columns = [HeatColumn(model, prompt) for model in order_models(tally.models) for prompt in prompts]
    parts, few = [], False
    for spec, title in ((_RATES, "pass rate"), (_SCORES, "mean score of graded questions")):
        whole = table_of(tally, description, spec)
        tables = {prompt: _table_of_prompt(tally, description, spec, prompt) if prompt else whole for prompt in prompts}
        lines = [_heat_line(whole, line, columns, tables) for line in whole.lines]
        few = few or any(entry.few for table in tables.values() for entry in table.entries)
        if not whole.empty:
            parts.append(HeatPart(title, lines))
    groups = sum(line.kind in ("group", "plain") for part in parts for line in part.lines)
    return HeatMap(family, description.group, columns, parts, few) if groups > 1 else None


def _table_of_prompt(tally: Tally, description: FamilyDescription, spec: TableSpec, prompt: str) -> Table:
    return table_of(tally.select(lambda trial: trial.question.labels.get(PROMPT) == prompt), description, spec)


def _heat_line(whole: Table, line: Line, columns: list[HeatColumn], tables: dict[str, Table]) -> HeatLine:
    below = any(other.kind == "section" for other in whole.lines)
    kind = "plain" if line.kind == "group" and not below else line.kind
    cells = [_heat_cell(tables[column.prompt], line, column.model) for column in columns]
    return HeatLine(line.name, kind, cells)


def _heat_cell(table: Table, line: Line, model: str) -> HeatCell | None:
    entry = next(_entries(table, line, model), None)
    if entry is None:
        return None
    value = entry.cells[table.main].value
    level = None if value is None else min(LEVELS - 1, int(value * LEVELS))
    return HeatCell(number(value) + (MARK if entry.few else ""), level)


def _entries(table: Table, line: Line, model: str) -> Iterator[TableEntry]:
    """Yield the entry of the model in the row of the table with the same name, kind and section."""
    for other in table.lines:
        if (other.name, other.kind, other.section) == (line.name, line.kind, line.section):
            yield from (entry for entry in other.entries if entry is not None and entry.model == model)

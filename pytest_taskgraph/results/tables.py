"""The tables of a run as plain data: every report shows them from one definition, a `TableSpec`.

A table belongs to one family and contains its right or wrong questions or its graded ones, never both. Several
families have an additional table of pass rates; a family that was asked with several prompts has one by prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ..family_description import (
    RATE_LAYOUTS,
    RATES,
    SCORE_LAYOUTS,
    SCORES,
    STATISTICS,
    Aggregate,
    Column,
    FamilyDescription,
    ReferenceValue,
    Rows,
    TableSpec,
    standard_tables,
)
from ..trial import PROMPT, SOFT_PROMPT_SOURCE
from .aggregates import estimate_aggregate
from .tally import Group, Row, Tally

Arrangement = Literal["grid", "rates", "rows"]
FEW = 10  # answered questions; results of fewer are marked
BY_PROMPT = (
    TableSpec(
        "by prompt", PROMPT, RATES, rows="label", label=PROMPT, total=False, caption="Pass rates by prompt",
        layouts=RATE_LAYOUTS,
    ),
    TableSpec(
        "graded by prompt", PROMPT, SCORES, rows="label", label=PROMPT, total=False, graded=True,
        caption="Graded questions: mean scores by prompt", layouts=SCORE_LAYOUTS,
    ),
)  # fmt: skip
"""Tables of a family that was asked with several prompt templates."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A published number and its source."""

    value: float
    source: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of a table.

    Args:
        value: The number; None if undefined.
        low: Lower end of its 95 % interval; None if it has none.
        high: Upper end of its 95 % interval; None if it has none.
        n: Number of answered questions behind it; for counts, of all questions.
        references: Published values of the same.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    references: tuple[Reference, ...] = ()

    @property
    def ends(self) -> tuple[float, float] | None:
        """Return both ends of the interval; None if there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def to_json(self) -> dict[str, Any]:
        """Return the cell as plain JSON values."""
        return {**asdict(self), "references": [asdict(reference) for reference in self.references]}


@dataclass(frozen=True, slots=True)
class TableEntry:
    """The cells of a row for one model, or for all.

    Args:
        model: Name of the model; "" if several are pooled.
        few: True if at least one and fewer than FEW questions were answered.
        accepted: True if no trial of the row failed.
        cells: Cells by the value of their column.
        published: True if the row contains published numbers only.
    """

    model: str
    few: bool
    accepted: bool
    cells: Mapping[str, Cell]
    published: bool = False

    def without_references(self) -> TableEntry:
        """Return the entry without published numbers."""
        return replace(self, cells={value: replace(cell, references=()) for value, cell in self.cells.items()})

    def count(self, value: str) -> int:
        """Return a count of the row, 0 if the row does not have it.

        Args:
            value: The value of the count's column.
        """
        return int(self.cells[value].value or 0) if value in self.cells else 0


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table.

    Args:
        name: As in the trials; "total" for the total.
        kind: "group", "section", "model", "label", "family", "total", or "published" (references only).
        section: The section of a group; else "".
        entries: An entry for each model of the table; None if the model was not asked.
    """

    name: str
    kind: str
    section: str
    entries: tuple[TableEntry | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its numbers.

    Args:
        family: Name of the family; "" for a table over several families.
        spec: The definition of the table.
        rows: What its rows are about, as in `TableSpec`, or "family".
        models: Models with a column of entries each; ("",) if models are rows or pooled.
        lines: The rows.
        titled: True if its caption is shown because another table of the family has the same heading.
        notes: The facts of the run that the numbers depend on, a line each.
    """

    family: str
    spec: TableSpec
    rows: str
    models: tuple[str, ...]
    lines: tuple[Line, ...]
    titled: bool = False
    notes: tuple[str, ...] = ()

    @property
    def side_by_side(self) -> bool:
        """Return True if every row has an entry for each of several models."""
        return self.rows != "model" and len(self.models) > 1

    @property
    def main(self) -> str:
        """Return the statistic that the intervals of the rows belong to."""
        return _main_statistic(self.spec)

    @property
    def grid(self) -> bool:
        """Return True if the rows are values of a label and each model shows its main statistic only."""
        published = any(cell.references for entry in self.entries for cell in entry.cells.values())
        plain = {self.main, "n"} <= {*self.values} <= STATISTICS and not published
        return self.side_by_side and self.rows == "label" and not self.spec.total and plain

    @property
    def has_rates_alone(self) -> bool:
        """Return True if the table has the pass rate and no number that needs a column of its own."""
        published = any(cell.references for entry in self.entries for cell in entry.cells.values())
        values = self.values
        return self.rows != "model" and "rate" in values and {*values} <= STATISTICS and not published

    @property
    def arrangement(self) -> Arrangement:
        """Return how a report shows several models: a cell for each in every row, or a row for each."""
        if self.grid:
            return "grid"
        return "rates" if self.side_by_side and self.has_rates_alone else "rows"

    @property
    def names_models(self) -> bool:
        """Return True if a row of the arrangement "rows" has to say which model it is of."""
        return self.side_by_side or (self.spec.graded and self.rows != "model")

    @property
    def sources(self) -> list[str]:
        """Return the sources of published numbers, each once."""
        cells = (cell for entry in self.entries for cell in entry.cells.values())
        return list(dict.fromkeys(reference.source for cell in cells for reference in cell.references))

    @property
    def empty(self) -> bool:
        """Return True if the table has fewer rows than required, total and published rows not counted."""
        return sum(line.kind not in ("total", "published") for line in self.lines) < max(1, self.spec.least_rows)

    @property
    def entries(self) -> list[TableEntry]:
        """Return all entries, row by row."""
        return [entry for line in self.lines for entry in line.entries if entry is not None]

    def of_model(self, model: str) -> Table:
        """Return the table of one of its models, without the rows that the model was not asked about."""
        at = self.models.index(model)
        lines = (replace(line, entries=(line.entries[at],)) for line in self.lines if line.entries[at] is not None)
        return replace(self, models=(model,), lines=tuple(lines))

    def without_references(self) -> Table:
        """Return the table without published numbers."""
        lines = (
            replace(line, entries=tuple(entry and entry.without_references() for entry in line.entries))
            for line in self.lines
            if line.kind != "published"
        )
        return replace(self, lines=tuple(lines))

    def columns(self, report: str) -> list[Column]:
        """Return the columns that a report shows.

        Args:
            report: "terminal", "md" or "html".
        """
        entries = self.entries
        return [
            column
            for column in self.spec.columns
            if (not column.reports or report in column.reports)
            and not (column.optional and not any(_is_filled(entry.cells[column.value]) for entry in entries))
        ]

    def has_references(self, value: str) -> bool:
        """Return True if a row of the run has published numbers of that value."""
        return any(entry.cells[value].references for entry in self.entries if not entry.published)

    @property
    def values(self) -> list[str]:
        """Return the values of the columns, each once; an interval counts as the main statistic it belongs to."""
        values = dict.fromkeys(column.value for column in self.spec.columns)
        if "interval" in values:
            values = dict.fromkeys(_main_statistic(self.spec) if value == "interval" else value for value in values)
        return list(values)

    def to_json(self) -> dict[str, Any]:
        """Return the table as plain JSON values, a row for each row and model."""
        spec, values = self.spec, self.values
        titles = {column.value: column.title for column in reversed(spec.columns)}
        rows = [
            {
                "name": line.name,
                "kind": line.kind,
                "section": line.section,
                "model": entry.model,
                "few": entry.few,
                "cells": {value: entry.cells[value].to_json() for value in values},
            }
            for line in self.lines
            for entry in line.entries
            if entry is not None
        ]
        return {
            "family": self.family,
            "name": spec.name,
            "title": spec.title,
            "caption": spec.caption or spec.name,
            "graded": spec.graded,
            "about": self.rows,
            "columns": [{"value": value, "title": titles.get(value) or value} for value in values],
            "rows": rows,
            "notes": list(self.notes),
        }


def tables_of(tally: Tally) -> list[Table]:
    """Return the tables of each family in its order, then the table over several families, without empty tables."""
    tables = [table for family in tally.families for table in family_tables(tally.of_family(family))]
    return [*tables, *cross_family_tables(tally)]


def specs_of(description: FamilyDescription) -> tuple[TableSpec, ...]:
    """Return the tables that a family declares, or the standard tables if it declares none."""
    return description.tables or standard_tables(description.group, description.section)


def prompt_specs(tally: Tally, description: FamilyDescription) -> tuple[TableSpec, ...]:
    """Return the tables by prompt template; none if the family declares its own or was asked with a single template."""
    declared = any(spec.rows == "label" and spec.label == PROMPT for spec in specs_of(description))
    return BY_PROMPT if tally.pooled_prompts and not declared else ()


def family_tables(tally: Tally) -> list[Table]:
    """Return the tables of a tally of one family that are not empty."""
    (family,) = tally.families
    description = tally.descriptions[family]
    specs = (*specs_of(description), *prompt_specs(tally, description))
    tables = (table_of(tally, description, spec) for spec in specs)
    nonempty = [table for table in tables if not table.empty]
    titles, facts = [table.spec.title for table in nonempty], description.facts
    notes = [tuple(f"{name}: {facts[name]}" for name in table.spec.facts if name in facts) for table in nonempty]
    return [
        replace(table, titled=titles.count(table.spec.title) > 1, notes=lines)
        for table, lines in zip(nonempty, notes, strict=True)
    ]


def cross_family_tables(tally: Tally) -> list[Table]:
    """Return the table of pass rates by family with their total if several families have right or wrong answers."""
    groups = tally.groups("family", pooled=True)
    if len(groups) < 2:
        return []
    spec = TableSpec("families", "family", RATES, caption="Pass rates by family")
    return [_table_by_model(tally, FamilyDescription(""), spec, "family")]


def table_of(tally: Tally, description: FamilyDescription, spec: TableSpec, most: int | None = None) -> Table:
    """Return a table of one family.

    Args:
        tally: The trials of that family.
        description: The description of the family.
        spec: One of its tables, or any other.
        most: Greatest number of rows for a label with numeric values, which are grouped into ranges; None for no limit.
    """
    part = tally.select(lambda trial: trial.question.group in spec.groups) if spec.groups else tally
    if spec.rows in ("model", "model-group"):
        return _table_of_models(part, description, spec)
    return _table_by_model(part, description, spec, spec.rows, most)


def _table_by_model(
    tally: Tally, description: FamilyDescription, spec: TableSpec, rows: Rows | str, most: int | None = None
) -> Table:
    """Return a table with an entry for each model in every row."""
    by = spec.label if rows == "label" else rows
    lines = [
        _line(tally, description, spec, name, kind, section, groups, tally.models)
        for name, kind, section, groups in _grouped_rows(tally, spec, by, rows, most)
    ]
    if spec.total:
        groups = {model: tally.total_group(model, spec.graded) for model in tally.models}
        lines.append(_line(tally, description, spec, "total", "total", "", groups, tally.models))
    return Table(description.name, spec, rows, tally.models, tuple(lines))


_GroupedRow = tuple[str, str, str, dict[str, Group]]  # name, kind, section, and the group of each model


def _grouped_rows(tally: Tally, spec: TableSpec, by: str, rows: str, most: int | None) -> Iterator[_GroupedRow]:
    """Yield the rows in order, groups below their section."""
    by_row: dict[tuple[str, str], dict[str, Group]] = {}
    for group in tally.groups(by, most=most, graded=spec.graded):
        by_row.setdefault((group.section, group.name), {})[group.model] = group
    order = [(group.section, group.name) for group in tally.groups(by, most=most, pooled=True, graded=spec.graded)]
    order = list(dict.fromkeys([*order, *by_row]))  # ranges of a label can differ between models
    sections: dict[str, dict[str, Group]] = {}
    if rows == "group" and spec.sections and any(section for section, _ in order):
        for group in tally.groups("section", graded=spec.graded):
            sections.setdefault(group.name, {})[group.model] = group
    above = None
    for section, name in order:
        if section != above and section in sections:
            yield section, "section", "", sections[section]
        above = section
        if (section, name) in by_row:
            yield name, rows, section, by_row[section, name]


def _table_of_models(tally: Tally, description: FamilyDescription, spec: TableSpec) -> Table:
    """Return a table with a row for each model, or each group of each, and further rows with published numbers."""
    lines = []
    for name, group in _model_rows(tally, spec):
        lines.append(_line(tally, description, spec, name, "model", "", {"": group}, ("",)))
    present_names = {line.name for line in lines} | {"total"}
    for name in dict.fromkeys(reference.row for reference in spec.references if reference.row not in present_names):
        cells = {
            column.value: Cell(references=_published_references(spec, name, column.value)) for column in spec.columns
        }
        lines.append(Line(name, "published", "", (TableEntry("", False, True, cells, published=True),)))
    if spec.total and len(tally.models) > 1:
        total_groups = {"": tally.total_group(None, spec.graded)}
        lines.append(_line(tally, description, spec, "total", "total", "", total_groups, ("",)))
    has_models = any(line.kind == "model" for line in lines)
    return Table(description.name, spec, "model", ("",), tuple(lines) if has_models else ())


def _model_rows(tally: Tally, spec: TableSpec) -> list[tuple[str, Group]]:
    """Return the groups of the rows by name; groups of questions are named by model, group, or both if both differ."""
    if spec.rows == "model":
        return [(group.name, group) for group in tally.groups("model", graded=spec.graded)]
    groups = [(_row_name(spec, group), group) for group in tally.groups(graded=spec.graded)]
    if len({group.model for _, group in groups}) < 2:
        return groups
    several = len({group.name for _, group in groups}) > 1
    return [(f"{group.model}, {name}" if several else group.model, group) for name, group in groups]


def _row_name(spec: TableSpec, group: Group) -> str:
    """Return the name of a group: that of a tuned row if a soft prompt stood before every prompt."""
    sources = [trial.reply.source for trial in group.trials if trial.reply is not None]
    tuned = bool(sources) and all(source.endswith(SOFT_PROMPT_SOURCE) for source in sources)
    return dict(spec.tuned_rows).get(group.name, group.name) if tuned else group.name


def _line(
    tally: Tally,
    description: FamilyDescription,
    spec: TableSpec,
    name: str,
    kind: str,
    section: str,
    groups: Mapping[str, Group],
    models: Sequence[str],
) -> Line:
    entries = (
        _table_entry(tally, description, spec, name, groups[model]) if model in groups else None for model in models
    )
    return Line(name, kind, section, tuple(entries))


def _table_entry(tally: Tally, description: FamilyDescription, spec: TableSpec, name: str, group: Group) -> TableEntry:
    row, interval, cells = tally.row(group), group.interval, dict[str, Cell]()
    aggregates = {aggregate.name: aggregate for aggregate in description.aggregates}
    for value in dict.fromkeys(column.value for column in spec.columns):
        if value in STATISTICS:
            cell = _statistic_cell(row, interval, value, value == _main_statistic(spec))
        else:
            cell = _aggregate_cell(aggregates.get(value) or Aggregate(value, "mean", (value,)), aggregates, group)
        published = _published_references(spec, name, value)
        cells[value] = Cell(cell.value, cell.low, cell.high, cell.n, published) if published else cell
    few = 0 < group.questions < FEW
    return TableEntry(group.model, few, all(trial.accepted for trial in group.trials), cells)


def _main_statistic(spec: TableSpec) -> str:
    """Return the statistic that the interval of a row belongs to."""
    return "mean" if spec.graded else "rate"


def _statistic_cell(row: Row, interval: tuple[float, float] | None, value: str, main: bool) -> Cell:
    low, high = interval if interval and (main or value == "interval") else (None, None)
    if value == "interval":
        return Cell(None, low, high, row.n)
    number = getattr(row, value)
    return Cell(number, low, high, row.questions if isinstance(number, int) else row.n)


def _aggregate_cell(aggregate: Aggregate, aggregates: Mapping[str, Aggregate], group: Group) -> Cell:
    estimate = estimate_aggregate(aggregate, aggregates, group.trials)
    return Cell(estimate.value, estimate.low, estimate.high, estimate.n)


def _published_references(spec: TableSpec, row: str, value: str) -> tuple[Reference, ...]:
    references: list[ReferenceValue] = [
        reference for reference in spec.references if (reference.row, reference.column) == (row, value)
    ]
    return tuple(Reference(reference.value, reference.source) for reference in references)


def _is_filled(cell: Cell) -> bool:
    counted = isinstance(cell.value, int) and not cell.value
    return not counted and (cell.value is not None or cell.low is not None or bool(cell.references))

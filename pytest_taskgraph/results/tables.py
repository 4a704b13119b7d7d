"""The tables of a run as plain data: what every report shows of them, from one definition (`TableSpec`).

A table belongs to one family, and holds its right or wrong questions or its graded ones, never both. Over several
families there is one more, of pass rates; of a family that was asked with several prompts, one by prompt.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, get_args

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
from ..trial import PROMPT
from .aggregates import estimate_aggregate
from .tally import Group, Row, Tally

FEW = 10  # questions answered; what rests on fewer is marked
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
"""The tables of a family that was asked with several prompt templates."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A published number and where it stands."""

    value: float
    source: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a table.

    Args:
        value: None where there is nothing to take it of.
        low: Lower end of its 95 % interval; None where it has none.
        high: Upper end.
        n: What it is taken over: answered questions, for counts all of them.
        references: Published values of the same.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    references: tuple[Reference, ...] = ()

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends of the interval; None where there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def to_json(self) -> dict[str, Any]:
        """Return the cell as plain JSON values."""
        return {**asdict(self), "references": [asdict(one) for one in self.references]}


@dataclass(frozen=True, slots=True)
class TableEntry:
    """What a row says of one model, or of all.

    Args:
        model: "" where several are pooled.
        few: True if fewer than FEW questions were answered, but any.
        accepted: True if nothing that the row is about failed.
        cells: Cells by the value of their column.
        published: True if the row holds published numbers alone: its system was not asked.
    """

    model: str
    few: bool
    accepted: bool
    cells: Mapping[str, Cell]
    published: bool = False

    def count(self, value: str) -> int:
        """Return a count of the row, 0 where it does not hold it."""
        return int(self.cells[value].value or 0) if value in self.cells else 0


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table.

    Args:
        name: As in the trials; "total" for the total.
        kind: "group", "section", "model", "label", "family", "total", or "published": known from references alone.
        section: The section of a group; else "".
        entries: One for each model of the table; None where the model was asked nothing of it.
    """

    name: str
    kind: str
    section: str
    entries: tuple[TableEntry | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its numbers.

    Args:
        family: "" for a table over several families.
        rows: What its rows are about, as in `TableSpec`, or "family".
        models: A column of entries each; ("",) where models are rows, or pooled.
        titled: True if its caption tells it from another table of the family, which has the same heading.
    """

    family: str
    spec: TableSpec
    rows: str
    models: tuple[str, ...]
    lines: tuple[Line, ...]
    titled: bool = False

    @property
    def side_by_side(self) -> bool:
        """Return True if several models stand beside each other in every row."""
        return self.rows != "model" and len(self.models) > 1

    @property
    def main(self) -> str:
        """The statistic that the intervals of the rows are of."""
        return _main(self.spec)

    @property
    def grid(self) -> bool:
        """Return True if it says of each value of a label and each model what this came to, and no more than that."""
        published = any(cell.references for entry in self.entries for cell in entry.cells.values())
        plain = {self.main, "n"} <= {*self.values} <= STATISTICS and not published
        return self.side_by_side and self.rows == "label" and not self.spec.total and plain

    @property
    def empty(self) -> bool:
        """Return True if fewer rows than it needs stand in it; the total and published ones do not count."""
        return sum(one.kind not in ("total", "published") for one in self.lines) < max(1, self.spec.least_rows)

    @property
    def entries(self) -> list[TableEntry]:
        """All entries, row by row."""
        return [one for line in self.lines for one in line.entries if one is not None]

    def of_model(self, model: str) -> Table:
        """Return the table of one of its models: its rows, without those of which it was asked nothing."""
        at = self.models.index(model)
        lines = (replace(one, entries=(one.entries[at],)) for one in self.lines if one.entries[at] is not None)
        return replace(self, models=(model,), lines=tuple(lines))

    def columns(self, report: str, verbose: bool = True) -> list[Column]:
        """Return the columns that a report shows.

        Args:
            report: "terminal", "md" or "html".
            verbose: False to leave out those that are verbose.
        """
        entries = self.entries
        return [
            one
            for one in self.spec.columns
            if (not one.reports or report in one.reports)
            and (verbose or not one.verbose)
            and not (one.optional and not any(_filled(entry.cells[one.value]) for entry in entries))
        ]

    def has_references(self, value: str) -> bool:
        """Return True if published numbers stand beside the run's own of that value; a published row has no own."""
        return any(one.cells[value].references for one in self.entries if not one.published)

    @property
    def values(self) -> list[str]:
        """The values of the columns, each once; that of the interval left out, for it belongs to the main value."""
        listed = dict.fromkeys(one.value for one in self.spec.columns)
        if "interval" in listed:
            listed = dict.fromkeys(_main(self.spec) if one == "interval" else one for one in listed)
        return list(listed)

    def to_json(self) -> dict[str, Any]:
        """Return the table as plain JSON values, a row for each row and model."""
        spec, values = self.spec, self.values
        titles = {one.value: one.title for one in reversed(spec.columns)}
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
        }


def tables_of(tally: Tally) -> list[Table]:
    """Return the tables of each family in its order, then that over several families, without tables that are empty."""
    found = [one for family in tally.families for one in family_tables(tally.of_family(family))]
    return [*found, *cross_family_tables(tally)]


def specs_of(described: FamilyDescription) -> tuple[TableSpec, ...]:
    """Return the tables that a family declares, the standard ones where it declares none."""
    return described.tables or standard_tables(described.group, described.section)


def prompt_specs(tally: Tally, described: FamilyDescription) -> tuple[TableSpec, ...]:
    """Return the tables by prompt template; none where the family has its own, or was asked with a single one."""
    declared = any(one.rows == "label" and one.label == PROMPT for one in specs_of(described))
    return BY_PROMPT if tally.pooled_prompts and not declared else ()


def family_tables(tally: Tally) -> list[Table]:
    """Return the tables of a tally of one family that are not empty."""
    (family,) = tally.families
    described = tally.descriptions[family]
    specs = (*specs_of(described), *prompt_specs(tally, described))
    tables = (table_of(tally, described, spec) for spec in specs)
    found = [one for one in tables if not one.empty]
    titles = [one.spec.title for one in found]
    return [replace(one, titled=titles.count(one.spec.title) > 1) for one in found]


def cross_family_tables(tally: Tally) -> list[Table]:
    """Return the table of pass rates by family with their total, where several families have right or wrong answers."""
    groups = tally.groups("family", pooled=True)
    if len(groups) < 2:
        return []
    spec = TableSpec("families", "family", RATES, caption="Pass rates by family")
    return [_by_model(tally, FamilyDescription(""), spec, "family")]


def table_of(tally: Tally, described: FamilyDescription, spec: TableSpec, most: int | None = None) -> Table:
    """Return a table of one family.

    Args:
        tally: The trials of that family.
        described: The description of the family.
        spec: One of its tables, or any other.
        most: How many rows a label with many numbers has at most: these are put together in ranges.
    """
    part = tally.select(lambda one: one.question.group in spec.groups) if spec.groups else tally
    if spec.rows in ("model", "model-group"):
        return _of_models(part, described, spec)
    return _by_model(part, described, spec, spec.rows, most)


def find_table_mistake(described: FamilyDescription, metrics: Collection[str] | None = None) -> str:
    """Return what is wrong with the tables of a family; "" if nothing is.

    Args:
        described: The description of the family.
        metrics: The names of all metrics; None where they are not known.
    """
    names = [one.name for one in described.tables]
    for spec in described.tables:
        twice = "two tables have that name; rename one" if names.count(spec.name) > 1 else ""
        if told := twice or _mistake(spec, [one.name for one in described.aggregates], metrics):
            return f"table {spec.name!r}: {told}"
    return ""


def _mistake(spec: TableSpec, aggregates: Sequence[str], metrics: Collection[str] | None) -> str:
    values, known = [one.value for one in spec.columns], {*STATISTICS, *aggregates, *(metrics or ())}
    if not values:
        return "it has no column; expected at least one"
    if metrics is not None and (unknown := [one for one in values if one not in known]):
        return f"unknown column {unknown[0]!r}; expected one of {', '.join(sorted(known))}"
    if lost := [one for one in spec.references if one.column not in values]:
        return f"a reference is about the column {lost[0].column!r}; expected one of {', '.join(values)}"
    if spec.rows not in get_args(Rows):
        return f"unknown rows {spec.rows!r}; expected one of {', '.join(get_args(Rows))}"
    if unclear := [one for one in spec.references if not _is_finite(one.value)]:
        return f"the reference of {unclear[0].row!r} has the value {unclear[0].value!r}; expected a finite number"
    if spec.rows == "label" and not spec.label:
        return "its rows are the values of a label, and it names none; set label"
    return "graded questions have no pass rate; show their mean" if spec.graded and "rate" in values else ""


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _by_model(
    tally: Tally, described: FamilyDescription, spec: TableSpec, rows: Rows | str, most: int | None = None
) -> Table:
    """A table with an entry for each model in every row."""
    by = spec.label if rows == "label" else rows
    lines = [
        _line(tally, described, spec, name, kind, section, groups, tally.models)
        for name, kind, section, groups in _grouped(tally, spec, by, rows, most)
    ]
    if spec.total:
        groups = {model: tally.total_group(model, spec.graded) for model in tally.models}
        lines.append(_line(tally, described, spec, "total", "total", "", groups, tally.models))
    return Table(described.name, spec, rows, tally.models, tuple(lines))


_Grouped = tuple[str, str, str, dict[str, Group]]  # name, kind and section of a row, and its group of each model


def _grouped(tally: Tally, spec: TableSpec, by: str, rows: str, most: int | None) -> Iterator[_Grouped]:
    """The rows in order, those of groups below their section."""
    found: dict[tuple[str, str], dict[str, Group]] = {}
    for one in tally.groups(by, most=most, graded=spec.graded):
        found.setdefault((one.section, one.name), {})[one.model] = one
    order = [(one.section, one.name) for one in tally.groups(by, most=most, pooled=True, graded=spec.graded)]
    order = list(dict.fromkeys([*order, *found]))  # ranges of a label need not be the same for each model
    sections: dict[str, dict[str, Group]] = {}
    if rows == "group" and spec.sections and any(section for section, _ in order):
        for one in tally.groups("section", graded=spec.graded):
            sections.setdefault(one.name, {})[one.model] = one
    above = None
    for section, name in order:
        if section != above and section in sections:
            yield section, "section", "", sections[section]
        above = section
        if (section, name) in found:
            yield name, rows, section, found[section, name]


def _of_models(tally: Tally, described: FamilyDescription, spec: TableSpec) -> Table:
    """A table with a row for each model, or each group of each, and for each further row with published numbers."""
    lines = []
    for name, group in _model_rows(tally, spec):
        lines.append(_line(tally, described, spec, name, "model", "", {"": group}, ("",)))
    known = {one.name for one in lines} | {"total"}
    for name in dict.fromkeys(one.row for one in spec.references if one.row not in known):
        cells = {one.value: Cell(references=_published(spec, name, one.value)) for one in spec.columns}
        lines.append(Line(name, "published", "", (TableEntry("", False, True, cells, published=True),)))
    if spec.total and len(tally.models) > 1:
        whole = {"": tally.total_group(None, spec.graded)}
        lines.append(_line(tally, described, spec, "total", "total", "", whole, ("",)))
    asked = any(one.kind == "model" for one in lines)
    return Table(described.name, spec, "model", ("",), tuple(lines) if asked else ())


def _model_rows(tally: Tally, spec: TableSpec) -> list[tuple[str, Group]]:
    """Return the rows by name; those of groups are called by model and group, or by one where the other is the same."""
    if spec.rows == "model":
        return [(one.name, one) for one in tally.groups("model", graded=spec.graded)]
    groups = tally.groups(graded=spec.graded)
    if len({one.model for one in groups}) < 2:
        return [(one.name, one) for one in groups]
    several = len({one.name for one in groups}) > 1
    return [(f"{one.model}, {one.name}" if several else one.model, one) for one in groups]


def _line(
    tally: Tally,
    described: FamilyDescription,
    spec: TableSpec,
    name: str,
    kind: str,
    section: str,
    groups: Mapping[str, Group],
    models: Sequence[str],
) -> Line:
    entries = (_entry(tally, described, spec, name, groups[one]) if one in groups else None for one in models)
    return Line(name, kind, section, tuple(entries))


def _entry(tally: Tally, described: FamilyDescription, spec: TableSpec, name: str, group: Group) -> TableEntry:
    row, interval, cells = tally.row(group), group.interval, dict[str, Cell]()
    known = {one.name: one for one in described.aggregates}
    for value in dict.fromkeys(one.value for one in spec.columns):
        if value in STATISTICS:
            cell = _statistic(row, interval, value, value == _main(spec))
        else:
            cell = _aggregated(known.get(value) or Aggregate(value, "mean", (value,)), known, group)
        published = _published(spec, name, value)
        cells[value] = Cell(cell.value, cell.low, cell.high, cell.n, published) if published else cell
    few = 0 < group.questions < FEW
    return TableEntry(group.model, few, all(one.accepted for one in group.trials), cells)


def _main(spec: TableSpec) -> str:
    """The statistic that the interval of a row is of."""
    return "mean" if spec.graded else "rate"


def _statistic(row: Row, interval: tuple[float, float] | None, value: str, main: bool) -> Cell:
    low, high = interval if interval and (main or value == "interval") else (None, None)
    if value == "interval":
        return Cell(None, low, high, row.n)
    number = getattr(row, value)
    return Cell(number, low, high, row.questions if isinstance(number, int) else row.n)


def _aggregated(aggregate: Aggregate, known: Mapping[str, Aggregate], group: Group) -> Cell:
    found = estimate_aggregate(aggregate, known, group.trials)
    return Cell(found.value, found.low, found.high, found.n)


def _published(spec: TableSpec, row: str, value: str) -> tuple[Reference, ...]:
    found: list[ReferenceValue] = [one for one in spec.references if (one.row, one.column) == (row, value)]
    return tuple(Reference(one.value, one.source) for one in found)


def _filled(cell: Cell) -> bool:
    counted = isinstance(cell.value, int) and not cell.value
    return not counted and (cell.value is not None or cell.low is not None or bool(cell.references))

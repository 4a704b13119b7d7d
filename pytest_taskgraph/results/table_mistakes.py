"""What is wrong with the tables that a family declares."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import isfinite
from typing import get_args

from ..family_description import STATISTICS, FamilyDescription, Rows, TableSpec


def find_table_mistake(description: FamilyDescription, metrics: Collection[str] | None = None) -> str:
    """Return what is wrong with the tables of a family; "" if nothing is.

    Args:
        description: The description of the family.
        metrics: Names of all metrics; None if unknown.
    """
    names = [table.name for table in description.tables]
    for spec in description.tables:
        duplicate = "two tables have that name; rename one" if names.count(spec.name) > 1 else ""
        if unknown_facts := [name for name in spec.facts if name not in description.facts]:
            known = ", ".join(description.facts) or "none"
            return f"table {spec.name!r}: unknown fact {unknown_facts[0]!r}; known: {known}"
        if reason := duplicate or _spec_mistake(
            spec, [aggregate.name for aggregate in description.aggregates], metrics
        ):
            return f"table {spec.name!r}: {reason}"
    return ""


def _spec_mistake(spec: TableSpec, aggregates: Sequence[str], metrics: Collection[str] | None) -> str:
    values, known_values = [column.value for column in spec.columns], {*STATISTICS, *aggregates, *(metrics or ())}
    if not values:
        return "it has no column; expected at least one"
    if metrics is not None and (unknown := [value for value in values if value not in known_values]):
        return f"unknown column {unknown[0]!r}; expected one of {', '.join(sorted(known_values))}"
    if unknown_references := [reference for reference in spec.references if reference.column not in values]:
        return f"a reference is about the column {unknown_references[0].column!r}; expected one of {', '.join(values)}"
    if spec.headline and spec.headline not in values:
        return f"its headline is {spec.headline!r}; expected one of its columns {', '.join(values)}"
    if spec.rows not in get_args(Rows):
        return f"unknown rows {spec.rows!r}; expected one of {', '.join(get_args(Rows))}"
    if invalid_references := [reference for reference in spec.references if not _is_finite(reference.value)]:
        wrong = invalid_references[0]
        return f"the reference of {wrong.row!r} has the value {wrong.value!r}; expected a finite number"
    if spec.rows == "label" and not spec.label:
        return "its rows are the values of a label, but it names no label; set label"
    return "graded questions have no pass rate; show their mean" if spec.graded and "rate" in values else ""


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and isfinite(value)

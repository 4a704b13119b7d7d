"""The aggregates of families before and after, as rows that every report of a comparison shows alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .wording import number, p_value, signed, signed_interval

if TYPE_CHECKING:
    from ..results.aggregate_changes import AggregateChange

INTERVAL = "95% interval"
NAMES = ("aggregate", "model")
FIGURES = ("n", "before", "after", "change", INTERVAL, "p", "verdict")
OF_P_OF_AGGREGATES = "p of an aggregate: one-sided, towards worse, adjusted by Holm over all aggregates"


def aggregate_titles(changes: Sequence[AggregateChange]) -> list[str]:
    """Return the titles of the columns; that of the model where there are several."""
    return [*NAMES[: 1 + _several_models(changes)], *FIGURES]


def aggregate_rows(changes: Sequence[AggregateChange]) -> list[list[str]]:
    """Return a row for each aggregate as texts; the family stands before its name where there are several."""
    families = len({one.family for one in changes}) > 1
    models = _several_models(changes)
    return [_row(one, families, models) for one in changes]


def _row(one: AggregateChange, families: bool, models: bool) -> list[str]:
    return [
        f"{one.family} {one.name}" if families else one.name,
        *([one.model] if models else []),
        f"{one.n:,}",
        number(one.before),
        number(one.after),
        signed(one.change),
        signed_interval(one.ends),
        p_value(one.adjusted_p),
        one.verdict or "-",
    ]


def _several_models(changes: Sequence[AggregateChange]) -> bool:
    return any(one.model for one in changes)

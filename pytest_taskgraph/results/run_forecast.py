"""Forecast of what a run will ask and cost, by model and group, computed without asking anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Literal

from .descriptions import Descriptions


@dataclass(frozen=True, slots=True)
class ForecastEntry:
    """One question to one model. Only the requests that are to be sent cost anything."""

    model: str
    family: str
    group: str
    section: str
    requests: int  # to be sent
    tokens_in: int  # of the requests to be sent, expected
    expected: float | None  # US dollars for the requests to be sent; None is unknown
    worst: float | None  # most US dollars for one attempt at each request to be sent; None is unknown
    stored: int = 0  # requests that the store answers
    shared: int = 0  # requests that an earlier question of the run also sends or has answered
    measuring: int = 0  # requests to be sent by judges and embedders, not in the costs
    more: bool = False  # True if replies decide how many requests follow
    largest: float = 0.0  # part of `worst`: the most expensive request


@dataclass(frozen=True, slots=True)
class CostBasis:
    """What the expected and the greatest cost of a model's replies are computed from."""

    longest: int  # greatest number of tokens of a reply
    bound: Literal["setting", "model", "assumed"]  # its source: max_tokens, the model's limit, none
    expected: int  # expected tokens of a reply
    samples: int  # stored replies that `expected` is the mean of; 0: it is assumed
    reasons: bool = False  # True if the model reasons before it answers


@dataclass(frozen=True, slots=True)
class CostAmount:
    """A sum of costs in US dollars, and whether some of the costs are unknown."""

    dollars: float | None  # sum of the known costs; None if no cost is known
    more: bool = False  # True if other costs are unknown


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """Sums over the questions of one group, for one model or for several."""

    name: str
    model: str  # "" where several are pooled
    section: str  # of the row of a group, else ""
    questions: int
    requests: int  # to be sent
    stored: int  # requests that the store answers
    shared: int  # requests that an earlier question also sends or has answered
    tokens_in: int
    expected: CostAmount
    worst: CostAmount
    measuring: int = 0  # requests to be sent by judges and embedders
    more: bool = False  # True if more requests may follow
    family: str = ""  # of the row of a group, else ""


@dataclass(frozen=True, slots=True)
class RunForecast:
    """Rows of groups for each model in the order of the run, a total for each model, and a total of all.

    Args:
        rows: Rows of groups.
        totals: A total for each model.
        total: The total over all models.
        bases: What a model's costs are computed from, by model, where known.
        retries: How often a failed request is repeated at most.
        largest: Greatest known cost of one attempt at one request, in US dollars.
        group: What the families call a group.
    """

    rows: tuple[ForecastRow, ...]
    totals: tuple[ForecastRow, ...]
    total: ForecastRow
    bases: Mapping[str, CostBasis] = field(default_factory=dict)
    retries: int = 0
    largest: float = 0.0
    group: str = "group"

    def rows_of(self, model: str) -> tuple[ForecastRow, ...]:
        """Return the rows of the groups that the model is asked about."""
        return tuple(row for row in self.rows if row.model == model)


_GroupKey = tuple[str, str, str, str]  # of a row: model, family, section, group


def build_forecast(
    entries: Iterable[ForecastEntry],
    retries: int = 0,
    descriptions: Descriptions | None = None,
    bases: Mapping[str, CostBasis] | None = None,
) -> RunForecast:
    """Add up the entries by model and group.

    In the worst case every request is sent 1 + `retries` times and billed each time. Groups are in the order of the
    descriptions, undescribed groups after them by name.

    Args:
        entries: The questions, each to one model.
        retries: How often a failed request is repeated at most.
        descriptions: The descriptions of the families.
        bases: What a model's costs are computed from, by model.
    """
    all_entries = list(entries)
    models = list(dict.fromkeys(entry.model for entry in all_entries))
    groups: dict[_GroupKey, list[ForecastEntry]] = {}
    for entry in all_entries:
        groups.setdefault((entry.model, entry.family, entry.section, entry.group), []).append(entry)
    places, described = {model: at for at, model in enumerate(models)}, descriptions or Descriptions()

    def sort_key(key: _GroupKey) -> tuple[object, ...]:
        model, family, section, group = key
        places_in_family = (
            described.family_place(family),
            described.section_place(family, section),
            described.group_place(family, group),
        )
        return places[model], *places_in_family

    return RunForecast(
        tuple(_row(key[3], key[0], key[2], groups[key], retries, key[1]) for key in sorted(groups, key=sort_key)),
        tuple(_row("total", model, "", [e for e in all_entries if e.model == model], retries) for model in models),
        _row("total", "", "", all_entries, retries),
        bases or {},
        retries,
        max((entry.largest for entry in all_entries), default=0.0),
        described.word("group", [entry.family for entry in all_entries]),
    )


def _row(
    name: str, model: str, section: str, entries: Sequence[ForecastEntry], retries: int, family: str = ""
) -> ForecastRow:
    unstored = [entry for entry in entries if entry.requests]
    return ForecastRow(
        name,
        model,
        section,
        questions=len(entries),
        requests=sum(entry.requests for entry in unstored),
        stored=sum(entry.stored for entry in entries),
        shared=sum(entry.shared for entry in entries),
        tokens_in=sum(entry.tokens_in for entry in unstored),
        expected=_add_costs([entry.expected for entry in unstored]),
        worst=_add_costs([None if entry.worst is None else entry.worst * (1 + retries) for entry in unstored]),
        measuring=sum(entry.measuring for entry in unstored),
        more=any(entry.more for entry in entries),
        family=family,
    )


def _add_costs(costs: Sequence[float | None]) -> CostAmount:
    """Add up the costs; no cost gives 0, unknown costs alone give an unknown sum."""
    known_costs = [cost for cost in costs if cost is not None]
    return CostAmount(fsum(known_costs) if known_costs or not costs else None, len(known_costs) < len(costs))

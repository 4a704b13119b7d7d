"""What a run would ask and cost, by model and group; plain data in, plain data out, nothing is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Literal

from .descriptions import Descriptions


@dataclass(frozen=True, slots=True)
class ForecastEntry:
    """One question put to one model. Only the requests that are to be sent cost something."""

    model: str
    family: str
    group: str
    section: str
    requests: int  # to be sent
    tokens_in: int  # of the requests to be sent, expected
    expected: float | None  # US dollars for the requests to be sent; None is unknown
    worst: float | None  # US dollars for one attempt at each of the requests to be sent, at most; None is unknown
    stored: int = 0  # requests that the store answers
    shared: int = 0  # requests that an earlier question of the run sends, or has answered, as well
    measuring: int = 0  # of the requests to be sent, those of judges and embedders; the costs leave them out
    more: bool = False  # whether replies decide how many requests follow
    largest: float = 0.0  # of `worst`, the part of the request that may cost most


@dataclass(frozen=True, slots=True)
class CostBasis:
    """What the costs of a model's replies rest on."""

    longest: int  # tokens of a reply at most
    bound: Literal["setting", "model", "assumed"]  # what says so: max_tokens, the limit of the model, nobody
    expected: int  # tokens of a reply as expected
    samples: int  # stored replies of which that is the mean; 0: it is assumed
    reasons: bool = False  # whether the model reasons before it answers


@dataclass(frozen=True, slots=True)
class CostAmount:
    """US dollars: those that are known, and whether there are more of which it is not known how many."""

    known: float | None  # None: of nothing is it known
    more: bool = False


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """The questions of one group to one model, or of several, added up."""

    name: str
    model: str  # "" where several are pooled
    section: str  # of the row of a group, else ""
    questions: int
    requests: int  # to be sent
    stored: int  # requests that the store answers
    shared: int  # requests that are sent or answered for an earlier question
    tokens_in: int
    expected: CostAmount
    worst: CostAmount
    measuring: int = 0  # of the requests to be sent, those of judges and embedders
    more: bool = False  # whether more requests may follow
    family: str = ""  # of the row of a group, else ""


@dataclass(frozen=True, slots=True)
class RunForecast:
    """Rows of groups, models in the order in which they came; a total for each model, and one of all.

    `bases` tell by model what its costs rest on, where that is known; `retries`, how often a request is repeated;
    `group`, what the families call a group.
    """

    rows: tuple[ForecastRow, ...]
    totals: tuple[ForecastRow, ...]
    total: ForecastRow
    bases: Mapping[str, CostBasis] = field(default_factory=dict)
    retries: int = 0
    largest: float = 0.0  # US dollars that one attempt at one of the requests costs at most, where that is known
    group: str = "group"

    def rows_of(self, model: str) -> tuple[ForecastRow, ...]:
        """The rows of the groups that the model is asked about."""
        return tuple(row for row in self.rows if row.model == model)


_Key = tuple[str, str, str, str]  # of a row: model, family, section, group


def build_forecast(
    entries: Iterable[ForecastEntry],
    retries: int = 0,
    descriptions: Descriptions | None = None,
    bases: Mapping[str, CostBasis] | None = None,
) -> RunForecast:
    """The plan of these questions. At worst every request is sent 1 + `retries` times, and billed each time.

    Groups stand in the order of the descriptions, others after them by name.
    """
    listed = list(entries)
    models = list(dict.fromkeys(entry.model for entry in listed))
    groups: dict[_Key, list[ForecastEntry]] = {}
    for entry in listed:
        groups.setdefault((entry.model, entry.family, entry.section, entry.group), []).append(entry)
    places, known = {model: at for at, model in enumerate(models)}, descriptions or Descriptions()

    def place(key: _Key) -> tuple[object, ...]:
        model, family, section, group = key
        found = known.family_place(family), known.section_place(family, section), known.group_place(family, group)
        return places[model], *found

    return RunForecast(
        tuple(_row(key[3], key[0], key[2], groups[key], retries, key[1]) for key in sorted(groups, key=place)),
        tuple(_row("total", model, "", [e for e in listed if e.model == model], retries) for model in models),
        _row("total", "", "", listed, retries),
        bases or {},
        retries,
        max((entry.largest for entry in listed), default=0.0),
        known.word("group", [entry.family for entry in listed]),
    )


def _row(
    name: str, model: str, section: str, entries: Sequence[ForecastEntry], retries: int, family: str = ""
) -> ForecastRow:
    asked = [entry for entry in entries if entry.requests]
    return ForecastRow(
        name,
        model,
        section,
        questions=len(entries),
        requests=sum(entry.requests for entry in asked),
        stored=sum(entry.stored for entry in entries),
        shared=sum(entry.shared for entry in entries),
        tokens_in=sum(entry.tokens_in for entry in asked),
        expected=_amount([entry.expected for entry in asked]),
        worst=_amount([None if entry.worst is None else entry.worst * (1 + retries) for entry in asked]),
        measuring=sum(entry.measuring for entry in asked),
        more=any(entry.more for entry in entries),
        family=family,
    )


def _amount(costs: Sequence[float | None]) -> CostAmount:
    """The sum; nothing to pay for is 0, and nothing known is unknown."""
    known = [cost for cost in costs if cost is not None]
    return CostAmount(fsum(known) if known or not costs else None, len(known) < len(costs))

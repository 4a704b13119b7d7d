"""What a run would ask and cost, by model and pattern; plain data in, plain data out, nothing is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from .tally import CATEGORIES


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """One question put to one model. What is stored already is not asked, and costs nothing."""

    model: str
    pattern: str
    category: str
    calls: int
    tokens_in: int  # of all its calls, expected
    expected: float | None  # US dollars for all its calls; None is unknown
    worst: float | None  # US dollars for one attempt at each of its calls, at most; None is unknown
    stored: bool = False


@dataclass(frozen=True, slots=True)
class Amount:
    """US dollars: those that are known, and whether there are more of which it is not known how many."""

    known: float | None  # None: of nothing is it known
    more: bool = False


@dataclass(frozen=True, slots=True)
class PlanRow:
    """The questions of one pattern to one model, or of several, added up."""

    name: str
    model: str  # "" where several are pooled
    category: str  # of a pattern's row, else ""
    questions: int
    calls: int  # to be made
    stored: int  # calls not to be made, for the store has the replies
    tokens_in: int
    expected: Amount
    worst: Amount


@dataclass(frozen=True, slots=True)
class Plan:
    """Rows of patterns, models in the order in which they came; a total for each model, and one of all."""

    rows: tuple[PlanRow, ...]
    totals: tuple[PlanRow, ...]
    total: PlanRow

    def of(self, model: str) -> tuple[PlanRow, ...]:
        """The rows of the patterns that the model is asked about."""
        return tuple(row for row in self.rows if row.model == model)


def plan_of(entries: Iterable[PlanEntry], retries: int = 0, order: Sequence[str] = ()) -> Plan:
    """The plan of these questions. At worst every call is made 1 + `retries` times, and billed each time.

    Patterns stand by category, then as in `order` (the catalogue), others after them by name.
    """
    listed = list(entries)
    models = list(dict.fromkeys(entry.model for entry in listed))
    groups: dict[tuple[str, str, str], list[PlanEntry]] = {}
    for entry in listed:
        groups.setdefault((entry.model, entry.category, entry.pattern), []).append(entry)
    rank = {name: at for at, name in reversed(list(enumerate(order)))}
    places = {model: at for at, model in enumerate(models)}

    def place(key: tuple[str, str, str]) -> tuple[int, int, str, int, str]:
        model, category, pattern = key
        known = CATEGORIES.index(category) if category in CATEGORIES else len(CATEGORIES)
        return places[model], known, category, rank.get(pattern, len(rank)), pattern

    return Plan(
        tuple(_row(key[2], key[0], key[1], groups[key], retries) for key in sorted(groups, key=place)),
        tuple(_row("total", model, "", [e for e in listed if e.model == model], retries) for model in models),
        _row("total", "", "", listed, retries),
    )


def _row(name: str, model: str, category: str, entries: Sequence[PlanEntry], retries: int) -> PlanRow:
    asked = [entry for entry in entries if not entry.stored]
    return PlanRow(
        name,
        model,
        category,
        len(entries),
        sum(entry.calls for entry in asked),
        sum(entry.calls for entry in entries if entry.stored),
        sum(entry.tokens_in for entry in asked),
        _amount([entry.expected for entry in asked]),
        _amount([None if entry.worst is None else entry.worst * (1 + retries) for entry in asked]),
    )


def _amount(costs: Sequence[float | None]) -> Amount:
    """The sum; nothing to pay for is 0, and nothing known is unknown."""
    known = [cost for cost in costs if cost is not None]
    return Amount(fsum(known) if known or not costs else None, len(known) < len(costs))

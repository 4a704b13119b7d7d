"""What replies took: tokens, cost and time, of one reply or as sums over many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any

TOKENS = ("tokens_in", "tokens_out", "tokens_reasoning")
AMOUNTS = (*TOKENS, "cost", "latency")  # what a reply may state


@dataclass(frozen=True, slots=True)
class Usage:
    """Sums over replies. An amount is that of the replies that state it; None if no reply does, never 0 then."""

    replies: int = 0
    stored: int = 0  # of them, replies of earlier runs
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_reasoning: int | None = None  # of tokens_out
    cost: float | None = None  # US dollars
    latency: float | None = None  # seconds
    untold: int = 0  # replies that do not state both `tokens_in` and `tokens_out`
    unpriced: int = 0  # replies of unknown cost

    @property
    def priced(self) -> int:
        """Return the number of replies whose cost is known."""
        return self.replies - self.unpriced

    @property
    def from_store(self) -> bool | None:
        """Return True if every reply is one of an earlier run; None if there is no reply."""
        return self.stored == self.replies if self.replies else None

    def __add__(self, other: Usage) -> Usage:
        return sum_usages((self, other))


NO_USAGE = Usage()


def usage_of(reply: Mapping[str, Any]) -> Usage:
    """Return the usage of one reply from its AMOUNTS, each of which may be None or missing, and `stored`."""
    amounts: dict[str, Any] = {name: reply.get(name) for name in AMOUNTS}
    return Usage(
        replies=1,
        stored=int(bool(reply.get("stored"))),
        untold=int(None in (amounts["tokens_in"], amounts["tokens_out"])),
        unpriced=int(amounts["cost"] is None),
        **amounts,
    )


def sum_usages(usages: Iterable[Usage]) -> Usage:
    """Return the sums over all usages."""
    all_usages = list(usages)
    columns = {name: [getattr(usage, name) for usage in all_usages] for name in Usage.__dataclass_fields__}
    return Usage(**{name: _sum_known(values) for name, values in columns.items()}) if all_usages else NO_USAGE


def _sum_known(values: Iterable[float | None]) -> Any:  # noqa: ANN401 - whole numbers stay whole
    known = [value for value in values if value is not None]
    if not known:
        return None
    return fsum(known) if any(isinstance(value, float) for value in known) else sum(known)

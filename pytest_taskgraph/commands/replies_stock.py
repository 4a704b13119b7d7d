"""What a store holds of each model, counted and added up."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import dataclass, field
from typing import Any

from .replies_rows import object_of, time_of


@dataclass(slots=True)
class Sum:
    """A sum of what is known, and of how many entries it is not."""

    known: list[float] = field(default_factory=list)
    unknown: int = 0

    def add(self, value: float | None) -> None:
        """Nothing; None counts as not known."""
        if value is None:
            self.unknown += 1
        else:
            self.known.append(value)

    @property
    def total(self) -> float:
        """The sum, the same in any order; whole numbers give a whole number."""
        whole = all(isinstance(value, int) for value in self.known)
        return sum(self.known) if whole else math.fsum(self.known)


@dataclass(slots=True)
class Stock:
    """What a store holds of one model."""

    replies: int = 0
    tokens_in: Sum = field(default_factory=Sum)
    tokens_out: Sum = field(default_factory=Sum)
    cost: Sum = field(default_factory=Sum)
    first: str = ""  # the times of the first and the last reply, as they are stored
    last: str = ""

    def add(self, at: str, reply: dict[str, Any]) -> None:
        """Nothing; the entry is counted."""
        self.replies += 1
        for name in ("tokens_in", "tokens_out", "cost"):
            value = reply.get(name)
            getattr(self, name).add(value if isinstance(value, int | float) else None)
        self.first = min(self.first or at, at, key=time_of)
        self.last = max(self.last or at, at, key=time_of)


def stock(connection: sqlite3.Connection) -> dict[str, Stock]:
    """What the store holds, by model, sorted. Raises UsageError for a reply that is no JSON object."""
    found: dict[str, Stock] = {}
    for model, at, reply in connection.execute("SELECT model, at, reply FROM replies ORDER BY key"):
        found.setdefault(model, Stock()).add(at, object_of(reply))
    return dict(sorted(found.items()))

"""What judges a whole run, rather than a question, as a test case of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Case:
    """One verdict: its node id, such as `budget::calls`, how it ended, and why in one line; numbers where it has some.

    These are the entries of `gates` in the record.
    """

    name: str
    outcome: Literal["passed", "failed", "skipped"]
    reason: str
    model: str = ""  # "" where it is about all of them
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    threshold: float | None = None

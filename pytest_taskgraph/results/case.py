"""What judges a whole run, rather than a question, as a test case of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

INCONCLUSIVE: Final = "inconclusive"  # begins the reason of a gate or a comparison that decides nothing
IDENTICAL: Final = "identical replies"  # the verdict of a comparison that has nothing to test
ON_THESE: Final = " on these workflows"  # ends a verdict that claims nothing about other workflows
RETIRED: Final = "cannot tell"  # inconclusive, in records of earlier versions


def is_worse(verdict: str) -> bool:
    """Return True if the verdict, of a comparison or a pattern, is worse: in general, or on these workflows."""
    return verdict.removesuffix(ON_THESE) == "worse"


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

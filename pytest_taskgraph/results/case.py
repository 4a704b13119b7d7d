"""Test cases about a whole run instead of one question: gates, budgets and comparisons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

INCONCLUSIVE: Final = "inconclusive"  # begins the reason of a gate or a comparison that decides nothing
IDENTICAL: Final = "identical replies"  # the verdict of a comparison that has nothing to test
_ON_THESE: Final = " on these "  # stands in a verdict that claims nothing about other clusters, before their noun


COMPARISON_FAILURES: Final = ("regression", "inconclusive", "missing")
FAILURES: Final = ("answers", "gates", *COMPARISON_FAILURES)
"""What can make a run fail, as `--taskgraph-fail-on` names it."""


def is_worse(verdict: str) -> bool:
    """Return True if the verdict, of a comparison or a group, is worse: in general, or on these clusters."""
    return base_verdict(verdict) == "worse"


def restrict_verdict(verdict: str, noun: str) -> str:
    """Return the verdict with the clusters that it is about, such as "better on these documents"."""
    return f"{verdict}{_ON_THESE}{noun}s"


def base_verdict(verdict: str) -> str:
    """Return the verdict without the clusters that it is about."""
    return verdict.partition(_ON_THESE)[0]


@dataclass(frozen=True, slots=True)
class RunCase:
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

    def report_only(self) -> RunCase:
        """Return the verdict as one that fails nothing: skipped, with what it would have been."""
        would = {"passed": ", would pass", "failed": ", would fail", "skipped": ""}[self.outcome]
        return replace(self, outcome="skipped", reason=f"report only{would}: {self.reason}")

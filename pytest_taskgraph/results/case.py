"""Verdicts over a whole run instead of one question: gates, budgets and comparisons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

INCONCLUSIVE: Final = "inconclusive"  # first word of the reason of an undecided gate or comparison
IDENTICAL: Final = "identical replies"  # verdict of a comparison without any difference to test
_ON_THESE: Final = " on these "  # precedes the noun of the clusters that a verdict is restricted to


COMPARISON_FAILURES: Final = ("regression", "inconclusive", "missing")
FAILURES: Final = ("answers", "gates", *COMPARISON_FAILURES)
"""Values of `--taskgraph-fail-on`: what can make a run fail."""


def is_worse(verdict: str) -> bool:
    """Return True if the verdict of a comparison or a group is worse, in general or on these clusters."""
    return base_verdict(verdict) == "worse"


def state_of(outcome: str, reason: str) -> str:
    """Return the outcome of a case; "inconclusive" for a comparison without a decision that fails nothing."""
    undecided = outcome != "failed" and reason.partition(": ")[0] == INCONCLUSIVE
    return INCONCLUSIVE if undecided else outcome


def restrict_verdict(verdict: str, noun: str) -> str:
    """Return the verdict restricted to the clusters that it is about, such as "better on these documents"."""
    return f"{verdict}{_ON_THESE}{noun}s"


def base_verdict(verdict: str) -> str:
    """Return the verdict without the clusters that it is restricted to."""
    return verdict.partition(_ON_THESE)[0]


@dataclass(frozen=True, slots=True)
class RunCase:
    """A verdict over a run: its node id, such as `budget::calls`, its outcome, the reason in one line, and its numbers.

    These are the entries of `gates` in the record.
    """

    name: str
    outcome: Literal["passed", "failed", "skipped"]
    reason: str
    model: str = ""  # "" if it is about all models
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    threshold: float | None = None

    def report_only(self) -> RunCase:
        """Return the verdict as a skipped one that fails nothing, with what it would be otherwise."""
        would = {"passed": ", would pass", "failed": ", would fail", "skipped": ""}[self.outcome]
        return replace(self, outcome="skipped", reason=f"report only{would}: {self.reason}")

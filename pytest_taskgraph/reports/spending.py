"""What the replies of a run took, in a line.

A reply of the store counts with the tokens and the cost that it was recorded with, and nothing is measured by a clock:
so a replay prints the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..results.spending import Spending, spending
from ..trial import Trial
from .wording import count

TITLE = "replies took"
STORED = "(stored ones: as recorded)"
LEAST = 0.0001  # US dollars; less is told as less


def spent(trials: Iterable[Trial]) -> str:
    """Requests, retries, tokens and cost; the empty text where no reply tells tokens or cost, as baselines do not."""
    sums = spending(trials)
    if not (sums.priced or sums.tokens_in or sums.tokens_out):
        return ""
    asked = [count(sums.requests, "request"), *([_retries(sums)] if sums.retries else [])]
    return f"{TITLE}: {', '.join([*asked, *_tokens(sums), _cost(sums)])} {STORED}"


def _retries(sums: Spending) -> str:
    return count(sums.retries, "retry", "retries")


def _tokens(sums: Spending) -> list[str]:
    if not (sums.tokens_in or sums.tokens_out):
        return ["tokens unknown"]
    least = "at least " if sums.untold else ""
    return [f"{least}{sums.tokens_in:,} tokens in", f"{sums.tokens_out:,} out"]


def _cost(sums: Spending) -> str:
    if not sums.priced:
        return "cost unknown"
    known = f"${sums.cost:,.4f}" if sums.cost >= LEAST or not sums.cost else f"under ${LEAST}"
    return f"cost {known}" + (f" and {sums.unpriced:,} of unknown cost" if sums.unpriced else "")

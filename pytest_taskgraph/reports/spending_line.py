"""What a run sent and spent, and what replies took, in a line; nothing is measured by a clock.

A reply of the store counts with the tokens and the cost that it was recorded with, and apart from what the run sent.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..results.record.exchanges import Spending, sum_spending
from ..results.record.facts import Usage
from ..trial import Trial
from .wording import count

TITLE = "replies took"
RUN = "this run sent"
LEAST = 0.0001  # US dollars; less is told as less


def usage_line(usage: Usage | None) -> str:
    """Return what the run sent and what the store answered; the empty text where neither has anything to tell."""
    if usage is None or not (usage.sent or usage.stored):
        return ""
    return "; ".join(filter(None, [f"{RUN} {sent(usage)}", stored(usage)]))


def sent(usage: Usage) -> str:
    """Return the requests that the run sent, retries included, with the tokens and the cost of their replies."""
    least = "" if usage.complete else "at least "
    if not usage.sent:
        return f"{least}no request"
    parts = [_retries(usage.retries), f"{failed:,} without a reply" if (failed := usage.sent - usage.answered) else ""]
    inside = f" ({', '.join(filter(None, parts))})" if any(parts) else ""
    took = _took(usage.tokens_in, usage.tokens_out, usage.untold, usage.cost, usage.answered, usage.unpriced)
    return ", ".join([f"{least}{count(usage.sent, 'request')}{inside}", *(took if usage.answered else ())])


def stored(usage: Usage) -> str:
    """Return what the store answered, with the tokens and the cost as recorded; the empty text for nothing."""
    if not usage.stored:
        return ""
    sums = (usage.stored_tokens_in, usage.stored_tokens_out, 0, usage.stored_cost, usage.stored, usage.stored_unpriced)
    return f"the store answered {count(usage.stored, 'request')}: {', '.join(_took(*sums))} when they were recorded"


def spent(trials: Iterable[Trial]) -> str:
    """Requests, retries, tokens and cost; the empty text where no reply tells tokens or cost, as baselines do not.

    Says how many of the replies are of earlier runs.
    """
    sums = sum_spending(trials)
    if not (sums.priced or sums.tokens_in or sums.tokens_out):
        return ""
    asked = [count(sums.requests, "request"), *([_retries(sums.retries)] if sums.retries else [])]
    return f"{TITLE}: {', '.join([*asked, *_of(sums)])}" + (f" ({sums.stored:,} from the store)" if sums.stored else "")


def took(trials: Iterable[Trial], usage: Usage | None) -> str:
    """Return the line of a whole run: its usage where that is known, else what its replies took."""
    return usage_line(usage) if usage is not None else spent(trials)


def _of(sums: Spending) -> list[str]:
    replies = sums.priced + sums.unpriced
    return _took(sums.tokens_in, sums.tokens_out, sums.untold, sums.cost, replies, sums.unpriced)


def _retries(retries: int) -> str:
    return count(retries, "retry", "retries") if retries else ""


def _took(tokens_in: int, tokens_out: int, untold: int, cost: float, replies: int, unpriced: int) -> list[str]:
    """The tokens and the cost of so many replies."""
    least = "at least " if untold else ""
    tokens = [f"{least}{tokens_in:,} tokens in", f"{tokens_out:,} out"] if tokens_in or tokens_out else []
    return [*(tokens or ["tokens unknown"]), _cost(cost, replies - unpriced, unpriced)]


def _cost(cost: float, priced: int, unpriced: int) -> str:
    if priced <= 0:
        return "cost unknown"
    known = f"${cost:,.4f}" if cost >= LEAST or not cost else f"under ${LEAST}"
    return f"cost {known}" + (f" and {unpriced:,} of unknown cost" if unpriced else "")

"""What a run sent and spent, and what its replies took, in one line; no time is measured.

A reply of the store counts with its recorded tokens and cost, and apart from what the run sent.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..results.record.exchanges import Spending, sum_spending
from ..results.record.facts import Usage
from ..trial import Trial
from .wording import count

TITLE = "replies took"
RUN = "this run sent"
LEAST = 0.0001  # US dollars; a smaller cost is shown as "under $0.0001"


def usage_line(usage: Usage | None) -> str:
    """Return what the run sent and what the store answered; empty if there were no requests."""
    if usage is None or not (usage.sent or usage.stored):
        return ""
    return "; ".join(filter(None, [f"{RUN} {sent_text(usage)}", stored_text(usage)]))


def sent_text(usage: Usage) -> str:
    """Return the requests that the run sent, retries included, with the tokens and the cost of their replies."""
    least = "" if usage.complete else "at least "
    if not usage.sent:
        return f"{least}no request"
    parts = [_retries(usage.retries), f"{failed:,} without a reply" if (failed := usage.sent - usage.answered) else ""]
    inside = f" ({', '.join(filter(None, parts))})" if any(parts) else ""
    amounts = _tokens_and_cost(
        usage.tokens_in, usage.tokens_out, usage.untold, usage.cost, usage.answered, usage.unpriced
    )
    return ", ".join([f"{least}{count(usage.sent, 'request')}{inside}", *(amounts if usage.answered else ())])


def stored_text(usage: Usage) -> str:
    """Return what the store answered, with the recorded tokens and cost; empty if it answered no request."""
    if not usage.stored:
        return ""
    sums = (usage.stored_tokens_in, usage.stored_tokens_out, 0, usage.stored_cost, usage.stored, usage.stored_unpriced)
    amounts = ", ".join(_tokens_and_cost(*sums))
    return f"the store answered {count(usage.stored, 'request')}: {amounts} when they were recorded"


def replies_line(trials: Iterable[Trial]) -> str:
    """Return the requests, retries, tokens and cost of trials, with the number of replies from the store.

    Empty if no reply has tokens or a cost, as those of baselines.
    """
    sums = sum_spending(trials)
    if not (sums.priced or sums.tokens_in or sums.tokens_out):
        return ""
    requests = [count(sums.requests, "request"), *([_retries(sums.retries)] if sums.retries else [])]
    return f"{TITLE}: {', '.join([*requests, *_sums_parts(sums)])}" + (
        f" ({sums.stored:,} from the store)" if sums.stored else ""
    )


def spending_line(trials: Iterable[Trial], usage: Usage | None) -> str:
    """Return the line of a whole run: its usage if it was recorded, else what its replies took."""
    return usage_line(usage) if usage is not None else replies_line(trials)


def _sums_parts(sums: Spending) -> list[str]:
    replies = sums.priced + sums.unpriced
    return _tokens_and_cost(sums.tokens_in, sums.tokens_out, sums.untold, sums.cost, replies, sums.unpriced)


def _retries(retries: int) -> str:
    return count(retries, "retry", "retries") if retries else ""


def _tokens_and_cost(
    tokens_in: int, tokens_out: int, unknown_tokens: int, cost: float, replies: int, unpriced: int
) -> list[str]:
    """Return the tokens and the cost of the given number of replies, as texts."""
    least = "at least " if unknown_tokens else ""
    tokens = [f"{least}{tokens_in:,} tokens in", f"{tokens_out:,} out"] if tokens_in or tokens_out else []
    return [*(tokens or ["tokens unknown"]), _cost(cost, replies - unpriced, unpriced)]


def _cost(cost: float, priced: int, unpriced: int) -> str:
    if priced <= 0:
        return "cost unknown"
    amount = f"${cost:,.4f}" if cost >= LEAST or not cost else f"under ${LEAST}"
    return f"cost {amount}" + (f" and {unpriced:,} of unknown cost" if unpriced else "")

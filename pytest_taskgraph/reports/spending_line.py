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
    tokens = _tokens(usage.tokens_in, usage.tokens_out, usage.tokens_reasoning, usage.untold)
    amounts = [*tokens, _cost(usage.cost, usage.answered - usage.unpriced, usage.unpriced)]
    return ", ".join([f"{least}{count(usage.sent, 'request')}{inside}", *(amounts if usage.answered else ())])


def stored_text(usage: Usage) -> str:
    """Return what the store answered, with the recorded tokens and cost; empty if it answered no request."""
    if not usage.stored:
        return ""
    tokens = _tokens(usage.stored_tokens_in, usage.stored_tokens_out, usage.stored_tokens_reasoning, 0)
    amounts = [*tokens, _cost(usage.stored_cost, usage.stored - usage.stored_unpriced, usage.stored_unpriced)]
    return f"the store answered {count(usage.stored, 'request')}: {', '.join(amounts)} when they were recorded"


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
    tokens = _tokens(sums.tokens_in, sums.tokens_out, sums.tokens_reasoning, sums.untold)
    return [*tokens, _cost(sums.cost, sums.priced, sums.unpriced)]


def _retries(retries: int) -> str:
    return count(retries, "retry", "retries") if retries else ""


def _tokens(tokens_in: int, tokens_out: int, tokens_reasoning: int, unknown_tokens: int) -> list[str]:
    """Return the numbers of tokens as texts; `unknown_tokens` is the number of replies that state none."""
    if not (tokens_in or tokens_out):
        return ["tokens unknown"]
    least = "at least " if unknown_tokens else ""
    return [f"{least}{tokens_in:,} tokens in", output_text(tokens_out, tokens_reasoning)]


def output_text(tokens_out: int, tokens_reasoning: int | None, alone: bool = False) -> str:
    """Return the number of output tokens, and how many of them are reasoning if any are.

    Args:
        tokens_out: The number of output tokens.
        tokens_reasoning: How many of them are reasoning.
        alone: Whether no number of input tokens stands before it.
    """
    text = f"{tokens_out:,} {'tokens ' if alone else ''}out"
    return text + (f" (of them {tokens_reasoning:,} reasoning)" if tokens_reasoning else "")


def _cost(cost: float, priced: int, unpriced: int) -> str:
    if priced <= 0:
        return "cost unknown"
    return f"cost {cost_text(cost)}" + (f" and {unpriced:,} of unknown cost" if unpriced else "")


def cost_text(cost: float) -> str:
    """Return a known cost in US dollars."""
    return f"${cost:,.4f}" if cost >= LEAST or not cost else f"under ${LEAST}"

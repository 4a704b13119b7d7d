"""What a run sent and spent, and what its replies took, in one line; no time is measured.

A reply of the store counts with its recorded tokens and cost, and apart from what the run sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..results.record.exchanges import sum_trials
from ..results.record.facts import RunUsage
from ..trial import Trial
from ..usage import Usage
from .wording import count

TITLE = "replies took"
RUN = "this run sent"
LEAST = 0.0001  # US dollars; a smaller cost is shown as "under $0.0001"


def usage_line(usage: RunUsage | None) -> str:
    """Return what the run sent and what the store answered; empty if there were no requests."""
    if usage is None or not (usage.sent or usage.stored.replies):
        return ""
    return "; ".join(filter(None, [f"{RUN} {sent_text(usage)}", stored_text(usage)]))


def sent_text(usage: RunUsage) -> str:
    """Return the requests that the run sent, retries included, with the tokens and the cost of their replies."""
    least = "" if usage.complete else "at least "
    if not usage.sent:
        return f"{least}no request"
    failed = usage.sent - usage.live.replies
    parts = [_retries(usage.retries), f"{failed:,} without a reply" if failed else ""]
    inside = f" ({', '.join(filter(None, parts))})" if any(parts) else ""
    amounts = _amounts(usage.live) if usage.live.replies else []
    return ", ".join([f"{least}{count(usage.sent, 'request')}{inside}", *amounts])


def stored_text(usage: RunUsage) -> str:
    """Return what the store answered, with the recorded tokens and cost; empty if it answered no request."""
    stored = usage.stored
    if not stored.replies:
        return ""
    amounts = ", ".join(_amounts(replace(stored, untold=0)))
    return f"the store answered {count(stored.replies, 'request')}: {amounts} when they were recorded"


def replies_line(trials: Iterable[Trial]) -> str:
    """Return the requests, retries, tokens and cost of trials, with the number of replies from the store.

    Empty if no reply has tokens or a cost, as those of baselines.
    """
    all_trials = list(trials)
    usage = sum_trials(all_trials)
    if not (usage.priced or usage.tokens_in or usage.tokens_out):
        return ""
    retries = sum(trial.retries for trial in all_trials)
    requests = [count(sum(trial.requests for trial in all_trials), "request"), *filter(None, [_retries(retries)])]
    stored = f" ({usage.stored:,} from the store)" if usage.stored else ""
    return f"{TITLE}: {', '.join([*requests, *_amounts(usage)])}{stored}"


def spending_line(trials: Iterable[Trial], usage: RunUsage | None) -> str:
    """Return the line of a whole run: its usage if it was recorded, else what its replies took."""
    return usage_line(usage) if usage is not None else replies_line(trials)


def _retries(retries: int) -> str:
    return count(retries, "retry", "retries") if retries else ""


def _amounts(usage: Usage) -> list[str]:
    """Return tokens and cost as texts."""
    least = "at least " if usage.untold else ""
    tokens = [least + ", ".join(tokens_texts(usage))] if usage.tokens_in or usage.tokens_out else ["tokens unknown"]
    cost = f"cost {cost_text(usage.cost or 0)}" if usage.priced else "cost unknown"
    more = f" and {usage.unpriced:,} of unknown cost" if usage.unpriced and usage.priced else ""
    return [*tokens, cost + more]


def tokens_texts(usage: Usage, with_unit: bool = True) -> list[str]:
    """Return the known numbers of tokens as texts, such as "5 tokens in" and "7 out (of them 4 reasoning)"."""
    parts = [] if usage.tokens_in is None else [f"{_tokens(usage.tokens_in, with_unit)} in"]
    if usage.tokens_out is not None:
        reasoning = f" (of them {usage.tokens_reasoning:,} reasoning)" if usage.tokens_reasoning else ""
        parts.append(f"{_tokens(usage.tokens_out, with_unit and not parts)} out{reasoning}")
    return parts


def _tokens(number: int, with_unit: bool) -> str:
    return count(number, "token") if with_unit else f"{number:,}"


def cost_text(cost: float) -> str:
    """Return a known cost in US dollars."""
    return f"${cost:,.4f}" if cost >= LEAST or not cost else f"under ${LEAST}"

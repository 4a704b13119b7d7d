"""What the replies of trials took, whoever asked for them: requests, retries, tokens and money.

A replay of them tells the same, but for how many came from the store; what a run itself sent is its `usage`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum
from typing import Any

from ..trial import Trial

_TOLD = ("tokens_in", "tokens_out", "cost")


@dataclass(frozen=True, slots=True)
class Spending:
    """Sums over trials. `cost` is in US dollars, over the replies whose cost is known."""

    requests: int
    retries: int
    tokens_in: int
    tokens_out: int
    untold: int  # replies that came without the number of their tokens
    cost: float
    priced: int  # replies whose cost is known
    unpriced: int  # replies whose cost is not
    stored: int = 0  # replies that the store had of an earlier run


def spending(trials: Iterable[Trial]) -> Spending:
    """The sums over the trials, those of varied questions included: they are paid for like any other."""
    ones = list(trials)
    said = [replies(one) for one in ones]
    flat = [reply for some in said for reply in some]
    costs = [float(reply["cost"]) for reply in flat if reply["cost"] is not None]
    return Spending(
        requests=sum(one.requests for one in ones),
        retries=sum(one.retries for one in ones),
        tokens_in=sum(reply["tokens_in"] or 0 for reply in flat),
        tokens_out=sum(reply["tokens_out"] or 0 for reply in flat),
        untold=sum(None in (reply["tokens_in"], reply["tokens_out"]) for reply in flat),
        cost=fsum(costs),
        priced=len(costs),
        unpriced=sum(map(_unpriced, ones, said)),
        stored=sum(reply["stored"] for reply in flat),
    )


def replies(trial: Trial) -> list[dict[str, Any]]:
    """Tokens and cost of each reply that the trial holds, and whether it was stored; judges' and embedders' included.

    What an agent said stands among the exchanges, its last reply too; any other reply stands in the trial alone.
    """
    said = [{name: one.get(name) for name in _TOLD} | {"stored": one.get("stored", False)} for one in trial.exchanges]
    if trial.reply is None or any(one.get("role") == "subject" for one in trial.exchanges):
        return said
    return [{name: getattr(trial.reply, name) for name in (*_TOLD, "stored")}, *said]


def _unpriced(trial: Trial, said: list[dict[str, Any]]) -> int:
    """Replies of unknown cost: those in the trial, and those that came before a later request of it failed."""
    known = sum(reply["cost"] is not None for reply in said)
    lost = trial.requests - 1 - len(said) if trial.outcome == "error" else 0
    return len(said) - known + max(0, lost)

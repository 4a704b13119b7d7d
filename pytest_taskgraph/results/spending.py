"""What the replies of trials took, whoever asked for them: requests, retries, tokens and money.

A replay of them tells the same, but for how many arrived from the store; what a run itself sent is its `usage`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum
from typing import Any

from ..trial import Trial
from .record.exchanges import has_messages, replies


@dataclass(frozen=True, slots=True)
class Spending:
    """Sums over trials. `cost` is in US dollars, over the replies whose cost is known."""

    requests: int
    retries: int
    tokens_in: int
    tokens_out: int
    untold: int  # replies that arrived without the number of their tokens
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


@dataclass(frozen=True, slots=True)
class ReplySums:
    """What all replies of one trial took, as far as they tell; None where none does."""

    tokens_in: int | None
    tokens_out: int | None
    cost: float | None  # US dollars
    latency: float | None  # seconds, one reply after the other
    stored: bool | None  # whether each of them arrived from the store


def sum_replies(trial: Trial) -> ReplySums:
    """Return the sums over all replies of a trial, judges' and embedders' included."""
    arrived = replies(trial)
    return ReplySums(
        tokens_in=_sum(arrived, "tokens_in"),
        tokens_out=_sum(arrived, "tokens_out"),
        cost=_sum(arrived, "cost"),
        latency=_sum(arrived, "latency"),
        stored=all(one["stored"] for one in arrived) if arrived else None,
    )


def _sum(arrived: list[dict[str, Any]], name: str) -> Any:  # noqa: ANN401 - a whole number stays one
    known = [one[name] for one in arrived if one[name] is not None]
    return (fsum if isinstance(known[0], float) else sum)(known) if known else None


def _unpriced(trial: Trial, said: list[dict[str, Any]]) -> int:
    """Replies of unknown cost: those in the trial, and those that arrived before a later request of it failed.

    Of the latter only the number is known, and only where an earlier version asked: it kept no such reply.
    """
    known = sum(reply["cost"] is not None for reply in said)
    counted = trial.outcome == "error" and not any(map(has_messages, trial.exchanges))
    lost = trial.requests - 1 - len(said) if counted else 0
    return len(said) - known + max(0, lost)

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_taskgraph.results.record.exchanges import sum_spending, trial_replies
from pytest_taskgraph.trial import Question, Reply, Trial

PLAIN = Trial(
    Question("q", "u", "p", "structure", "?", "p", "task", "A", "jaccard"),
    "m",
    "right",
    Reply("A", 100, 20, 0.25, 3.0),
    requests=1,
)


FINAL: dict[str, Any] = {"role": "subject", "messages": [], "final": True}


def exchange_of(role: str, cost: float | None) -> dict[str, Any]:
    return {"role": role, "messages": [], "text": "x", "tokens_in": 10, "tokens_out": 2, "cost": cost}


def test_sum_spending_adds_replies_of_all_trials() -> None:
    spending = sum_spending([PLAIN, replace(PLAIN, retries=2, reply=Reply("B", 1, 2))])
    assert (spending.requests, spending.retries, spending.tokens_in, spending.tokens_out) == (2, 2, 101, 22)
    assert (spending.cost, spending.priced, spending.unpriced, spending.untold) == (0.25, 1, 1, 0)


def test_sum_spending_includes_judge_replies() -> None:
    spending = sum_spending([replace(PLAIN, requests=2, exchanges=[FINAL, exchange_of("judge", 0.5)])])
    assert (spending.cost, spending.tokens_in, spending.priced) == (0.75, 110, 2)


def test_sum_spending_agent_final_reply_counts_once() -> None:
    spending = sum_spending(
        [replace(PLAIN, requests=2, exchanges=[exchange_of("subject", 0.5), exchange_of("subject", 0.25)])]
    )
    assert (spending.cost, spending.tokens_in, spending.priced, spending.unpriced) == (0.75, 20, 2, 0)


def test_sum_spending_replies_before_failure_count() -> None:
    failure = {"role": "subject", "messages": [], "failure": "timeout"}
    failed = replace(PLAIN, outcome="error", reply=None, requests=3)
    exchanges = [exchange_of("subject", 0.5), exchange_of("subject", None), failure]
    spending = sum_spending([replace(failed, exchanges=exchanges)])
    assert (spending.cost, spending.priced, spending.unpriced) == (0.5, 1, 1)
    assert sum_spending([replace(failed, exchanges=[failure])]).unpriced == 0
    assert sum_spending([replace(PLAIN, outcome="skipped", reply=None, requests=0)]).unpriced == 0


def test_sum_spending_unreported_tokens_are_counted() -> None:
    assert sum_spending([replace(PLAIN, reply=Reply("A", 5))]).untold == 1
    assert trial_replies(replace(PLAIN, reply=None)) == []

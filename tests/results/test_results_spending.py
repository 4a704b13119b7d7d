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


def said(role: str, cost: float | None) -> dict[str, Any]:
    return {"role": role, "text": "x", "tokens_in": 10, "tokens_out": 2, "cost": cost}


def test_sums_are_over_replies_of_all_trials() -> None:
    found = sum_spending([PLAIN, replace(PLAIN, retries=2, reply=Reply("B", 1, 2))])
    assert (found.requests, found.retries, found.tokens_in, found.tokens_out) == (2, 2, 101, 22)
    assert (found.cost, found.priced, found.unpriced, found.untold) == (0.25, 1, 1, 0)


def test_a_judge_s_reply_is_paid_for_besides() -> None:
    found = sum_spending([replace(PLAIN, requests=2, exchanges=[said("judge", 0.5)])])
    assert (found.cost, found.tokens_in, found.priced) == (0.75, 110, 2)


def test_an_agent_s_last_reply_counts_once() -> None:
    found = sum_spending([replace(PLAIN, requests=2, exchanges=[said("subject", 0.5), said("subject", 0.25)])])
    assert (found.cost, found.tokens_in, found.priced, found.unpriced) == (0.75, 20, 2, 0)


def test_replies_before_a_failed_request_are_of_unknown_cost() -> None:
    failed = replace(PLAIN, outcome="error", reply=None)
    assert [sum_spending([replace(failed, requests=n)]).unpriced for n in (0, 1, 3)] == [0, 0, 2]
    assert sum_spending([replace(PLAIN, outcome="error", requests=2)]).unpriced == 0
    assert sum_spending([replace(PLAIN, outcome="skipped", reply=None, requests=0)]).unpriced == 0


def test_tokens_that_were_not_told_are_counted_as_untold() -> None:
    assert sum_spending([replace(PLAIN, reply=Reply("A", 5))]).untold == 1
    assert trial_replies(replace(PLAIN, reply=None)) == []

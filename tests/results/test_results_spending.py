from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_taskgraph.results.record.exchanges import sum_trials, trial_usages
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


def test_sum_trials_adds_replies_of_all_trials() -> None:
    usage = sum_trials([PLAIN, replace(PLAIN, retries=2, reply=Reply("B", 1, 2))])
    assert (usage.replies, usage.tokens_in, usage.tokens_out) == (2, 101, 22)
    assert (usage.cost, usage.priced, usage.unpriced, usage.untold) == (0.25, 1, 1, 0)


def test_sum_trials_includes_judge_replies() -> None:
    usage = sum_trials([replace(PLAIN, requests=2, exchanges=[FINAL, exchange_of("judge", 0.5)])])
    assert (usage.cost, usage.tokens_in, usage.priced) == (0.75, 110, 2)


def test_sum_trials_agent_final_reply_counts_once() -> None:
    usage = sum_trials(
        [replace(PLAIN, requests=2, exchanges=[exchange_of("subject", 0.5), exchange_of("subject", 0.25)])]
    )
    assert (usage.cost, usage.tokens_in, usage.priced, usage.unpriced) == (0.75, 20, 2, 0)


def test_sum_trials_replies_before_failure_count() -> None:
    failure = {"role": "subject", "messages": [], "failure": "timeout"}
    failed = replace(PLAIN, outcome="error", reply=None, requests=3)
    exchanges = [exchange_of("subject", 0.5), exchange_of("subject", None), failure]
    usage = sum_trials([replace(failed, exchanges=exchanges)])
    assert (usage.cost, usage.priced, usage.unpriced) == (0.5, 1, 1)
    assert sum_trials([replace(failed, exchanges=[failure])]).unpriced == 0
    assert sum_trials([replace(PLAIN, outcome="skipped", reply=None, requests=0)]).unpriced == 0


def test_sum_trials_unreported_tokens_are_counted() -> None:
    assert sum_trials([replace(PLAIN, reply=Reply("A", 5))]).untold == 1
    assert trial_usages(replace(PLAIN, reply=None)) == []

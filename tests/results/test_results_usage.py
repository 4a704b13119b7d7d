from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.reports.spending_line import sent_text, usage_line
from pytest_taskgraph.results.record.facts import RunUsage, sum_run_usages
from pytest_taskgraph.usage import Usage

cents = st.integers(0, 99).map(lambda number: number / 100)


@given(st.lists(cents, max_size=9), st.integers(0, 9))
def test_sum_run_usages_is_independent_of_processes_and_order(costs: list[float], cut: int) -> None:
    usages, shuffled = ([RunUsage(1, live=Usage(cost=cost)) for cost in some] for some in (costs, sorted(costs)))
    parts = [sum_run_usages(part) for part in (shuffled[:cut], shuffled[cut:])]
    assert sum_run_usages(usages) == sum_run_usages(parts)


def test_sum_run_usages_with_lost_worker_is_incomplete() -> None:
    usage = sum_run_usages([RunUsage(3, live=Usage(3)), RunUsage(complete=False)])
    assert not usage.complete
    assert sent_text(usage).startswith("at least 3 requests")


def test_usage_line_states_unknown_cost() -> None:
    line = usage_line(RunUsage(3, live=Usage(2, untold=1, tokens_in=5, tokens_out=0, unpriced=2)))
    assert line == "this run sent 3 requests (1 without a reply), at least 5 tokens in, 0 out, cost unknown"
    assert usage_line(RunUsage(2)) == "this run sent 2 requests (2 without a reply)"


def test_usage_line_without_requests_or_stored_replies_is_empty() -> None:
    assert (usage_line(None), usage_line(RunUsage())) == ("", "")


def test_usage_line_states_reasoning_tokens() -> None:
    replies = Usage(1, tokens_in=5, tokens_out=12400, tokens_reasoning=12345, cost=0.0)
    assert (
        usage_line(RunUsage(1, live=replies))
        == "this run sent 1 request, 5 tokens in, 12,400 out (of them 12,345 reasoning), cost $0.0000"
    )
    stored = RunUsage(stored=Usage(1, tokens_in=5, tokens_out=9, tokens_reasoning=7))
    assert "5 tokens in, 9 out (of them 7 reasoning), cost" in usage_line(stored)
    assert (replies + replies).tokens_reasoning == 24690

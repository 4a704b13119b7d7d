from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.reports.spending_line import sent_text, usage_line
from pytest_taskgraph.results.record.facts import Usage, add_usages

cents = st.integers(0, 99).map(lambda number: number / 100)


@given(st.lists(cents, max_size=9), st.integers(0, 9))
def test_add_usages_is_independent_of_processes_and_order(costs: list[float], cut: int) -> None:
    shuffled = sorted(costs)
    whole = add_usages(Usage(sent=1, cost=cost) for cost in costs)
    parts = add_usages(
        [add_usages(Usage(sent=1, cost=cost) for cost in part) for part in (shuffled[:cut], shuffled[cut:])]
    )
    assert whole == parts


def test_add_usages_with_lost_worker_is_incomplete() -> None:
    assert not add_usages([Usage(sent=3), Usage(complete=False)]).complete
    assert sent_text(add_usages([Usage(sent=3, answered=3), Usage(complete=False)])).startswith("at least 3 requests")


def test_usage_line_states_unknown_cost() -> None:
    line = usage_line(Usage(sent=3, answered=2, untold=1, tokens_in=5, unpriced=2))
    assert line == "this run sent 3 requests (1 without a reply), at least 5 tokens in, 0 out, cost unknown"
    assert usage_line(Usage(sent=2, answered=0)) == "this run sent 2 requests (2 without a reply)"


def test_usage_line_without_requests_or_stored_replies_is_empty() -> None:
    assert (usage_line(None), usage_line(Usage())) == ("", "")


def test_usage_line_states_reasoning_tokens() -> None:
    usage = Usage(sent=1, answered=1, tokens_in=5, tokens_out=12400, tokens_reasoning=12345)
    assert (
        usage_line(usage) == "this run sent 1 request, 5 tokens in, 12,400 out (of them 12,345 reasoning), cost $0.0000"
    )
    stored = Usage(stored=1, stored_tokens_in=5, stored_tokens_out=9, stored_tokens_reasoning=7)
    assert "5 tokens in, 9 out (of them 7 reasoning), cost" in usage_line(stored)
    assert add_usages([usage, usage]).tokens_reasoning == 24690

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

import pytest
from described_runs import described
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.family_description import FamilyDescription
from pytest_taskgraph.reports.escape import columns
from pytest_taskgraph.reports.terminal.forecast_lines import dollars, forecast, lines, tightness
from pytest_taskgraph.results.descriptions import Descriptions
from pytest_taskgraph.results.run_forecast import CostBasis, ForecastEntry, RunForecast, build_forecast

ENTRY = ForecastEntry("gpt-x", "understanding", "chain", "structure", 1, 9000, 0.0012, 0.07)
STORED = replace(ENTRY, requests=0, tokens_in=0, expected=None, worst=None, stored=1)


def some(*more: ForecastEntry, retries: int = 0) -> RunForecast:
    return build_forecast(
        [ENTRY, ENTRY, replace(ENTRY, group="can_end_after", section="behaviour"), *more], retries, described()
    )


def text(plan: RunForecast, width: int) -> str:
    return "\n".join(line for line, _ in lines(plan, width))


def dedented(expected: str) -> str:
    return dedent(expected).strip("\n")


def test_plan_at_120_columns_shows_all_columns() -> None:
    assert text(some(STORED), 120) == dedented("""
        model gpt-x
        pattern          questions  requests  stored  prompt tokens  expected cost  worst cost
        structure
          chain                  3         2       1         18,000        $0.0024       $0.14
        behaviour
          can_end_after          1         1       0          9,000        $0.0012     $0.0700
        total                    4         3       1         27,000        $0.0036       $0.21

        taskgraph plan: 3 requests, 1 reply from the store, about $0.0036, at most $0.21; no request was sent
    """)


def test_plan_several_families_have_headings() -> None:
    families = [FamilyDescription("claims", group="method"), FamilyDescription("steps", group="recipe")]
    entries = [replace(ENTRY, family=family, group="same", section="") for family in ("steps", "claims", "steps")]
    output = text(build_forecast(entries, descriptions=Descriptions(families)), 120).splitlines()
    assert [line.split()[:2] for line in output[1:6]] == [
        ["group", "questions"], ["family", "claims"], ["same", "1"], ["family", "steps"], ["same", "2"],
    ]  # fmt: skip
    alone = text(build_forecast(entries[:1], descriptions=Descriptions(families)), 120).splitlines()
    assert [line.split()[:2] for line in alone[1:3]] == [["recipe", "questions"], ["same", "1"]]


def test_plan_at_80_columns_shows_unknown_price() -> None:
    unknown = ForecastEntry("far/away", "understanding", "dependency_existence", "structure", 2, 50, None, None)
    assert text(some(unknown, replace(unknown, group="chain"), retries=5), 80) == dedented("""
        model gpt-x
        pattern          questions  requests  prompt tokens  expected cost  worst cost
        structure
          chain                  2         2         18,000        $0.0024       $0.84
        behaviour
          can_end_after          1         1          9,000        $0.0012       $0.42
        total                    3         3         27,000        $0.0036       $1.26

        model far/away
        pattern                 asked  requests  tokens  expected    worst
        structure
          chain                     1         2      50   unknown  unknown
          dependency_existence      1         2      50   unknown  unknown
        total                       2         4     100   unknown  unknown

        taskgraph plan: 7 requests, at least $0.0036, at most unknown; no request was
        sent
        the price of far/away is not known; state it in US dollars for a million tokens
        in and out: --taskgraph-price far/away=IN/OUT
    """)


@pytest.mark.parametrize(
    ("basis", "expected"),
    [
        (
            CostBasis(16_384, "model", 250, 0),
            "gpt-x: expected are replies of 250 tokens (an assumption: no reply is stored yet); at worst, replies have "
            "16,384 tokens (the limit of the model), each request repeated 5 times and billed each time "
            "(once: $0.0700); --taskgraph-model-option max_tokens=N lowers it",
        ),
        (
            CostBasis(800, "setting", 412, 60),
            "gpt-x: expected are replies of 412 tokens, the mean of 60 stored ones; at worst, replies have 800 tokens "
            "(as max_tokens allows), each request repeated 5 times and billed each time (once: $0.0700)",
        ),
        (
            CostBasis(131_072, "assumed", 2_000, 0, reasons=True),
            "gpt-x: expected are replies of 2,000 tokens (an assumption, as of a model that reasons: no reply is "
            "stored yet); at worst, replies have 131,072 tokens (an assumption: the limit of the model "
            "is unknown), each request repeated 5 times and billed each time (once: $0.0700); "
            "--taskgraph-model-option max_tokens=N lowers it",
        ),
    ],
)
def test_plan_notes_explain_costs(basis: CostBasis, expected: str) -> None:
    plan = build_forecast([ENTRY], 5, bases={"gpt-x": basis})
    assert expected in " ".join(text(plan, 120).split())


def test_plan_shared_requests_have_column() -> None:
    plan = some(replace(STORED, stored=0, shared=1))
    assert forecast(plan) == "3 requests, 1 shared with another question, about $0.0036, at most $0.21"
    assert text(plan, 120).splitlines()[1].split()[:4] == ["pattern", "questions", "requests", "shared"]


def test_plan_agents_and_judges_note_missing_costs() -> None:
    plan = some(replace(ENTRY, more=True), replace(ENTRY, requests=2, measuring=1))
    assert forecast(plan).startswith("at least 6 requests, ")
    output = " ".join(text(plan, 120).split())
    assert "1 request at most to judges and embedders; what they cost is not in these sums" in output
    assert "some questions send more requests, as their replies turn out" in output


def test_forecast_open_number_of_requests_has_no_bound() -> None:
    plan = some(replace(STORED, stored=0, shared=1, more=True))
    assert forecast(plan) == "at least 3 requests, 1 shared with another question, at least $0.0036, at most unknown"
    assert forecast(plan, max_cost=0.5).endswith("at least $0.0036, at most $0.50")


def test_forecast_from_sample_says_about() -> None:
    plan = some(STORED)
    expected = "about 3 requests, about 1 reply from the store, about $0.0036, at most $0.21"
    assert forecast(plan, sampled=True) == expected
    assert forecast(plan, 2, sampled=True).startswith("2 of about 3 requests, ")


@pytest.mark.parametrize(
    ("entries", "line"),
    [
        ([], "0 requests"),
        ([STORED] * 2, "0 requests, 2 replies from the store"),
        ([replace(ENTRY, requests=184, expected=0.12, worst=1.4)], "184 requests, about $0.12, at most $1.40"),
        ([replace(ENTRY, requests=1234, expected=None, worst=None)], "1,234 requests, cost unknown"),
        ([ENTRY, replace(ENTRY, expected=None, worst=None)], "2 requests, at least $0.0012, at most unknown"),
        ([replace(ENTRY, worst=None)], "1 request, about $0.0012, at most unknown"),
        ([replace(ENTRY, expected=0.0, worst=0.0)], "1 request, about $0.00, at most $0.00"),
    ],
)
def test_forecast_states_requests_and_cost(entries: list[ForecastEntry], line: str) -> None:
    assert forecast(build_forecast(entries)) == line


def test_forecast_replay_has_no_request_and_no_cost() -> None:
    plan = some(replace(STORED, stored=2), replace(ENTRY, expected=None, worst=None))
    expected = "a replay, nothing is sent: 2 replies from the store, 4 missing in it"
    assert forecast(plan, 1, 0.5, replay=True) == expected
    output = [line for line, _ in lines(plan, 80, replay=True)]
    assert output[1].split() == ["pattern", "questions", "stored", "missing"]
    assert ["total", "5", "2", "4"] in [line.split() for line in output]
    assert " ".join(output[-2:]) == f"taskgraph plan: {expected}; no request was sent"


def test_forecast_limits_bind_counts_and_cost() -> None:
    plan = build_forecast([replace(ENTRY, requests=184, expected=0.12, worst=1.4)])
    assert forecast(plan, 100, 1.0) == "100 of 184 requests, about $0.12, at most $1.00"
    assert forecast(plan, 500, 9.0) == "184 requests, about $0.12, at most $1.40"


@pytest.mark.parametrize(
    ("cost", "near", "bound"),
    [
        (0.0, "$0.00", "$0.00"),
        (1e-11, "under $0.0001", "under $0.0001"),
        (1e-9, "under $0.0001", "$0.0001"),
        (0.00001, "under $0.0001", "$0.0001"),
        (0.00121, "$0.0012", "$0.0013"),
        (1.404, "$1.40", "$1.41"),
        (1.1 + 0.3, "$1.40", "$1.40"),
        (12345.6, "$12,345.60", "$12,345.60"),
    ],
)
def test_dollars_are_rounded_to_cents_or_hundredths(cost: float, near: str, bound: str) -> None:
    assert (dollars(cost), dollars(cost, up=True)) == (near, bound)


@given(st.text(min_size=1, max_size=30), st.text(max_size=30), st.integers(40, 130), st.none() | st.floats(0, 1e6))
def test_lines_fit_width(model: str, pattern: str, width: int, cost: float | None) -> None:
    plan = some(ForecastEntry(model, "understanding", pattern, "structure", 123456, 10**9, cost, cost), STORED)
    output = [line for line, _ in lines(plan, width)]
    assert all(columns(line) <= width and line.isprintable() for line in output)


@given(st.floats(0, 1e6))
def test_dollars_bound_is_never_rounded_down(cost: float) -> None:
    amount_text = dollars(cost, up=True)
    if not amount_text.startswith("under"):
        assert float(amount_text[1:].replace(",", "")) >= cost - 1e-8


def test_plan_limits_bind_last_line() -> None:
    output = [line for line, _ in lines(some(), 120, max_calls=2, max_cost=0.1)]
    assert "taskgraph plan: 2 of 3 requests, about $0.0036, at most $0.10; no request was sent" in output


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (None, ""),
        (1.0, ""),
        (0.1, "--taskgraph-max-cost=0.1 lets 2 requests or more be in flight: a request may cost up to $0.0500; "),
        (0.04, "--taskgraph-max-cost=0.04 is too low to ask every question: a request may cost up to $0.0500; "),
    ],
)
def test_tightness_low_limit_is_explained(limit: float | None, expected: str) -> None:
    line = tightness(some(replace(ENTRY, largest=0.05), replace(ENTRY, largest=0.03)), limit)
    assert line == (expected and expected + "--taskgraph-model-option max_tokens=N lowers it")


def test_tightness_free_requests_are_unrestricted() -> None:
    assert tightness(some(), 0.0) == ""

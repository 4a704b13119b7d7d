from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.reports.escape import columns
from pytest_taskgraph.reports.terminal.progress_line import duration, line

RUNNING: dict[str, Any] = {
    "done": 81,
    "total": 300,
    "in_flight": 20,
    "errors": 2,
    "cost": 0.08,
    "unpriced": 0,
    "elapsed": 12.3,
    "left": 34.1,
    "waiting": {},
    "width": 200,
}


def told(**changed: Any) -> str:  # noqa: ANN401 - arguments of the line
    return line(**(RUNNING | changed))


def test_a_line_tells_what_came_what_is_on_its_way_and_what_is_left() -> None:
    assert told() == "81/300 answered, 20 in flight, 2 errors, $0.08, 12 s, about 34 s left"


def test_what_is_nothing_or_not_known_is_left_out() -> None:
    assert told(in_flight=None, errors=0, cost=0.0, left=None) == "81/300 answered, 12 s"
    assert told(in_flight=0, errors=0, cost=0.0, left=None) == "81/300 answered, 12 s"
    assert told(errors=1, in_flight=0, cost=0.0, left=None) == "81/300 answered, 1 error, 12 s"


def test_the_wait_that_lasts_longest_is_told() -> None:
    waiting = {"budget": 3.0, "rate limit": 12.2}
    assert told(waiting=waiting).endswith("about 34 s left, waiting on rate limit, 12 s")


@pytest.mark.parametrize(
    ("cost", "unpriced", "shown"),
    [
        (0, 0, ""),
        (0.001, 0, ", under $0.01"),
        (1.5, 0, ", $1.50"),
        (0, 7, ", 7 of unknown cost"),
        (2, 7, ", $2.00 and 7 of unknown cost"),
    ],
)
def test_an_unknown_price_is_never_told_as_nothing(cost: float, unpriced: int, shown: str) -> None:
    assert told(cost=cost, unpriced=unpriced, in_flight=0, errors=0, left=None) == f"81/300 answered{shown}, 12 s"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-3, "0 s"), (0.4, "0 s"), (99.4, "99 s"), (100, "2 min"), (5900, "98 min"), (7500, "2 h 5 min")],
)
def test_a_time_is_told_in_the_unit_that_suits_it(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_a_narrow_line_loses_whole_parts_the_least_telling_first() -> None:
    whole = told(waiting={"rate limit": 12.0})
    shorter = [told(waiting={"rate limit": 12.0}, width=width) for width in range(len(whole), 0, -1)]
    assert list(dict.fromkeys(shorter)) == [
        "81/300 answered, 20 in flight, 2 errors, $0.08, 12 s, about 34 s left, waiting on rate limit, 12 s",
        "81/300 answered, 2 errors, $0.08, 12 s, about 34 s left, waiting on rate limit, 12 s",
        "81/300 answered, 2 errors, $0.08, about 34 s left, waiting on rate limit, 12 s",
        "81/300 answered, 2 errors, about 34 s left, waiting on rate limit, 12 s",
        "81/300 answered, 2 errors, waiting on rate limit, 12 s",
        "81/300 answered, 2 errors",
        "81/300 answered",
        "81/300",
        "81/3…",
        "81/…",
        "81…",
        "8…",
        "…",
    ]


@given(
    st.dictionaries(st.text(max_size=60), st.floats(0, 1e5), max_size=3),
    st.integers(0, 120),
    st.floats(0, 1e6) | st.none(),
    st.floats(0, 1e4),
)
def test_no_line_is_too_wide_or_holds_what_a_terminal_would_obey(
    waiting: dict[str, float], width: int, left: float | None, cost: float
) -> None:
    shown = told(waiting=waiting, width=width, left=left, cost=cost)
    assert columns(shown) <= width
    assert shown.isprintable()
    assert width < 6 or re.match(r"81/300\b", shown)

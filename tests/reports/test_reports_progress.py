from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.reports.escape import columns
from pytest_taskgraph.reports.terminal.progress_line import line
from pytest_taskgraph.reports.wording import duration

RUNNING: dict[str, Any] = {
    "done": 81,
    "total": 300,
    "in_flight": 20,
    "errors": 2,
    "timeouts": 0,
    "retries": 0,
    "cost": 0.08,
    "unpriced": 0,
    "elapsed": 12.3,
    "left": 34.1,
    "waiting": {},
    "width": 200,
}


def progress(**changed: Any) -> str:  # noqa: ANN401 - arguments of the line
    return line(**(RUNNING | changed))


def test_progress_line_shows_done_in_flight_and_left() -> None:
    assert progress() == "81/300 answered, 20 in flight, 2 errors, $0.08, 12 s, about 34 s left"


def test_progress_line_omits_zero_and_unknown() -> None:
    assert progress(in_flight=None, errors=0, cost=0.0, left=None) == "81/300 answered, 12 s"
    assert progress(in_flight=0, errors=0, cost=0.0, left=None) == "81/300 answered, 12 s"
    assert progress(errors=1, in_flight=0, cost=0.0, left=None) == "81/300 answered, 1 error, 12 s"


def test_progress_line_shows_timeouts_and_retries() -> None:
    shown = progress(errors=0, timeouts=3, retries=1, left=None)
    assert shown == "81/300 answered, 20 in flight, 3 timeouts, 1 retry, $0.08, 12 s"


def test_progress_line_shows_longest_wait() -> None:
    waiting = {"budget": 3.0, "rate limit": 12.2}
    assert progress(waiting=waiting).endswith("about 34 s left, waiting on rate limit, 12 s")


@pytest.mark.parametrize(
    ("cost", "unpriced", "expected"),
    [
        (0, 0, ""),
        (0.001, 0, ", under $0.01"),
        (1.5, 0, ", $1.50"),
        (0, 7, ", 7 of unknown cost"),
        (2, 7, ", $2.00 and 7 of unknown cost"),
    ],
)
def test_progress_line_unknown_price_is_not_zero(cost: float, unpriced: int, expected: str) -> None:
    assert (
        progress(cost=cost, unpriced=unpriced, in_flight=0, errors=0, left=None) == f"81/300 answered{expected}, 12 s"
    )


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(-3, "0 s"), (0.4, "0 s"), (99.4, "99 s"), (100, "2 min"), (5900, "98 min"), (7500, "2 h 5 min")],
)
def test_duration_uses_suitable_unit(seconds: float, expected: str) -> None:
    assert duration(seconds) == expected


def test_progress_line_narrow_drops_least_important_parts() -> None:
    whole = progress(waiting={"rate limit": 12.0})
    shorter = [progress(waiting={"rate limit": 12.0}, width=width) for width in range(len(whole), 0, -1)]
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
def test_progress_line_fits_and_is_printable(
    waiting: dict[str, float], width: int, left: float | None, cost: float
) -> None:
    output = progress(waiting=waiting, width=width, left=left, cost=cost)
    assert columns(output) <= width
    assert output.isprintable()
    assert width < 6 or re.match(r"81/300\b", output)

"""What errors say of the place in a text."""

from __future__ import annotations

import pytest

from pytest_taskgraph.errors import ReadError
from pytest_taskgraph.source import Source

TEXT = "ab \ncd\n" + "x" * 30 + "\nlast"


@pytest.mark.parametrize(
    ("offset", "seen"),
    [
        (0, "'ab'"),
        (3, "the end of the line"),
        (4, "'cd'"),
        (7, repr("x" * 21 + "...")),
        (13, repr("x" * 24)),
        (TEXT.index("last"), "'last'"),
        (len(TEXT), "the end of the text"),
    ],
)
def test_seen_is_rest_of_line_or_its_end(offset: int, seen: str) -> None:
    assert Source(TEXT).seen(offset) == seen


def test_failure_names_place_of_the_offset() -> None:
    with pytest.raises(ReadError, match=r"^chart\.mmd:2:2: "):
        Source(TEXT, "chart.mmd").fail(5, "'d'", "a name")

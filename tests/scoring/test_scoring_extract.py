from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UnparseableError
from pytest_taskgraph.scoring.extraction import list_names
from pytest_taskgraph.scoring.statements import find_statement
from pytest_taskgraph.trial import Parsing, Place

ANYTHING = st.text(st.characters(exclude_categories=()) | st.sampled_from("\x00\x1b\ud800:*`\n,.-[] "), max_size=80)
PLACES_ALL: list[Place] = ["whole", "marker", "first-line"]
PLACES = st.sampled_from(PLACES_ALL)
PARSINGS = st.sampled_from(["lenient", "strict"])


@pytest.mark.parametrize(
    "reply",
    [
        "Final answer: Brew",
        "Because … \n\n**Final answer:** Brew",
        "### Final Answer :\nBrew",
        "__final answer__: Brew",
        "Final answer: Grind\nno, wait.\nFinal answer: Brew",
        "I think it is this one.\n\nBrew\n\n",
        "Final answer:\n```text\nBrew\n```\n",
        "```\nFinal answer: Brew\n```",
        "First this\r\nFinal answer: Brew\r\n",
    ],
)
def test_find_statement_lenient_finds_last_marker(reply: str) -> None:
    assert find_statement(reply, "marker", "lenient").strip(" *\n") == "Brew"


def test_find_statement_strict_takes_all_after_first_marker() -> None:
    assert find_statement("x **Final answer:** A\nFinal answer: B", "marker", "strict") == " A\nFinal answer: B"
    assert find_statement("**final answer:** A", "marker", "strict") == ""


def test_find_statement_whole_and_first_line_cut_there() -> None:
    reply = "\n\nyes\nit does\n\nreally"
    assert find_statement(reply, "whole", "lenient") == reply.strip()
    assert find_statement(reply, "first-line", "lenient") == "yes"
    assert find_statement(reply, "first-line", "lenient", lines=True) == "yes\nit does"
    assert find_statement("```\nyes\n```", "first-line", "lenient") == "yes"


@pytest.mark.parametrize("place", ["whole", "marker", "first-line"])
@pytest.mark.parametrize("reply", ["", " \n\t\n", "```\n```"])
def test_find_statement_empty_reply_is_unparseable(reply: str, place: Place) -> None:
    with pytest.raises(UnparseableError, match="empty"):
        find_statement(reply, place, "lenient")


@given(ANYTHING, PLACES, PARSINGS, st.booleans(), st.lists(st.text(min_size=1, max_size=5)))
@example("\x00\x1b[31m\ud800", "marker", "lenient", False, ["\x00"])
def test_find_statement_any_reply_is_text_or_unparseable(
    reply: str, place: Place, parsing: Parsing, lines: bool, names: list[str]
) -> None:
    try:
        answer = find_statement(reply, place, parsing, lines)
    except UnparseableError:
        return
    assert all(name for name in list_names(answer, names))


@pytest.mark.parametrize(
    "piece",
    [
        "final answer ",
        "final answer:",
        "*",
        " ",
        ",",
        "\n",
        "A,",
        "a.",
        "1. ",
        "```\n",
        "A, B",
        "A, ",
        "final ",
        "_",
        "[",
        "-A, B\n",
    ],
)
@pytest.mark.parametrize("ending", [pytest.param("", marks=pytest.mark.exhaustive), "x"])
def test_find_statement_hostile_reply_takes_linear_time(piece: str, ending: str) -> None:
    names = ["A", "A, B", "*", "**", "-", ".", "[", "_", *(f"Task{number}" for number in range(200))]
    reply = piece * (50_000 // len(piece)) + ending
    begun = time.process_time()
    list_names(reply, names)
    with suppress(UnparseableError):
        find_statement(reply, "marker", "lenient")
    assert time.process_time() - begun < 5, "quadratic time would be minutes"


def test_find_statement_megabyte_takes_seconds() -> None:
    reply = "Reasoning, A.B: *no*\n" * 50_000 + "Final answer: " + "A, B; C\n" * 100
    begun = time.process_time()
    for place in PLACES_ALL:
        with suppress(UnparseableError):
            assert "A" in list_names(find_statement(reply + "A", place, "lenient"), ["A"]) or place == "first-line"
    assert time.process_time() - begun < 20


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("A, B", ["A", "B"]),
        ('- A\n* **B**\n3. `C`\n4) D.\n(5) "E"', ["A", "B", "C", "D", "E"]),
        ("`A, B`", ["A", "B"]),
        ("A**", ["A"]),
        ('["A", "B"]', ["A", "B"]),
        ("Main.A, Main.Inner.B", ["A", "B"]),
        ("Main.`A`", ["A"]),
        (",,\n  \n", []),
        ("A; B", ["A; B"]),
    ],
)
@pytest.mark.parametrize("names", [[], ["A", "B", "C", "D", "E"]])
def test_list_names_removes_decoration(text: str, names: list[str], listed: list[str]) -> None:
    assert list_names(text, names) == listed


def test_list_names_takes_longest_known_name_before_cuts() -> None:
    names = ["Pick", "Pick, pack", "pack", "1. Wash", "- rinse", '"quoted"', "v1.2"]
    assert list_names("Pick, pack\nPick\npack", names) == ["Pick, pack", "Pick", "pack"]
    assert list_names('1. Wash, - rinse, "quoted", v1.2', names) == ["1. Wash", "- rinse", '"quoted"', "v1.2"]
    assert list_names("1. 1. Wash", names) == ["1. Wash"]
    assert list_names("Main.Pick, packing", ["Pick, pack"]) == ["Pick", "packing"]
    assert list_names("Main.Pick, pack", ["Pick, pack"]) == ["Pick, pack"]


def test_list_names_with_dotted_known_name_keeps_paths() -> None:
    assert list_names("Outer.Inner, Other.Thing", ["Outer.Inner"]) == ["Outer.Inner", "Other.Thing"]


@pytest.mark.parametrize(
    ("reply", "lines", "expected"),
    [
        ("So these run:\n- A\n- B", True, "- A\n- B"),
        ("- not this\nSo these run:\n\n1. A\n\n2. B\n", True, "1. A\n2. B"),
        ("* A\n* B\n\nA, B", True, "A, B"),
        ("So these run:\n- A\n- B", False, "- A\n- B"),
    ],
)
def test_find_statement_without_marker_takes_list_at_end(reply: str, lines: bool, expected: str) -> None:
    assert find_statement(reply, "marker", "lenient", lines) == expected

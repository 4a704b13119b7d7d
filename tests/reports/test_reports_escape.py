from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_taskgraph.reports.escape import columns, one_line, printable, quote_lines, shorten, wrap

anything = st.text(st.characters()) | st.text("a \n\t\x1b\u202e\u200b\ufe0f中e\u0301\ud800\ufffe", max_size=60)


@given(anything)
@example("]]>&<\x00\ufffe\ud800")
def test_printable_text_survives_xml(text: str) -> None:
    element = ElementTree.Element("e", a=one_line(text))
    element.text = printable(text)
    back = ElementTree.fromstring(ElementTree.tostring(element, encoding="utf-8"))
    assert (back.text or "") == printable(text)
    assert back.get("a") == one_line(text)


@given(anything)
def test_printable_leaves_only_line_feeds_and_tabs(text: str) -> None:
    assert printable(text).replace("\n", "").replace("\t", "").isprintable()


@given(anything)
def test_printable_is_idempotent(text: str) -> None:
    assert printable(printable(text)) == printable(text)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\r\x08b\x00", r"a\r\x08b\0"),
        ("\x9b2J\x85", r"\x9b2J\x85"),
        ("\u202aa\u202eb\u2066c\u2069", r"\u202aa\u202eb\u2066c\u2069"),
        ("a\u200bb\u200dc\ufeffd\u00ade", r"a\u200bb\u200dc\ufeffd\xade"),
        ("Task\u00a0A\u2028", r"Task\xa0A\u2028"),
        ("\ud83d \ufffe", r"\ud83d \ufffe"),
        ("x\U000e0041\U000e0101\ufe00", r"x\U000e0041\U000e0101\ufe00"),
        ("\u3164\u2800", r"\u3164\u2800"),
        ("naïve 任务 é → \\n 😀", "naïve 任务 é → \\n 😀"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
    ],
)
def test_printable_escapes_what_terminals_obey_or_hide(text: str, seen: str) -> None:
    assert printable(text) == seen


@given(anything, st.integers(0, 30))
def test_one_line_any_text_is_one_line_within_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert columns(line) <= limit
    assert line.isprintable()


@given(st.lists(st.sampled_from(["::", ":", "#", "##", "[", "vso", "x", " ", "\n"]), max_size=30).map("".join))
def test_escape_lines_are_no_command_to_ci_runner(text: str) -> None:
    wrapped = [line for width in range(2, 12) for line in wrap(text, width, 9)]
    for line in (one_line(text), one_line(text, 9), *wrapped, *quote_lines(text).split("\n")):
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        assert "##vso[" not in line


def test_escape_text_without_command_is_unchanged() -> None:
    for line in ("a::b", "gates::structure", "## Title", "# [x]", "##", "[##]", "a ::error::"):
        assert one_line(line) == line
        assert quote_lines(line) == f"| {line}"


def test_one_line_joins_lines_and_marks_cut() -> None:
    assert one_line("  a\r\n\tb   c ") == "a b c"
    assert one_line("a long sentence", 8) == "a long…"
    assert one_line("a" + "\u0301" * 5000, 10) == "a" + "\u0301" * 39 + "…"


def test_one_line_megabyte_is_fast() -> None:
    assert one_line("\x1b" * 10**6, 9) == r"\x1b\x1b…"


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("任务", 4), ("e\u0301", 1), ("→", 1), ("😀", 2)])
def test_columns_match_terminal_width(text: str, width: int) -> None:
    assert columns(text) == width


@given(anything.map(one_line), st.integers(0, 20))
def test_shorten_cut_text_ends_in_ellipsis(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert columns(short) <= limit
    assert short == text or limit == 0 or (short.endswith("…") and text.startswith(short[:-1]))


@given(anything, st.integers(2, 20), st.integers(1, 4))
def test_wrap_lines_keep_number_and_width(text: str, width: int, most: int) -> None:
    lines = wrap(text, width, most)
    assert 1 <= len(lines) <= most
    assert all(columns(line) <= width for line in lines)


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=6), max_size=12))
def test_wrap_breaks_at_spaces_and_loses_no_word(words: list[str]) -> None:
    assert " ".join(wrap(" ".join(words), 8, 100)).split() == words


def test_wrap_cut_text_ends_in_ellipsis() -> None:
    assert wrap("one two three four five", 9, 2) == ["one two", "three fo…"]
    assert wrap("x" * 10**6, 4, 2) == ["xxxx", "xxx…"]

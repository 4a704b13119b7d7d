from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.reports.escape import columns
from pytest_taskgraph.reports.table import folded_table, table

cells = st.text(st.characters() | st.sampled_from("ab 中\x1b"), max_size=12)


def test_table_columns_line_up() -> None:
    assert table(["name", "n", "note"], [["a", "12", "x"], ["  longer", "3", ""]], "lrl") == [
        "name       n  note",
        "a         12  x",
        "  longer   3",
    ]


def test_table_first_column_is_shortened() -> None:
    assert table(["name", "n"], [["a_very_long_name", "12"]], "lr", 12) == ["name       n", "a_very_…  12"]


def test_folded_table_long_name_stands_on_line_before_its_row() -> None:
    rows = [["a_very_long_name", "12"], ["short", "3"], ["a_heading_without_cells", ""]]
    assert folded_table(["name", "n"], rows, "lr", 12) == [
        ["name       n"],
        ["a_very_long…", "          12"],
        ["short      3"],
        ["a_heading_w…"],
    ]
    assert folded_table(["name", "n"], rows[:1], "lr", 16)[1] == ["a_very_long_name", "              12"]


def test_table_wide_characters_take_two_columns() -> None:
    assert table(["name", "n"], [["任务", "1"], ["abcd", "2"]], "lr") == ["name  n", "任务  1", "abcd  2"]


def test_table_cells_cannot_break_rows() -> None:
    assert table(["name"], [["a\nb\x1b[2J\u202e"]], "l") == ["name", r"a b\x1b[2J\u202e"]


def test_table_header_alone_is_one_line() -> None:
    assert table(["name", "n"], [], "lr") == ["name  n"]


@given(st.lists(st.tuples(cells, cells, cells), max_size=5), st.integers(1, 40))
def test_lines_fit_width(rows: list[tuple[str, str, str]], width: int) -> None:
    lines = table(["first", "second", "third"], rows, "lrr", width)
    assert len(lines) == len(rows) + 1
    assert all(columns(line) <= width for line in lines)
    assert all(line.isprintable() and line == line.rstrip(" ") for line in lines)

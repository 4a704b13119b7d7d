"""Files of snapshots: written as they are read, damaged ones refused, differences bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.soundness.prompt_snapshots import (
    COMPARED_LINES,
    MARK,
    SHOWN_LINES,
    DamagedSnapshotError,
    SnapshotFile,
    difference,
    file_name,
    is_snapshot,
    parse_sections,
    read_sections,
    section_title,
    snapshot_folder,
)

BODY = "**user**\n\n```text\n## no title\n```\n"
FILE = SnapshotFile("test_f", "group", {"b-2": BODY, "a-1": BODY.replace("no", "other")})


def test_text_of_a_file_has_sections_in_the_order_of_ids() -> None:
    lines = FILE.text().splitlines()
    assert lines[:6] == [MARK, "", "# group", "", "Prompts of `test_f`.", ""]
    assert [line for line in lines if line in ("## a-1", "## b-2")] == ["## a-1", "## b-2"]
    assert FILE.text().endswith("```\n")


def test_write_then_read_gives_the_same_sections(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "group.md"
    FILE.write(path)
    assert read_sections(path) == FILE.sections
    assert is_snapshot(path)
    assert [file.name for file in path.parent.iterdir()] == ["group.md"]
    assert path.read_bytes() == FILE.text().encode()


def test_read_sections_of_a_checkout_with_carriage_returns_gives_the_same(tmp_path: Path) -> None:
    path = tmp_path / "group.md"
    path.write_bytes(FILE.text().replace("\n", "\r\n").encode())
    assert read_sections(path) == FILE.sections
    assert is_snapshot(path)


def test_read_sections_of_no_file_gives_none(tmp_path: Path) -> None:
    assert read_sections(tmp_path / "none.md") == {}


@pytest.mark.parametrize(
    ("found", "written", "line"),
    [
        ("\n## b-2\n", "\n<<<<<<< ours\n## b-2\n\n=======\n## b-2\n", 16),
        ("## b-2\n", "## a-0\n", 7),
        ("## b-2\n", "## a-1\n", 15),
        ("## b-2\n\n", "## b-2\n", 16),
    ],
    ids=["conflict", "order", "twice", "blank"],
)
def test_parse_sections_of_an_edited_file_names_the_line(found: str, written: str, line: int) -> None:
    text = FILE.text()
    assert text.count(found) == 1
    with pytest.raises(DamagedSnapshotError, match=r"group\.md: line \d+ is not as it was written") as error:
        parse_sections(text.replace(found, written), "group.md")
    assert f"line {line} " in str(error.value)


@pytest.mark.parametrize("data", [b"## \xff\n", None], ids=["bytes", "folder"])
def test_read_sections_of_binary_file_is_refused(tmp_path: Path, data: bytes | None) -> None:
    path = tmp_path / "group.md"
    if data is None:
        path.mkdir()
    else:
        path.write_bytes(data)
    with pytest.raises(DamagedSnapshotError, match="cannot be read"):
        read_sections(path)
    assert not is_snapshot(path)


def test_write_where_a_file_stands_for_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "deep").write_text("")
    with pytest.raises(UsageError, match=r"group\.md: cannot be written: "):
        FILE.write(tmp_path / "deep" / "group.md")


@pytest.mark.parametrize("name", ["parallel_pair", "test_graph", "a.b-2"])
def test_file_name_of_a_plain_name_is_the_name(name: str) -> None:
    assert file_name(name) == name


@pytest.mark.parametrize("name", ["Upper", "../../etc", "a/b", "con", "nul.txt", "größe", "x" * 300, "", "\x00", "a."])
def test_file_name_of_any_other_name_is_plain_and_its_own(name: str) -> None:
    other_name = file_name(name)
    assert other_name != name
    assert file_name(other_name) == other_name
    assert other_name != file_name(f"{name}!")


def test_snapshot_folder_is_beside_the_test_file() -> None:
    folder = snapshot_folder(Path("suites/test_m.py"), "test_f")
    assert folder == Path("suites/__prompts__/test_m/test_f")
    assert snapshot_folder(Path("suites/test_m.py"), "TestX::test_f").name.startswith("testx-test_f-")


def test_section_title_of_a_hostile_id_is_one_line() -> None:
    assert section_title("a\n## b\x1b") == r"a\n## b\x1b"


def test_difference_counts_lines_from_the_beginning_of_the_section() -> None:
    before = [f"line {number}" for number in range(50)]
    after = [*before[:30], "new", *before[31:]]
    lines = difference("\n".join(before), "\n".join(after))
    assert lines[:3] == ["--- snapshot", "+++ prompt", "@@ -28,7 +28,7 @@"]
    assert [line for line in lines[3:] if line[0] != " "] == ["-line 30", "+new"]


def test_difference_of_very_long_prompts_is_bounded() -> None:
    before, after = "\n".join(["same"] * 500_000), "\n".join(["other"] * 500_000)
    lines = difference(before, after)
    assert len(lines) == 2 + SHOWN_LINES + 1
    assert lines[-1] == f"… {2 * COMPARED_LINES + 1 - SHOWN_LINES:,} more lines"
    assert len(difference("x" * 9000, "y" * 9000)[-1]) < 3000

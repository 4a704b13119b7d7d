"""Files of a data set, whatever they hold: folders and archives, damage, encodings, and the limits of every size."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from posix_tests import posix_only

from pytest_taskgraph.benchmarks.data_sets import data_files, json_lines
from pytest_taskgraph.benchmarks.data_sets.data_files import DataFormat, contents, keep_until_changed
from pytest_taskgraph.benchmarks.data_sets.data_problems import DataProblems
from pytest_taskgraph.benchmarks.data_sets.json_lines import LONGEST_LINE, read_objects
from pytest_taskgraph.benchmarks.data_sets.splits import split_of
from pytest_taskgraph.errors import UsageError

FORMAT = DataFormat("mine", (".jsonl", ".json"), "item", "expected the archive")
LEFT_OUT = "the file is left out"


def read(path: Path) -> tuple[dict[str, bytes], list[str]]:
    """Return the contents of the files that can be read, by name, and the lines for the user."""
    problems = DataProblems()
    with data_files.data_files(path, FORMAT) as files:
        return {file.name: content for file, content in contents(files, problems)}, problems.lines


def packed(folder: Path) -> Path:
    """Return an archive of the folder."""
    path = folder.with_name("mine.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder).as_posix())
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a folder with three files."""
    (tmp_path / "data").mkdir()
    for name in "abc":
        (tmp_path / "data" / f"{name}.jsonl").write_bytes(f"this is {name}".encode())
    return tmp_path / "data"


def test_archive_holds_the_same_files_as_its_folder(folder: Path) -> None:
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "d.JSON").write_bytes(b"this is d")

    assert read(packed(folder)) == read(folder)
    assert [*read(folder)[0]] == ["a.jsonl", "b.jsonl", "c.jsonl", "deep/er/d.JSON"]


def test_folder_skips_hidden_files_and_other_suffixes(folder: Path) -> None:
    for name in ("README.md", ".d.jsonl", "__MACOSX/._a.jsonl", ".git/e.jsonl"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"\x00")

    for path in (folder, packed(folder)):
        assert [*read(path)[0]] == ["a.jsonl", "b.jsonl", "c.jsonl"]


def test_archive_with_hostile_names_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with zipfile.ZipFile("mine.zip", "w") as archive:
        for name in ("../a.jsonl", f"{tmp_path}/b.jsonl"):
            archive.writestr(name, b"some")
        archive.writestr("\x1b[31mc.jsonl", b"some", zipfile.ZIP_BZIP2)

    held, problems = read(Path("mine.zip"))

    assert len(held) == 2
    assert [path.name for path in tmp_path.rglob("*")] == ["here", "mine.zip"]
    assert problems == [f"[31mc.jsonl: its compression is neither stored nor deflated; {LEFT_OUT}"]


def test_file_that_is_too_large_is_not_read_further(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "LARGEST_FILE", 50_000)
    (folder / "b.jsonl").write_bytes(b" " * 50_001)  # as an archive: a bomb
    (folder / "c.jsonl").write_bytes(b" " * 50_000)

    for path in (folder, packed(folder)):
        held, problems = read(path)
        assert [*held] == ["a.jsonl", "c.jsonl"]
        assert problems == [f"b.jsonl: it has more than 50000 bytes; {LEFT_OUT}"]


def test_files_together_are_read_up_to_the_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "LARGEST_SET", 20)

    assert read(folder) == (
        {"a.jsonl": b"this is a", "b.jsonl": b"this is b"},
        [f"c.jsonl: it has more than 2 bytes; {LEFT_OUT}"],
    )


def test_files_beyond_the_largest_number_are_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "MOST_FILES", 2)

    held, problems = read(folder)

    assert [*held] == ["a.jsonl", "b.jsonl"]
    assert problems == [f"c.jsonl: there are more than 2 files; {LEFT_OUT}"]


def test_archive_with_damaged_member_gives_the_others(folder: Path) -> None:
    (folder / "a.jsonl").write_bytes(b"this is a " * 9)
    path = packed(folder)
    content = bytearray(path.read_bytes())
    start = 30 + len("a.jsonl")  # behind the header of the first member
    content[start + 3 : start + 9] = b"\xff\x00\xff\x00\xff\x00"
    path.write_bytes(bytes(content))

    held, problems = read(path)

    assert [*held] == ["b.jsonl", "c.jsonl"]
    assert problems[0].startswith("a.jsonl: it is damaged or may not be read (")


def test_archive_with_encrypted_member_gives_the_others(folder: Path) -> None:
    path = packed(folder)
    content = bytearray(path.read_bytes())
    content[content.find(b"PK\x01\x02") + 8] |= 1  # the flags of the first entry of the directory
    path.write_bytes(bytes(content))

    held, problems = read(path)

    assert [*held] == ["b.jsonl", "c.jsonl"]
    assert problems == [f"a.jsonl: it is encrypted; {LEFT_OUT}"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"{}"])
def test_archive_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "data.zip").write_bytes(content)

    with pytest.raises(UsageError, match=r"mine=.*the zip archive cannot be read \(.*\); expected the archive"):
        read(tmp_path / "data.zip")


def test_archive_that_is_too_large_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "LARGEST_SET", 100)

    with pytest.raises(UsageError, match="the archive has more than 100 bytes; expected the archive"):
        read(packed(folder))


def test_data_are_read_once_until_a_file_changes(folder: Path) -> None:
    reader = keep_until_changed(FORMAT)(lambda path: read(path)[0])
    first = reader(folder)
    assert reader(folder) is first

    (folder / "a.jsonl").write_bytes(b"this is z")
    os.utime(folder / "a.jsonl", ns=(1, 1))

    assert reader(folder)["a.jsonl"] == b"this is z"


def test_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"mine=.*nowhere: no such file or folder; expected the archive"):
        keep_until_changed(FORMAT)(read)(tmp_path / "nowhere")


@posix_only
def test_pipe_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    with pytest.raises(UsageError, match="neither a file nor a folder, but a pipe or device; expected the archive"):
        keep_until_changed(FORMAT)(read)(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train.jsonl", "train"), ("tasklama_training.json", "train"), ("TaskLamaTrain.jsonl", "train"),
        ("validation.jsonl", "validation"), ("valid.json", "validation"), ("tasks-val.jsonl", "validation"),
        ("dev.jsonl", "validation"), ("TEST.jsonl", "test"), ("tasklama/test/tasks.jsonl", "test"),
        ("test/train.jsonl", "train"), ("latest.jsonl", None), ("device.jsonl", None), ("value.jsonl", None),
        ("train_and_test.jsonl", None), ("tasks.jsonl", None),
    ],
)  # fmt: skip
def test_split_of_file_names_follows_their_words(name: str, split: str | None) -> None:
    assert split_of(name) == split


# Files of JSON objects, one per line.

FIRST, SECOND = b'{"n": 1}\n', b'{"n": 2}\n'


def objects(content: bytes) -> tuple[list[Any], list[str]]:
    """Return the numbers of the objects in a file, and the lines for the user."""
    problems = DataProblems()
    found: Iterator[tuple[str, dict[str, Any]]] = read_objects(content, "test.jsonl", "a task", problems)
    return [value["n"] for _, value in found], problems.lines


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (b'{"task": "Make', "broken JSON"),
        (b"[" * 100_000, "broken JSON"),
        (b'{"task": ' + b"7" * 5_000 + b"}", "broken JSON"),
        (b'["Make tea"]', "the line holds a list; expected an object with a task"),
        (b'"Make tea"', "a text"),
        (b"null", "null"),
        (b"true", "true or false"),
        (b"7", "a number"),
        (b'{"n": "' + b"x" * LONGEST_LINE + b'"}', f"bytes, more than {LONGEST_LINE}; it is left out"),
        ('{"task": "Café"}'.encode("latin-1"), "byte 14 of the line is not UTF-8; the line is left out"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_broken_line_is_reported_and_the_rest_read(broken: bytes, message: str) -> None:
    found, problems = objects(FIRST + broken + b"\n" + SECOND)

    assert found == [1, 2]
    assert len(problems) == 1
    assert problems[0].startswith("test.jsonl, line 2: ")
    assert message in problems[0]


def test_file_in_utf_16_is_reported_by_line_not_read() -> None:
    found, problems = objects(FIRST.decode().encode("utf-16"))

    assert found == []
    assert problems[0].startswith("test.jsonl, line 1: ")


def test_file_with_bom_and_windows_line_ends_reads_as_without() -> None:
    content = (FIRST + SECOND).replace(b"\n", b"\r\n")

    assert objects(b"\xef\xbb\xbf" + content + b"\r\n\r\n") == ([1, 2], [])


def test_empty_lines_are_passed_over_and_counted() -> None:
    found, problems = objects(b"\n\n" + FIRST + b"  \n" + b"{\n")

    assert found == [1]
    assert problems[0].startswith("test.jsonl, line 5: ")


@pytest.mark.parametrize(("count", "read_lines"), [(2, 2), (3, 3), (4, 3)])
def test_file_with_too_many_lines_is_read_up_to_the_limit(
    monkeypatch: pytest.MonkeyPatch, count: int, read_lines: int
) -> None:
    monkeypatch.setattr(json_lines, "MOST_LINES", 3)

    found, problems = objects(FIRST * count)

    assert len(found) == read_lines
    assert problems == ["test.jsonl: only its first 3 lines are read"] * (count > 3)

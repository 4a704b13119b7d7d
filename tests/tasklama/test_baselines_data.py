"""The files that users supply for baselines: their formats, and what is said of lines that cannot be used."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.tasklama.complex_task import ComplexTask
from pytest_taskgraph.families.tasklama.task_baselines import data_problems
from pytest_taskgraph.families.tasklama.task_baselines.query_clusters import read_sessions
from pytest_taskgraph.families.tasklama.task_baselines.repeat import ListedWords, WordsOfTasks
from pytest_taskgraph.families.tasklama.task_baselines.user_data import clusters_of_queries


def expected(folder: Path, content: str | bytes) -> Path:
    path = folder / "data.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_sessions_with_tabs_and_json_lists_are_read(tmp_path: Path) -> None:
    text = 'Plan a  wedding\twedding venues\tPLAN A WEDDING\n\n["bake bread", "[oven]"]\r\ncake\n'
    sessions = read_sessions(expected(tmp_path, text))
    assert sessions.sessions == (("plan a wedding", "wedding venues"), ("bake bread", "[oven]"), ("cake",))
    assert sessions.problems == ()


def test_sessions_with_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    assert read_sessions(expected(tmp_path, b"\xef\xbb\xbfcake\tpie\n")).sessions == (("cake", "pie"),)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'["cake", 3]', "found '[\"cake\", 3]', expected a session a line: its queries with tabs between"),
        (b'["cake"', "found '[\"cake\"', expected a session a line"),
        (b"[" * 90_000, "found '[[["),
        (b"cak\xff", "found the byte 0xff, expected text in UTF-8"),
        (b"x" * 200_000, "found a longer line, expected at most 100,000 bytes"),
        (b"x" * 501, "found a longer query, expected at most 500 characters"),
        (b"?!\t...", "expected queries with words"),
        (b"[]", "found '[]', expected queries with words"),
    ],
)
def test_bad_line_of_sessions_is_reported_and_the_others_used(tmp_path: Path, line: bytes, message: str) -> None:
    path = expected(tmp_path, b"plan a wedding\n" + line + b"\nbake bread\n")
    sessions = read_sessions(path)
    assert sessions.sessions == (("plan a wedding",), ("bake bread",))
    (problem,) = sessions.problems
    assert problem.startswith(f"{path}:2: ")
    assert message in problem


def test_letters_that_cannot_be_printed_are_blanks(tmp_path: Path) -> None:
    lines = b'["red\\ud800wall", "blue\\u001b[1m\\nwall"]\nold\x00brick\twall\n'
    assert read_sessions(expected(tmp_path, lines)).sessions == (("red wall", "blue [1m wall"), ("old brick", "wall"))
    similar = ListedWords(expected(tmp_path, b"red\x1bblue green\n\x00\n"))
    assert list(similar("red")) == ["blue", "green"]
    assert len(similar.problems) == 1


def test_long_session_is_cut_and_reported(tmp_path: Path) -> None:
    sessions = read_sessions(expected(tmp_path, "\t".join(f"query {number}" for number in range(60))))
    assert sessions.sessions == (tuple(f"query {number}" for number in range(50)),)
    assert "found 60 queries, expected at most 50" in sessions.problems[0]


def test_many_bad_lines_are_counted(tmp_path: Path) -> None:
    sessions = read_sessions(expected(tmp_path, "?\n" * 12 + "cake\n"))
    assert len(sessions.problems) == 6
    assert sessions.problems[-1].endswith("7 further problems of this kind")


@pytest.mark.parametrize(("text", "message"), [("", "is empty"), ("?\n", ":1: found '?'")])
def test_file_without_a_session_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(
        UsageError, match="--taskgraph-data=tasklama-queries: no sessions; expected a session a line"
    ) as e:
        read_sessions(expected(tmp_path, text))
    assert message in str(e.value)


def test_similar_words_with_tabs_and_blanks_are_read(tmp_path: Path) -> None:
    similar = ListedWords(expected(tmp_path, "smoothie\tyogurt juice yogurt\nCakes pies smoothie\n2012 2011 2013\n"))
    assert list(similar("smoothie")) == ["yogurt", "juice"]
    assert list(similar("smoothies")) == ["yogurt", "juice"]  # of the same stem
    assert list(similar("cakes")) == ["pies", "smoothie"]
    assert list(similar("2012")) == ["2011", "2013"]
    assert list(similar("bread")) == []
    assert similar.problems == ()


def test_similar_words_of_one_word_are_twenty_at_most(tmp_path: Path) -> None:
    similar = ListedWords(expected(tmp_path, "a " + " ".join(f"b{number}" for number in range(50))))
    assert list(similar("a")) == [f"b{number}" for number in range(20)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("juice", "found the word 'juice' alone, expected lines of a word, a tab or blanks"),
        ("the 0.418 0.24968 -0.41242 0.1217", "found the vector of 'the'"),
        ("cake cookie", "found the word 'cake' again, expected one line for each word"),
    ],
)
def test_bad_line_of_similar_words_is_reported(tmp_path: Path, line: str, message: str) -> None:
    similar = ListedWords(expected(tmp_path, f"cake pie\n{line}\nbread roll\n"))
    assert (list(similar("cake")), list(similar("bread"))) == (["pie"], ["roll"])
    (problem,) = similar.problems
    assert message in problem


def test_file_of_vectors_is_refused_with_the_format(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"tasklama-similar: no similar words; expected .*found the vector of 'the'"):
        ListedWords(expected(tmp_path, "the 0.418 0.24968 -0.41242\nof 0.7 0.5 0.4\n"))


def test_words_of_tasks_are_ranked_by_the_tasks_that_they_share() -> None:
    tasks = [
        ComplexTask("a", "Make a smoothie", (), ("Peel the bananas", "Chill bananas with cookies"), ()),
        ComplexTask("b", "Serve smoothies", ("With bananas",), ("Pour into a glass",), ()),
        ComplexTask("c", "Repair a glass", (), ("Glue it",), ()),
    ]
    # Of the smoothie's two tasks: banana has both and no other, 2/3 · 2/√4; the others have one of them,
    # 1/2 · 1/√2, but the glass, which is in the third task, 1/2 · 1/√4.
    expected = ["bananas", "chill", "cookies", "make", "peel", "pour", "serve", "glass"]
    similar = WordsOfTasks(tasks)
    assert list(similar("smoothie")) == expected
    assert list(similar("smoothies")) == expected
    assert list(similar("wedding")) == []


def test_problems_of_stated_files_are_told_together(tmp_path: Path) -> None:
    queries, similar = tmp_path / "queries", tmp_path / "similar"
    queries.write_text("cake\n?\n")
    similar.write_text("cake pie\nbread\n")
    data = {"tasklama-queries": str(queries), "tasklama-similar": str(similar), "tasklama": "elsewhere"}
    assert [problem.partition(": ")[0] for problem in data_problems(Settings(data=data))] == [
        f"{queries}:2",
        f"{similar}:2",
    ]
    assert data_problems(Settings()) == ()


def test_clusters_of_a_changed_file_are_read_again(tmp_path: Path) -> None:
    path = expected(tmp_path, json.dumps(["cake", "pie"]))
    settings = Settings(data={"tasklama-queries": str(path)})
    assert len(clusters_of_queries(settings)) == 2
    assert clusters_of_queries(settings) is clusters_of_queries(settings)
    path.write_text("cake\tpie\tbread")
    os.utime(path, ns=(1, 1))
    assert len(clusters_of_queries(settings)) == 3

"""Questions that were built are kept beside the stored replies: a run that asks them again builds none."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from loopback import Loopback
from plugin_project import Project, asking, right

from pytest_taskgraph import understanding
from pytest_taskgraph.benchmarks.understanding import Understanding
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.plugin.asking import kept_questions
from pytest_taskgraph.plugin.asking.kept_questions import FILE, KeptQuestions
from pytest_taskgraph.plugin.suites import CollectedQuestion

SETTINGS = UnderstandingSettings(instances=2)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the questions that were built, in order."""
    ids: list[str] = []
    build = Understanding.question

    def noted(family: Understanding, reference: object, settings: object) -> object:
        question = build(family, reference, settings)  # type: ignore[arg-type]
        ids.append(question.id)
        return question

    monkeypatch.setattr(Understanding, "question", noted)
    return ids


def collected(settings: UnderstandingSettings = SETTINGS, patterns: str = "flow_*") -> list[CollectedQuestion]:
    references = understanding.references(settings, {"patterns": patterns})
    return [CollectedQuestion(understanding, reference, settings) for reference in references]


def opened(folder: Path, keeps: bool = True) -> KeptQuestions:
    return KeptQuestions(folder, lambda: keeps)


def ask_all(folder: Path, questions: list[CollectedQuestion], keeps: bool = True) -> list[object]:
    kept = opened(folder, keeps)
    found: list[object] = [kept.question(each) for each in questions]
    kept.close()
    return found


def every_kind() -> Iterator[UnderstandingSettings]:
    """Settings of every notation, presentation and variation, with and without solved examples."""
    for name, shots in product(NOTATIONS, (0, 1)):
        yield replace(SETTINGS, instances=1, notations=(name,), shots=shots)
    yield replace(SETTINGS, presentation="agent")
    yield replace(SETTINGS, instances=1, vary=("names", "order", "notation", "phrasing", "distractor"))
    yield replace(SETTINGS, instances=1, parsing="strict", pass_threshold=0.5, text_metrics=("rouge2", "rouge1"))


@pytest.mark.parametrize(
    "settings",
    [*every_kind()],
    ids=lambda settings: "-".join([*settings.notations, f"{settings.shots}", settings.presentation, *settings.vary]),
)
def test_kept_question_equals_built_question(tmp_path: Path, built: list[str], settings: UnderstandingSettings) -> None:
    questions = collected(settings, "*")
    first = ask_all(tmp_path, questions)
    count = len(built)
    again = ask_all(tmp_path, questions)
    assert (again, len(built)) == (first, count)
    assert list(map(repr, again)) == list(map(repr, first))  # 1, 1.0 and True are equal


@pytest.mark.parametrize("changed", [{"seed": 1}, {"prompt": "direct"}, {"names": "domain"}, {"pass_threshold": 0.5}])
def test_question_of_other_settings_is_built(tmp_path: Path, built: list[str], changed: dict[str, object]) -> None:
    ask_all(tmp_path, collected())
    built.clear()
    others = collected(replace(SETTINGS, **changed))  # type: ignore[arg-type]
    assert ask_all(tmp_path, others) == [each.question() for each in others]
    assert len(built) == 2 * len(others)


def test_repetitions_of_question_are_kept_apart(tmp_path: Path, built: list[str]) -> None:
    first = collected()[0]
    reference = replace(first.reference, id=f"{first.reference.id}-r2", repetition=2)
    both = [first, replace(first, reference=reference)]
    ask_all(tmp_path, both)
    assert ask_all(tmp_path, both) == [each.question() for each in both]
    assert len(built) == 4


def test_question_of_other_code_is_built_and_replaces_kept(
    tmp_path: Path, built: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_all(tmp_path, collected())
    built.clear()
    monkeypatch.setattr(kept_questions, "code_fingerprint", lambda: "another version")
    ask_all(tmp_path, collected()[:1])
    assert len(built) == 1
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("SELECT DISTINCT code FROM questions").fetchall() == [("another version",)]


def test_code_fingerprint_changes_with_any_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "package" / "plugin" / "asking"
    place.mkdir(parents=True)
    monkeypatch.setattr(kept_questions, "__file__", str(place / "kept_questions.py"))

    def fingerprint() -> str:
        return kept_questions.code_fingerprint.__wrapped__()

    seen = [fingerprint()]
    for name, text in (("a.py", "x = 1"), ("b.toml", "x = 1"), ("a.py", "x = 2"), ("ax.py", "")):
        (tmp_path / "package" / name).write_text(text)
        seen.append(fingerprint())
    assert len(set(seen)) == 5
    (tmp_path / "package" / "a.pyc").write_bytes(b"compiled")
    assert fingerprint() == seen[-1]


def test_question_that_files_determine_is_not_kept(tmp_path: Path, built: list[str]) -> None:
    own = tmp_path / "mine.jinja"
    own.write_text("{# answer: marker #}\n{{ workflow }}\n{{ question }}\n{{ instruction }}\n")
    for settings in (replace(SETTINGS, prompt=str(own)), replace(SETTINGS, templates=str(tmp_path))):
        questions = collected(settings)
        ask_all(tmp_path, questions)
        ask_all(tmp_path, questions)
        assert len(built) == 2 * len(questions)
        built.clear()
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize(("kind", "is_built"), [("notation", True), ("model", False)])
def test_question_beside_registered_object_is_built(
    tmp_path: Path, built: list[str], kind: str, is_built: bool
) -> None:
    questions = collected()
    ask_all(tmp_path, questions)
    built.clear()
    with registrations() as registered:
        registered.add(kind, "mine", object(), "conftest.py")
        ask_all(tmp_path, questions)
    assert bool(built) == is_built


def test_nothing_is_written_where_run_keeps_nothing(tmp_path: Path) -> None:
    ask_all(tmp_path, collected(), keeps=False)
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("content", [b"no database at all, but long enough for a header" * 9, b""])
def test_damaged_file_is_ignored_and_replaced(tmp_path: Path, built: list[str], content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    questions = collected()
    expected = [each.question() for each in questions]
    for _ in range(2):
        assert ask_all(tmp_path, questions) == expected
    built.clear()
    assert ask_all(tmp_path, questions) == expected
    assert not built


@pytest.mark.parametrize("damage", [b"no zlib", b"x\x9c\x03\x00\x00\x00\x00\x01"])
def test_damaged_row_is_built(tmp_path: Path, built: list[str], damage: bytes) -> None:
    questions = collected()
    expected = ask_all(tmp_path, questions)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute("UPDATE questions SET question = ?", (damage,))
    built.clear()
    assert ask_all(tmp_path, questions) == expected
    assert len(built) == len(questions)


def test_oldest_questions_beyond_bound_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_questions, "MOST", 3)
    ask_all(tmp_path, collected())
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("SELECT count(*) FROM questions").fetchone() == (3,)


@pytest.mark.parametrize("again", [(), ("--taskgraph-replay",)], ids=["second run", "replay"])
def test_run_with_stored_replies_builds_no_question_again(
    project: Project, server: Loopback, built: list[str], again: tuple[str, ...]
) -> None:
    server.answer = right
    first = project.run(*asking(server.url))
    assert (project.path / ".taskgraph" / FILE).exists()
    probes = len(built)
    built.clear()
    second = project.run(*asking(server.url), *again)
    assert (second.code, second.counts) == (first.code, first.counts)
    assert probes
    assert not built


def test_run_without_stored_replies_keeps_no_question(project: Project, built: list[str]) -> None:
    project.run("--model=simulated:1")
    assert built
    assert not (project.path / ".taskgraph").exists()

"""Questions that were built are kept beside the stored replies: a run that asks them again builds none."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from random import Random

import pytest
from loopback import Loopback
from plugin_project import Project, asking, right

from pytest_taskgraph import understanding
from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.families.understanding.prompts import prompt_template
from pytest_taskgraph.families.understanding.questions.ingredients import write_workflow
from pytest_taskgraph.families.understanding.questions.phrasings import apply_phrasings
from pytest_taskgraph.families.understanding.understanding_family import Understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.plugin.asking import kept_questions
from pytest_taskgraph.plugin.asking.kept_questions import FILE, KeptQuestions
from pytest_taskgraph.plugin.suites import CollectedQuestion
from pytest_taskgraph.trial import Question

SETTINGS = UnderstandingSettings(instances=2)
NOTICES: list[str] = []
PROMPT = "{# answer: marker #}\n{{ workflow }}\n{{ question }}\n{{ instruction }}\n"


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
    NOTICES.clear()
    return ids


def exact(questions: list[object]) -> list[str]:
    """Return all fields of questions as text, which tells 1 from 1.0, a list from a tuple and the order of names."""
    return [str([getattr(question, field.name) for field in fields(Question)]) for question in questions]


def collected(settings: UnderstandingSettings = SETTINGS, patterns: str = "flow_*") -> list[CollectedQuestion]:
    references = understanding.references(settings, {"patterns": patterns})
    return [CollectedQuestion(understanding, reference, settings) for reference in references]


def opened(folder: Path, keeps: bool = True) -> KeptQuestions:
    return KeptQuestions(folder, lambda: keeps, NOTICES.append)


def ask_all(folder: Path, questions: list[CollectedQuestion], keeps: bool = True) -> list[object]:
    kept = opened(folder, keeps)
    found: list[object] = [kept.question(each) for each in questions]
    kept.close()
    return found


def every_kind() -> Iterator[UnderstandingSettings]:
    """Settings of every notation, presentation and variation, with and without solved examples."""
    for name in NOTATIONS:
        yield replace(SETTINGS, instances=1, notations=(name,))
    yield replace(SETTINGS, instances=1, shots=1)
    yield replace(SETTINGS, instances=1, presentation="agent")
    yield replace(SETTINGS, instances=1, vary=("names", "order", "notation", "phrasing", "distractor"))
    yield replace(SETTINGS, instances=1, parsing="strict", pass_threshold=0.5, text_metrics=("rouge2", "rouge1"))


@pytest.mark.parametrize(
    "settings",
    [*every_kind()],
    ids=lambda settings: "-".join([*settings.notations, f"{settings.shots}", settings.presentation, *settings.vary]),
)
def test_kept_question_equals_built_question(tmp_path: Path, built: list[str], settings: UnderstandingSettings) -> None:
    # The patterns are the same in every notation, which differ in the text of the workflow alone.
    questions = collected(settings, "flow_*" if settings.notations[0] != SETTINGS.notations[0] else "*")
    first = ask_all(tmp_path, questions)
    count = len(built)
    again = ask_all(tmp_path, questions)
    assert (again, len(built)) == (first, count)
    assert exact(again) == exact(first)


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


def test_workers_build_each_question_once(tmp_path: Path, built: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_questions, "_SHARED_BATCH", 5)
    questions = collected(replace(SETTINGS, instances=8))
    workers = [KeptQuestions(tmp_path, lambda: True, NOTICES.append, workers=2) for _ in range(2)]
    for number, worker in enumerate(workers):  # each builds its share, all but a last part of a batch
        for each in questions[number::2]:
            worker.question(each)
    count = len(built)
    for number, worker in enumerate(workers):
        for each in questions[1 - number :: 2]:
            worker.question(each)
    assert count == len(questions) >= 20
    assert len(built) - count < 2 * 5
    assert ask_all(tmp_path, questions) == [each.question() for each in questions]


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


def read_anew() -> None:
    """Make the next look-up read templates again, as another process does."""
    prompt_template.cache_clear()
    apply_phrasings.cache_clear()


@pytest.mark.parametrize("file", ["mine.jinja", "chain_of_thought.jinja", "patterns/parallel_pair.jinja"])
def test_question_is_kept_until_content_of_template_changes(tmp_path: Path, built: list[str], file: str) -> None:
    path = tmp_path / "templates" / file
    path.parent.mkdir(parents=True)
    first = "Do {{ a }} and {{ b }} run in parallel?" if "patterns" in file else PROMPT
    folder = replace(SETTINGS, templates=str(tmp_path / "templates"))
    settings = replace(SETTINGS, prompt=str(path)) if file == "mine.jinja" else folder
    for text, count in ((first, 1), (first, 0), (f"{first}Think.", 1), (first, 0)):
        path.write_text(text)
        read_anew()
        questions, expected = (
            collected(settings, "parallel_pair")[:1],
            collected(settings, "parallel_pair")[0].question(),
        )
        built.clear()
        assert ask_all(tmp_path, questions) == [expected]
        assert len(built) == count
    read_anew()


def test_question_about_own_workflow_is_built(tmp_path: Path, built: list[str]) -> None:
    (tmp_path / "own.mmd").write_text(write_workflow(build(Recipe(tasks=8), Random(1)), "mermaid"))
    questions = collected(replace(SETTINGS, workflows=(str(tmp_path / "own.mmd"),)))
    ask_all(tmp_path, questions)
    ask_all(tmp_path, questions)
    assert len(built) == 2 * len(questions)
    assert not (tmp_path / FILE).exists()


def test_question_of_subclass_is_built(tmp_path: Path, built: list[str]) -> None:
    class Altered(Understanding):
        """A family of another package, whose code the fingerprint does not cover."""

    questions = [replace(each, family=Altered()) for each in collected()]
    ask_all(tmp_path, questions)
    ask_all(tmp_path, questions)
    assert len(built) == 2 * len(questions)


def test_question_with_settings_that_are_no_json_is_built(tmp_path: Path, built: list[str]) -> None:
    questions = [replace(each, settings=replace(SETTINGS, own={"path": tmp_path})) for each in collected()]  # type: ignore[dict-item]
    ask_all(tmp_path, questions)
    assert ask_all(tmp_path, questions) == [each.question() for each in questions]
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize(
    "labels",
    [
        *({"a": (1,)}, {1: "a"}, {"a": {1}}, {"a": float("nan")}),
        *({"a": [{"b": [(1,)]}]}, {"a": [{1: "b"}]}, {"a": "\ud83d" + "\ude00"}),
    ],
)
def test_question_that_json_does_not_hold_is_built(
    tmp_path: Path, built: list[str], monkeypatch: pytest.MonkeyPatch, labels: dict[str, str | int]
) -> None:
    build_question = Understanding.question
    monkeypatch.setattr(Understanding, "question", lambda *args: replace(build_question(*args), labels=labels))
    questions = collected()[:1]
    monkeypatch.setattr("pytest_taskgraph.benchmarks.contract.check_question", lambda *args: None)
    ask_all(tmp_path, questions)
    ask_all(tmp_path, questions)
    assert len(built) == 2
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("label", ["\ud83d", "\U0001f600", "a\\ud83d", 1.5, float("inf"), [None, {"b": [True, {}]}]])
def test_question_that_json_holds_is_kept(
    tmp_path: Path, built: list[str], monkeypatch: pytest.MonkeyPatch, label: str | int
) -> None:
    build_question = Understanding.question
    monkeypatch.setattr(Understanding, "question", lambda *args: replace(build_question(*args), labels={"a": label}))
    questions = collected()[:1]
    monkeypatch.setattr("pytest_taskgraph.benchmarks.contract.check_question", lambda *args: None)
    assert ask_all(tmp_path, questions) == ask_all(tmp_path, questions)
    assert len(built) == 1


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
    assert ask_all(tmp_path, questions) == expected
    built.clear()
    assert ask_all(tmp_path, questions) == expected
    assert not built
    assert [str(tmp_path / FILE) in notice for notice in NOTICES] == [True] * bool(content)


def test_row_of_another_key_is_built(tmp_path: Path, built: list[str]) -> None:
    questions = collected()
    expected = ask_all(tmp_path, questions)
    others = collected(replace(SETTINGS, pass_threshold=0.5))
    ask_all(tmp_path, others)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        count = len(questions)
        rows = dict(connection.execute("SELECT rowid, question FROM questions").fetchall())
        swapped = [(rows[(row + count - 1) % (2 * count) + 1], row) for row in rows]
        connection.executemany("UPDATE questions SET question = ? WHERE rowid = ?", swapped)
    built.clear()
    assert ask_all(tmp_path, questions) == expected
    assert len(built) == count


@pytest.mark.parametrize("damage", [b"no zlib", b"x\x9c\x03\x00\x00\x00\x00\x01"])
def test_damaged_row_is_built(tmp_path: Path, built: list[str], damage: bytes) -> None:
    questions = collected()
    expected = ask_all(tmp_path, questions)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute("UPDATE questions SET question = ?", (damage,))
    for count in (len(questions), 0):  # built, and kept again
        built.clear()
        assert ask_all(tmp_path, questions) == expected
        assert len(built) == count


def test_oldest_questions_beyond_bound_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_questions, "MOST", 3)
    ask_all(tmp_path, collected())
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("SELECT count(*) FROM questions").fetchone() == (3,)


def test_run_with_stored_replies_builds_no_question_again(project: Project, server: Loopback, built: list[str]) -> None:
    server.answer = right
    first = project.run(*asking(server.url))
    assert (project.path / ".taskgraph" / FILE).exists()
    assert built
    built.clear()
    for again in ((), ("--taskgraph-replay",)):
        ran = project.run(*asking(server.url), *again)
        assert (ran.code, ran.counts) == (first.code, first.counts)
        assert not built, again


def test_run_after_dry_run_builds_no_question_again(project: Project, server: Loopback, built: list[str]) -> None:
    server.answer = right
    dry = project.run(*asking(server.url), "--taskgraph-dry-run")
    assert sorted(path.name for path in (project.path / ".taskgraph").iterdir()) == [".gitignore", FILE]
    assert built
    built.clear()
    ran = project.run(*asking(server.url))
    assert (dry.code, ran.code) == (0, 0)
    assert not built


def test_run_that_asks_nothing_keeps_no_question(project: Project, server: Loopback) -> None:
    server.answer = right
    project.run(*asking(server.url))
    (project.path / ".taskgraph" / FILE).unlink()
    for idle in ("--collect-only", "--setup-only", "--taskgraph-replay"):
        project.run(*asking(server.url), idle)
        assert not (project.path / ".taskgraph" / FILE).exists(), idle


@pytest.mark.parametrize("method", ["question", "question_identity"])
def test_family_that_raises_in_live_run_fails_each_item(
    project: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(Understanding, method, lambda *_: 1 / 0)
    ran = project.run(*asking(server.url))
    assert ran.counts.keys() == {"error"}
    assert "division by zero" in ran.output
    assert "INTERNALERROR" not in ran.output


def test_run_beside_damaged_file_states_it(project: Project, server: Loopback) -> None:
    server.answer = right
    project.write(f".taskgraph/{FILE}", "no database at all, but long enough for a header" * 9)
    first, second = (project.run(*asking(server.url)) for _ in range(2))
    assert f"{FILE} is damaged (file is not a database); its questions are built again" in " ".join(
        first.output.split()
    )
    assert "is damaged" not in second.output
    assert (first.code, second.code) == (0, 0)


def test_run_without_stored_replies_keeps_no_question(project: Project, built: list[str]) -> None:
    project.run("--model=simulated:1")
    assert built
    assert not (project.path / ".taskgraph" / FILE).exists()

"""`rescore --store`: replies that the record shortened, taken whole from the store of replies, which is only read."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from described_runs import about_run
from loopback import Loopback, reply
from plugin_project import Project
from posix_tests import posix_only

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.benchmarks.episodes import opening
from pytest_taskgraph.commands.rescore import ADVICE, SHORTENED
from pytest_taskgraph.models.request_key import digest, request_entry
from pytest_taskgraph.models.store import Store
from pytest_taskgraph.models.store.schema import open_store
from pytest_taskgraph.models.store_folder import FILE
from pytest_taskgraph.results import record
from pytest_taskgraph.results.record.json_values import LONGEST_REPLY
from pytest_taskgraph.scoring.grade import score_reply
from pytest_taskgraph.trial import Question, Reply, Request, Score, Trial

MODEL = "openai/any"
SKIPPED_LINE = f"1 question {SHORTENED}: kept as they are"


def long(answer: str = "Bake, Mix") -> str:
    """A reply whose answer stands where the record has only its note."""
    return f"{'so ' * 3000}\nFinal answer: {' ' * 3000}{answer}{' ' * 10_000}"


def question_of(number: int = 0, **said: Any) -> Question:  # noqa: ANN401 - fields of Question
    question = Question(
        f"q-{number}", "understanding", "next_tasks", "structure", "Which?", f"Which of {number}?", "task-set",
        ["Bake", "Mix"], "correctness", ["jaccard"], names=["Bake", "Mix", "Eat"], system="Be kind.",
    )  # fmt: skip
    return replace(question, **said)


def stale(question: Question, text: str, model: str = MODEL) -> Trial:
    """An answer that a reader of another day did not understand."""
    trial = score_reply(question, Reply(text), model)[0]
    return replace(trial, outcome="unparseable", score=Score(0.0, {"jaccard": 0.0}, status="unparseable"))


def write_record(folder: Path, *trials: Trial) -> Path:
    path = folder / "record.json"
    record.save(path, record.build(trials, about_run("1.0", models=(MODEL,))))
    return path


StoredText = tuple[Question, str, dict[str, Any]]


def store(folder: Path, *stored: StoredText, model: str = MODEL) -> Path:
    """A store as a run leaves it: question, reply and settings of each."""

    async def fill(to: Store) -> None:
        for question, text, settings in stored:
            more = [{"role": "user", "content": "Go on."}] if question.episode == "agent" else []
            entry = request_entry(model, settings, request(question, more))
            await to.keep(digest(entry), entry, Reply(text))

    with closing(Store(folder / "kept", "run")) as to:
        asyncio.run(fill(to))
    return folder / "kept"


def request(question: Question, more: Iterable[dict[str, str]] = ()) -> Request:
    return Request([*opening(question), *more], repetition=question.repetition)


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}


def test_rescore_shortened_reply_uses_whole_reply(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, folder = (
        write_record(tmp_path, stale(question_of(), long())),
        store(tmp_path, (question_of(), long(), {"temperature": 0})),
    )
    before = record.load(path)
    assert main(["rescore", str(path)]) == 0
    assert lines(capsys)[:3] == ["0 answers scored again", SKIPPED_LINE, ADVICE]
    out = tmp_path / "new.json"
    assert main(["rescore", str(path), "--store", str(folder), "--check", "--out", str(out)]) == 1
    output = lines(capsys)
    assert output[0] == "1 answer scored again, 1 of them by the whole reply in the store"
    assert output[-3:] == [
        "1 score changed: 1 now right, 0 no longer right",
        '  q-0 (openai/any): unparseable 0.000, read as nothing -> right 1.000, read as ["Bake", "Mix"]; '
        "other metrics: jaccard",
        f"written to {out}",
    ]
    new = record.load(out)
    assert new["trials"][0]["reply"] == before["trials"][0]["reply"]
    assert main(["rescore", str(out), "--store", str(folder / FILE), "--check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["from_store"] == 1


def another_prompt(question: Question) -> Question:
    return replace(question, prompt="Which else?")


def another_system(question: Question) -> Question:
    return replace(question, system="Be brief.")


def another_repetition(question: Question) -> Question:
    return replace(question, repetition=2, id=f"{question.id}-r2")


@pytest.mark.parametrize("other", [another_prompt, another_system, another_repetition])
def test_rescore_reply_to_other_request_is_ignored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], other: Callable[[Question], Question]
) -> None:
    path, folder = (
        write_record(tmp_path, stale(question_of(), long())),
        store(tmp_path, (other(question_of()), long(), {})),
    )
    assert main(["rescore", str(path), "--store", str(folder), "--check"]) == 0
    assert lines(capsys)[:3] == ["0 answers scored again", SKIPPED_LINE, ""]


def test_rescore_reply_of_other_model_is_ignored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, folder = (
        write_record(tmp_path, stale(question_of(), long())),
        store(tmp_path, (question_of(), long(), {}), model="else"),
    )
    assert main(["rescore", str(path), "--store", str(folder), "--check"]) == 0
    assert SKIPPED_LINE in lines(capsys)


def test_rescore_later_reply_to_request_is_ignored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_record(tmp_path, stale(question_of(), long()))
    folder = store(
        tmp_path, (question_of(), long() + "!", {}), (question_of(), long().replace("so ", "oh ", 1), {"top_p": 1})
    )
    assert main(["rescore", str(path), "--store", str(folder), "--check"]) == 0
    assert SKIPPED_LINE in lines(capsys)


def test_rescore_several_settings_recorded_reply_is_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_record(tmp_path, stale(question_of(), long()))
    others = [(question_of(), f"{number}{long('Eat')}", {"temperature": number}) for number in range(3)]
    assert (
        main(["rescore", str(path), "--store", str(store(tmp_path, *others, (question_of(), long(), {}))), "--check"])
        == 1
    )
    assert "1 score changed: 1 now right, 0 no longer right" in lines(capsys)


@pytest.mark.parametrize(("second", "code"), [("Eat,  Mix", 0), ("Bake, Mix", 1)])
def test_rescore_ambiguous_whole_replies_are_skipped(tmp_path: Path, second: str, code: int) -> None:
    path = write_record(tmp_path, stale(question_of(), long()))
    folder = store(tmp_path, (question_of(), long(), {"seed": 1}), (question_of(), long(second), {"seed": 2}))
    assert len(long()) == len(long("Eat,  Mix"))
    assert main(["rescore", str(path), "--store", str(folder), "--check"]) == code


def test_rescore_replies_missing_in_store_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_record(
        tmp_path, *(stale(question_of(number), long()) for number in range(5)), stale(question_of(9), "Final answer: ")
    )
    folder = store(tmp_path, *((question_of(number), long(), {}) for number in (1, 3)))
    assert main(["rescore", str(path), "--store", str(folder), "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["rescored"], output["from_store"]) == (3, 2)
    assert [(row["id"], row["why"]) for row in output["kept"]] == [(f"q-{n}", SHORTENED) for n in (0, 2, 4)]
    main(["rescore", str(path), "--store", str(folder)])
    assert lines(capsys)[:2] == [
        "3 answers scored again, 2 of them by the whole reply in the store",
        f"3 questions {SHORTENED}: kept as they are",
    ]


def test_rescore_whole_reply_keeps_measured_metric(tmp_path: Path) -> None:
    question = question_of(
        form="text", reference="It bakes.", metric="judge", further=["rouge1"], judged=["judge"], pass_threshold=0.5,
        place="whole", episode="agent",
    )  # fmt: skip
    text = "so " * 9000
    scored, _ = score_reply(question, Reply(text), MODEL, 2, {"judge": 0.75})
    exchanges: list[dict[str, Any]] = [{"role": "judge", "messages": [], "metric": "judge", "value": 0.75}]
    path = write_record(tmp_path, replace(scored, exchanges=exchanges))
    assert scored.score is not None
    assert len(str(scored.score.given)) > LONGEST_REPLY
    out = tmp_path / "new.json"
    folder = store(tmp_path, (question, text, {}))
    command = ["rescore", str(path), "--store", str(folder), "--check", "--text-metric", "rouge1,judge"]
    assert main([*command, "--out", str(out)]) == 1
    (trial,) = record.load(out)["trials"]
    assert trial["score"]["metrics"]["judge"] == 0.75


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside a run"])
def test_rescore_does_not_change_store(tmp_path: Path, capsys: pytest.CaptureFixture[str], alone: bool) -> None:
    path, folder = write_record(tmp_path, stale(question_of(), long())), store(tmp_path, (question_of(), long(), {}))
    (folder / ".gitignore").unlink()  # which opening a store makes again
    with closing(open_store(folder) if not alone else sqlite3.connect(":memory:")) as run:
        if not alone:
            (folder / ".gitignore").unlink()
            run.execute("UPDATE replies SET run = 'another'")
        before = {name: state for name, state in everything(folder).items() if not name.endswith("-shm")}
        assert main(["rescore", str(path), "--store", str(folder), "--check"]) == 1
        assert {name: state for name, state in everything(folder).items() if not name.endswith("-shm")} == before
    assert "1 of them by the whole reply in the store" in lines(capsys)[0]


def test_rescore_finds_reply_in_write_ahead_log(tmp_path: Path) -> None:
    folder, path = store(tmp_path), write_record(tmp_path, stale(question_of(), long()))
    entry = request_entry(MODEL, {}, request(question_of()))
    row = (digest(entry), MODEL, json.dumps(entry), json.dumps({"text": long()}))
    with closing(open_store(folder)) as run:
        run.execute("INSERT INTO replies (key, model, request, reply, run, at) VALUES (?, ?, ?, ?, '', '')", row)
        (left := tmp_path / "left").mkdir()
        for name in (FILE, f"{FILE}-wal"):
            (left / name).write_bytes((folder / name).read_bytes())
    assert main(["rescore", str(path), "--store", str(left), "--check"]) == 1
    (link := tmp_path / "link").symlink_to(left / FILE)
    assert main(["rescore", str(path), "--store", str(link), "--check"]) == 1


@posix_only
def test_rescore_read_only_folder_is_sufficient(tmp_path: Path) -> None:
    path, folder = write_record(tmp_path, stale(question_of(), long())), store(tmp_path, (question_of(), long(), {}))
    os.chmod(folder / FILE, 0o444)
    os.chmod(folder, 0o555)
    try:
        assert main(["rescore", str(path), "--store", str(folder), "--check"]) == 1
    finally:
        os.chmod(folder, 0o755)


def test_rescore_store_copy_of_any_name_is_read(tmp_path: Path) -> None:
    path, folder = write_record(tmp_path, stale(question_of(), long())), store(tmp_path, (question_of(), long(), {}))
    copy = (folder / FILE).rename(tmp_path / "of monday?.db")
    assert main(["rescore", str(path), "--store", str(copy), "--check"]) == 1
    assert not list(tmp_path.glob("*-wal"))


def statements(sql: str) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(sql)

    return change


def another_reply(value: str) -> Callable[[Path], None]:
    return statements(f"UPDATE replies SET reply = '{value}{' ' * 30000}'")


def diary(file: Path) -> None:
    file.write_bytes(b"Dear diary, it rains.\n" * 100)


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-8192])


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def without_tables(file: Path) -> None:
    file.unlink()
    statements("CREATE TABLE a (b); DROP TABLE a")(file)


@pytest.mark.parametrize(
    ("harm", "expected"),
    [
        (Path.unlink, "there is no store of replies at"),
        (emptied, "is no store of replies: it has no tables"),
        (diary, "is no SQLite file (it begins with b'Dear diary, it r')"),
        (cut_short, "is damaged"),
        (without_tables, "is no store of replies: it has no tables"),
        (statements("DROP TABLE meta"), "is an SQLite file but no store of replies"),
        (statements("DROP TABLE replies"), "cannot be used (no such table: replies)"),
        (statements("UPDATE meta SET value = '99'"), "is of schema 99, this version knows up to 2"),
        (another_reply("[1]"), "an entry is no reply"),
        (another_reply('{"text": 5}'), "an entry is no reply"),
        (another_reply("{"), "an entry is no reply"),
        (another_reply("[" * 100_000), "an entry is no reply"),
        (statements("UPDATE replies SET request = '[]'"), "an entry is no reply"),
    ],
)
def test_rescore_invalid_store_is_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], harm: Callable[[Path], None], expected: str
) -> None:
    path, folder = write_record(tmp_path, stale(question_of(), long())), store(tmp_path, (question_of(), long(), {}))
    harm(folder / FILE)
    before, out = everything(folder), tmp_path / "new.json"
    assert main(["rescore", str(path), "--store", str(folder), "--out", str(out)]) == 4
    error = capsys.readouterr().err
    assert expected in error
    assert FILE in error
    assert everything(folder) == before
    assert not out.exists()


@pytest.mark.parametrize("name", ["nowhere", "record.json", "empty"])
def test_rescore_missing_store_is_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    path = write_record(tmp_path, stale(question_of(), "Final answer: Mix"))
    (tmp_path / "empty").mkdir()
    assert main(["rescore", str(path), "--store", str(tmp_path / name)]) == 4
    assert "store" in capsys.readouterr().err
    assert not list((tmp_path / "empty").iterdir())
    assert not (tmp_path / "nowhere").exists()


CALL = {"id": "c1", "type": "function", "function": {"name": "list_workflows", "arguments": "{}"}}
SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["nested_tasks"], instances=1)
def test_graph(trial):
    pass
"""


@pytest.mark.parametrize("presentation", ["whole", "agent"])
def test_rescore_record_and_store_of_run_match(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    presentation: str,
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    project = Project(pytester)
    project.write("test_graph.py", SUITE)
    options: Iterable[str] = ["--taskgraph-presentation=agent"] if presentation == "agent" else []
    with Loopback(long("none")) as server:
        if presentation == "agent":
            server.script(reply(None, finish_reason="tool_calls", message={"tool_calls": [CALL]}))
        option = ("--taskgraph-model-option", "temperature=0.5", "--taskgraph-model-option", "api_key=sk-test-123456")
        model = ("--model", f"{server.url}#any")
        ran = project.spawn(*model, *option, *options, "--taskgraph-report=json=record.json", fresh=False)
    path, folder = pytester.path / "record.json", pytester.path / ".taskgraph"
    old = record.load(path)
    (trial,) = old["trials"]
    assert trial["reply"] is not None, ran.output
    assert trial["requests"] == len(server.requests) == (2 if presentation == "agent" else 1)
    capsys.readouterr()
    assert main(["rescore", str(path), "--store", str(folder), "--check"]) == 0
    assert lines(capsys)[0] == "1 answer scored again, 1 of them by the whole reply in the store"
    trial["score"].update(given=["Nobody"])
    record.save(path, old)
    assert main(["rescore", str(path), "--store", str(folder), "--check"]) == 1
    assert lines(capsys)[-1].endswith('wrong 0.000, read as ["Nobody"] -> wrong 0.000, read as []')

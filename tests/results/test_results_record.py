from __future__ import annotations

import json
import math
import os
import re
import shutil
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from described_runs import about_run, described
from hypothesis import given
from hypothesis import strategies as st
from record_schema_file import COMMAND, FILE, SCHEMA, record_validator, schema_text

from pytest_taskgraph.diagram import Diagram, DiagramEdge, DiagramGroup, DiagramNode, DiagramPair, pack
from pytest_taskgraph.errors import ReadError, UsageError
from pytest_taskgraph.family_description import (
    Aggregate,
    Column,
    FamilyDescription,
    ReferenceValue,
    TableLayout,
    TableSpec,
)
from pytest_taskgraph.results import record
from pytest_taskgraph.results.case import FAILURES, RunCase
from pytest_taskgraph.results.record import json_values
from pytest_taskgraph.results.record.facts import Provenance, RunUsage
from pytest_taskgraph.results.tables import Cell, Reference
from pytest_taskgraph.results.tally import Row, Tally
from pytest_taskgraph.trial import Failure, Question, Reply, Score, Trial

ABOUT = about_run(
    "0.1.0", ("m",), 7, ("wadl", "mermaid"), "chain-of-thought", "lenient", ("answers",), 3, {"temperature": 0.2}
)
WORKFLOW = "workflow Shop { " + "task Pick; task Pack; " * 20 + "}"

nasty = st.text(st.characters(), max_size=40) | st.sampled_from(["\ud800", "a\x00\x1b[31m", "\u202e\ufffe", "]]>"])


def make_trial(name: str, reply: str = "Final answer: A", model: str = "m", prompt: str = "the prompt") -> Trial:
    question = Question(
        name, "understanding", "next_tasks", "structure", "Which?", prompt, "task-set", ["A"], "jaccard", cluster="w"
    )
    return Trial(question, model, "right", Reply(reply, 10, 2, cost=None), Score(1.0, {"recall": None}, given=["A"]))


def valid(data: dict[str, Any]) -> bool:
    record_validator().validate(data)
    return True


def write_and_read(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    record.save(folder / "r.json", data)
    return record.load(folder / "r.json")


def test_record_follows_schema() -> None:
    no_reply = replace(
        make_trial("b"), outcome="error", reply=None, score=None, failure=Failure("timeout", "no answer")
    )
    skipped = replace(no_reply, outcome="skipped", model="n")
    assert valid(record.build([make_trial("a"), no_reply, skipped], ABOUT))
    assert valid(record.build([], replace(ABOUT, questions=None)))


def test_schema_refuses_invalid_record() -> None:
    broken = record.build([make_trial("a")], ABOUT)
    broken["trials"][0]["outcome"] = "splendid"
    with pytest.raises(Exception, match="splendid"):
        valid(broken)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Question, "QuestionJson"), (Reply, "ReplyJson"), (Score, "ScoreJson"), (Failure, "FailureJson"),
        (Trial, "TrialJson"), (Row, "RowJson"), (RunCase, "VerdictJson"),
        (Provenance, "ProvenanceJson"), (FamilyDescription, "FamilyJson"), (Aggregate, "AggregateJson"),
        (TableSpec, "TableSpecJson"), (Column, "ColumnJson"), (TableLayout, "LayoutJson"),
        (ReferenceValue, "ReferenceValueJson"), (Cell, "CellJson"), (Reference, "PublishedValueJson"),
        (Diagram, "DiagramJson"), (DiagramNode, "NodeJson"), (DiagramEdge, "EdgeJson"), (DiagramGroup, "GroupJson"),
        (DiagramPair, "DiagramPairJson"),
    ],
)  # fmt: skip
def test_schema_has_every_field(kind: type[Any], name: str) -> None:
    extra = {"attempts"} if kind is Trial else set()
    assert {field.name for field in fields(kind)} | extra == set(SCHEMA["$defs"][name]["properties"])


def test_schema_has_every_member_of_record() -> None:
    assert set(RunUsage().to_json()) == set(SCHEMA["$defs"]["UsageJson"]["properties"])
    assert set(record.build([], ABOUT)) == set(SCHEMA["properties"])
    assert SCHEMA["properties"]["fail_on"]["items"]["enum"] == list(FAILURES)


def test_schema_file_is_what_pydantic_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == schema_text(), f"{FILE.name} is out of date; run: {COMMAND}"


def test_record_page_example_reads_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```$", FILE.with_name("record.md").read_text("utf-8"), re.M | re.S)
    record.save(tmp_path / "run.json", record.build([make_trial("a")], ABOUT))
    shutil.copy(FILE, tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(example, {})
    assert capsys.readouterr().out == "a right 10\n"


@given(nasty, nasty, nasty)
def test_record_any_text_round_trips(
    tmp_path_factory: pytest.TempPathFactory, name: str, reply: str, prompt: str
) -> None:
    built = record.build([make_trial("q" + name, reply, prompt=prompt)], ABOUT)
    again = write_and_read(built, tmp_path_factory.getbasetemp())
    assert again == built
    assert valid(again)
    (trial,) = record.trials(again)
    assert trial.reply is not None
    assert same(trial.reply.text, reply)
    assert same(trial.question.prompt, prompt)


def same(other: str, text: str) -> bool:
    """Return True if the texts are equal, a surrogate pair being the character that it is in JSON."""
    return other == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def test_record_trials_round_trip_sorted(tmp_path: Path) -> None:
    trials = [
        make_trial("b", model="n"),
        make_trial("b"),
        make_trial("a", "x" * 50_000),
        replace(make_trial("c"), reply=None, score=None),
    ]
    built = record.build(trials, ABOUT)
    back = record.trials(write_and_read(built, tmp_path))
    assert [(trial.question.id, trial.model) for trial in back] == [("a", "m"), ("b", "m"), ("b", "n"), ("c", "m")]
    assert back[1:] == [trials[1], trials[0], trials[3]]
    assert record.build(back, ABOUT) == built


def test_record_is_independent_of_trial_order() -> None:
    trials = [make_trial(str(at), model=model, prompt=f"{WORKFLOW} {at}") for at in range(4) for model in "mn"]
    assert json.dumps(record.build(trials, ABOUT)) == json.dumps(record.build(trials[::-1], ABOUT))


def test_record_builder_text_equals_whole_record(tmp_path: Path) -> None:
    drawing = {"title": "W", "nodes": [{"id": "a", "label": "A\n\u2028\ud800B"}]}
    many = [replace(make_trial(str(at), "ünï\n", prompt=f"{WORKFLOW} ü{at}"), diagram=pack(drawing)) for at in range(3)]
    for trials in ([], [make_trial("a", prompt="")], [make_trial("a")], many):
        whole = record.build(trials, ABOUT)
        record.save(tmp_path / "whole.json", whole)
        record.save(tmp_path / "pieces.json", record.RecordBuilder(trials, ABOUT))
        builder = record.RecordBuilder(trials, ABOUT)
        assert builder.to_json() == whole
        record.save(tmp_path / "builder.json", builder)
        texts = {(tmp_path / f"{name}.json").read_text() for name in ("whole", "pieces", "builder")}
        assert texts == {json.dumps(whole, indent=1) + "\n"}
    assert whole["diagrams"] == {"w": drawing}


def test_record_builder_set_about_changes_facts() -> None:
    builder = record.RecordBuilder([make_trial("a")], ABOUT)
    before = builder.to_json()
    builder.set_about(replace(ABOUT, lost=("b",)))
    assert builder.to_json() == {**before, "lost": ["b"]}


def test_record_text_of_workflow_stored_once() -> None:
    trials = [make_trial(str(at), prompt=f"{WORKFLOW}\nQuestion {at}") for at in range(50)]
    built = record.build(trials, ABOUT)
    assert json.dumps(built).count("workflow Shop") == 1
    assert record.trials(built) == sorted(trials, key=lambda trial: trial.question.id)


def test_record_prompt_of_several_models_stored_once() -> None:
    built = record.build([make_trial("a", model="m"), make_trial("a", model="n")], ABOUT)
    assert list(built["texts"].values()) == ["the prompt"]


def test_record_long_reply_keeps_head_tail_and_length() -> None:
    whole = "begin " + "x" * 30_000 + " end"
    (trial,) = record.trials(record.build([make_trial("a", whole)], ABOUT))
    reply_text = trial.reply.text if trial.reply else ""
    assert len(reply_text) == 20_000
    assert reply_text.startswith("begin xxx")
    assert reply_text.endswith("xxx end")
    assert f"the whole text has {len(whole)} characters" in reply_text


def test_record_reply_of_20000_characters_is_kept() -> None:
    assert record.trials(record.build([make_trial("a", "x" * 20_000)], ABOUT)) == [make_trial("a", "x" * 20_000)]


def test_record_long_exchanges_are_cut() -> None:
    exchanges = [{"role": "judge", "messages": [], "text": "y" * 30_000, "calls": [{"arguments": "z" * 30_000}]}]
    (read_trial,) = record.trials(record.build([replace(make_trial("a"), exchanges=exchanges)], ABOUT))
    assert len(read_trial.exchanges[0]["text"]) == len(read_trial.exchanges[0]["calls"][0]["arguments"]) == 20_000


def test_record_long_parsed_answer_is_cut() -> None:
    long = replace(make_trial("a"), score=Score(0.0, given="y" * 10**6, extra=["z" * 10**6]))
    assert len(json.dumps(record.build([long], ABOUT))) < 50_000


def test_record_attempts_round_trip() -> None:
    tally = Tally(described())
    for _ in range(3):
        tally.add(make_trial("a"))
    back = record.tally_of(record.build(tally, ABOUT))
    assert [back.attempts(trial) for trial in back] == [3]
    assert back.total() == tally.total()


def test_about_of_facts_round_trip(tmp_path: Path) -> None:
    assert record.about_of(write_and_read(record.build([make_trial("a")], ABOUT), tmp_path)) == ABOUT


def test_record_totals_for_each_model() -> None:
    built = record.build([make_trial("a", model="m"), make_trial("a", model="n"), make_trial("b", model="n")], ABOUT)
    assert [(row["model"], row["n"], row["rate"]) for row in built["totals"]] == [("m", 1, 1.0), ("n", 2, 1.0)]


@pytest.mark.parametrize(
    "name",
    [
        *("api_key", "OPENAI_API_KEY", "x-api-key", "apikey", "hf_token", "authToken", "client_secret", "Password"),
        *("passwd", "Authorization", "proxy-authorization", "aws_secret_access_key", "session_token", "credentials"),
        *("Cookie", "bearer"),
    ],
)
def test_record_has_no_keys(name: str) -> None:
    hidden: dict[str, Any] = {
        "temperature": 0,
        name: "hush-hush",
        "extra": [{"headers": {name: "hush-hush", "X-Trace": "1"}}],
    }
    built = record.build([make_trial("a")], replace(ABOUT, settings=hidden))
    assert "hush-hush" not in json.dumps(built)
    assert built["settings"] == {"temperature": 0, "extra": [{"headers": {"X-Trace": "1"}}]}


def test_public_settings_token_counts_are_kept() -> None:
    counts: dict[str, Any] = {"max_tokens": 200, "max_completion_tokens": "400", "top_p": 1}
    assert json_values.public_settings(counts) == counts
    assert json_values.public_settings({"tokens": "sk-abc", "key_tokens": 3}) == {}


def test_public_settings_credentials_cut_from_addresses() -> None:
    settings = json_values.public_settings({"api_base": "https://me:hush@host.example/v1"})
    assert settings == {"api_base": "https://host.example/v1"}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_build_infinite_number_is_refused_with_place(number: float) -> None:
    odd = replace(make_trial("a"), reply=Reply("x", logprobs=[["t", 0, number]]))
    with pytest.raises(UsageError, match=r"trial a of m, reply, logprobs\[0\]\[2\]: found -?(nan|inf)"):
        record.build([odd], ABOUT)


def test_build_deeply_nested_value_is_refused() -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    with pytest.raises(UsageError, match="deep"):
        record.build([replace(make_trial("a"), score=Score(0.0, given=deep))], ABOUT)
    with pytest.raises(UsageError, match="deep"):
        json_values.public_settings({"stop": deep})


def test_save_makes_folders_and_no_other_file(tmp_path: Path) -> None:
    record.save(tmp_path / "new" / "deep" / "r.json", record.build([], ABOUT))
    record.save(tmp_path / "new" / "deep" / "r.json", record.build([make_trial("a")], ABOUT))
    assert os.listdir(tmp_path / "new" / "deep") == ["r.json"]
    assert len(record.load(tmp_path / "new" / "deep" / "r.json")["trials"]) == 1


def test_save_failing_keeps_former_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    record.save(tmp_path / "r.json", record.build([make_trial("a")], ABOUT))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match=r"r\.json.*No space left"):
        record.save(tmp_path / "r.json", record.build([], ABOUT))
    assert os.listdir(tmp_path) == ["r.json"]
    assert len(record.load(tmp_path / "r.json")["trials"]) == 1


def test_save_unwritable_path_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "r.json", tmp_path):
        with pytest.raises(UsageError, match=str(path)):
            record.save(path, record.build([], ABOUT))


@pytest.mark.parametrize("schema", [4, 2, 0, "1", True, None, 1.0])
def test_load_other_schema_is_refused_in_one_line(tmp_path: Path, schema: object) -> None:
    (tmp_path / "r.json").write_text(json.dumps({**record.build([], ABOUT), "schema": schema}))
    with pytest.raises(UsageError) as caught:
        record.load(tmp_path / "r.json")
    assert str(caught.value) == (
        f"{tmp_path / 'r.json'} has schema {schema!r}, written by another version of pytest-taskgraph-bench; "
        "expected 1: record the run again"
    )


def test_about_of_question_sets_are_returned() -> None:
    data = record.build([make_trial("a")], replace(ABOUT, question_sets={"understanding": 5}))
    assert record.about_of(data).question_sets == {"understanding": 5}


@pytest.mark.parametrize("text", ["", "{", "[1]", "NaN", '{"schema": NaN}', "[" * 200_000, "9" * 5000, "\ud800"])
def test_load_other_json_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(UsageError, match=r"r\.json"):
        record.load(tmp_path / "r.json")


def test_load_broken_json_names_place(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{\n  "schema": ,}')
    with pytest.raises(ReadError, match=r"r\.json:2:13"):
        record.load(tmp_path / "r.json")


def test_load_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.json"):
        record.load(tmp_path / "absent.json")


@pytest.mark.parametrize("damage", [{"texts": {}}, {"trials": [1]}, {"trials": 3}, {"trials": [{"question": None}]}])
def test_load_damaged_record_is_refused(damage: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="damaged: trial"):
        record.trials({**record.build([make_trial("a")], ABOUT), **damage})
    with pytest.raises(UsageError, match="damaged"):
        record.about_of({"schema": 1})


def test_load_duplicate_trials_are_refused(tmp_path: Path) -> None:
    record_data = record.build([make_trial("a"), make_trial("b"), make_trial("a", model="n")], ABOUT)
    record_data["trials"].append(record_data["trials"][1])
    record.save(tmp_path / "r.json", record_data)
    with pytest.raises(UsageError, match=r"trial 4: the same question and model as trial 2, 'a'"):
        record.load_whole(tmp_path / "r.json")
    with pytest.raises(UsageError, match="the same question and model"):
        record.trials(record_data)


@pytest.mark.parametrize("failure", ["timeout: none", {"kind": "timeout"}, {"kind": 1, "message": ""}])
def test_load_invalid_failure_is_refused(tmp_path: Path, failure: object) -> None:
    damaged = record.build([make_trial("a")], ABOUT)
    damaged["trials"][0]["failure"] = failure
    with pytest.raises(UsageError, match=r"trial 1: .?failure"):
        write_and_read(damaged, tmp_path)

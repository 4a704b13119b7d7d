from __future__ import annotations

import json
import math
import os
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
from described_runs import about_run, described
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.diagram import pack
from pytest_taskgraph.errors import ReadError, UsageError
from pytest_taskgraph.family_description import AggregateKind, Rows
from pytest_taskgraph.results import record
from pytest_taskgraph.results.comparison import compare
from pytest_taskgraph.results.record import json_values
from pytest_taskgraph.results.record.older_records import upgrade_record
from pytest_taskgraph.results.tally import Row, Tally
from pytest_taskgraph.trial import Failure, Outcome, Question, Reply, Score, Trial

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "reference" / "record.schema.json").read_text())
ABOUT = about_run(
    "0.1.0", ("m",), 7, ("wadl", "mermaid"), "chain-of-thought", "lenient", ("answers",), 3, {"temperature": 0.2}
)
WORKFLOW = "workflow Shop { " + "task Pick; task Pack; " * 20 + "}"

nasty = st.text(st.characters(), max_size=40) | st.sampled_from(["\ud800", "a\x00\x1b[31m", "\u202e\ufffe", "]]>"])


def made(name: str, reply: str = "Final answer: A", model: str = "m", prompt: str = "the prompt") -> Trial:
    question = Question(
        name, "understanding", "next_tasks", "structure", "Which?", prompt, "task-set", ["A"], "jaccard", cluster="w"
    )
    return Trial(question, model, "right", Reply(reply, 10, 2, cost=None), Score(1.0, {"recall": None}, given=["A"]))


def valid(data: dict[str, Any]) -> bool:
    validator = import_module("jsonschema").Draft202012Validator
    validator.check_schema(SCHEMA)
    validator(SCHEMA).validate(data)
    return True


def written(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    record.save(folder / "r.json", data)
    return record.load(folder / "r.json")


def test_a_record_follows_its_schema() -> None:
    no_reply = replace(made("b"), outcome="error", reply=None, score=None, failure=Failure("timeout", "no answer"))
    skipped = replace(no_reply, outcome="skipped", model="n")
    assert valid(record.build([made("a"), no_reply, skipped], ABOUT))
    assert valid(record.build([], replace(ABOUT, questions=None)))


def test_the_schema_can_say_no() -> None:
    broken = record.build([made("a")], ABOUT)
    broken["trials"][0]["outcome"] = "splendid"
    with pytest.raises(Exception, match="splendid"):
        valid(broken)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(Question, "question"), (Reply, "reply"), (Score, "score"), (Failure, "failure"), (Trial, "trial"), (Row, "row")],
)
def test_the_schema_knows_every_field(kind: type[Any], name: str) -> None:
    extra = {"attempts"} if kind is Trial else set()
    assert {one.name for one in fields(kind)} | extra == set(SCHEMA["$defs"][name]["properties"])


PARTS = (("aggregate", "kind"), ("table", "rows"))  # of what a family says of itself


def test_schema_lists_every_kind_of_aggregate_and_row() -> None:
    kinds, rows = (SCHEMA["$defs"][of]["properties"][name]["enum"] for of, name in PARTS)
    assert (set(kinds), set(rows)) == (set(get_args(AggregateKind)), set(get_args(Rows)))


def test_the_schema_knows_everything_at_the_top() -> None:
    assert set(record.build([], ABOUT)) == set(SCHEMA["properties"])


@given(nasty, nasty, nasty)
@settings(max_examples=60, deadline=None)
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, name: str, reply: str, prompt: str) -> None:
    built = record.build([made("q" + name, reply, prompt=prompt)], ABOUT)
    again = written(built, tmp_path_factory.getbasetemp())
    assert again == built
    assert valid(again)
    (trial,) = record.trials(again)
    assert trial.reply is not None
    assert same(trial.reply.text, reply)
    assert same(trial.question.prompt, prompt)


def same(found: str, text: str) -> bool:
    """Whether it is the text, two halves of a surrogate pair taken for the character that they are in JSON."""
    return found == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def test_trials_come_back_sorted_and_the_record_of_them_is_the_same(tmp_path: Path) -> None:
    ones = [made("b", model="n"), made("b"), made("a", "x" * 50_000), replace(made("c"), reply=None, score=None)]
    built = record.build(ones, ABOUT)
    back = record.trials(written(built, tmp_path))
    assert [(one.question.id, one.model) for one in back] == [("a", "m"), ("b", "m"), ("b", "n"), ("c", "m")]
    assert back[1:] == [ones[1], ones[0], ones[3]]
    assert record.build(back, ABOUT) == built


def test_the_record_does_not_depend_on_the_order_of_the_trials() -> None:
    ones = [made(str(at), model=model, prompt=f"{WORKFLOW} {at}") for at in range(4) for model in "mn"]
    assert json.dumps(record.build(ones, ABOUT)) == json.dumps(record.build(ones[::-1], ABOUT))


def test_a_record_that_is_never_whole_in_memory_is_the_same_to_the_letter(tmp_path: Path) -> None:
    drawing = {"title": "W", "nodes": [{"id": "a", "label": "A\n\u2028\ud800B"}]}
    many = [replace(made(str(at), "ünï\n", prompt=f"{WORKFLOW} ü{at}"), diagram=pack(drawing)) for at in range(3)]
    for trials in ([], [made("a", prompt="")], [made("a")], many):
        whole = record.build(trials, ABOUT)
        record.save(tmp_path / "whole.json", whole)
        record.save(tmp_path / "pieces.json", record.RecordBuilder(trials, ABOUT))
        told = record.RecordBuilder(trials, ABOUT)
        assert told.to_json() == whole
        record.save(tmp_path / "told.json", told)
        texts = {(tmp_path / f"{name}.json").read_text() for name in ("whole", "pieces", "told")}
        assert texts == {json.dumps(whole, indent=1) + "\n"}
    assert whole["diagrams"] == {"w": drawing}


def test_a_draft_tells_what_became_known_after_its_trials_were_written_down() -> None:
    draft = record.RecordBuilder([made("a")], ABOUT)
    before = draft.to_json()
    draft.set_about(replace(ABOUT, lost=("b",)))
    assert draft.to_json() == {**before, "lost": ["b"]}


def test_a_workflow_s_text_stands_once() -> None:
    ones = [made(str(at), prompt=f"{WORKFLOW}\nQuestion {at}") for at in range(50)]
    built = record.build(ones, ABOUT)
    assert json.dumps(built).count("workflow Shop") == 1
    assert record.trials(built) == sorted(ones, key=lambda one: one.question.id)


def test_a_prompt_that_several_models_saw_stands_once() -> None:
    built = record.build([made("a", model="m"), made("a", model="n")], ABOUT)
    assert list(built["texts"].values()) == ["the prompt"]


def test_a_long_reply_keeps_head_and_tail_and_tells_its_length() -> None:
    whole = "begin " + "x" * 30_000 + " end"
    (trial,) = record.trials(record.build([made("a", whole)], ABOUT))
    kept = trial.reply.text if trial.reply else ""
    assert len(kept) == 20_000
    assert kept.startswith("begin xxx")
    assert kept.endswith("xxx end")
    assert f"the whole text has {len(whole)} characters" in kept


def test_a_reply_of_20000_characters_is_kept_whole() -> None:
    assert record.trials(record.build([made("a", "x" * 20_000)], ABOUT)) == [made("a", "x" * 20_000)]


def test_what_was_said_besides_the_reply_is_cut_as_replies_are() -> None:
    said = [{"role": "judge", "text": "y" * 30_000, "calls": [{"arguments": "z" * 30_000}]}]
    (kept,) = record.trials(record.build([replace(made("a"), exchanges=said)], ABOUT))
    assert len(kept.exchanges[0]["text"]) == len(kept.exchanges[0]["calls"][0]["arguments"]) == 20_000


def test_what_was_read_out_of_a_long_reply_is_cut_too() -> None:
    long = replace(made("a"), score=Score(0.0, given="y" * 10**6, extra=["z" * 10**6]))
    assert len(json.dumps(record.build([long], ABOUT))) < 50_000


def test_reruns_are_kept_in_the_record() -> None:
    tally = Tally(described())
    for _ in range(3):
        tally.add(made("a"))
    back = record.tally_of(record.build(tally, ABOUT))
    assert [back.attempts(one) for one in back] == [3]
    assert back.total() == tally.total()


def test_what_the_run_was_comes_back(tmp_path: Path) -> None:
    assert record.about_of(written(record.build([made("a")], ABOUT), tmp_path)) == ABOUT


def test_totals_are_told_for_each_model() -> None:
    built = record.build([made("a", model="m"), made("a", model="n"), made("b", model="n")], ABOUT)
    assert [(row["model"], row["n"], row["rate"]) for row in built["totals"]] == [("m", 1, 1.0), ("n", 2, 1.0)]


@pytest.mark.parametrize(
    "name",
    [
        *("api_key", "OPENAI_API_KEY", "x-api-key", "apikey", "hf_token", "authToken", "client_secret", "Password"),
        *("passwd", "Authorization", "proxy-authorization", "aws_secret_access_key", "session_token", "credentials"),
        *("Cookie", "bearer"),
    ],
)
def test_keys_are_never_recorded(name: str) -> None:
    hidden: dict[str, Any] = {
        "temperature": 0,
        name: "hush-hush",
        "extra": [{"headers": {name: "hush-hush", "X-Trace": "1"}}],
    }
    built = record.build([made("a")], replace(ABOUT, settings=hidden))
    assert "hush-hush" not in json.dumps(built)
    assert built["settings"] == {"temperature": 0, "extra": [{"headers": {"X-Trace": "1"}}]}


def test_counts_of_tokens_are_no_secrets() -> None:
    counts: dict[str, Any] = {"max_tokens": 200, "max_completion_tokens": "400", "top_p": 1}
    assert json_values.public_settings(counts) == counts
    assert json_values.public_settings({"tokens": "sk-abc", "key_tokens": 3}) == {}


def test_user_and_password_are_cut_out_of_addresses() -> None:
    kept = json_values.public_settings({"api_base": "https://me:hush@host.example/v1"})
    assert kept == {"api_base": "https://host.example/v1"}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_refused_with_its_place(number: float) -> None:
    odd = replace(made("a"), reply=Reply("x", logprobs=[["t", 0, number]]))
    with pytest.raises(UsageError, match=r"trial a of m, reply, logprobs\[0\]\[2\]: found -?(nan|inf)"):
        record.build([odd], ABOUT)


def test_what_is_nested_too_deep_is_refused() -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    with pytest.raises(UsageError, match="deep"):
        record.build([replace(made("a"), score=Score(0.0, given=deep))], ABOUT)
    with pytest.raises(UsageError, match="deep"):
        json_values.public_settings({"stop": deep})


def test_saving_makes_folders_and_leaves_nothing_else(tmp_path: Path) -> None:
    record.save(tmp_path / "new" / "deep" / "r.json", record.build([], ABOUT))
    record.save(tmp_path / "new" / "deep" / "r.json", record.build([made("a")], ABOUT))
    assert os.listdir(tmp_path / "new" / "deep") == ["r.json"]
    assert len(record.load(tmp_path / "new" / "deep" / "r.json")["trials"]) == 1


def test_a_save_that_fails_leaves_the_former_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    record.save(tmp_path / "r.json", record.build([made("a")], ABOUT))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match=r"r\.json.*No space left"):
        record.save(tmp_path / "r.json", record.build([], ABOUT))
    assert os.listdir(tmp_path) == ["r.json"]
    assert len(record.load(tmp_path / "r.json")["trials"]) == 1


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "r.json", tmp_path):
        with pytest.raises(UsageError, match=str(path)):
            record.save(path, record.build([], ABOUT))


@pytest.mark.parametrize("schema", [5, 0, "1", True, None, 1.0])
def test_a_schema_that_is_not_known_is_refused_with_its_number_and_the_known(tmp_path: Path, schema: object) -> None:
    (tmp_path / "r.json").write_text(json.dumps({**record.build([], ABOUT), "schema": schema}))
    told = rf"r\.json: found schema {schema!r}, expected one of \(1, 2, 3, 4\)"
    with pytest.raises(UsageError, match=told):
        record.load(tmp_path / "r.json")


def of_schema_1(*trials: Trial) -> dict[str, Any]:
    """Return the record of the trials as the first version wrote it."""
    data = {**record.build(trials, ABOUT), "schema": 1}
    for name in ("graded", "question_sets"):
        del data[name]
    text = json.dumps(data).replace('"outcome": "graded"', '"outcome": "right"')
    return dict(json.loads(text))


def test_an_older_record_has_version_1_and_its_graded_answers_are_no_right_ones(tmp_path: Path) -> None:
    graded = made("g")
    graded = replace(graded, question=replace(graded.question, pass_threshold=0.0), outcome="graded")
    old = of_schema_1(made("a"), graded)
    assert [one["outcome"] for one in old["trials"]] == ["right", "right"]
    back = written(old, tmp_path)
    assert record.trials(back) == [made("a"), graded]
    assert record.question_sets_of(back) == record.about_of(back).question_sets == {"understanding": 1}
    assert record.tally_of(back).total().n == 1


def test_what_a_record_says_of_question_sets_counts() -> None:
    data = record.build([made("a")], replace(ABOUT, question_sets={"understanding": 5}))
    assert record.question_sets_of(data) == record.about_of(data).question_sets == {"understanding": 5}
    assert record.question_sets_of(record.build([made("a")], ABOUT)) == {}


@pytest.mark.parametrize("text", ["", "{", "[1]", "NaN", '{"schema": NaN}', "[" * 200_000, "9" * 5000, "\ud800"])
def test_what_is_no_record_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(UsageError, match=r"r\.json"):
        record.load(tmp_path / "r.json")


def test_the_place_of_broken_json_is_told(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{\n  "schema": ,}')
    with pytest.raises(ReadError, match=r"r\.json:2:13"):
        record.load(tmp_path / "r.json")


def test_a_missing_record_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.json"):
        record.load(tmp_path / "absent.json")


@pytest.mark.parametrize("damage", [{"texts": {}}, {"trials": [1]}, {"trials": 3}, {"trials": [{"question": None}]}])
def test_a_damaged_record_is_told(damage: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="damaged: trial"):
        record.trials({**record.build([made("a")], ABOUT), **damage})
    with pytest.raises(UsageError, match="damaged"):
        record.about_of({"schema": 1})


def test_record_with_duplicate_trials_is_refused(tmp_path: Path) -> None:
    found = record.build([made("a"), made("b"), made("a", model="n")], ABOUT)
    found["trials"].append(found["trials"][1])
    record.save(tmp_path / "r.json", found)
    with pytest.raises(UsageError, match=r"trial 4: the same question and model as trial 2, 'a'"):
        record.load_whole(tmp_path / "r.json")
    with pytest.raises(UsageError, match="the same question and model"):
        record.trials(found)


def test_record_of_schema_2_is_read_and_written_as_schema_4(tmp_path: Path) -> None:
    old = Path(__file__).with_name("records") / "schema_2.json"  # written by the last version of schema 2
    read = record.load_whole(old)
    assert read["schema"] == 4
    assert [(one.question.group, one.question.section) for one in record.trials(read)] == [
        ("describe_task", "functionality"), ("flow_start", "structure"), ("parallel_pair", "structure"),
    ]  # fmt: skip
    record.save(tmp_path / "new.json", read)
    assert record.load_whole(tmp_path / "new.json") == read
    assert json.loads(old.read_text())["trials"][0]["question"]["pattern"] == "describe_task"


def test_record_of_schema_3_is_read_in_the_terms_of_schema_4(tmp_path: Path) -> None:
    old = Path(__file__).with_name("records") / "schema_3.json"  # written by the last version of schema 3
    read = record.load_whole(old)
    assert read["schema"] == 4
    assert [trial.outcome for trial in record.trials(read)].count("unparseable") == 1
    assert record.tally_of(read).total("weather").unparseable == 1
    assert [row["unparseable"] for row in read["totals"]] == [0, 1]
    assert "unreadable" in old.read_text()
    assert "oracle:0.5" in old.read_text()
    assert not any(word in json.dumps(read) for word in ("unreadable", "oracle"))
    assert record.about_of(read).simulated
    assert {trial.model.partition(" ")[0] for trial in record.trials(read)} == {"simulated:0.5", "weather"}
    record.save(tmp_path / "new.json", read)
    assert record.load_whole(tmp_path / "new.json") == read


@pytest.mark.parametrize(
    ("outcome", "error", "failure"),
    [
        ("right", "", None),
        ("error", "timeout: no reply: none", Failure("timeout", "no reply: none")),
        (
            "error",
            "no exact mark: an order of 9 tasks",
            Failure("order-too-wide", "no exact mark: an order of 9 tasks"),
        ),
        ("error", "a text without a kind", Failure("error", "a text without a kind")),
        ("skipped", "budget::cost: 1 of 1 spent", Failure("budget::cost", "1 of 1 spent")),
        ("skipped", "questions::asked: no workflow", Failure("prompt-not-understood", "no workflow")),
        ("skipped", "the model m cannot call tools: no", Failure("skipped", "the model m cannot call tools: no")),
    ],
)
def test_error_text_of_schema_3_is_read_as_kind_and_message(
    tmp_path: Path, outcome: Outcome, error: str, failure: Failure | None
) -> None:
    old = {**record.build([replace(made("a"), outcome=outcome)], ABOUT), "schema": 3}
    del old["trials"][0]["failure"]
    old["trials"][0]["error"] = error
    (read,) = record.trials(written(old, tmp_path))
    assert (read.outcome, read.failure) == (outcome, failure)


@pytest.mark.parametrize("failure", ["timeout: none", {"kind": "timeout"}, {"kind": 1, "message": ""}])
def test_failure_that_is_no_kind_and_message_is_refused(tmp_path: Path, failure: object) -> None:
    damaged = record.build([made("a")], ABOUT)
    damaged["trials"][0]["failure"] = failure
    with pytest.raises(UsageError, match=r"trial 1: .?failure"):
        written(damaged, tmp_path)


def test_record_of_schema_3_compared_with_same_questions_of_today_has_no_difference() -> None:
    old = Path(__file__).with_name("records") / "schema_3_strict.json"  # written by the last version of schema 3
    read = record.load_whole(old)
    assert valid(read)
    assert read["prompts"] == ["chain-of-thought"]
    settings = UnderstandingSettings(instances=1, parsing="strict", pass_threshold=0.5, notations=("wadl",))
    patterns = sorted({one.question.group for one in record.trials(read)})
    references = understanding.references(settings, {"patterns": patterns})
    today = sorted((understanding.question(one, settings) for one in references), key=lambda question: question.id)
    assert [one.question for one in record.trials(read)] == today
    fresh = [replace(one, question=question) for one, question in zip(record.trials(read), today, strict=True)]
    found = compare(read, record.build(fresh, record.about_of(read)))
    assert (found.paired, found.changed, found.notes) == (3, (), ())
    assert '"frame": "think-first"' in old.read_text()


def test_older_record_says_cannot_tell_for_inconclusive() -> None:
    gate = {"name": "compare::main", "outcome": "passed", "reason": "cannot tell: -0.1, need 40"}
    old = {**record.build([made("a")], ABOUT), "schema": 3, "gates": [gate]}
    assert upgrade_record(old)["gates"] == [{**gate, "reason": "inconclusive: -0.1, need 40"}]

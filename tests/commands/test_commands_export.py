"""`export`: a row a trial over several runs, the same in every format, and the data set of the Hugging Face Hub."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from described_runs import about_run

from pytest_taskgraph.__main__ import USAGE_ERROR, main
from pytest_taskgraph.commands.export.data_set import split_names
from pytest_taskgraph.results.record import build
from pytest_taskgraph.results.record import save as save_file
from pytest_taskgraph.results.record.facts import Provenance
from pytest_taskgraph.results.record.saved import save
from pytest_taskgraph.trial import Failure, Json, Outcome, Question, Reply, Score, Trial

CHAIN: Json = {"tasks": ["A", "B"], "before": [[0, 1]]}
PROVENANCE = Provenance(
    "2026-11-23T14:05:09+01:00", 61.5, ("pytest",), "0123456789abcdef", True, {"python": "3.11.7"}, "Linux"
)
LISTS = ("missing", "extra", "why")


def make_question(id_: str, family: str = "understanding", **changes: Any) -> Question:  # noqa: ANN401
    question = Question(
        id_, family, "running order", "structure", "In which order?", "Two lines:\n\tIn which order?", "task-order",
        CHAIN, "order", cluster="w1", chance=0.5, system="Be brief.", labels={"prompt": "plain", "tasks": 2},
    )  # fmt: skip
    return replace(question, **changes)


def make_trial(question: Question, outcome: Outcome = "right", model: str = "m", **changes: Any) -> Trial:  # noqa: ANN401
    reply = Reply('He said: "A, B"\nA, B', 120, 70, 0.1, 2.5, reasoning="First A.", tokens_reasoning=60)
    score = Score(1.0, {"tau": None}, {"pairs": [3.0, 4.0]}, given=["A", "B"])
    return replace(Trial(question, model, outcome, reply, score, requests=1), **changes)


def make_trials() -> list[Trial]:
    swapped = Score(0.5, {"tau": 0.25}, {"pairs": [1.0, 4.0]}, given=["B", "A"], extra=["Z", "ä, b"])
    timeout = Failure("timeout", "no reply within 60 s")
    return [
        make_trial(make_question("q1-r2", repetition=2)),
        make_trial(make_question("q2", labels={"tasks": "many", "edit": "x"}), "wrong", score=swapped),
        make_trial(make_question("q3"), "error", reply=None, score=None, failure=timeout, requests=3, retries=2),
        make_trial(make_question("q4", family="tasklama", pass_threshold=0.0), "graded", model="n"),
    ]


def about(**changes: Any) -> Any:  # noqa: ANN401
    return replace(about_run("0.1.0", ("m",), 7, question_sets={"understanding": 2}), provenance=PROVENANCE, **changes)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the saved run `main` of four trials and the record `other.json` of one, which is older."""
    monkeypatch.chdir(tmp_path)
    save(build(make_trials(), about()), tmp_path / ".taskgraph", "main")
    older = replace(about_run("0.0.9", ("m",)), provenance=None)
    save_file(tmp_path / "other.json", build([make_trial(make_question("q1"))], older))
    return tmp_path


def csv_rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


def json_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_export_jsonl_has_row_for_each_trial_of_each_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "main", "other.json", "--to", "jsonl", "--out", "out.jsonl"]) == 0
    rows = json_rows(folder / "out.jsonl")
    assert capsys.readouterr().out == f"out.jsonl: 5 rows of 2 runs, {len(rows[0])} columns\n"
    assert [(row["run"], row["id"]) for row in rows] == [
        ("main", "q1-r2"), ("main", "q2"), ("main", "q3"), ("main", "q4"), ("other", "q1"),
    ]  # fmt: skip
    assert {tuple(row) for row in rows} == {tuple(rows[0])}
    assert rows[0]["started"] == "2026-11-23T14:05:09+01:00"
    assert (rows[4]["started"], rows[4]["plugin_version"], rows[4]["seed"]) == (None, "0.0.9", 0)


def test_export_row_holds_question_answer_and_spending(folder: Path) -> None:
    main(["export", "main", "--to", "jsonl", "--out", "out.jsonl"])
    right, wrong, error, graded = json_rows(folder / "out.jsonl")
    assert {name: right[name] for name in ("question", "repetition", "question_set", "seed", "prompt_template")} == {
        "question": "q1", "repetition": 2, "question_set": 2, "seed": 7, "prompt_template": "plain",
    }  # fmt: skip
    assert {name: right[name] for name in ("reply", "reasoning", "tokens_in", "tokens_out", "tokens_reasoning")} == {
        "reply": 'He said: "A, B"\nA, B', "reasoning": "First A.", "tokens_in": 120, "tokens_out": 70,
        "tokens_reasoning": 60,
    }  # fmt: skip
    assert (right["cost_usd"], right["latency"], right["stored"], right["passed"]) == (0.1, 2.5, False, True)
    assert (right["part_pairs_numerator"], right["part_pairs_denominator"], right["metric_tau"]) == (3.0, 4.0, None)
    assert wrong["given"] == "B, A"
    assert wrong["given_json"] == ["B", "A"]
    assert wrong["expected_json"] == CHAIN
    assert wrong["extra"] == ["Z", "ä, b"]
    assert wrong["why"] == ["B stands before A, but has to come after it"]
    assert (wrong["metric_tau"], wrong["score"], wrong["chance"], wrong["passed"]) == (0.25, 0.5, 0.5, False)
    assert (wrong["label_tasks"], right["label_tasks"], wrong["label_edit"]) == ("many", "2", "x")
    assert (error["failure_kind"], error["retries"], error["score"], error["passed"]) == ("timeout", 2, None, None)
    assert (graded["outcome"], graded["passed"], graded["pass_threshold"]) == ("graded", None, 0.0)


def test_export_csv_has_values_of_jsonl(folder: Path) -> None:
    for name in ("csv", "jsonl"):
        main(["export", "main", "other.json", "--to", name, "--out", f"out.{name}"])
    rows, expected = csv_rows(folder / "out.csv"), json_rows(folder / "out.jsonl")
    assert [*rows[0]] == [*expected[0]]
    assert [{name: from_csv(name, value) for name, value in row.items()} for row in rows] == [
        {name: value if is_data(name) or value is None else str(value) for name, value in row.items()}
        for row in expected
    ]


def is_data(name: str) -> bool:
    """Return True for a column of lists or JSON values."""
    return name.endswith("_json") or name in LISTS


def from_csv(name: str, value: str) -> Any:  # noqa: ANN401
    """Return a value of CSV; a text, but for JSON and what is empty."""
    if is_data(name) and value:
        return json.loads(value)
    return {"true": "True", "false": "False"}.get(value, value) or None


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1"])
def test_export_csv_disarms_formulas_of_spreadsheets(folder: Path, text: str) -> None:
    trial = make_trial(make_question("q"), model=text, reply=Reply(text))
    save_file(folder / "hostile.json", build([trial], about()))
    assert main(["export", "hostile.json", "--to", "csv", "--out", "out.csv"]) == 0
    (row,) = csv_rows(folder / "out.csv")
    assert (row["model"], row["reply"]) == (f"'{text}", f"'{text}")


def test_export_csv_escapes_control_characters(folder: Path) -> None:
    trial = make_trial(make_question("q"), reply=Reply("\x1b[31m\x00red\u202e"))
    save_file(folder / "hostile.json", build([trial], about()))
    main(["export", "hostile.json", "--to", "csv", "--out", "out.csv"])
    assert csv_rows(folder / "out.csv")[0]["reply"] == r"\x1b[31m\0red\u202e"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonesuch", "--to", "csv", "--out", "o"], "unknown saved run 'nonesuch'"),
        (["./none.json", "--to", "csv", "--out", "o"], "there is no such record"),
        (["main", "main", "--to", "csv", "--out", "o"], "a record is named twice"),
        (["main", ".taskgraph/runs/main.json", "--to", "csv", "--out", "o"], "a record is named twice"),
        (["main", "--to", "csv", "--out", "other.json"], "exists already"),
        (["main", "--to", "xls", "--out", "o"], "invalid choice: 'xls'"),
    ],
)
def test_export_with_wrong_argument_is_usage_error(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    before = sorted(folder.rglob("*"))
    assert main(["export", *arguments]) == USAGE_ERROR
    assert message in capsys.readouterr().err
    assert sorted(folder.rglob("*")) == before


def test_export_without_arguments_writes_last_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(build(make_trials()[:1], about()), folder / ".taskgraph", "last")
    assert main(["export"]) == 0
    assert capsys.readouterr().out.startswith("trials.csv: 1 row of 1 run, ")
    assert [row["run"] for row in csv_rows(folder / "trials.csv")] == ["last"]


def test_export_without_format_follows_ending_of_file(folder: Path) -> None:
    assert main(["export", "main", "--out", "out.jsonl"]) == 0
    assert len(json_rows(folder / "out.jsonl")) == 4


def test_export_without_last_run_says_what_is_missing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export"]) == USAGE_ERROR
    assert capsys.readouterr().err == (
        "error: no record is named, and .taskgraph holds no run 'last', as which each run of a named model is saved; "
        "name a record, or ask a model first: pytest --model=SPEC\n"
    )
    assert not (folder / "trials.csv").exists()


def test_export_with_force_replaces_file(folder: Path) -> None:
    (folder / "out.csv").write_text("old")
    assert main(["export", "main", "--to", "csv", "--out", "out.csv", "--force"]) == 0
    assert len(csv_rows(folder / "out.csv")) == 4


def test_export_of_records_with_one_stem_names_their_paths(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "other.json").write_bytes((folder / "other.json").read_bytes())
    main(["export", "other.json", "sub/other.json", "--to", "jsonl", "--out", "out.jsonl"])
    assert [row["run"] for row in json_rows(folder / "out.jsonl")] == ["other.json", "sub/other.json"]


def test_export_is_same_in_any_process(folder: Path) -> None:
    for name in ("one", "two"):
        main(["export", "main", "other.json", "--to", "jsonl", "--out", name])
    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()


@pytest.mark.parametrize("form", ["parquet", "hf"])
def test_export_without_pyarrow_names_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    assert main(["export", "main", "--to", form, "--out", "out"]) == USAGE_ERROR
    assert "pip install pytest-taskgraph-bench[export]" in capsys.readouterr().err
    assert not (folder / "out").exists()


@pytest.fixture
def pandas() -> Any:  # noqa: ANN401
    pytest.importorskip("pyarrow")
    return pytest.importorskip("pandas")


def values(frame: Any, decode: Callable[[str, Any], Any]) -> Iterator[list[Any]]:  # noqa: ANN401
    """Yield the values of each row of a data frame, those of numbers as numbers and what is missing as None."""
    for row in frame.to_dict("records"):
        yield [decode(name, _plain(value)) for name, value in row.items()]


def _plain(value: Any) -> Any:  # noqa: ANN401
    value = value.tolist() if hasattr(value, "tolist") else value
    return None if value is None or value != value else value


def test_export_is_same_in_pandas_from_every_format(folder: Path, pandas: Any) -> None:  # noqa: ANN401
    for name in ("csv", "jsonl", "parquet"):
        assert main(["export", "main", "other.json", "--to", name, "--out", f"out.{name}"]) == 0

    def from_json(name: str, value: Any) -> Any:  # noqa: ANN401
        return json.loads(value) if isinstance(value, str) and is_data(name) else value

    def as_text(name: str, value: Any) -> Any:  # noqa: ANN401 - a label that is a number in some rows is a text
        return str(value) if name == "label_tasks" else from_json(name, value)

    parquet = pandas.read_parquet(folder / "out.parquet")
    frames = [parquet, pandas.read_csv(folder / "out.csv"), pandas.read_json(folder / "out.jsonl", lines=True)]
    assert parquet.shape[0] == 5
    assert len({tuple(frame.columns) for frame in frames}) == 1
    first, second, third = (list(values(frame, as_text)) for frame in frames)
    assert first == second == third
    assert parquet.groupby("run")["score"].mean().to_dict() == pytest.approx({"main": 2.5 / 3, "other": 1.0})


def test_export_hf_writes_card_and_split_for_each_family(folder: Path, pandas: Any) -> None:  # noqa: ANN401
    assert main(["export", "main", str(folder / "other.json"), "--to", "hf", "--out", str(folder / "set")]) == 0
    files = sorted(path.relative_to(folder / "set").as_posix() for path in (folder / "set").rglob("*.*"))
    assert files == [
        "README.md",
        "data/tasklama-00000-of-00001.parquet",
        "data/understanding-00000-of-00001.parquet",
    ]
    tasklama, understanding = (pandas.read_parquet(folder / "set" / name) for name in files[1:])
    assert (tasklama["id"].tolist(), understanding["id"].tolist()) == (["q4"], ["q1-r2", "q2", "q3", "q1"])
    assert [*tasklama.columns] == [*understanding.columns]
    card = (folder / "set" / "README.md").read_text(encoding="utf-8")
    _, front, body = card.split("---\n", 2)
    assert '  - split: "tasklama"\n    path: "data/tasklama-00000-of-00001.parquet"\n' in front
    assert "license:" not in front
    assert "python -m pytest_taskgraph export main other.json --to hf --out set\n" in body
    assert str(folder) not in card
    assert "| `main` | `2026-11-23T14:05:09+01:00` | `m` | 7 | `0.1.0` | `3.11.7` | 4 |" in body
    assert all(f"| `{name}` |" in body for name in tasklama.columns)


def test_export_hf_into_folder_of_other_data_is_refused(
    folder: Path,
    pandas: Any,  # noqa: ANN401
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = folder / "set" / "data" / "train-00000-of-00001.parquet"
    other.parent.mkdir(parents=True)
    other.write_text("other")
    assert main(["export", "main", "--to", "hf", "--out", "set", "--force"]) == USAGE_ERROR
    assert "found other data, such as set/data/train-00000-of-00001.parquet" in capsys.readouterr().err
    assert other.read_text() == "other"


def test_export_hf_with_force_replaces_own_files(folder: Path, pandas: Any) -> None:  # noqa: ANN401
    assert main(["export", "main", "--to", "hf", "--out", "set"]) == 0
    assert main(["export", "main", "--to", "hf", "--out", "set"]) == USAGE_ERROR
    assert main(["export", "main", "--to", "hf", "--out", "set", "--force"]) == 0
    assert [path.name for path in (folder / "set" / "data").glob(".*")] == []


@pytest.mark.exhaustive
def test_export_parquet_of_many_rows_has_all_in_order(folder: Path, pandas: Any) -> None:  # noqa: ANN401
    trials = [make_trial(make_question(f"q{at:04}")) for at in range(2_500)]
    save_file(folder / "many.json", build(trials, about()))
    assert main(["export", "many.json", "--to", "parquet", "--out", "out.parquet"]) == 0
    assert pandas.read_parquet(folder / "out.parquet")["id"].tolist() == [f"q{at:04}" for at in range(2_500)]


def test_split_names_of_odd_families_are_valid_and_distinct() -> None:
    families = ["", "a b", "a-b", "all", "größe", "ü", "x.y"]
    names = split_names(families)
    assert names == {
        "": "rows", "a b": "a_b", "a-b": "a_b_", "all": "all_", "größe": "gr_e", "ü": "rows_", "x.y": "x_y",
    }  # fmt: skip


def test_export_replaces_half_of_surrogate_pair(folder: Path) -> None:
    question = make_question("q", labels={"size": 1})
    record = json.dumps(build([make_trial(question, reply=Reply("A HERE"))], about())).replace("HERE", r"\ud800")
    (folder / "half.json").write_text(record.replace('"size": 1', r'"size\udfff": 1'))
    assert main(["export", "half.json", "--to", "jsonl", "--out", "half.jsonl"]) == 0
    (row,) = json_rows(folder / "half.jsonl")
    assert (row["reply"], row["label_size?"]) == ("A ?", 1)

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest
from described_runs import about_run

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.results.record import build
from pytest_taskgraph.results.record import save as write
from pytest_taskgraph.results.record.saved import save
from pytest_taskgraph.trial import Question, Reply, Score, Trial

REPLIES = count(1)  # no reply says the same as another


def saved_run(marks: str, model: str = "m") -> dict[str, object]:
    """The record of a run: one question a letter, "+" right, "-" wrong."""
    trials = []
    for at, mark in enumerate(marks):
        question = Question(f"q{at:03d}", "understanding", "chain", "structure", "Which?", "p", "task", "A", "jaccard")
        value = float(mark == "+")
        outcome = "right" if value else "wrong"
        reply = Reply(f"x, number {next(REPLIES)}")
        trials.append(Trial(question, model, outcome, reply, Score(value)))  # type: ignore[arg-type]
    return build(trials, about_run("0.1.0", models=(model,)))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    save(saved_run("+" * 100), tmp_path / ".taskgraph", "main")
    return tmp_path / ".taskgraph"


def test_compare_worse_run_exits_1(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write("after.json", saved_run("-" * 20 + "+" * 80))
    assert main(["compare", "main", "after.json"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "compared with main: worse: -0.200 over 100 paired questions, p < 0.0001, worse"
    assert max(map(len, lines)) <= 80


def test_compare_not_worse_run_exits_0(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(saved_run("+" * 100), store, "last")
    assert main(["compare", "main", "last"]) == 0
    assert "not worse" in capsys.readouterr().out


def test_compare_fail_on_inconclusive_and_missing_exits_1(store: Path) -> None:
    save(saved_run("+" * 30), store, "few")
    save(saved_run("+" * 30), store, "again")
    assert main(["compare", "few", "again"]) == 0
    assert main(["compare", "few", "again", "--fail-on", "regression,inconclusive"]) == 1
    assert main(["compare", "few", "again", "--fail-on", "inconclusive", "--margin", "0.5"]) == 0
    assert main(["compare", "few", "few", "--fail-on", "inconclusive"]) == 0, "the replies are identical"
    assert main(["compare", "main", "few", "--fail-on", "missing"]) == 1
    assert main(["compare", "few", "main", "--fail-on", "missing"]) == 0


def test_compare_json_holds_whole_comparison(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(saved_run("-" * 20 + "+" * 80), store, "last")
    assert main(["compare", "main", "last", "--json"]) == 1
    output = json.loads(capsys.readouterr().out)
    assert (output["outcome"], output["verdict"], output["paired"], len(output["flips"])) == (
        "failed",
        "worse",
        100,
        20,
    )
    assert output["groups"][0]["name"] == "chain"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["main", "gone"], "unknown saved run 'gone'; known: main"),
        (["gone.json", "main"], "no such record"),
        (["main", "main", "--store", "none"], "there is no store at none"),
        (["main", "empty.json"], "empty.json is not the record of a run: it has no schema number"),
        (
            ["bad.json", "main"],
            'bad.json: the record is damaged: trial 2: score: found "high", expected an object',
        ),
        (["main", "main", "--fail-on", "worse"], "unknown value of --fail-on 'worse'; known: inconclusive, "),
        (["main", "main", "--fail-on", ","], "no value; expected some of"),
        (["main", "main", "--margin", "2"], "expected a number from 0 to 1"),
        (["main", "main", "--margin", "nan"], "expected a number from 0 to 1"),
        (["main"], "required: B"),
    ],
)
def test_compare_invalid_arguments_are_usage_errors(
    store: Path, capsys: pytest.CaptureFixture[str], more: list[str], expected: str
) -> None:
    Path("empty.json").write_text("{}")
    bad = json.loads(json.dumps(saved_run("++")))
    bad["trials"][1]["score"] = "high"
    Path("bad.json").write_text(json.dumps(bad))
    assert main(["compare", *more]) == 4
    assert expected in capsys.readouterr().err


def test_compare_store_option_is_used(store: Path) -> None:
    store.rename(store.with_name("elsewhere"))
    assert main(["compare", "main", "main"]) == 4
    assert main(["compare", "main", "main", "--store", "elsewhere"]) == 0


def test_compare_report_writes_page_with_both_runs(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(saved_run("-" * 20 + "+" * 80), store, "branch")
    assert main(["compare", "main", "branch", "--report", "html=out/page.html", "--report", "md=page.md"]) == 1
    page = Path("out/page.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert 'id="changes"' in page
    assert ">branch<" in page
    assert page.count('class="flip"') == 20
    assert "### Compared with `main`" in Path("page.md").read_text(encoding="utf-8")
    assert "compared with main: worse" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ("json=a.json", "kind of --report"),
        ("html=", "nothing given after html="),
        ("html", "nothing given after html="),
        ("html=.taskgraph/runs/main.json", "it would replace a record"),
        ("md=.taskgraph/runs/new.md", "it would replace a record"),
        ("md=.taskgraph/replies.sqlite", "it would replace a record"),
        ("html=.", "it is a folder"),
    ],
)
def test_compare_report_wrong_value_exits_4(
    store: Path, capsys: pytest.CaptureFixture[str], report: str, message: str
) -> None:
    before = (store / "runs" / "main.json").read_bytes()
    assert main(["compare", "main", "main", "--report", report]) == 4
    assert message in capsys.readouterr().err
    assert (store / "runs" / "main.json").read_bytes() == before


def test_compare_report_to_compared_file_exits_4(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write("after.json", saved_run("+" * 100))
    assert main(["compare", "main", "after.json", "--report", "md=./after.json"]) == 4
    assert "it would replace a record" in capsys.readouterr().err

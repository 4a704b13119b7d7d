from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from described_runs import about_run

from pytest_taskgraph.__main__ import USAGE_ERROR, main
from pytest_taskgraph.results.record import build
from pytest_taskgraph.results.record.facts import Provenance
from pytest_taskgraph.results.record.saved import records_folder, save
from pytest_taskgraph.trial import Question, Reply, Score, Trial

PROVENANCE = Provenance(
    "2026-11-23T14:05:09+01:00", 61.5, ("pytest", "suites/", "--seed=3 4"), "0123456789abcdef", True,
    {"python": "3.11.7", "pytest": "9.2.0"}, "Linux-6.1",
)  # fmt: skip


def made_run(provenance: Provenance | None) -> dict[str, object]:
    """The record of one right answer."""
    question = Question("q1", "understanding", "chain", "structure", "Which?", "p", "task", "A", "jaccard")
    about = replace(about_run("0.1.0", models=("m",)), provenance=provenance, question_sets={"understanding": 2})
    return build([Trial(question, "m", "right", Reply("A"), Score(1.0))], about)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    folder = tmp_path / ".taskgraph"
    save(made_run(None), folder, "older")
    save(made_run(replace(PROVENANCE, started="2026-11-20T09:00:00+01:00", commit="", dirty=None)), folder, "before")
    save(made_run(PROVENANCE), folder, "main")
    return folder


def test_runs_list_shows_latest_run_first(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "list"]) == 0
    title, *lines = capsys.readouterr().out.splitlines()
    assert title.split() == ["name", "date", "models", "result", "commit"]
    assert [line.split()[0] for line in lines] == ["main", "before", "older"]
    assert "2026-11-23 14:05:09 +01:00" in lines[0]
    assert lines[0].endswith("0123456789+")
    assert "The question is right" in lines[0]


def test_runs_without_action_lists_runs(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "list"]) == 0
    listed = capsys.readouterr().out
    assert main(["runs"]) == 0
    assert capsys.readouterr().out == listed


def test_runs_list_orders_dates_across_zones(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(made_run(replace(PROVENANCE, started="2026-11-23T13:30:00+00:00")), store, "later")
    save(made_run(replace(PROVENANCE, started="yesterday")), store, "undated")
    assert main(["runs", "list", "--json"]) == 0
    names = [run["name"] for run in json.loads(capsys.readouterr().out)]
    assert names == ["later", "main", "before", "older", "undated"]


def test_runs_show_json_names_the_file_of_saved_run(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "show", "main", "--json"]) == 0
    assert (
        Path(json.loads(capsys.readouterr().out)["path"]).resolve() == (records_folder(store) / "main.json").resolve()
    )


def test_runs_list_with_damaged_record_names_its_fault(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (records_folder(store) / "torn.json").write_text('{"schema": 1')
    assert main(["runs", "list"]) == 0
    output = capsys.readouterr().out
    assert "torn.json" in output
    assert "main" in output


def test_runs_list_json_holds_provenance(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "list", "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)
    assert [run["name"] for run in runs] == ["main", "before", "older"]
    assert runs[0]["provenance"]["commit"] == "0123456789abcdef"
    assert runs[2]["provenance"] is None


def test_runs_show_states_facts_and_tables(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "show", "main"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for line in (
        "main: The question is right",
        "date: 2026-11-23 14:05:09 +01:00",
        "duration: 62 s",
        "command: pytest suites/ '--seed=3 4'",
        "git commit: 0123456789abcdef, with uncommitted changes",
        "question sets: understanding 2",
        "Python: 3.11.7",
        "platform: Linux-6.1",
    ):
        assert line in lines
    assert any(line.split()[:2] == ["chain", "1*"] for line in lines)


def test_runs_empty_store_says_how_to_save(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "list", "--store", str(tmp_path)]) == 0
    assert "--taskgraph-save=NAME" in capsys.readouterr().out


def test_runs_unknown_name_is_answered_with_known_names(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "show", "mian"]) == USAGE_ERROR
    assert "unknown saved run 'mian'; known: before, main, older" in capsys.readouterr().err


def test_runs_missing_store_is_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "list", "--store", str(tmp_path / "none")]) == USAGE_ERROR
    assert "there is no store at" in capsys.readouterr().err

"""The version of the question set: stated in the record, and a reason to refuse a comparison across versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from plugin_project import OWN, Project, Ran

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.families.understanding.understanding_family import QUESTION_SET

MODEL = "--model=simulated:1"
WHY = f"the baseline asked version 1 of the questions of 'understanding', the run after version {QUESTION_SET}"
ADVICE = "record the baseline again with --taskgraph-save"


def flat_output(ran: Ran) -> str:
    return " ".join(ran.output.split())


def outdated(path: Path) -> None:
    """Make the record that stands there one of the first version of the questions of `understanding`."""
    data: dict[str, Any] = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "question_sets": dict.fromkeys(data["question_sets"], 1)}))


@pytest.fixture
def saved(project: Project) -> Project:
    """A project with a run `main` of the first question set, which is the run before as well."""
    assert project.run(MODEL, "--taskgraph-save=main").code == 0
    for name in ("main", "last"):
        outdated(project.path / ".taskgraph" / "runs" / f"{name}.json")
    return project


def test_record_states_version_of_questions(project: Project) -> None:
    project.run(MODEL, "--taskgraph-report=json=record.json")
    assert project.record()["question_sets"] == {"understanding": QUESTION_SET}


def test_comparison_with_other_question_set_is_refused(saved: Project) -> None:
    options = (MODEL, "--taskgraph-compare=main")
    for ran in (saved.run(*options), saved.spread(*options, workers=1)):
        assert (ran.code, ran.counts.get("passed", 0)) == (4, 0), ran.output
        assert f"--taskgraph-compare: main: {WHY}" in flat_output(ran)
        assert ADVICE in flat_output(ran)
        assert ran.clean


def test_configured_comparison_with_another_version_is_refused(saved: Project) -> None:
    saved.write("pytest.ini", "[pytest]\ntaskgraph_compare = main\n")
    ran = saved.run(MODEL)
    assert ran.code == 4
    assert WHY in flat_output(ran)


def test_path_of_another_version_is_refused(saved: Project) -> None:
    ran = saved.run(MODEL, "--taskgraph-compare=.taskgraph/runs/main.json")
    assert ran.code == 4
    assert WHY in flat_output(ran)


@pytest.mark.parametrize("workers", [False, True])
def test_run_before_of_another_version_is_noted_and_not_compared(saved: Project, workers: bool) -> None:
    options = (MODEL, "--taskgraph-compare=last")
    ran = saved.spread(*options, workers=1) if workers else saved.run(*options)
    assert (ran.code, ran.counts) == (0, {"passed": 4, "skipped": 1}), ran.output
    assert f"no comparison: {WHY}" in flat_output(ran)
    assert f"skipped compare::last: not decided: {WHY}" in flat_output(ran)
    again = saved.run(*options)
    assert "passed compare::last: identical replies: 4 paired questions" in flat_output(again)


def test_run_before_of_another_version_fails_where_missing_does(saved: Project) -> None:
    ran = saved.run(MODEL, "--taskgraph-compare=last", "--taskgraph-fail-on=missing")
    assert ran.code == 1
    assert f"failed compare::last: not decided: {WHY}" in flat_output(ran)


def test_baseline_recorded_anew_can_be_compared_with(saved: Project) -> None:
    assert saved.run(MODEL, "--taskgraph-save=main").code == 0
    assert "4 paired questions" in flat_output(saved.run(MODEL, "--taskgraph-compare=main"))


def test_users_patterns_have_no_version_and_compare(project: Project) -> None:
    project.write("test_graph.py", OWN)
    project.run(MODEL, "--taskgraph-save=main", "--taskgraph-report=json=record.json")
    assert project.record()["question_sets"] == {}
    assert "identical replies: 2 paired questions" in flat_output(project.run(MODEL, "--taskgraph-compare=main"))


def test_command_refuses_other_versions(
    saved: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert saved.run(MODEL, "--taskgraph-save=new").code == 0
    monkeypatch.chdir(saved.path)
    assert main(["compare", "main", "new"]) == 4
    error = capsys.readouterr().err
    assert f"the runs cannot be compared: {WHY}" in error
    assert "record the baseline again" in error
    assert main(["compare", "main", "main"]) == 0


def test_scoring_again_keeps_version(saved: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(saved.path)
    assert main(["rescore", "main", "--out", "again.json"]) == 0
    assert saved.record("again.json")["question_sets"] == {"understanding": 1}
    assert main(["compare", "main", "again.json"]) == 0

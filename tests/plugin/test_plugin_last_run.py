"""The run that each run of an explicit model leaves in the store, under the name last."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from plugin_project import IDS, Project

from pytest_taskgraph.__main__ import main

RIGHT, WRONG = "--model=simulated:1", "--model=simulated:0"
LAST = ".taskgraph/runs/last.json"
INTERRUPTED = "\ndef test_stop():\n    raise KeyboardInterrupt\n"


def flat_output(text: str) -> str:
    return " ".join(text.split())


def saved_ids(project: Project) -> list[str]:
    return [trial["question"]["id"] for trial in project.record(LAST)["trials"]]


def test_run_with_model_can_be_shown_after_first_failure(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert project.run(WRONG).code == 1
    monkeypatch.chdir(project.path)
    capsys.readouterr()
    assert main(["show", IDS[0]]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(IDS[0])
    assert "wrong: score 0.000, below the pass threshold 1.000" in printed
    assert (project.path / ".taskgraph" / ".gitignore").read_text() == "*\n"


def test_run_that_ends_at_first_failure_is_last(project: Project) -> None:
    ran = project.run(WRONG, "-x", "--taskgraph-save=main")
    assert saved_ids(project) == [IDS[0]]
    assert "the run 'main' is not saved: it did not come to its end" in flat_output(ran.output)


@pytest.mark.parametrize(
    "options", [(), (RIGHT, "--taskgraph-dry-run"), (RIGHT, "--collect-only"), (RIGHT, "-k", "nothing")]
)
def test_run_without_model_or_questions_leaves_nothing(project: Project, options: tuple[str, ...]) -> None:
    project.run(*options)
    assert not (project.path / ".taskgraph").exists()


def test_run_interrupted_leaves_last_as_it_is(project: Project) -> None:
    project.run(RIGHT)
    before = (project.path / LAST).read_bytes()
    project.write("test_later.py", INTERRUPTED)
    assert project.spawn(WRONG, fresh=False).code == pytest.ExitCode.INTERRUPTED
    assert (project.path / LAST).read_bytes() == before


def test_comparison_with_last_reads_run_before(project: Project) -> None:
    first = project.run(RIGHT, "--taskgraph-compare=last")
    assert "there is no run named 'last' to compare with yet" in flat_output(first.output)
    changed = project.run(WRONG, "--taskgraph-compare=last", "--taskgraph-fail-on=nothing")
    assert "total 4 1.000 0.000 -1.000 4 0" in flat_output(changed.output)
    same = project.run(WRONG, "--taskgraph-compare=last", "--taskgraph-fail-on=regression")
    assert (same.code, "identical replies: 4 paired" in flat_output(same.output)) == (0, True), same.output


@pytest.mark.parametrize("damage", ['{"schema": 99}', "{"])
def test_configured_comparison_with_unreadable_last_is_left_out(project: Project, damage: str) -> None:
    project.run(RIGHT)
    (project.path / "pytest.ini").write_text("[pytest]\ntaskgraph_compare = last\n")
    (project.path / LAST).write_text(damage)
    ran = project.run(RIGHT)
    assert (ran.code, len(saved_ids(project))) == (0, len(IDS)), ran.output
    assert "last.json" in "".join(ran.output.split())
    assert "the next run can be compared with this run" in flat_output(ran.output)
    assert "identical replies: 4 paired" in flat_output(project.run(RIGHT).output)


def test_requested_comparison_with_unreadable_last_is_refused(project: Project) -> None:
    project.run(RIGHT)
    (project.path / LAST).write_text('{"schema": 99}')
    ran = project.run(RIGHT, "--taskgraph-compare=last")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "last.json has schema 99" in flat_output(ran.output)
    assert "record the run again" in flat_output(ran.output)


def test_run_over_workers_is_last_as_a_whole(project: Project) -> None:
    assert project.spread(RIGHT).code == 0
    assert sorted(saved_ids(project)) == sorted(IDS)
    assert sorted(path.name for path in (project.path / LAST).parent.iterdir()) == ["last.json"]


@pytest.mark.parametrize("blocked", [".taskgraph", LAST])
def test_run_that_cannot_be_kept_as_last_has_remark(project: Project, blocked: str) -> None:
    if blocked == LAST:
        os.makedirs(project.path / Path(LAST) / "folder")
    else:
        project.write(blocked, "no folder")
    ran = project.run(RIGHT, "--taskgraph-report=json=record.json")
    assert (ran.code, ran.counts, ran.clean) == (0, {"passed": 4}, True), ran.output
    assert "taskgraph: the run is not saved as last: " in flat_output(ran.output)
    assert len(project.record()["trials"]) == 4

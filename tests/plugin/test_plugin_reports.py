"""Reports of a run: allowed paths, saved records and comparisons, and runs without any question."""

from __future__ import annotations

from pathlib import Path

import pytest
from loopback import Loopback, refuse
from plugin_project import IDS, Project, Ran, asking, right
from posix_tests import posix_only
from record_schema_file import record_validator

REPORT = "--taskgraph-report=json=record.json"
SIMULATED = "--model=simulated:1"
GATE = "--taskgraph-gate=structure>=0.1"
USAGE = pytest.ExitCode.USAGE_ERROR
SKIPPED = """
import pytest
from pytest_taskgraph import suite, understanding

@pytest.mark.skip(reason="not today")
@suite(understanding, patterns=["parallel_pair"], instances=2)
def test_graph(trial):
    trial.check()
"""
PLAIN = "def test_plain():\n    pass\n"
INTERRUPTED = "\nimport pytest\n\ndef test_stop():\n    raise KeyboardInterrupt\n"


def reports(*kinds: str) -> list[str]:
    return [f"--taskgraph-report={kind}=new/r.{kind}" for kind in kinds]


def flat_output(ran: Ran) -> str:
    """The output with line breaks and what wraps lines made one space."""
    return " ".join(ran.output.split())


def case(project: Project, name: str = "record.json") -> dict[str, str]:
    """The outcomes of the cases in a record, by name."""
    return {gate["name"]: gate["outcome"] for gate in project.record(name)["gates"]}


def test_reports_all_skipped_written_but_not_saved(project: Project) -> None:
    project.write("test_graph.py", SKIPPED)
    ran = project.run(SIMULATED, GATE, "--taskgraph-save=S1", *reports("md", "json", "html", "csv"), "--junitxml=j.xml")
    assert (ran.code, ran.counts) == (1, {"failed": 1, "skipped": 2}), ran.output
    assert case(project, "new/r.json") == {"gates::structure": "failed"}
    record_validator().validate(project.record("new/r.json"))
    for kind in ("md", "html"):
        assert "1 gate failed" in (project.path / f"new/r.{kind}").read_text(), kind
    assert (project.path / "new/r.csv").read_text().startswith("id,")
    assert "failed gates::structure: " in " ".join(ran.table)
    assert "not today" in " ".join(ran.table)
    assert "the run 'S1' is not saved: nothing was asked" in flat_output(ran)
    assert not (project.path / ".taskgraph" / "runs").exists()


def test_save_run_without_any_answer_keeps_saved_run(project: Project, server: Loopback) -> None:
    server.answer = right
    project.run(*asking(server.url), "--taskgraph-save=main")
    before = (project.path / ".taskgraph/runs/main.json").read_text(encoding="utf-8")
    server.script(*[refuse(500, "down")] * 10)
    ran = project.run(*asking(server.url), "--taskgraph-save=main", "--taskgraph-refresh", "--taskgraph-retries=0")
    assert "the run 'main' is not saved: no question was answered" in flat_output(ran)
    assert (project.path / ".taskgraph/runs/main.json").read_text(encoding="utf-8") == before


def test_save_all_skipped_without_gate_prints_remark(project: Project) -> None:
    project.write("test_graph.py", SKIPPED)
    ran = project.run(SIMULATED, "--taskgraph-save=S1", *reports("md"))
    assert (ran.code, ran.counts) == (0, {"skipped": 2}), ran.output
    assert "the run 'S1' is not saved: nothing was asked" in flat_output(ran)
    assert (project.path / "new/r.md").exists()
    assert "= taskgraph =" not in project.run(SIMULATED).output


@pytest.mark.parametrize("path", ["st/replies.sqlite", "st/runs/main.json", "st/../st/new.json", ".taskgraph/r.json"])
def test_report_in_store_folder_is_refused(project: Project, path: str) -> None:
    store = () if path.startswith(".") else ("--taskgraph-store=st",)
    file = project.write(path, "kept")
    ran = project.run(SIMULATED, *store, f"--taskgraph-report=json={path}")
    assert (ran.code, ran.counts) == (USAGE, {}), ran.output
    assert f"json={path} is in the folder of the store" in ran.output
    assert file.read_text() == "kept"


def test_report_in_project_within_store_folder_is_written(
    project: Project,
) -> None:
    assert project.run(SIMULATED, "--taskgraph-store=.", REPORT).code == 0
    ran = project.run(SIMULATED, "--taskgraph-store=.", "--taskgraph-report=json=replies.sqlite")
    assert ran.code == USAGE, ran.output


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("--taskgraph-report=md=x", "--taskgraph-report=csv=x"),
        ("--taskgraph-report=md=x", "--taskgraph-report=md=x"),
        ("--taskgraph-report=md=new/same.md", "--taskgraph-report=html=./new/../new/same.md"),
        ("--taskgraph-report=json=new/j.xml", "--junitxml=new/j.xml"),
    ],
)
def test_reports_in_same_file_are_refused(project: Project, one: str, other: str) -> None:
    ran = project.run(SIMULATED, one, other)
    assert (ran.code, ran.counts) == (USAGE, {}), ran.output
    names = [text.removeprefix("--taskgraph-report=") for text in (one, other)]
    assert f"{names[0]} and {names[1]} are the same file" in ran.output


@posix_only
@pytest.mark.parametrize(
    ("report", "why"),
    [
        ("md=", "md=: nothing given after md="),
        ("md=/proc/x.md", "md=/proc/x.md: it cannot be written"),
        (
            "json=test_graph.py/deep/r.json",
            "json=test_graph.py/deep/r.json: it cannot be written: test_graph.py is",
        ),
        ("csv=/dev/null", "csv=/dev/null: it is not a regular file"),
    ],
)
def test_report_unwritable_is_usage_error(project: Project, report: str, why: str) -> None:
    before = sorted(project.path.iterdir())
    ran = project.run(SIMULATED, f"--taskgraph-report={report}")
    assert (ran.code, ran.counts) == (USAGE, {}), ran.output
    assert why in ran.output
    assert sorted(project.path.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("mian", "main"),
        ("lsat", "last"),
        *(pytest.param(name, "main", marks=pytest.mark.exhaustive) for name in ("mai", "mains", "Main")),
    ],
)
def test_slip_in_name_of_saved_run_is_mistake(project: Project, name: str, meant: str) -> None:
    assert project.run(SIMULATED, "--taskgraph-save=main").code == 0
    ran = project.run(SIMULATED, f"--taskgraph-compare={name}")
    assert (ran.code, ran.counts) == (USAGE, {}), ran.output
    assert f"no run named {name!r} (saved: last, main); did you mean {meant!r}?" in ran.output
    first = project.run(SIMULATED, f"--taskgraph-compare={name}", f"--taskgraph-save={name}")
    assert (first.code, first.counts) == (0, {"passed": 4, "skipped": 1}), first.output


def test_first_run_of_another_name_is_reported_and_passes(project: Project) -> None:
    project.run(SIMULATED, "--taskgraph-save=run-1")
    for name in ("nightly", "run-2"):
        ran = project.run(SIMULATED, f"--taskgraph-compare={name}")
        assert (ran.code, ran.counts) == (0, {"passed": 4, "skipped": 1}), ran.output
        assert f"there is no run named '{name}' to compare with yet (saved: last, run-1)" in flat_output(ran)


def test_last_cannot_be_saved_and_run_is_compared_with_one(project: Project) -> None:
    ran = project.run(SIMULATED, "--taskgraph-save=last")
    assert ran.code == USAGE
    assert "last is the run before" in ran.output
    ran = project.run(SIMULATED, "--taskgraph-compare=a", "--taskgraph-compare", "b")
    assert ran.code == USAGE
    assert "--taskgraph-compare: given 2 times" in ran.output


@pytest.mark.parametrize("chosen", ["test_plain", "nosuch"])
def test_comparison_of_selection_without_questions_is_skipped(project: Project, chosen: str) -> None:
    project.write("test_plain.py", PLAIN)
    project.run(SIMULATED, "--taskgraph-save=A")
    ran = project.run(SIMULATED, "--taskgraph-compare=A", "--taskgraph-fail-on=regression", "-k", chosen, "-rs")
    assert ran.code == (0 if chosen == "test_plain" else pytest.ExitCode.NO_TESTS_COLLECTED), ran.output
    assert "failed" not in ran.counts
    assert "not decided: no question was left (-k)" in flat_output(ran)


def test_comparison_configured_is_demanded_once_there_are_questions(project: Project) -> None:
    project.write("test_plain.py", PLAIN)
    project.run(SIMULATED, "--taskgraph-save=main")
    project.write("pytest.ini", "[pytest]\ntaskgraph_compare = mian\n")
    ran = project.run("test_plain.py")
    assert (ran.code, ran.counts) == (0, {"passed": 1, "skipped": 1}), ran.output
    ran = project.run(SIMULATED)
    assert ran.code == USAGE, ran.output
    assert "did you mean 'main'?" in ran.output
    ran = project.spread(SIMULATED, workers=1)  # the controller collects nothing: it tells at the end
    assert (ran.code, ran.counts["failed"]) == (1, 1), ran.output
    assert "did you mean 'main'?" in flat_output(ran)


def test_run_interrupted_says_that_nothing_was_decided(project: Project) -> None:
    suite = (project.path / "test_graph.py").read_text()
    project.write("test_graph.py", suite + INTERRUPTED)
    ran = project.run(SIMULATED, GATE, REPORT, "--taskgraph-save=main")
    assert ran.code == pytest.ExitCode.INTERRUPTED, ran.output
    record = project.record()
    record_validator().validate(record)
    assert (record["interrupted"], record["gates"], len(record["trials"])) == (True, [], len(IDS))
    assert "the run was interrupted: there is no verdict of gates and comparisons" in flat_output(ran)
    assert "the run 'main' is not saved: it did not come to its end" in flat_output(ran)
    assert not (project.path / ".taskgraph" / "runs").exists()


def test_run_interrupted_before_first_reply_leaves_reports(project: Project) -> None:
    suite = (project.path / "test_graph.py").read_text()
    project.write("test_graph.py", INTERRUPTED + suite)
    assert project.run(SIMULATED, GATE, REPORT).code == pytest.ExitCode.INTERRUPTED
    assert (project.record()["interrupted"], project.record()["trials"]) == (True, [])


def test_run_that_came_to_end_was_not_interrupted(project: Project) -> None:
    assert project.run(SIMULATED, GATE, REPORT).code == 0
    assert project.record()["interrupted"] is False


def test_damaged_baseline_is_reported_before_anything_is_asked(project: Project, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"schema": 1}')
    ran = project.run(SIMULATED, f"--taskgraph-compare={tmp_path / 'bad.json'}")
    assert (ran.code, ran.counts, ran.clean) == (USAGE, {}, True), ran.output
    assert "bad.json: the record is damaged: facts of the run: 'version' is missing" in ran.output

from __future__ import annotations

from xml.etree.ElementTree import Element

import pytest
from plugin_project import IDS, Project, properties, rows, wrong
from record_schema_file import record_validator

from pytest_taskgraph.results import record

REPORT = "--taskgraph-report=json=record.json"


def test_record_holds_every_trial_and_is_of_schema(project: Project) -> None:
    project.run("--model", "simulated:0.5", REPORT)
    run_record = project.record()
    record_validator().validate(run_record)
    assert [trial.question.id for trial in record.trials(run_record)] == sorted(IDS)
    assert run_record["models"] == ["simulated:0.5 (knows the answers; for testing the machinery)"]
    assert (run_record["seed"], run_record["questions"], run_record["fail_on"]) == (0, 4, ["answers"])


@pytest.mark.usefixtures("unknown_circumstances")  # which differ between any two runs
def test_reports_of_run_over_workers_are_same(project: Project) -> None:
    project.run(REPORT)
    project.write("replies.jsonl", rows(project.record(), wrong))
    kinds = ("json", "md", "html", "csv")

    def reports(name: str) -> list[str]:
        kind_options = (f"--taskgraph-report={kind}={name}.{kind}" for kind in kinds)
        return ["--model=recorded:replies.jsonl", *kind_options, f"--junitxml={name}.xml"]

    def cases(suite: Element) -> dict[str, list[tuple[str, str]]]:
        return {element.attrib["name"]: properties(element) for element in suite.findall("testcase")}

    alone, spread = project.run(*reports("alone")), project.spread(*reports("spread"))
    assert alone.code == spread.code == 1
    assert project.record("alone.json")["diagrams"]
    for kind in kinds:
        alone_file, spread_file = (project.path / f"{name}.{kind}" for name in ("alone", "spread"))
        assert alone_file.read_bytes() == spread_file.read_bytes(), kind
    assert alone.table == spread.table
    suites = (project.junit("alone.xml"), project.junit("spread.xml"))
    assert properties(suites[0]) == properties(suites[1]) != []
    assert cases(suites[0]) == cases(suites[1]) != {}


def test_record_of_run_that_errs_and_skips_is_of_schema(project: Project) -> None:
    project.run(REPORT)
    project.write("replies.jsonl", rows(project.record()).splitlines(keepends=True)[0])
    project.run("--model=recorded:replies.jsonl", "--model", "baseline:random", REPORT)
    record_validator().validate(project.record())
    assert {trial["outcome"] for trial in project.record()["trials"]} >= {"right", "skipped"}
    assert len(project.record()["trials"]) == 8


def test_recorded_model_reads_several_records(project: Project) -> None:
    project.run(REPORT, "--taskgraph-report=json=deeper/down.json")
    assert project.record() == project.record("deeper/down.json")


def test_relative_path_starts_where_pytest_was_started(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("test_graph.py", "import os\n" + (project.path / "test_graph.py").read_text() + "    os.chdir('/')\n")
    assert project.run(REPORT).code == 0
    assert len(project.record()["trials"]) == 4


def test_folder_is_no_place_for_record_and_told_before_anything_is_asked(project: Project) -> None:
    (project.path / "folder").mkdir()
    ran = project.run("--model", "simulated:1", "--taskgraph-report=json=folder")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "json=folder: it is a folder; expected the path of a file" in ran.output
    assert ran.clean
    assert not ran.counts


LATE = """
def test_before():
    open("late", "w").close()

def test_wrong():
    assert not FAILS
"""


@pytest.mark.parametrize(("fails", "code"), [(False, 4), (True, 1)])
def test_record_unwritable_at_end_is_reported_after_table(project: Project, fails: bool, code: int) -> None:
    project.write("test_late.py", f"FAILS = {fails}\n{LATE}")
    reports = ("--taskgraph-report=json=late/record.json", "--taskgraph-report=md=late/record.md")
    ran = project.run("--model", "simulated:1", *reports, "--junitxml=junit.xml")
    assert ran.code == code, ran.output
    assert "the record cannot be written to" in ran.output
    assert "the report cannot be written to" in ran.output
    assert ".part" not in ran.output
    assert [line.split()[1] for line in ran.table if line.startswith("structure")] == ["4*"]
    assert ran.counts == ({"passed": 5, "failed": 1} if fails else {"passed": 6})
    assert len(project.junit().findall("testcase")) == 6


def test_record_without_questions_is_not_written(project: Project) -> None:
    assert project.run(REPORT, "-k", "nothing_of_that_name").code == pytest.ExitCode.NO_TESTS_COLLECTED
    assert not (project.path / "record.json").exists()

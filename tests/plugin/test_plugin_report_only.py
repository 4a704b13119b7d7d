from __future__ import annotations

from plugin_project import Project

REPORTS = ("--junitxml=junit.xml", "--taskgraph-report=json=record.json")


def test_default_baseline_is_report_only_and_right(project: Project) -> None:
    ran = project.run()
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    assert "model baseline reader" in ran.output
    assert "4 questions, report only" in ran.output


def test_report_only_wrong_answer_is_no_failure(project: Project) -> None:
    ran = project.run("--model", "simulated:0", "--taskgraph-fail-on=nothing", *REPORTS)
    assert (ran.code, ran.counts) == (0, {"wrong": 4})
    assert "test_graph.py wwww" in ran.output
    assert "FAILED" not in ran.output
    assert [line.split()[1:3] for line in ran.table if line.startswith("structure")] == [["4*", "0.000"]]
    assert project.record()["fail_on"] == []


def test_report_only_wrong_answer_is_skipped_in_junit_with_reason(project: Project) -> None:
    project.run("--model", "simulated:0", "--taskgraph-fail-on=nothing", *REPORTS)
    suite = project.junit()
    assert (suite.attrib["skipped"], suite.attrib["failures"], suite.attrib["errors"]) == ("4", "0", "0")
    reasons = [element.attrib["message"] for element in suite.findall("testcase/skipped")]
    assert len(reasons) == 4
    assert all(reason.startswith("wrong (score 0.000): expected ") for reason in reasons)


def test_report_only_over_workers_wrong_answer_is_no_failure(project: Project) -> None:
    ran = project.spread("--model", "simulated:0", "--taskgraph-fail-on=nothing", "-v", *REPORTS, workers=1)
    assert (ran.code, ran.counts) == (0, {"wrong": 4})
    assert ran.output.count("WRONG test_graph.py::test_graph[") == 4
    assert len(project.junit().findall("testcase/skipped")) == 4


def test_report_only_verbose_says_wrong(project: Project) -> None:
    ran = project.run("--model", "simulated:0", "--taskgraph-fail-on=nothing", "-v")
    assert "test_graph.py::test_graph[parallel_pair-wadl-n012-s0-000] WRONG" in ran.output


def test_report_only_keeps_failure_of_user_assertion(project: Project) -> None:
    project.write("test_plain.py", "def test_it():\n    assert [] == [1]\n")
    ran = project.run("--model", "simulated:0", "--taskgraph-fail-on=nothing")
    assert (ran.code, ran.counts) == (1, {"wrong": 4, "failed": 1})


def test_named_baseline_fails_on_wrong_answers(project: Project) -> None:
    ran = project.run("--model", "baseline:constant")
    assert ran.code == 1
    assert ran.counts["failed"] >= 1


def test_default_baseline_fails_on_answers_if_stated(project: Project) -> None:
    ran = project.run("--taskgraph-fail-on=answers")
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    assert "report only" not in ran.output

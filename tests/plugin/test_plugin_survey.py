from __future__ import annotations

from plugin_project import Project

REPORTS = ("--junitxml=junit.xml", "--taskgraph-report=json=record.json")


def test_the_default_baseline_is_a_survey_and_right(project: Project) -> None:
    ran = project.run()
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    assert "model baseline:reader" in ran.output
    assert "a survey: nothing is judged" in ran.output


def test_in_a_survey_a_wrong_answer_is_no_failure(project: Project) -> None:
    ran = project.run("--model", "simulated:0", "--taskgraph-judge=none", *REPORTS)
    assert (ran.code, ran.counts) == (0, {"wrong": 4})
    assert "test_graph.py wwww" in ran.output
    assert "FAILED" not in ran.output
    assert [line.split()[1:3] for line in ran.table if line.startswith("total")] == [["4*", "0.000"]]
    assert project.record()["judge"] == "none"


def test_in_a_survey_a_wrong_answer_is_skipped_in_junit_with_the_reason(project: Project) -> None:
    project.run("--model", "simulated:0", "--taskgraph-judge=none", *REPORTS)
    suite = project.junit()
    assert (suite.attrib["skipped"], suite.attrib["failures"], suite.attrib["errors"]) == ("4", "0", "0")
    reasons = [one.attrib["message"] for one in suite.findall("testcase/skipped")]
    assert len(reasons) == 4
    assert all(reason.startswith("wrong: expected ") for reason in reasons)


def test_in_a_survey_over_workers_a_wrong_answer_is_no_failure_either(project: Project) -> None:
    ran = project.spread("--model", "simulated:0", "--taskgraph-judge=none", "-v", *REPORTS)
    assert (ran.code, ran.counts) == (0, {"wrong": 4})
    assert ran.output.count("WRONG test_graph.py::test_graph[") == 4
    assert len(project.junit().findall("testcase/skipped")) == 4


def test_verbosely_a_survey_says_wrong(project: Project) -> None:
    ran = project.run("--model", "simulated:0", "--taskgraph-judge=none", "-v")
    assert "test_graph.py::test_graph[parallel_pair-wadl-n012-s0-000] WRONG" in ran.output


def test_a_survey_never_hides_the_failure_of_an_assertion_of_the_user(project: Project) -> None:
    project.write("test_plain.py", "def test_it():\n    assert [] == [1]\n")
    ran = project.run("--model", "simulated:0", "--taskgraph-judge=none")
    assert (ran.code, ran.counts) == (1, {"wrong": 4, "failed": 1})


def test_a_baseline_that_was_asked_for_is_judged(project: Project) -> None:
    ran = project.run("--model", "baseline:constant")
    assert ran.code == 1
    assert ran.counts["failed"] >= 1


def test_the_default_baseline_is_judged_where_that_is_asked_for(project: Project) -> None:
    ran = project.run("--taskgraph-judge=questions")
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    assert "a survey" not in ran.output

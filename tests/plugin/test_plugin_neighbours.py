from __future__ import annotations

import pytest
from plugin_project import Project, block, properties

REPORT = "--taskgraph-report=json=record.json"
# Wrong at the first attempt at each question, right at the second.
SECOND_THOUGHTS = """
import pytest

@pytest.fixture(autouse=True)
def second_thoughts(monkeypatch, request):
    from pytest_taskgraph.models.clients.simulated import SimulatedModel
    first = request.node.execution_count == 1
    monkeypatch.setattr(SimulatedModel, "answer", forced(SimulatedModel.answer, first))

def forced(answer, first):
    async def asked(self, request):
        self._accuracy = 0.0 if first else 1.0
        return await answer(self, request)
    return asked
"""
# The first attempt asks, the second fails before it asks.
FAILS_LATER = """
import pytest

@pytest.fixture(autouse=True)
def fails_later(request):
    assert request.node.execution_count == 1
"""


def test_rerun_asks_again_and_last_answer_counts(project: Project) -> None:
    project.write("conftest.py", SECOND_THOUGHTS)
    plugins = ("taskgraph", "rerunfailures")
    ran = project.run("--model", "simulated:0.5", "--reruns=1", REPORT, "--junitxml=junit.xml", plugins=plugins)
    assert (ran.code, ran.counts) == (0, {"passed": 4, "rerun": 4})
    assert [line.split()[1:3] for line in ran.table if line.startswith("structure")] == [["4*", "1.000"]]
    assert "4 questions asked more than once (reruns, other suites): the last answer counts" in ran.output
    assert [(trial["outcome"], trial["attempts"]) for trial in project.record()["trials"]] == [("right", 2)] * 4
    outcomes: dict[str, list[str]] = {}
    for case in project.junit().findall("testcase"):  # pytest-rerunfailures makes one of every attempt
        names = [name for name, _ in properties(case)]
        assert len(names) == len(set(names)) > 0
        outcomes.setdefault(case.attrib["name"], []).append(dict(properties(case))["taskgraph.outcome"])
    assert list(outcomes.values()) == [["wrong", "right"]] * 4


def test_attempt_that_fails_before_it_asks_is_no_second_trial(project: Project) -> None:
    project.write("conftest.py", FAILS_LATER)
    ran = project.run("--model", "simulated:0", "--reruns=1", REPORT, plugins=("taskgraph", "rerunfailures"))
    assert ran.counts == {"error": 4, "rerun": 4}
    assert [(trial["outcome"], trial["attempts"]) for trial in project.record()["trials"]] == [("wrong", 1)] * 4


@pytest.mark.exhaustive
def test_reruns_over_workers_count_same(project: Project) -> None:
    project.write("conftest.py", SECOND_THOUGHTS)
    ran = project.spread("--model", "simulated:0.5", "--reruns=1", REPORT, plugins=("taskgraph", "rerunfailures"))
    assert (ran.code, ran.counts) == (0, {"passed": 4, "rerun": 4})
    assert [(trial["outcome"], trial["attempts"]) for trial in project.record()["trials"]] == [("right", 2)] * 4


def test_timeouts_of_pytest_timeout_stand_beside(project: Project) -> None:
    ran = project.run("--model", "simulated:0", "--timeout=30", plugins=("taskgraph", "timeout"))
    assert ran.counts == {"failed": 4}
    assert ran.clean


def test_pytest_html_shows_verdicts_without_traceback(project: Project) -> None:
    args = ("--html=report.html", "--self-contained-html")
    ran = project.run("--model", "simulated:0", *args, plugins=("taskgraph", "metadata", "html"))
    assert ran.counts == {"failed": 4}
    page = (project.path / "report.html").read_text(encoding="utf-8")
    assert f"expected: {', '.join(block())}" in page
    assert "pytest_taskgraph/trial.py" not in page


def test_pytest_html_takes_report_only_run(project: Project) -> None:
    args = ("--html=report.html", "--self-contained-html", "--taskgraph-fail-on=nothing")
    ran = project.run("--model", "simulated:0", *args, plugins=("taskgraph", "metadata", "html"))
    assert (ran.code, ran.counts) == (0, {"wrong": 4})
    assert (project.path / "report.html").exists()

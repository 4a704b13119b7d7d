from __future__ import annotations

from plugin_project import IDS, Project, block, properties

JUNIT = "--junitxml=junit.xml"
REPORT = "--taskgraph-report=json=record.json"


def test_junit_case_has_properties_of_question(project: Project) -> None:
    project.run("--model", "simulated:0", JUNIT)
    case = next(element for element in project.junit().findall("testcase") if IDS[2] in element.attrib["name"])
    values = dict(properties(case))
    assert values["taskgraph.outcome"] == "wrong"
    assert values["taskgraph.pattern"] == "parallel_block"
    assert values["taskgraph.category"] == "structure"
    assert values["taskgraph.notation"] == "wadl"
    assert values["taskgraph.score"] == "0.000"
    assert values["taskgraph.expected"] == ", ".join(block())
    assert "taskgraph.cost_usd" not in values
    failure = case.find("failure")
    assert failure is not None
    assert failure.attrib["message"].startswith(f"wrong: expected {', '.join(block())[:30]}")
    assert "question: In workflow 'Process'" in (failure.text or "")


def test_suite_carries_totals_and_line_pattern(project: Project) -> None:
    project.run("--model", "simulated:1", JUNIT)
    values = dict(properties(project.junit()))
    assert (values["taskgraph.n"], values["taskgraph.rate"], values["taskgraph.errors"]) == ("4", "1.000", "0")
    assert values["taskgraph.pattern.parallel_pair"].startswith("n=2 right=2 rate=1.000")
    assert values["taskgraph.category.structure"].startswith("n=4 right=4")
    assert values["taskgraph.seed"] == "0"


def test_item_without_reply_is_error_with_properties(project: Project) -> None:
    project.write("conftest.py", BROKEN)
    project.run("--model", "simulated:1", JUNIT)
    suite = project.junit()
    assert suite.attrib["errors"] == "4"
    assert {dict(properties(element))["taskgraph.outcome"] for element in suite.findall("testcase")} == {"error"}
    error = suite.find("testcase/error")
    assert error is not None
    assert "no reply: server: it burns" in error.attrib["message"]


def test_junit_plugin_disabled_run_is_unchanged(project: Project) -> None:
    ran = project.run("--model", "simulated:1", "-p", "no:junitxml")
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    assert ran.clean


BROKEN = """
import pytest
from pytest_taskgraph.errors import ProviderError

@pytest.fixture(autouse=True)
def broken(monkeypatch):
    from pytest_taskgraph.models.clients.simulated import SimulatedModel

    async def fails(self, request):
        raise ProviderError("server", "it burns")

    monkeypatch.setattr(SimulatedModel, "answer", fails)
"""

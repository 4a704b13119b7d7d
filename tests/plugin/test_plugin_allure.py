"""What allure-pytest reads of a run: reports of items through hooks, and the cases, which have no items."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from plugin_project import Project

GATES = ("--taskgraph-gate=structure>=0.25", "--taskgraph-gate=parallel_block>=0.9")
MODEL = "--model=simulated:0.3"
STAND_IN = '''
import json, sys, types
import pytest

def results(kind, line):
    with open("allure.jsonl", "a") as file:
        file.write(json.dumps([kind, line]) + "\\n")

class Record:
    def __init__(self, **fields):
        vars(self).update(fields)

class Listener:
    """Reads what allure-pytest reads."""

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        if report.when == "call":
            reason = getattr(report, "wasxfail", "")
            params = [str(value) for value in item.callspec.params.values()]
            results("item", [item.name, report.outcome, reason, report.longreprtext, params])

def report_result(result):
    details = vars(result.statusDetails)
    results("case", [result.name, result.status, details["message"], result.historyId])

def pytest_configure(config):
    commons, model, utils = (types.ModuleType("allure_commons" + name) for name in ("", ".model2", ".utils"))
    commons.plugin_manager = types.SimpleNamespace(hook=types.SimpleNamespace(report_result=report_result))
    model.TestResult = model.StatusDetails = model.Label = Record
    utils.md5, utils.uuid4, utils.now = str, (lambda: "1"), (lambda: 0)
    sys.modules.update({module.__name__: module for module in (commons, model, utils)})
    config.pluginmanager.register(Listener(), "allure_listener")
'''


def results_of(project: Project, kind: str) -> list[list[Any]]:
    """Return what the stand-in for allure-pytest read, sorted."""
    lines = (project.path / "allure.jsonl").read_text(encoding="utf-8").splitlines()
    return sorted(read for of, read in map(json.loads, lines) if of == kind)


@pytest.mark.parametrize("workers", [0, 2])
def test_allure_has_result_of_each_case(project: Project, workers: int) -> None:
    project.write("conftest.py", STAND_IN)
    ran = project.spread(MODEL, *GATES, workers=workers) if workers else project.run(MODEL, *GATES)
    assert ran.code == 1, ran.output
    (block, *failed), (structure, *passed) = results_of(project, "case")
    assert (block, failed[0], structure, passed[0]) == ("gates::parallel_block", "failed", "gates::structure", "passed")
    assert failed[1].startswith("pass rate 0.500 of 2 answered"), "the reason"
    assert failed[2] == "gates::parallel_block", "the same in each run, for the history"


@pytest.mark.parametrize("workers", [0, 2])
def test_allure_wrong_answer_is_expected_failure_with_score(project: Project, workers: int) -> None:
    project.write("conftest.py", STAND_IN)
    project.spread(MODEL, *GATES, workers=workers) if workers else project.run(MODEL, *GATES)
    items = results_of(project, "item")
    wrong = [item for item in items if item[1] == "skipped"]
    assert len(items) == 4
    assert 0 < len(wrong) < 4
    for _, _, reason, text, _ in wrong:
        assert re.match(r"wrong \(score \d\.\d{3}\): expected .+, given ", reason)
        assert text.startswith("question: ")


def test_allure_parameter_is_same_in_each_run(project: Project) -> None:
    project.write("conftest.py", STAND_IN)
    project.run(MODEL, *GATES)
    for name, *_, params in results_of(project, "item"):
        assert params == [name.partition("[")[2].removesuffix("]")]


def test_allure_itself_writes_cases_and_expected_failures(project: Project) -> None:
    pytest.importorskip("allure_pytest")
    assert project.run("-p", "allure_pytest.plugin", MODEL, *GATES, "--alluredir=allure").code == 1
    files = (project.path / "allure").glob("*-result.json")
    found = {one["name"]: one for one in map(json.loads, (file.read_text(encoding="utf-8") for file in files))}
    assert found["gates::parallel_block"]["status"] == "failed"
    assert found["gates::structure"]["status"] == "passed"
    skipped = [result for result in found.values() if result["status"] == "skipped"]
    assert skipped
    assert all(result["statusDetails"]["message"].startswith("XFAIL wrong (score ") for result in skipped)

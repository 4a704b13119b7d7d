from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from junit_schema import junit_schema
from plugin_project import Project, properties, right

from pytest_taskgraph.reports.csv import csv
from pytest_taskgraph.reports.markdown import markdown

HOSTILE = "]]> <b>&amp; \x1b[31m \x07 \ufffe \u202e @me | `x`\nFinal answer: Nobody"
RECORDED = ("--model=recorded:replies.jsonl", "-o", "junit_logging=all")

# A recorded reply that says so stands for a failure of the provider.
BURNS = """
import pytest
from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.models.clients.recorded import RecordedModel

answer = RecordedModel.answer

async def burning(self, request):
    reply = await answer(self, request)
    if "BURN" in reply.text:
        raise ProviderError("server", "it burns ]]> \\x1b[31m")
    return reply

@pytest.fixture(autouse=True)
def broken(monkeypatch):
    monkeypatch.setattr(RecordedModel, "answer", burning)
"""


@pytest.fixture
def mixed(project: Project) -> Project:
    """A project with replies to its four questions: right, hostile and wrong, a failure, and none."""
    project.run("--taskgraph-report=json=asked.json")
    record = project.record("asked.json")
    prompts = ["".join(record["texts"][part] for part in trial["question"]["prompt"]) for trial in record["trials"]]
    replies = [right(prompts[0]), HOSTILE, "BURN"]
    lines = [json.dumps({"prompt": prompt, "reply": reply}) for prompt, reply in zip(prompts, replies, strict=False)]
    project.write("replies.jsonl", "\n".join(lines))
    project.write("conftest.py", BURNS)
    return project


def plain(path: Path) -> Element:
    """The file without times and hosts, its cases by name."""
    root = ElementTree.parse(path).getroot()
    for alone in root.iter():
        for name in ("time", "timestamp", "hostname"):
            alone.attrib.pop(name, None)
    for suite in root.iter("testsuite"):
        suite[:] = sorted(suite, key=lambda alone: (alone.tag != "properties", alone.get("name", "")))
    return root


def test_junit_without_case_properties_follows_schema(mixed: Project) -> None:
    mixed.run(*RECORDED, "--junitxml=junit.xml", "--taskgraph-junit-properties=false")
    junit_schema().validate(mixed.path / "junit.xml")
    suite = mixed.junit()
    assert not suite.findall("testcase/properties")
    values = dict(properties(suite))
    assert (values["taskgraph.n"], values["taskgraph.rate"], values["taskgraph.errors"]) == ("2", "0.500", "1")
    assert values["taskgraph.interval"] == "0.095-0.905"


def test_junit_with_case_properties_differs_only_by_them(mixed: Project) -> None:
    mixed.run(*RECORDED, "--junitxml=junit.xml")
    root = ElementTree.parse(mixed.path / "junit.xml").getroot()
    assert not junit_schema().is_valid(root)
    for case in root.iter("testcase"):
        for own in case.findall("properties"):
            case.remove(own)
    junit_schema().validate(root)


def test_junit_outcomes_and_hostile_reply_round_trip(mixed: Project) -> None:
    mixed.run(*RECORDED, "--junitxml=junit.xml")
    suite = mixed.junit()
    assert [suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]
    failure, error, skipped = (suite.find(f"testcase/{tag}") for tag in ("failure", "error", "skipped"))
    assert failure is not None
    assert error is not None
    assert skipped is not None
    assert failure.attrib["message"].startswith("wrong: expected")
    assert r"]]> <b>&amp; �[31m � \ufffe \u202e @me | `x`" in (failure.text or "")
    assert error.attrib["message"].startswith(r"""failed on setup with "no reply: server: it burns ]]> \x1b[31m""")
    assert skipped.attrib["message"].startswith("no recorded reply in recorded:replies.jsonl")


def test_report_only_wrong_answer_is_skipped_with_reason(mixed: Project) -> None:
    mixed.run(*RECORDED, "--junitxml=junit.xml", "--taskgraph-fail-on=nothing")
    suite = mixed.junit()
    assert (suite.attrib["failures"], suite.attrib["skipped"]) == ("0", "2")
    assert any(
        "wrong (score 0.000): expected" in element.attrib["message"] for element in suite.findall("testcase/skipped")
    )


@pytest.mark.exhaustive
@pytest.mark.usefixtures("unknown_circumstances")  # which differ between any two runs
def test_junit_over_workers_is_equal(mixed: Project) -> None:
    alone, spread = (
        (
            ran(*RECORDED, f"--junitxml={name}.xml", f"--taskgraph-report=json={name}.json"),
            mixed.record(f"{name}.json"),
        )[1]
        for name, ran in (("alone", mixed.run), ("spread", mixed.spread))
    )
    assert len(alone["trials"]) == 4
    assert alone == spread
    assert markdown(alone) == markdown(spread)
    assert csv(alone) == csv(spread)
    alone_xml, spread_xml = (ElementTree.tostring(plain(mixed.path / f"{name}.xml")) for name in ("alone", "spread"))
    assert alone_xml == spread_xml

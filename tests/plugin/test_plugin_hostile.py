from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from loopback import Loopback
from plugin_project import Project, Ran, asking, rows

# A quarter of a megabyte of what no terminal, XML file or UTF-8 encoder can bear, with a wrong answer at its end.
HOSTILE = (
    '\x00\x1b[31mred\x1b[0m\x1b]0;title\x07 \ud800 \udfff \ufffe \u202e \x85 ]]> <&" \r \x0b' * 5_000
    + "\x1b[2J" * 10_000
    + "\nFinal answer: May\x00be\ud800\x1b[31m"
)
REPORT = "--taskgraph-report=json=record.json"
FORBIDDEN = [chr(code) for code in (*range(9), 11, 12, *range(14, 32), 127, 0xD800, 0xFFFE, 0x202E)]


def hostile(prompt: str) -> str:
    return "Final answer: " + HOSTILE if "parallel block" in prompt else HOSTILE


def check_artefacts(project: Project, ran: Ran) -> None:
    assert (ran.code, ran.counts) == (1, {"failed": 4})
    assert ran.clean
    assert [char for char in FORBIDDEN if char in ran.output] == []
    assert len(ran.output) < 40_000
    xml = (project.path / "junit.xml").read_text(encoding="utf-8")
    assert [char for char in FORBIDDEN if char in xml] == []
    assert len(ElementTree.fromstring(xml).findall("testsuite/testcase/failure")) == 4
    text = (project.path / "record.json").read_text(encoding="utf-8")
    trials = json.loads(text, parse_constant=pytest.fail)["trials"]
    assert {trial["outcome"] for trial in trials} <= {"wrong", "unparseable"}
    assert len(trials) == 4
    assert len(text) < 300_000
    text.encode()


def test_hostile_reply_is_marked_told_and_recorded(project: Project, server: Loopback) -> None:
    assert len(HOSTILE) > 250_000
    server.answer = hostile
    check_artefacts(project, project.run(*asking(server.url), "--junitxml=junit.xml", REPORT))


def test_hostile_reply_crosses_from_worker(project: Project) -> None:
    project.run(REPORT)
    project.write("replies.jsonl", rows(project.record(), hostile))
    check_artefacts(
        project, project.spread("--model=recorded:replies.jsonl", "--junitxml=junit.xml", REPORT, workers=1)
    )

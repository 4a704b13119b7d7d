"""What runners of CI read in a log: no text of a model may be a command to them."""

from __future__ import annotations

import re

import pytest
from loopback import Loopback, refuse
from plugin_project import Project, asking, rows

COMMANDS = (
    "::error file=app.js,line=1::owned", "::add-mask::a", "  ::stop-commands::never", "##[add-mask]a",
    "see ##[error]x", "##vso[task.setvariable variable=a]b", "##teamcity[buildStop]", "Final answer: ##vso[a]",
)  # fmt: skip


def commands(output: str) -> list[str]:
    """The lines that GitHub, Azure Pipelines or TeamCity would take for commands."""
    command = re.compile(r"\s*::|.*##(vso|teamcity)?\[")
    return [line for line in output.splitlines() if command.match(line)]


@pytest.mark.parametrize("fail_on", ["answers", "gates"])
def test_reply_line_is_no_ci_command(project: Project, server: Loopback, fail_on: str) -> None:
    server.answer = lambda _: "\n".join(COMMANDS)
    options = (f"--taskgraph-fail-on={fail_on}", "--taskgraph-gate=structure>=0.5", "-rA", "-vv")
    ran = project.run(*asking(server.url), *options)
    assert ran.clean
    assert "owned" in ran.output or fail_on == "gates"
    assert commands(ran.output) == []


def test_worker_reply_is_no_ci_command(project: Project) -> None:
    project.run("--taskgraph-report=json=record.json")
    project.write("replies.jsonl", rows(project.record(), lambda _: "\n".join(COMMANDS)))
    ran = project.spread("--model=recorded:replies.jsonl", "-rA", "-vv", workers=1)
    assert ran.counts == {"failed": 4}
    assert "| ::add-mask::a" in ran.output
    assert commands(ran.output) == []


@pytest.mark.parametrize("status", [400, 401])  # of 401 three end the run, which tells what the provider said
def test_provider_error_is_no_ci_command(project: Project, server: Loopback, status: int) -> None:
    server.answer = lambda _: refuse(status, "::error::owned ##vso[task.complete]")
    ran = project.run(*asking(server.url), "-rA")
    assert "owned" in ran.output
    assert commands(ran.output) == []

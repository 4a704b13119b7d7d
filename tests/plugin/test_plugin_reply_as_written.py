"""A reply without dependencies: reports give it as the model wrote it, and it stays unparseable when scored again."""

from __future__ import annotations

import pytest
from plugin_project import Project

from pytest_taskgraph.__main__ import main

SUITE = """
from pytest_taskgraph import suite, tasklama

@suite(tasklama, tasklama_method="{}", instances=1)
def test_dependencies(trial):
    trial.check()
"""
REPLY = ["1. First wash the rice.", "2. Then cook it slowly."]
REMARK = "expected the order of steps or the dependencies between them, found '1. First wash the rice."


@pytest.mark.parametrize("method", ["golden_linear", "golden_whole"])
def test_reply_without_dependencies_is_shown_as_the_model_wrote_it(
    method: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write("app.py", f"def answer(prompt):\n    return {chr(10).join(REPLY)!r}\n")
    suite = project.write("test_tasks.py", SUITE.format(method))
    ran = project.run(suite, "--model=python:app:answer", "--taskgraph-report=json=record.json")
    shown_reply = "".join(f"\n| {line}" for line in REPLY) + "\n"
    assert ran.counts["failed"] == 1
    assert shown_reply in ran.output
    (trial,) = project.record()["trials"]
    assert trial["reply"]["text"] == "\n".join(REPLY)
    assert (trial["outcome"], trial["score"]["value"]) == ("unparseable", 0.0)
    assert trial["score"]["remark"].startswith(REMARK)
    path = str(project.path / "record.json")
    assert main(["show", method, "--record", path]) == 0
    assert shown_reply in capsys.readouterr().out
    assert main(["rescore", path, "--check"]) == 0
    assert main(["rescore", path, "--check", "--parsing=strict"]) == 0
    assert "nothing changed" in capsys.readouterr().out

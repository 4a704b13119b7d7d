"""The fixture `taskgraph_question`: the question of an item is built, not asked, and counts nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from loopback import Loopback
from plugin_project import SUITE, Project, asking

from pytest_taskgraph.families.understanding.prompts import prompt_template

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "prompts.md").read_text(encoding="utf-8")
TEMPLATE = "{# answer: marker #}\nLook at this.\n\n{{ workflow }}\n\n{{ question }}\n{{ instruction }}\n"
PROMPTS = SUITE.replace("(trial)", "(taskgraph_question)").replace("trial.check()", "assert taskgraph_question.prompt")
TWO_MODELS = ("--model=simulated:1", "--model=simulated:0")
# In place of syrupy: the text that the test compared first, in a file of its own.
KEPT = """
from pathlib import Path
import pytest

class Kept:
    def __init__(self, path):
        self.path = path

    def __eq__(self, text):
        if not self.path.exists():
            self.path.write_text(text)
        return self.path.read_text() == text

@pytest.fixture
def snapshot(request):
    return Kept(Path(request.node.name))
"""


@pytest.fixture
def of_page(project: Project) -> Project:
    """A project with the test of the page, and a prompt template of its own."""
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    project.write("syrupy/assertion.py", "class SnapshotAssertion: ...\n")
    project.write("conftest.py", f"import sys\nsys.path.insert(0, '.')\n{KEPT}")
    project.write("pytest.ini", "[pytest]\ntaskgraph_prompt = ask.jinja\n")
    project.write("ask.jinja", TEMPLATE)
    project.write("test_graph.py", block)
    prompt_template.cache_clear()
    return project


def test_test_of_page_fails_where_template_changes(of_page: Project) -> None:
    assert of_page.run().counts == {"passed": 2}
    assert of_page.run().counts == {"passed": 2}
    of_page.write("ask.jinja", TEMPLATE.replace("Look at", "Read"))
    prompt_template.cache_clear()
    ran = of_page.run()
    assert (ran.code, ran.counts) == (1, {"failed": 2})
    assert "Read this." in ran.output


def test_question_fixture_over_workers_builds_same_prompts(of_page: Project) -> None:
    assert of_page.run().counts == {"passed": 2}
    assert of_page.spread(workers=1).counts == {"passed": 2}


def test_question_fixture_has_system_prompt(project: Project) -> None:
    project.write("test_graph.py", PROMPTS.replace(".prompt", ".system"))
    assert project.run("--taskgraph-prompt=guided").counts == {"passed": 4}


def test_question_fixture_with_several_models_is_one_item(project: Project) -> None:
    project.write("test_graph.py", PROMPTS)
    ran = project.run(*TWO_MODELS)
    assert (ran.code, ran.counts) == (0, {"passed": 4})


def test_question_fixture_is_no_trial(project: Project) -> None:
    project.write("test_unasked.py", PROMPTS.replace("instances=2", "instances=3"))
    ran = project.run("--model=simulated:1", "--taskgraph-report=json=record.json", "-v")
    assert ran.counts == {"passed": 10}
    assert "seed 0, 4 questions" in ran.output
    record = project.record()
    assert (record["questions"], len(record["trials"]), record["lost"]) == (4, 4, [])


def test_question_fixture_alone_makes_no_run(project: Project) -> None:
    project.write("test_graph.py", PROMPTS)
    ran = project.run("--model=simulated:1", "--taskgraph-report=json=record.json")
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    assert "taskgraph 0" not in ran.output
    assert not (project.path / "record.json").exists()


def test_question_fixture_is_in_no_forecast(project: Project, server: Loopback) -> None:
    project.write("test_graph.py", PROMPTS)
    assert "request" not in project.run(*asking(server.url), "--taskgraph-max-cost=0.0001").output
    project.write("test_asked.py", SUITE.replace("instances=2", "instances=1"))
    ran = project.run(*asking(server.url), "--taskgraph-dry-run")
    assert "taskgraph plan: 2 requests" in ran.output
    assert server.requests == []


def test_trial_by_name_with_several_models_is_refused(project: Project) -> None:
    suite = SUITE.replace("(trial)", "(taskgraph_question, request)")
    project.write("test_graph.py", suite.replace("trial.check()", "request.getfixturevalue('trial').check()"))
    assert project.run("--model=simulated:1").counts == {"passed": 4}
    ran = project.run(*TWO_MODELS)
    assert (ran.code, ran.counts) == (1, {"failed": 4})
    assert "with several models, take `trial` as an argument of the test" in ran.output

"""`action.yml`: its steps run on this machine, as pushes to main and pull requests of a project run them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from ci_workflow import ACTION, Team, WorkflowRun
from posix_tests import posix_only
from test_walkthrough import BLOCKS

from pytest_taskgraph import __version__

pytestmark = posix_only

WRONG = {"model": "simulated:0", "gate": "flow_end>=0", "arguments": "--taskgraph-instances=1"}


def page_workflow() -> dict[str, Any]:
    """Return the workflow of docs/how-to/pull-request.md that uses the action."""
    (text,) = [text for kind, _, text in BLOCKS if kind == "yaml" and "pytest-taskgraph/" in text]
    workflow: dict[str, Any] = pytest.importorskip("yaml").load(text, pytest.importorskip("yaml").BaseLoader)
    return workflow


def action() -> dict[str, Any]:
    loaded: dict[str, Any] = pytest.importorskip("yaml").safe_load(ACTION.read_text(encoding="utf-8"))
    return loaded


def step_of(workflow: dict[str, Any]) -> dict[str, Any]:
    """Return the step that uses the action."""
    step: dict[str, Any] = workflow["jobs"]["understanding"]["steps"][-1]
    return step


def team_with(folder: Path, **inputs: str) -> Team:
    """Return people whose workflow is that of the page, with other inputs."""
    workflow = page_workflow()
    step_of(workflow)["with"] = {"suites": "suites", **inputs}
    return Team(folder, json.dumps(workflow))


def record_of(team: Team, run: WorkflowRun) -> dict[str, Any]:
    path = team.repository.artifacts / run.id / "taskgraph" / "record.json"
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Team:
    return team_with(tmp_path_factory.mktemp("team"))


@pytest.fixture(scope="module")
def first_pull_request(team: Team) -> WorkflowRun:
    return team.open_pull_request(worse=False)


@pytest.fixture(scope="module")
def push(team: Team, first_pull_request: WorkflowRun) -> WorkflowRun:
    return team.push()


@pytest.fixture(scope="module")
def worse_pull_request(team: Team, push: WorkflowRun) -> WorkflowRun:
    return team.open_pull_request(worse=True)


@pytest.mark.exhaustive
def test_action_first_pull_request_passes_with_warning(first_pull_request: WorkflowRun) -> None:
    assert first_pull_request.passed, first_pull_request.outputs
    assert "::warning::main has no record" in first_pull_request.outputs["Restore the record of the baseline"]
    assert "skipped compare::main" in first_pull_request.outputs["Ask"]


@pytest.mark.exhaustive
def test_action_push_keeps_record_and_reports(team: Team, push: WorkflowRun) -> None:
    assert push.passed, push.outputs
    assert "compare::" not in push.outputs["Ask"]
    assert len(record_of(team, push)["trials"]) == 24
    artifact = team.repository.artifacts / push.id / "taskgraph"
    assert sorted(path.name for path in artifact.iterdir()) == ["junit.xml", "record.json", "report.html"]


@pytest.mark.exhaustive
def test_action_worse_pull_request_fails_and_says_why(worse_pull_request: WorkflowRun, push: WorkflowRun) -> None:
    assert not worse_pull_request.passed
    assert f"compared with run {push.id} of main" in worse_pull_request.outputs["Restore the record of the baseline"]
    assert re.search(r"failed gates::flow_end: pass rate 0\.\d+ of 12", worse_pull_request.outputs["Ask"])
    assert "failed compare::main: worse: -0.958 over 24 paired questions" in worse_pull_request.outputs["Ask"]


@pytest.mark.exhaustive
def test_action_writes_markdown_into_summary_of_job(worse_pull_request: WorkflowRun) -> None:
    assert "prompt template changed for 24 questions" in worse_pull_request.summary


@pytest.mark.exhaustive
def test_action_failed_pull_request_keeps_its_record(team: Team, worse_pull_request: WorkflowRun) -> None:
    assert len(record_of(team, worse_pull_request)["trials"]) == 24


@pytest.mark.exhaustive
def test_action_models_gates_and_arguments_are_passed_on(tmp_path: Path) -> None:
    few = team_with(
        tmp_path,
        model="simulated:1\nsimulated:0",
        gate="flow_end>=0.9\n\nstructure>=0.9",
        arguments="--taskgraph-instances=1\n--ignore 'no such folder'",
    )
    push = few.push()
    assert not push.passed
    decided = re.findall(r"^(passed|failed) gates::(\w+)\[(simulated:\d)", push.outputs["Ask"], re.MULTILINE)
    assert sorted(decided) == [
        ("failed", "flow_end", "simulated:0"),
        ("failed", "structure", "simulated:0"),
        ("passed", "flow_end", "simulated:1"),
        ("passed", "structure", "simulated:1"),
    ]
    assert len(record_of(few, push)["trials"]) == 4


def test_action_inputs_never_reach_a_shell(tmp_path: Path) -> None:
    code = "$(touch ran) `touch ran`; touch ran"
    mistaken = team_with(tmp_path, model=code, gate=code, arguments=code, suites=code, baseline=code)
    run = mistaken.open_pull_request(worse=False)
    assert not run.passed
    assert [*tmp_path.rglob("ran")] == []
    assert [step["run"] for step in action()["runs"]["steps"] if "${{" in step.get("run", "")] == []


@pytest.fixture(scope="module")
def wrong_pull_request(tmp_path_factory: pytest.TempPathFactory) -> WorkflowRun:
    """A pull request that is compared with a branch that has no record, and gives wrong answers."""
    return team_with(tmp_path_factory.mktemp("slash"), **WRONG, baseline="release/1").open_pull_request(worse=False)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> WorkflowRun:
    """The same without a baseline, where wrong answers fail."""
    inputs = {**WRONG, "baseline": "", "fail-on": "answers"}
    return team_with(tmp_path_factory.mktemp("alone"), **inputs).open_pull_request(worse=False)


@pytest.mark.exhaustive
def test_action_wrong_answers_alone_fail_nothing(wrong_pull_request: WorkflowRun) -> None:
    assert wrong_pull_request.passed, wrong_pull_request.outputs
    assert "2 wrong" in wrong_pull_request.outputs["Ask"]


@pytest.mark.exhaustive
def test_action_baseline_with_slash_is_compared_with(wrong_pull_request: WorkflowRun) -> None:
    assert "skipped compare::release-1" in wrong_pull_request.outputs["Ask"]


@pytest.mark.exhaustive
def test_action_fail_on_decides_what_fails(alone: WorkflowRun) -> None:
    assert not alone.passed
    assert "2 failed" in alone.outputs["Ask"]


@pytest.mark.exhaustive
def test_action_without_baseline_compares_nothing(alone: WorkflowRun) -> None:
    assert "gates::flow_end" in alone.outputs["Ask"]
    assert "compare::" not in alone.outputs["Ask"]


def test_action_workflow_of_page_names_version_and_few_rights() -> None:
    workflow = page_workflow()
    assert step_of(workflow)["uses"] == f"pytest-taskgraph/pytest-taskgraph@v{__version__}"
    assert workflow["permissions"] == {"contents": "read", "actions": "read"}
    assert [*step_of(workflow)["with"].keys() - action()["inputs"].keys()] == []


def test_action_page_lists_inputs_with_defaults() -> None:
    page = (ACTION.parent / "docs" / "how-to" / "pull-request.md").read_text(encoding="utf-8")
    table = page.partition("| input |")[2].partition("\n\n")[0]
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| (.*) \|$", table, re.MULTILINE))
    inputs = {name: about.get("default", "") for name, about in action()["inputs"].items() if name != "token"}
    assert rows.keys() == inputs.keys()
    assert [name for name, default in inputs.items() if default not in rows[name]] == []

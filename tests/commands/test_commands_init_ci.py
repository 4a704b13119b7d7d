"""The CI workflow that `init` writes: its steps run on this machine, on pushes to main and on pull requests."""

from __future__ import annotations

import json
import re

import pytest
from ci_workflow import Team, WorkflowRun
from posix_tests import posix_only

from pytest_taskgraph.families.understanding.init_command import CI, source_text

pytestmark = posix_only

RECORD = "taskgraph-main/main.json"


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Team:
    return Team(tmp_path_factory.mktemp("team"))


@pytest.fixture(scope="module")
def first_pull_request(team: Team) -> WorkflowRun:
    """A pull request before anything was pushed to main."""
    return team.open_pull_request(worse=False)


@pytest.fixture(scope="module")
def push(team: Team, first_pull_request: WorkflowRun) -> WorkflowRun:
    return team.push()


@pytest.fixture(scope="module")
def worse_pull_request(team: Team, push: WorkflowRun) -> WorkflowRun:
    """A pull request after the branch `main` of a fork, whose workflow kept a record of its own."""
    fork = {"workflow": "taskgraph", "branch": "main", "event": "pull_request", "status": "success"}
    team.repository.runs.append({"id": str(len(team.repository.runs) + 1), **fork})
    forged = team.repository.artifacts / str(len(team.repository.runs)) / RECORD
    forged.parent.mkdir(parents=True)
    forged.write_text("{}", encoding="utf-8")
    return team.open_pull_request(worse=True)


def test_ci_first_pull_request_passes_with_warning(first_pull_request: WorkflowRun) -> None:
    assert first_pull_request.passed, first_pull_request.outputs
    assert "::warning::main has no record" in first_pull_request.outputs["Restore the record of main"]
    assert "compare::main" in first_pull_request.outputs["Ask and compare"]


def test_ci_push_to_main_keeps_record_as_artifact(team: Team, push: WorkflowRun) -> None:
    assert push.passed, push.outputs
    record = json.loads((team.repository.artifacts / push.id / RECORD).read_text(encoding="utf-8"))
    assert len(record["trials"]) == 24
    assert sorted(path.name for path in (team.repository.artifacts / push.id / "taskgraph-reports").iterdir()) == [
        "junit.xml",
        "report.html",
    ]
    assert "next_tasks" in push.summary.replace("\\", "")


def test_ci_pull_request_is_compared_with_record_of_main_alone(
    worse_pull_request: WorkflowRun, push: WorkflowRun
) -> None:
    assert f"compared with run {push.id} of main" in worse_pull_request.outputs["Restore the record of main"]


def test_ci_worse_pull_request_fails_and_says_why(worse_pull_request: WorkflowRun) -> None:
    assert not worse_pull_request.passed
    output = worse_pull_request.outputs["Ask and compare"]
    assert re.search(r"failed gates::flow_end: pass rate 0\.\d+ of 12 answered .*, threshold 0\.9", output)
    assert "failed compare::main: worse: -0.958 over 24 paired questions" in output
    assert "worse" in worse_pull_request.summary
    assert "prompt template changed for 24 questions" in worse_pull_request.summary


def test_ci_pull_request_keeps_reports_and_no_record(team: Team, worse_pull_request: WorkflowRun) -> None:
    assert [path.name for path in (team.repository.artifacts / worse_pull_request.id).iterdir()] == [
        "taskgraph-reports"
    ]


@pytest.mark.exhaustive  # the steps of a worse one, and a first one that passes, are shown above
def test_ci_same_pull_request_passes(team: Team, push: WorkflowRun, worse_pull_request: WorkflowRun) -> None:
    done = team.open_pull_request(worse=False)
    assert done.passed, done.outputs
    assert f"compared with run {push.id} of main" in done.outputs["Restore the record of main"]
    assert "passed compare::main: identical replies: 24 paired questions" in done.outputs["Ask and compare"]


def test_ci_record_that_expired_is_no_failure(team: Team, push: WorkflowRun, worse_pull_request: WorkflowRun) -> None:
    artifact, elsewhere = team.repository.artifacts / push.id, team.folder / "expired"
    artifact.rename(elsewhere)
    try:
        done = team.open_pull_request(worse=False, last="Restore the record of main")
    finally:
        elsewhere.rename(artifact)
    assert done.passed, done.outputs
    assert "::warning::main has no record" in done.outputs["Restore the record of main"]


def test_ci_workflow_has_limits_and_few_rights(team: Team) -> None:
    workflow = team.repository.workflow
    assert workflow["permissions"] == {"contents": "read", "actions": "read"}
    assert "concurrency" in workflow
    (job,) = workflow["jobs"].values()
    assert job["timeout-minutes"] <= 30
    assert "env" not in workflow
    assert "env" not in job  # secrets reach the steps that ask, and no other
    with_secrets = [step["name"] for step in job["steps"] if "secrets." in str(step)]
    assert with_secrets == ["Ask and save", "Ask and compare"]
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[\w/-]+@v\d+", action) for action in used)


def test_ci_caches_hold_replies_and_no_saved_run(team: Team) -> None:
    caches = [step["with"] for step in team.repository.steps if step.get("uses", "").startswith("actions/cache/")]
    assert [cache["path"] for cache in caches] == [".taskgraph/replies.sqlite"] * 2
    assert caches[0]["key"] == caches[1]["key"]
    assert caches[0]["key"].startswith(caches[0]["restore-keys"])


def test_ci_line_for_forks_replays_stored_replies() -> None:
    yaml = pytest.importorskip("yaml")
    text = source_text(CI)
    line = "# TASKGRAPH_REPLAY: ${{ github.event.pull_request.head.repo.fork }}"
    assert line in text
    (job,) = yaml.safe_load(text.replace(line, line.removeprefix("# ")))["jobs"].values()
    (asking,) = [step for step in job["steps"] if step.get("name") == "Ask and compare"]
    assert asking["env"]["TASKGRAPH_REPLAY"] == "${{ github.event.pull_request.head.repo.fork }}"

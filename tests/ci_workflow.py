"""A GitHub repository on this machine: runs the shell steps of a workflow, and keeps artifacts as GitHub does.

Steps that install or cache something are left out. A step that uses our action runs the steps of `action.yml`. `gh` is
a script that lists the runs kept here, and copies their artifacts. Nothing is downloaded.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bounded_process
import pytest
from test_walkthrough import environment

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.families.understanding.init_command import CI, PROMPT

_GH = """
import json, pathlib, shutil, sys
from argparse import ArgumentParser

runs_file, artifacts, *words = sys.argv[1:]
parser = ArgumentParser()
verbs = parser.add_subparsers(dest="noun").add_parser("run").add_subparsers(dest="verb")
listing, download = verbs.add_parser("list"), verbs.add_parser("download")
for option in ("repo", "workflow", "branch", "event", "status", "json", "jq"):
    listing.add_argument(f"--{option}", required=True)
listing.add_argument("--limit", type=int, required=True)
download.add_argument("run")
for option in ("repo", "name", "dir"):
    download.add_argument(f"--{option}", required=True)
given = parser.parse_args(words)
runs = json.loads(pathlib.Path(runs_file).read_text())
if given.verb == "list":
    assert (given.json, given.jq) == ("databaseId", ".[].databaseId"), words
    if given.workflow not in {run["workflow"] for run in runs if run["branch"] == "main"}:
        sys.exit(f"could not find any workflows named {given.workflow}")
    fitting = [run for run in reversed(runs) if all(run[n] == getattr(given, n) for n in ("branch", "event", "status"))]
    print("\\n".join(run["id"] for run in fitting[: given.limit]))
else:
    target = pathlib.Path(artifacts, given.run, given.name)
    if not target.is_dir():
        sys.exit("no valid artifacts found to download")
    shutil.copytree(target, given.dir, dirs_exist_ok=True)
"""
_EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")
ACTION = Path(__file__).parents[1] / "action.yml"


@dataclass(frozen=True)
class WorkflowRun:
    """A finished run: its number, whether it passed, the output of its steps by name, and its summary."""

    id: str
    passed: bool
    outputs: Mapping[str, str]
    summary: str


@dataclass
class Repository:
    """The runs of a workflow and their artifacts.

    Args:
        folder: An empty folder for them.
        text: The workflow.
    """

    folder: Path
    text: str
    runs: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workflow: dict[str, Any] = pytest.importorskip("yaml").safe_load(self.text)
        self._variables = environment(self.folder)
        script = self.folder / "gh.py"
        script.write_text(_GH, encoding="utf-8")
        gh = self.folder / "bin" / "gh"
        gh.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" "{script}" "{self._runs_file}" "{self.artifacts}" "$@"\n',
            encoding="utf-8",
        )
        gh.chmod(0o755)

    @property
    def artifacts(self) -> Path:
        """The folder of artifacts, below it a folder for each run."""
        return self.folder / "artifacts"

    @property
    def _runs_file(self) -> Path:
        return self.folder / "runs.json"

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps of the only job."""
        (job,) = self.workflow["jobs"].values()
        return list(job["steps"])

    def run(self, checkout: Path, event: str, branch: str, last: str = "") -> WorkflowRun:
        """Run the steps in a checkout, as GitHub does for the event, at most to the step `last`, and keep the run."""
        id_ = str(len(self.runs) + 1)
        summary = self.folder / f"summary-{id_}.md"
        summary.touch()
        self._runs_file.write_text(json.dumps(self.runs), encoding="utf-8")
        temporary = self.folder / f"temporary-{id_}"
        temporary.mkdir()
        variables = {
            **self._variables, "CI": "true", "COLUMNS": "150", "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "we/ours",
            "GITHUB_WORKFLOW": self.workflow["name"], "GITHUB_STEP_SUMMARY": str(summary),
            "RUNNER_TEMP": str(temporary),
            "GITHUB_REF": f"refs/heads/{branch}" if event == "push" else "refs/pull/1/merge",
        }  # fmt: skip
        job = _Job(checkout, event, variables, self.artifacts / id_)
        for step in self.steps:
            job.take(step)
            if step.get("name") == last:
                break
        status = "success" if job.passed else "failure"
        self.runs.append(
            {"id": id_, "workflow": self.workflow["name"], "branch": branch, "event": event, "status": status}
        )
        return WorkflowRun(id_, job.passed, job.outputs, summary.read_text(encoding="utf-8"))


class Team:
    """People who push to main and open pull requests, each time from a fresh checkout of what `init` writes.

    Args:
        folder: An empty folder.
        workflow: Their CI workflow; that which `init` writes if there is none.
    """

    def __init__(self, folder: Path, workflow: str = "") -> None:
        self.folder = folder
        self.project = folder / "project"
        assert main(["init", str(self.project)]) == 0
        hub = folder / "hub"
        hub.mkdir()
        self.repository = Repository(hub, workflow or (self.project / CI).read_text(encoding="utf-8"))

    def push(self) -> WorkflowRun:
        """Push to main."""
        return self.repository.run(self._checkout(), "push", "main")

    def open_pull_request(self, *, worse: bool, last: str = "") -> WorkflowRun:
        """Open a pull request that leaves the project as it is, or deletes a line of its prompt.

        Its steps run to the end, or to the step `last`.
        """
        checkout = self._checkout()
        if worse:
            prompt = checkout / PROMPT
            prompt.write_text(prompt.read_text(encoding="utf-8").replace("{{ guide }}\n", ""), encoding="utf-8")
        return self.repository.run(checkout, "pull_request", "change", last)

    def _checkout(self) -> Path:
        checkout = self.folder / f"checkout-{len(self.repository.runs)}"
        shutil.copytree(self.project, checkout)
        return checkout


@dataclass
class _Job:
    """A job that runs in a checkout, and keeps its artifacts in a folder."""

    checkout: Path
    event: str
    variables: Mapping[str, str]
    artifacts: Path
    passed: bool = True
    outputs: dict[str, str] = field(default_factory=dict)  # of steps, by their names

    def take(self, step: Mapping[str, Any]) -> None:
        """Run a step, or those of the action that it uses, as far as they are due."""
        values = {
            "github.token": "token",
            "github.event.pull_request.head.repo.fork": "false",
            "runner.temp": self.variables["RUNNER_TEMP"],
        }
        if not step.get("uses", "").startswith("pytest-taskgraph/"):
            self._run(step, values, self.variables)
        elif self._is_due(step):
            variables = {**self.variables, **_evaluated(step.get("env", {}), values)}
            action = pytest.importorskip("yaml").safe_load(ACTION.read_text(encoding="utf-8"))
            assert step["with"].keys() <= action["inputs"].keys()
            inputs = {name: step["with"].get(name, one.get("default", "")) for name, one in action["inputs"].items()}
            values |= {f"inputs.{name}": value for name, value in _evaluated(inputs, values).items()}
            for inner in action["runs"]["steps"]:
                values |= self._run(inner, values, variables)

    def _run(
        self, step: Mapping[str, Any], values: Mapping[str, str], variables: Mapping[str, str]
    ) -> Mapping[str, str]:
        """Run a step if it is due, and return what it sets for later expressions."""
        if not self._is_due(step):
            return {}
        if step.get("uses", "").startswith("actions/upload-artifact@"):
            self.passed &= self._upload(_evaluated(step["with"], values))
        elif "run" in step and " pip install " not in step["run"]:
            results = Path(self.variables["RUNNER_TEMP"], "results")
            results.write_text("", encoding="utf-8")
            own = {**variables, **_evaluated(step.get("env", {}), values), "GITHUB_OUTPUT": str(results)}
            shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail"] if "shell" in step else ["bash", "-e"]
            done = bounded_process.run([*shell, "-c", step["run"]], cwd=self.checkout, env=own)
            self.outputs[step["name"]] = done.stdout + done.stderr
            self.passed &= done.returncode == 0
            lines = results.read_text(encoding="utf-8").splitlines()
            set_values = dict(line.split("=", 1) for line in lines)
            return {f"steps.{step.get('id')}.outputs.{name}": value for name, value in set_values.items()}
        return {}

    def _upload(self, inputs: Mapping[str, Any]) -> bool:
        """Keep the files that `path` names, without hidden ones unless they are included; return False if it fails."""
        hidden = inputs.get("include-hidden-files", False)
        paths = [Path(line) for line in inputs["path"].splitlines()]
        files = [
            file
            for path in paths
            for file in _files(self.checkout / path)
            if hidden or not any(part.startswith(".") for part in path.parts)
        ]
        target = self.artifacts / inputs["name"]
        for file in files:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target / file.name)
        return bool(files) or inputs.get("if-no-files-found", "warn") != "error"

    def _is_due(self, step: Mapping[str, Any]) -> bool:
        """Return True if a step is run, by its condition and by how the steps before it ended."""
        condition = step.get("if", "")
        if condition == "always()":
            return True
        match = re.fullmatch(r"github\.event_name == '(\w+)'", condition)
        assert match or not condition, condition
        return self.passed and (match is None or match[1] == self.event)


def _files(path: Path) -> Iterator[Path]:
    """Yield the file, or the files of the folder."""
    yield from (file for file in (path.iterdir() if path.is_dir() else [path]) if file.is_file())


def _evaluated(texts: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """Return texts with the values of their expressions, in a repository without secrets."""

    def value(expression: re.Match[str]) -> str:
        name = expression[1]
        return "" if name.startswith(("secrets.", "steps.")) and name not in values else values[name]

    return {name: _EXPRESSION.sub(value, text) if isinstance(text, str) else text for name, text in texts.items()}

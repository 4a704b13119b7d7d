"""A GitHub repository on this machine: runs the shell steps of a workflow, and keeps artifacts as GitHub does.

Steps that install or cache something are left out. `gh` is a script that lists the runs kept here, and copies their
artifacts. Nothing is downloaded.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bounded_process
import pytest
from test_walkthrough import environment

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
        id_, passed, outputs = str(len(self.runs) + 1), True, {}
        summary = self.folder / f"summary-{id_}.md"
        summary.touch()
        self._runs_file.write_text(json.dumps(self.runs), encoding="utf-8")
        variables = {
            **self._variables, "CI": "true", "COLUMNS": "150", "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "we/ours",
            "GITHUB_WORKFLOW": self.workflow["name"], "GITHUB_STEP_SUMMARY": str(summary),
        }  # fmt: skip
        for step in self.steps:
            if not _is_due(step, event, passed):
                continue
            if step.get("uses", "").startswith("actions/upload-artifact@"):
                passed &= self._upload(checkout, step["with"], id_)
            elif "run" in step and " pip install " not in step["run"]:
                own = {name: _EXPRESSION.sub(_value, value) for name, value in step.get("env", {}).items()}
                done = bounded_process.run(["bash", "-e", "-c", step["run"]], cwd=checkout, env=variables | own)
                outputs[step["name"]] = done.stdout + done.stderr
                passed &= done.returncode == 0
            if step.get("name") == last:
                break
        status = "success" if passed else "failure"
        self.runs.append(
            {"id": id_, "workflow": self.workflow["name"], "branch": branch, "event": event, "status": status}
        )
        return WorkflowRun(id_, passed, outputs, summary.read_text(encoding="utf-8"))

    def _upload(self, checkout: Path, inputs: Mapping[str, Any], id_: str) -> bool:
        """Keep the files that `path` names, without hidden ones unless they are included; return False if it fails."""
        hidden = inputs.get("include-hidden-files", False)
        paths = [Path(line) for line in inputs["path"].splitlines()]
        files = [
            checkout / path
            for path in paths
            if (checkout / path).is_file() and (hidden or not any(part.startswith(".") for part in path.parts))
        ]
        target = self.artifacts / id_ / inputs["name"]
        for file in files:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target / file.name)
        return bool(files) or inputs.get("if-no-files-found", "warn") != "error"


def _is_due(step: Mapping[str, Any], event: str, passed: bool) -> bool:
    """Return True if a step is run, by its condition and by how the steps before it ended."""
    condition = step.get("if", "")
    if condition == "always()":
        return True
    match = re.fullmatch(r"github\.event_name == '(\w+)'", condition)
    assert match or not condition, condition
    return passed and (match is None or match[1] == event)


def _value(expression: re.Match[str]) -> str:
    """Return the value of an expression in a repository without secrets, for a branch that is not of a fork."""
    values = {"github.token": "token", "github.event.pull_request.head.repo.fork": "false"}
    return "" if expression[1].startswith("secrets.") else values[expression[1]]

"""Runs against a real model: no failure, each reply accounted for. How good its answers are is not asserted."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bounded_process
import pytest
from real_server import PAGE, RealServer

from pytest_taskgraph.results import record

ROOT = Path(__file__).parents[2]
QUESTIONS = (
    "--taskgraph-limit=1", "--taskgraph-tasks=4", "--taskgraph-notation=mermaid", "--taskgraph-shots=1",
    "--taskgraph-model-option", "max_tokens=64", "--taskgraph-model-option", "temperature=0",
    "-k", "flow_start or flow_connected or describe_task or letter or perplexity or zero_shot or icl or extract",
)  # fmt: skip
OUTCOME = re.compile(r"::\S+ (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL)")


@dataclass(frozen=True)
class Runs:
    """A folder with the suites, in which runs keep their replies."""

    folder: Path
    server: RealServer

    def command(self, *arguments: str) -> list[str]:
        plain = ["-p", "no:cacheprovider", f"--model={self.server.model}"]
        return [sys.executable, "-u", "-m", "pytest", "suites", *plain, *arguments]

    def run(self, *arguments: str) -> str:
        """Run to the end, and return what was printed."""
        done = bounded_process.run(self.command(*arguments), cwd=self.folder, env=environment())
        assert "Traceback" not in done.stdout + done.stderr
        return done.stdout

    def record(self, *arguments: str) -> dict[str, Any]:
        """Run to the end, and return the record."""
        self.run(*arguments, "--taskgraph-report", "json=run.json")
        return record.load(self.folder / "run.json")


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("TASKGRAPH_", "PYTEST_"))}


@pytest.fixture(scope="module")
def runs(real_server: RealServer, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("desk")
    shutil.copytree(ROOT / "suites", folder / "suites", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\n", encoding="utf-8")
    return Runs(folder, real_server)


@pytest.fixture(scope="module")
def killed(runs: Runs) -> int:
    """A run that is killed after two questions; the number of requests that the server has computed by then."""
    outcomes = 0
    with bounded_process.start(runs.command("-v", *QUESTIONS), cwd=runs.folder, env=environment()) as process:
        assert process.stdout is not None
        for line in process.stdout:
            outcomes += bool(OUTCOME.search(line))
            if outcomes == 2:
                bounded_process.end(process)
                break
    assert outcomes == 2
    return runs.server.tasks()


@pytest.fixture(scope="module")
def resumed(runs: Runs, killed: int) -> dict[str, Any]:
    """The record of a run of two workers that asks the rest."""
    assert killed >= 1
    return runs.record("-n", "2", *QUESTIONS)


def failures(trials: Sequence[dict[str, Any]]) -> list[str]:
    """The failures, but for replies that were cut off, which few tokens make likely."""
    found = [trial["failure"] for trial in trials if trial["failure"]]
    return [f"{failure['kind']}: {failure['message']}" for failure in found if failure["kind"] != "truncated"]


def test_every_question_has_a_reply(resumed: dict[str, Any]) -> None:
    trials = resumed["trials"]
    assert {trial["question"]["family"] for trial in trials} == {"understanding", "tasklama", "steps", "paged"}
    assert failures(trials) == []
    assert not [trial for trial in trials if trial["outcome"] == "skipped"]
    for trial in trials:
        sent = [exchange for exchange in trial["exchanges"] if not exchange.get("failure")]
        assert sent, trial["question"]["id"]
        assert all(exchange["tokens_in"] and exchange["tokens_out"] is not None for exchange in sent)


def test_replies_before_the_kill_are_not_asked_again(resumed: dict[str, Any]) -> None:
    assert resumed["usage"]["stored"] >= 2


def test_a_replay_sends_nothing_and_scores_the_same(runs: Runs, resumed: dict[str, Any]) -> None:
    before = runs.server.tasks()
    replayed = runs.record("--taskgraph-replay", *QUESTIONS)
    assert runs.server.tasks() == before
    outcomes = [
        {trial["question"]["id"]: (trial["outcome"], trial["score"]) for trial in one["trials"]}
        for one in (resumed, replayed)
    ]
    assert outcomes[0] == outcomes[1]


def test_the_dry_run_counts_tokens_as_the_server_does(runs: Runs, resumed: dict[str, Any]) -> None:
    chats = [trial for trial in resumed["trials"] if trial["question"]["episode"] == "single"]
    counted = sum(trial["exchanges"][0]["tokens_in"] for trial in chats)
    names = " or ".join(sorted({trial["question"]["group"] for trial in chats}))
    planned = runs.run("--taskgraph-dry-run", "--taskgraph-refresh", *QUESTIONS[:-1], names)
    (total,) = re.findall(r"^total +\d+ +\d+ +([\d,]+)", planned, re.MULTILINE)
    assert int(total.replace(",", "")) == pytest.approx(counted, rel=0.05)


def test_questions_of_the_agent_are_answered_or_skipped_with_the_reason(runs: Runs) -> None:
    options = [option for option in QUESTIONS[:-2] if not option.startswith("--taskgraph-shots")]
    asked = runs.record("--taskgraph-presentation=agent", *options, "-k", "flow_start or flow_connected")
    assert asked["trials"]
    assert all("cannot call tools: its server ignores them" in failure for failure in failures(asked["trials"]))


def test_commands_of_the_page_run(runs: Runs) -> None:
    block = re.search(r"^```console\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert block is not None
    install, model, serve, plan, ask = (line.removeprefix("$ ") for line in block[1].splitlines())
    ci = (ROOT / ".ci" / "run").read_text("utf-8")
    assert all(command.removeprefix("python -m pip install ") in ci for command in (install, model))
    assert serve == "python serve.py 8080 &"  # the fixture runs it
    for command, expected in ((plan, "no request was sent"), (ask, "this run sent")):
        words = shlex.split(command.replace("http://127.0.0.1:8080", runs.server.root))
        done = bounded_process.run(
            [sys.executable, "-m", *words, "-p", "no:cacheprovider"], cwd=runs.folder, env=environment()
        )
        assert done.returncode in (0, 1), done.stdout + done.stderr  # 1 if a reply was cut off
        assert "Traceback" not in done.stdout + done.stderr
        assert expected in " ".join(done.stdout.split())

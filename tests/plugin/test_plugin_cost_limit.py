"""A limit of cost: what is asked under it, seen from the provider's side."""

from __future__ import annotations

import os
import signal
import threading

import bounded_process
import pytest
import warm_processes
from loopback import HANG, Loopback, Raw, reply
from plugin_project import Project, right
from posix_tests import posix_only

MANY = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["flow_start", "flow_end"], instances=10)
def test_graph(trial):
    trial.check()
"""
# A token out costs 0.001 US$: a request is 1 US$ at worst, and 0.1 US$ by what the server says.
PRICED = ("--taskgraph-price=0/1000", "--taskgraph-model-option=max_tokens=1000", "--taskgraph-retries=0")
TAKEN = 100


def lean(server: Loopback) -> str:
    return f"--model={server.url}#any"


@pytest.fixture
def many(project: Project, server: Loopback) -> Project:
    """A suite of twenty questions, each of which takes 0.1 US$."""

    def answer(prompt: str) -> Raw:
        return reply(right(prompt), usage=(50, TAKEN))

    project.write("test_graph.py", MANY)
    server.answer = answer
    return project


def asked_by_label(many: Project) -> dict[str, bool]:
    """Whether each question of the last run was asked."""
    return {trial["question"]["id"]: trial["outcome"] != "skipped" for trial in many.record()["trials"]}


def limited(many: Project, server: Loopback, limit: int | float, *args: str) -> list[str]:
    """The ids of the questions that are asked under a limit of cost, of which the run tells first."""
    server.requests.clear()
    options = (*PRICED, f"--taskgraph-max-cost={limit}", "--taskgraph-refresh", "--taskgraph-report=json=record.json")
    spread = "-n" in args
    args = tuple(arg for arg in args if arg not in ("-n", "2"))
    ran = (many.spread if spread else many.run)(lean(server), *options, *args)
    by_label = asked_by_label(many)
    assert len(by_label) == 20, ran.output
    notice = f"--taskgraph-max-cost={limit} lets {int(limit)} request"
    assert ran.output.count(f"taskgraph: {notice}") == 1, ran.output
    assert "or more be in flight: a request may cost up to $1.00" in ran.output
    assert len(server.requests) == sum(by_label.values())
    return sorted(name for name, was in by_label.items() if was)


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param(("--taskgraph-concurrency=8",), id="8"),
        pytest.param(("-n", "2"), id="n2", marks=pytest.mark.exhaustive),
        pytest.param(("--taskgraph-concurrency=1",), id="1", marks=pytest.mark.exhaustive),
        pytest.param(("--taskgraph-concurrency=64",), id="64", marks=pytest.mark.exhaustive),
    ],
)
def test_limit_above_plan_asks_every_question(many: Project, server: Loopback, setting: tuple[str, ...]) -> None:
    # All twenty take 2 US$; of what may be reserved at a time, only three fit.
    assert len(limited(many, server, 3, *setting)) == 20


def test_limit_that_runs_out_asks_same_at_any_concurrency(many: Project, server: Loopback) -> None:
    one_by_one = limited(many, server, 1.55, "--taskgraph-concurrency=1")
    # The sixth still fits beside 0.5 US$ that are spent.
    assert len(one_by_one) == 6
    assert limited(many, server, 1.55, "--taskgraph-concurrency=64") == one_by_one
    assert len(limited(many, server, 1.55, "-n", "2")) == 6


def test_question_that_fails_unbilled_leaves_budget_to_others(many: Project, server: Loopback) -> None:
    server.script(*[Raw(status=400, body=b'{"error": {"message": "no"}}')] * 10)
    many.run(lean(server), *PRICED, "--taskgraph-max-cost=1.5", "--taskgraph-concurrency=8")
    assert len(server.requests) == 10 + 6


@posix_only
def test_ctrl_c_ends_run_whose_requests_wait_for_budget(many: Project, server: Loopback) -> None:
    arrived = threading.Event()

    def answer(prompt: str) -> Raw:
        arrived.set()
        return HANG

    server.answer = answer
    arguments = ["-p", "taskgraph", lean(server), *PRICED, "--taskgraph-max-cost=1.5"]
    with warm_processes.start_written(arguments, many.path) as (process, finish):
        assert bounded_process.wait_for(arrived)
        os.kill(process, signal.SIGINT)
        done = finish()
    out = done.stdout + done.stderr
    assert done.returncode == 2, out
    assert "KeyboardInterrupt" in out
    assert "no tests ran" in out
    assert "INTERNALERROR" not in out
    assert "Traceback" not in out
    assert len(server.requests) == 1

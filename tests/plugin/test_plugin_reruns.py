"""pytest-rerunfailures beside failing providers, gates, budgets and comparisons: one trial a question, the last one."""

from __future__ import annotations

from typing import Any

import pytest
from loopback import Loopback, Raw, refuse
from plugin_project import ITEMS, OWN, Project, Ran, properties, right, wrong

from pytest_taskgraph.plugin.models_under_test import ModelsUnderTest
from pytest_taskgraph.plugin.verdicts.asked_families import AskedFamilies
from pytest_taskgraph.plugin.verdicts.declared_questions import Questions

CRASH = f"""
import os, pathlib, pytest

@pytest.fixture(autouse=True)
def crash(request, trial):
    marker = pathlib.Path(__file__).with_name("crashed")
    if request.node.nodeid == {ITEMS[2]!r} and not marker.exists():
        marker.touch()
        os._exit(1)
"""
RECORD = "--taskgraph-report=json=record.json"
GATE = "--taskgraph-gate=structure>=0.5"
RERUNS = ("--reruns=2", "--taskgraph-retries=0")
PLUGINS = ("taskgraph", "rerunfailures")


class FailsFirst:
    """Breaks over each prompt when it first comes; then pairs are answered rightly, blocks as `blocks` says."""

    def __init__(self, blocks: Any = wrong, spared: bool = True) -> None:  # noqa: ANN401 - a function of the prompt
        self.blocks, self.spared = blocks, spared  # spared: blocks are answered at once
        self.seen: set[str] = set()

    def __call__(self, prompt: str) -> str | Raw:
        block, first = "parallel block" in prompt, prompt not in self.seen
        self.seen.add(prompt)
        if first and not (block and self.spared):
            return refuse(500, "oops")
        return str(self.blocks(prompt) if block else right(prompt))


def lean(server: Loopback) -> str:
    return f"--model={server.url}#any"


def run(project: Project, server: Loopback, *args: str) -> Ran:
    return project.run(lean(server), *RERUNS, RECORD, *args, plugins=PLUGINS)


def trial_outcomes(project: Project) -> list[tuple[str, str, int]]:
    """The pattern, outcome and attempts of each trial in the record, by question."""
    trials = project.record()["trials"]
    return [(trial["question"]["group"], trial["outcome"], trial["attempts"]) for trial in trials]


def test_gates_budgets_and_comparisons_see_last_attempt_of_each_question(project: Project, server: Loopback) -> None:
    server.answer = FailsFirst()
    options = (GATE, "--taskgraph-max-calls=6", "--taskgraph-save=one", "--junitxml=junit.xml")
    ran = run(project, server, *options)
    # Wrong answers are expected under gates, and no reason to run again; missing replies are.
    assert (ran.code, ran.counts) == (0, {"passed": 4, "wrong": 2, "rerun": 2}), ran.output
    assert (len(server.requests), len(server.answer.seen)) == (6, 4)
    after_one = [("parallel_block", "wrong", 1)] * 2 + [("parallel_pair", "right", 2)] * 2
    assert trial_outcomes(project) == after_one
    verdicts = {gate["name"]: gate["reason"] for gate in project.record()["gates"]}
    assert verdicts["gates::structure"].startswith("pass rate 0.500 of 4 answered")
    assert verdicts["budget::calls"] == "within --taskgraph-max-calls"
    for case in project.junit().findall("testcase"):
        names = [name for name, _ in properties(case)]
        assert len(names) == len(set(names))

    ran = run(
        project, server, GATE, "--taskgraph-replay", "--taskgraph-compare=one", "--taskgraph-fail-on=gates,regression"
    )
    assert (ran.code, ran.counts) == (0, {"passed": 4, "wrong": 2}), ran.output
    assert (len(server.requests), [attempts for _, _, attempts in trial_outcomes(project)]) == (6, [1] * 4)
    compared = next(gate for gate in project.record()["gates"] if gate["name"] == "compare::one")
    assert compared["outcome"] == "passed"
    assert "identical replies: 4 paired questions" in compared["reason"]


def test_wrong_answer_is_no_better_third_time_and_paid_for_once(project: Project, server: Loopback) -> None:
    server.answer = wrong
    ran = run(project, server, "--taskgraph-fail-on=answers", "--taskgraph-max-calls=4")
    assert (ran.code, ran.counts) == (1, {"failed": 4, "passed": 1, "rerun": 8}), ran.output
    assert len(server.requests) == 4
    assert [(outcome, attempts) for _, outcome, attempts in trial_outcomes(project)] == [("wrong", 3)] * 4


def test_rerun_only_errors_asks_missing_replies_again(project: Project, server: Loopback) -> None:
    server.answer = FailsFirst()
    ran = run(project, server, "--only-rerun=ProviderError")
    assert (ran.code, ran.counts) == (1, {"failed": 2, "passed": 2, "rerun": 2}), ran.output
    assert trial_outcomes(project) == [("parallel_block", "wrong", 1)] * 2 + [("parallel_pair", "right", 2)] * 2


def test_budget_that_reruns_spend_leaves_questions_unasked_and_fails_gate(project: Project, server: Loopback) -> None:
    server.answer = FailsFirst(right, spared=False)
    ran = run(project, server, GATE, "--taskgraph-max-calls=6")
    assert (ran.code, len(server.requests)) == (1, 6), ran.output
    outcomes = sorted(outcome for _, outcome, _ in trial_outcomes(project))
    assert outcomes in (["right"] * 2 + ["skipped"] * 2, ["right"] * 3 + ["skipped"])
    unasked = outcomes.count("skipped")
    verdicts = {gate["name"]: gate["reason"] for gate in project.record()["gates"]}
    assert verdicts["gates::structure"] == (
        f"not decided: {unasked} of 4 questions were not asked: budget::calls is spent"
    )


def test_missing_replies_allowed_are_no_reason_to_run_again(project: Project, server: Loopback) -> None:
    server.answer = FailsFirst(right)
    ran = run(project, server, "--taskgraph-max-errors=0.5", "--taskgraph-fail-on=gates")
    assert (ran.code, ran.counts, len(server.requests)) == (0, {"passed": 3, "error": 2}, 4), ran.output
    assert trial_outcomes(project) == [("parallel_block", "right", 1)] * 2 + [("parallel_pair", "error", 1)] * 2


def test_attempts_count_towards_failures_that_end_run(project: Project, server: Loopback) -> None:
    server.answer = refuse(401, "no such key")
    ran = run(project, server, "--taskgraph-concurrency=1")
    assert (ran.code, len(server.requests)) == (2, 3), ran.output
    assert [(outcome, attempts) for _, outcome, attempts in trial_outcomes(project)] == [("error", 3)]


def test_rerun_after_judge_failure_uses_stored_reply(project: Project, server: Loopback) -> None:
    server.answer = "Final answer: It makes things ready."
    project.write("test_graph.py", OWN)
    with Loopback("It agrees.\nScore: 5") as judge:
        judge.script(refuse(500, "oops"))
        ran = run(project, server, "--taskgraph-text-metric=judge", f"--taskgraph-judge-model={judge.url}#wise")
        assert (len(server.requests), len(judge.requests)) == (2, 3)
    assert (ran.code, ran.counts) == (0, {"passed": 2, "rerun": 1}), ran.output
    assert sorted(trial_outcomes(project)) == [("purpose", "graded", 1), ("purpose", "graded", 2)]
    assert [trial["score"]["value"] for trial in project.record()["trials"]] == [1.0, 1.0]


def test_rerun_over_workers_counts_last_attempts(project: Project, server: Loopback) -> None:
    server.answer = FailsFirst()
    ran = project.spread(lean(server), *RERUNS, GATE, RECORD, plugins=PLUGINS)
    assert ran.code == 0, ran.output
    # How many attempts there were is open: a request fails ahead of the item too, in the worker that does not run it.
    assert [(pattern, outcome) for pattern, outcome, _ in trial_outcomes(project)] == (
        [("parallel_block", "wrong")] * 2 + [("parallel_pair", "right")] * 2
    )
    assert ran.counts["wrong"] == 2
    reason = next(gate["reason"] for gate in project.record()["gates"] if gate["name"] == "gates::structure")
    assert reason.startswith("pass rate 0.500 of 4 answered")


def test_question_whose_worker_died_is_not_lost_once_it_ran_again(project: Project) -> None:
    project.write("conftest.py", CRASH)
    ran = project.spread("--model=simulated:1", "--reruns=1", GATE, RECORD, plugins=PLUGINS)
    assert (ran.code, ran.counts) == (0, {"passed": 5, "rerun": 1}), ran.output
    assert (len(trial_outcomes(project)), project.record()["lost"]) == (4, [])
    assert project.record()["gates"][0]["reason"].startswith("pass rate 1.000 of 4 answered")


def test_question_that_took_several_workers_is_lost_once(pytestconfig: pytest.Config) -> None:
    questions = Questions(pytestconfig, AskedFamilies(), ModelsUnderTest(pytestconfig))
    questions.functions.add("test_graph.py::test_graph")
    assert list(questions.lost([ITEMS[0], ITEMS[1], ITEMS[0]])) == [ITEMS[0], ITEMS[1]]


CLOSES = """
import pathlib, pytest

@pytest.fixture(scope="session", autouse=True)
def opened():
    yield
    pathlib.Path(__file__).with_name("closed").touch()
"""


@pytest.mark.parametrize("plugins", [PLUGINS, PLUGINS[::-1]])
def test_wrong_answer_expected_keeps_no_fixture_open(project: Project, plugins: tuple[str, ...]) -> None:
    # For an item that it takes for failed, pytest-rerunfailures holds back the teardown of wider scopes.
    project.write("conftest.py", CLOSES)
    ran = project.run("--model=simulated:0", "--taskgraph-fail-on=nothing", "--reruns=2", plugins=plugins)
    assert ran.counts == {"wrong": 4}, ran.output
    assert (project.path / "closed").exists()

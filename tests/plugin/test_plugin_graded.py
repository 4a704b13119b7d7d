"""Graded questions from the outside: items, gates, pass thresholds, and the users' own patterns with open answers."""

from __future__ import annotations

import pytest
from loopback import Loopback
from plugin_project import OWN, Project, Ran

SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["describe_task", "wrong_task_order"], instances=3)
def test_graph(trial):
    trial.check()
"""
RECORD = "--taskgraph-report=json=record.json"
RANDOM = "--model=baseline:random"


@pytest.fixture
def mixed(project: Project) -> Project:
    """A project with three graded questions and three others of one category."""
    project.write("test_graph.py", SUITE)
    return project


def flat_output(ran: Ran) -> str:
    return " ".join(ran.output.split())


def test_item_of_graded_question_passes_and_enters_no_rate(mixed: Project) -> None:
    ran = mixed.run("--model=simulated:0", RECORD)
    assert (ran.code, ran.counts) == (1, {"passed": 3, "failed": 3}), ran.output
    assert [line.split()[:3] for line in ran.table if line.startswith("functionality ")] == [
        ["functionality", "3*", "0.000"]
    ]
    assert [line.split()[2] for line in ran.table if line.startswith("functionality, graded")] == ["3*"]
    (total,), (row,) = mixed.record()["totals"], mixed.record()["graded"]
    assert (total["n"], total["rate"], total["graded"]) == (3, 0.0, 3)
    assert (row["n"], row["rate"]) == (3, None)
    assert 0 < row["chance"] < 1


def test_graded_question_without_answer_fails(project: Project, server: Loopback) -> None:
    project.write("test_graph.py", OWN)
    server.answer = "Final answer: ..."
    ran = project.run(f"--model={server.url}#any")
    assert (ran.code, ran.counts) == (1, {"failed": 2}), ran.output


def test_pass_threshold_set_draws_line_for_open_answers(mixed: Project) -> None:
    ran = mixed.run(RANDOM, "--taskgraph-pass-threshold=0.9", "--taskgraph-gate=describe_task>=0.5", RECORD)
    outcomes = {(trial["question"]["group"], trial["outcome"]) for trial in mixed.record()["trials"]}
    assert {outcome for pattern, outcome in outcomes if pattern == "describe_task"} == {"wrong"}
    assert {outcome for _, outcome in outcomes} <= {"right", "wrong"}
    assert mixed.record()["graded"] == []
    assert "gates::describe_task: pass rate 0.000 of 3 answered" in flat_output(ran)


def test_pass_threshold_0_grades_every_question(mixed: Project) -> None:
    ran = mixed.run("--model=simulated:0", "--taskgraph-pass-threshold=0", RECORD)
    assert (ran.code, ran.counts) == (0, {"passed": 6}), ran.output
    assert not any(line.startswith("total") for line in ran.table)
    assert [row["name"] for row in mixed.record()["graded"]] == ["describe_task", "wrong_task_order"]


@pytest.mark.parametrize(
    ("gate", "code", "reason"),
    [
        ("functionality>=0.9", 0, "pass rate 1.000 of 3 answered (95% 0.439-1.000), threshold 0.9; 3 graded left out"),
        ("functionality.score>=0.9", 0, "threshold 0.9; 3 graded left out"),
        ("describe_task>=0.9", 0, "mean score 1.000 of 3 answered ("),
        ("describe_task.rouge1>=0.9", 0, "mean rouge1 1.000 of 3 answered ("),
    ],
)
def test_gates_compare_graded_means_and_never_mix_them(mixed: Project, gate: str, code: int, reason: str) -> None:
    ran = mixed.run("--model=simulated:1", f"--taskgraph-gate={gate}")
    assert ran.code == code, ran.output
    assert reason in flat_output(ran)


def test_gate_ignores_missing_reply_of_graded_question(mixed: Project) -> None:
    mixed.write("test_graph.py", SUITE.replace("trial.check()", "pass"))
    mixed.write(
        "conftest.py",
        "import pytest\n\n@pytest.fixture(autouse=True)\ndef fails(request):\n"
        "    if 'describe' in request.node.nodeid: raise ValueError\n",
    )
    ran = mixed.run("--model=simulated:1", "--taskgraph-gate=functionality>=0.9", "--taskgraph-gate=describe_task>=0.9")
    assert "passed gates::functionality: pass rate 1.000 of 3" in flat_output(ran)
    assert "failed gates::describe_task: not decided: 3 of 3 questions failed in their set-up" in flat_output(ran)


def test_users_patterns_with_text_are_graded(project: Project) -> None:
    project.write("test_graph.py", OWN)
    ran = project.run(RANDOM, "--taskgraph-gate=purpose>=0.01", "-v", RECORD)
    assert "2 graded questions of custom do not count" in flat_output(ran)
    assert [line.split()[:2] for line in ran.table if line.startswith("purpose")] == [["purpose", "2*"]]
    assert "gates::purpose: mean score" in flat_output(ran)


@pytest.mark.exhaustive
def test_graded_questions_come_to_same_over_workers(mixed: Project) -> None:
    args = ("--model=simulated:1", "--taskgraph-gate=functionality>=0.9", RECORD)
    alone = mixed.run(*args)
    record = mixed.record()
    spread = mixed.spread(*args)
    assert (spread.code, spread.counts) == (alone.code, alone.counts), spread.output
    assert [mixed.record()[name] for name in ("totals", "graded", "gates")] == [
        record[name] for name in ("totals", "graded", "gates")
    ]

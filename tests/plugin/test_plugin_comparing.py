"""What a comparison comes to where the user selects, reports only, configures, or keeps the run of that name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from plugin_project import Project, Ran

GOOD, BAD = "--model=simulated:1", "--model=simulated:0"
COMPARE = "--taskgraph-compare=main"
SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["flow_start", "flow_end"], instances=8, tasks=6)
def test_graph(trial):
    trial.check()
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the first project whose run `main` is saved; every later project gets a copy of it."""
    return tmp_path_factory.mktemp("kept") / "store"


@pytest.fixture
def saved(project: Project, store: Path) -> Project:
    """A project whose run `main` is saved: sixteen questions, all right."""
    project.write("test_graph.py", SUITE)
    if store.exists():
        shutil.copytree(store, project.path / ".taskgraph")
    else:
        assert project.run(GOOD, "--taskgraph-save=main").code == 0
        shutil.copytree(project.path / ".taskgraph", store)
    return project


def flat_output(ran: Ran) -> str:
    return " ".join(ran.output.split())


def test_report_only_run_tells_comparison_and_fails_nothing(saved: Project) -> None:
    ran = saved.run(BAD, COMPARE, "--taskgraph-fail-on=nothing", "--taskgraph-instances=8")
    assert (ran.code, ran.counts["skipped"]) == (0, 1), ran.output
    assert "the comparison is report only: --taskgraph-fail-on=nothing names no result of it" in flat_output(ran)
    assert "report only, would fail: worse: -1.000 over" in flat_output(ran)
    assert saved.run(BAD, COMPARE, "--taskgraph-fail-on=regression").code == 1


@pytest.mark.parametrize(
    ("fail_on", "code", "counts"),
    [
        (None, 1, {"failed": 17}),
        ("regression", 1, {"wrong": 16, "failed": 1}),
        ("answers", 1, {"failed": 16, "skipped": 1}),
        ("answers,regression", 1, {"failed": 17}),
        ("missing", 0, {"wrong": 16, "passed": 1}),
    ],
)
def test_fail_on_alone_decides_between_answers_and_comparison(
    saved: Project, fail_on: str | None, code: int, counts: dict[str, int]
) -> None:
    ran = saved.run(BAD, COMPARE, *([f"--taskgraph-fail-on={fail_on}"] if fail_on else []))
    assert (ran.code, ran.counts) == (code, counts), ran.output


@pytest.mark.parametrize(
    "fail_on",
    [
        "regression,inconclusive,missing",
        pytest.param("regression", marks=pytest.mark.exhaustive),
        pytest.param("regression,inconclusive", marks=pytest.mark.exhaustive),
    ],
)
def test_comparison_deselected_questions_do_not_fail(saved: Project, fail_on: str) -> None:
    ran = saved.run(GOOD, COMPARE, f"--taskgraph-fail-on={fail_on}", "-k", "flow_end")
    assert (ran.code, ran.counts["skipped"]) == (0, 1), ran.output
    assert "not decided: 8 of the baseline left out (-k); identical replies: 8 paired" in flat_output(ran)


def test_comparison_worse_fails_despite_selection(saved: Project) -> None:
    ran = saved.run(BAD, COMPARE, "--taskgraph-fail-on=regression", "-k", "flow_end")
    assert (ran.code, ran.counts["failed"]) == (1, 1), ran.output
    assert "failed compare::main: worse: -1.000 over 8" in flat_output(ran)


def test_run_that_ends_at_first_failure_passes_no_comparison(saved: Project) -> None:
    ran = saved.run(BAD, COMPARE, "--taskgraph-fail-on=answers,regression", "-x")
    assert ran.counts == {"failed": 1, "skipped": 1}, ran.output
    assert "not decided: 15 of the baseline left out (-x)" in flat_output(ran)


def test_fail_on_configured_without_comparison_is_accepted(saved: Project) -> None:
    saved.write("test_plain.py", "def test_plain():\n    pass\n")
    saved.write("pytest.ini", "[pytest]\ntaskgraph_fail_on = regression, inconclusive\n")
    assert saved.run("test_plain.py").code == 0
    assert saved.run().code == 0, "the default baseline fails nothing"
    assert saved.run(GOOD, "--taskgraph-save=main").code == 0
    ran = saved.run(BAD, "test_graph.py")
    assert (ran.code, ran.counts) == (1, {"failed": 16}), "without a comparison, answers fail"
    assert "failed compare::main: inconclusive" in flat_output(saved.run("--model=simulated:0.7", COMPARE))
    assert "passed compare::main: identical replies" in flat_output(saved.run(GOOD, COMPARE))


def test_configured_fail_on_gates_without_gate_is_refused_with_questions(saved: Project) -> None:
    saved.write("test_plain.py", "def test_plain():\n    pass\n")
    saved.write("pytest.ini", "[pytest]\ntaskgraph_fail_on = gates\n")
    assert saved.run("test_plain.py").code == 0
    ran = saved.run(GOOD)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "taskgraph_fail_on (configuration): gates: there is no gate" in ran.output
    assert saved.run(GOOD, "--taskgraph-gate=structure>=0.5").code == 0


@pytest.mark.parametrize("value", [",", "inconclusive,worse"])
def test_fail_on_invalid_for_comparison_is_usage_error(saved: Project, value: str) -> None:
    ran = saved.run(GOOD, COMPARE, f"--taskgraph-fail-on={value}")
    assert (ran.code, ran.counts) == (pytest.ExitCode.USAGE_ERROR, {})
    assert ("missing" if value != "," else "nothing given; expected WHAT[,WHAT]") in ran.output
    assert "--taskgraph-fail-on" in ran.output


def test_run_worse_does_not_take_place_of_one_it_is_compared_with(saved: Project) -> None:
    for _ in range(2):
        ran = saved.run(BAD, COMPARE, "--taskgraph-save=main", "--taskgraph-fail-on=regression")
        assert (ran.code, ran.counts["failed"]) == (1, 1), ran.output
        assert "the run 'main' is not saved: its comparison with the run of that name did not pass" in flat_output(ran)
    assert saved.run(GOOD, COMPARE, "--taskgraph-save=main").code == 0


@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_runs_of_as_many_questions_differ_in_no_number_of_them(saved: Project, quiet: tuple[str, ...]) -> None:
    ran = saved.run(GOOD, COMPARE, "--taskgraph-report=html=r.html", "--taskgraph-report=json=r.json", *quiet)
    assert ran.code == 0, ran.output
    assert saved.record("r.json")["questions"] == 16
    assert '<th scope="row"><bdi>questions</bdi></th>' not in (saved.path / "r.html").read_text()


@pytest.mark.parametrize("marks", [(), ("-m", "taskgraph")])
def test_selection_that_leaves_nothing_out_excuses_nothing(saved: Project, marks: tuple[str, ...]) -> None:
    saved.write("test_graph.py", SUITE.replace("instances=8", "instances=7"))
    ran = saved.run(GOOD, COMPARE, "--taskgraph-fail-on=missing", *marks)
    assert (ran.code, ran.counts["failed"]) == (1, 1), ran.output
    assert "2 of the baseline were not asked" in flat_output(ran)
    saved.write("test_graph.py", SUITE.replace('"flow_start", "flow_end"', '"task_list"'))
    ran = saved.run(GOOD, COMPARE, "--taskgraph-fail-on=regression", *marks)
    assert (ran.code, ran.counts["failed"]) == (1, 1), "not a single question could be paired"


def test_items_named_one_by_one_leave_others_out(saved: Project) -> None:
    question = next(trial["question"]["id"] for trial in saved.record(".taskgraph/runs/main.json")["trials"])
    ran = saved.run(GOOD, COMPARE, "--taskgraph-fail-on=missing", f"test_graph.py::test_graph[{question}]")
    assert (ran.code, ran.counts) == (0, {"passed": 1, "skipped": 1}), ran.output
    assert "not decided: 15 of the baseline left out (node ids)" in flat_output(ran)


def test_report_only_run_fails_for_no_baseline_either(saved: Project) -> None:
    more = ("--taskgraph-compare=nightly", "--taskgraph-fail-on=missing")
    assert saved.run(GOOD, *more).code == 1
    ran = saved.run(GOOD, more[0], "--taskgraph-fail-on=nothing")
    assert (ran.code, ran.counts["skipped"]) == (0, 1), ran.output


def test_part_of_questions_does_not_take_place_of_them_all(saved: Project) -> None:
    ran = saved.run(GOOD, COMPARE, "--taskgraph-save=main", "-k", "flow_end")
    assert ran.code == 0, ran.output
    assert "the run 'main' is not saved" in flat_output(ran)
    assert len(saved.record(".taskgraph/runs/main.json")["trials"]) == 16

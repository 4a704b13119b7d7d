"""When tasks start and end, by hand and against all schedules of small levels."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from random import Random

import pytest
from workflow_builders import level

from pytest_taskgraph.workflow.model import Duration, Effect, Task, Workflow
from pytest_taskgraph.workflow.semantics.run_times import Timing, shortest_with_workers, timing, units_in

FORK = "START -> A\nA -> B\nA -> C\nB -> D\nC -> D\nD -> END"
LOOP = "START -> A\nA -> B\nB -> A [n < 3]\nB -> END [otherwise]"
CHOICE = "START -> A\nA -> B [n > 1]\nA -> C [otherwise]\nB -> END\nC -> END"


def timed(text: str, **amounts: int) -> Workflow:
    """Return a level whose tasks take so many seconds."""
    workflow = level(text)
    tasks = [
        replace(task, duration=Duration(amounts[task.name], "seconds")) if task.name in amounts else task
        for task in workflow.tasks
    ]
    return replace(workflow, tasks=tuple(tasks))


def times(found: Timing | None) -> tuple[int, dict[str, int], dict[str, int]]:
    assert found is not None
    tasks = found.run.tasks
    return found.makespan, dict(zip(tasks, found.starts, strict=True)), dict(zip(tasks, found.slacks, strict=True))


def test_timing_join_starts_after_last_of_branches() -> None:
    makespan, starts, slacks = times(timing(timed(FORK, A=1, B=5, C=2, D=1), {}))
    assert (makespan, starts) == (7, {"A": 0, "B": 1, "C": 1, "D": 6})
    assert slacks == {"A": 0, "B": 0, "C": 3, "D": 0}


def test_timing_units_are_converted() -> None:
    tasks = (Task("A", duration=Duration(2, "hours")), Task("B", duration=Duration(1, "days")))
    workflow = replace(level("START -> A\nA -> B\nB -> END"), tasks=tasks)
    assert times(timing(workflow, {}))[0] == 2 * 3600 + 86400
    assert units_in(workflow) == ("hours", "days")


def test_timing_loop_takes_each_pass() -> None:
    workflow = timed(LOOP, A=2, B=3)
    counting = replace(workflow.tasks[0], effects=(Effect("n", "n + 1"),))
    workflow = replace(workflow, tasks=(counting, *workflow.tasks[1:]))
    assert [times(timing(workflow, {"n": n}))[0] for n in (0, 1, 2)] == [15, 10, 5]


@pytest.mark.parametrize(("n", "makespan"), [(1, 3), (2, 10)])
def test_timing_choice_takes_branch_of_situation(n: int, makespan: int) -> None:
    found = timing(timed(CHOICE, A=1, B=9, C=2), {"n": n})
    assert found is not None
    assert found.makespan == makespan


def test_timing_composite_lasts_as_long_as_inside() -> None:
    inside = timed(FORK, A=1, B=5, C=2, D=1)
    outer = replace(level("START -> A\nA -> END"), tasks=(Task("A", subworkflow=inside),))
    assert times(timing(outer, {}))[0] == 7


@pytest.mark.parametrize(
    "workflow",
    [
        timed(FORK, A=1, B=5, C=2),
        replace(
            level("START -> A\nA -> END"), tasks=(Task("A", duration=Duration(1, "days"), subworkflow=timed(FORK)),)
        ),
        replace(level("START -> A\nA -> END"), tasks=(Task("A", subworkflow=timed(CHOICE, A=1, B=1, C=1)),)),
        timed(CHOICE, A=1, B=9, C=2),
    ],
    ids=["task without", "composite with own", "inside undecided", "situation without value"],
)
def test_timing_not_stated_or_undecided_is_none(workflow: Workflow) -> None:
    assert timing(workflow, {}) is None


def test_critical_path_of_several_is_none() -> None:
    unique, tied = timing(timed(FORK, A=1, B=5, C=2, D=1), {}), timing(timed(FORK, A=1, B=5, C=5, D=1), {})
    assert unique is not None
    assert tied is not None
    assert [unique.run.tasks[place] for place in unique.critical_path() or ()] == ["A", "B", "D"]
    assert tied.critical_path() is None


def shortest_of_all_orders(found: Timing, workers: int) -> int:
    """Return the shortest time over all orders in which tasks can be handed to the worker that is free first."""
    count, best = len(found.lengths), []
    for order in permutations(range(count)):
        if all(not found.run.before[i] >> j & 1 for place, i in enumerate(order) for j in order[place + 1 :]):
            free, ends = [0] * workers, dict[int, int]()
            for i in order:
                free.sort()
                start = max([free[0], *(ends[j] for j in range(count) if found.run.before[i] >> j & 1)])
                free[0] = ends[i] = start + found.lengths[i]
            best.append(max(ends.values()))
    return min(best)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_shortest_with_workers_equals_best_of_all_orders(workers: int) -> None:
    rng = Random(workers)
    for _ in range(25):
        names = "ABCDEF"
        links = [f"{a} -> {b}" for i, a in enumerate(names) for b in names[i + 1 :] if rng.random() < 0.25]
        ends = [f"START -> {name}\n{name} -> END" for name in names]
        found = timing(timed("\n".join([*ends, *links]), **{name: rng.randint(1, 9) for name in names}), {})
        assert found is not None
        assert shortest_with_workers(found, workers, 10**6) == shortest_of_all_orders(found, workers)


def test_shortest_with_workers_beyond_steps_is_none() -> None:
    names = "ABCDEFG"
    text = "\n".join(f"START -> {name}\n{name} -> END" for name in names)
    found = timing(timed(text, A=9, B=8, C=8, D=7, E=5, F=5, G=3), {})
    assert found is not None
    assert shortest_with_workers(found, 2, 3) is None

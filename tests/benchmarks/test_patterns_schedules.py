"""Questions for schedules: which are asked, and that no rule without planning answers them."""

from __future__ import annotations

from random import Random

import pytest

from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Case
from pytest_taskgraph.families.understanding.patterns.scope import Scope, cases
from pytest_taskgraph.families.understanding.questions.assembly import question, references
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.generation.builder import shuffle_declarations
from pytest_taskgraph.notations import notation
from pytest_taskgraph.scoring.schedules import Schedule, constraints, schedule
from pytest_taskgraph.trial import Question

PATTERN = catalogue()["valid_schedule"]
KITCHEN = """package main;
workflow Kitchen {
  param guests in integer 1 .. 20;
  START -> Shop -> PARALLEL_1;
  PARALLEL_1 -> Chop -> PARALLEL_END_1; PARALLEL_1 -> Boil -> PARALLEL_END_1; PARALLEL_1 -> Fry -> PARALLEL_END_1;
  PARALLEL_END_1 ?-> Table { condition "guests > 6"; }
  PARALLEL_END_1 ?-> Tray { condition "otherwise"; }
  Table -> END; Tray -> END;
  task Shop { duration 1 hour; } task Chop { duration 20 minutes; } task Boil { duration 30 minutes; }
  task Fry { duration 10 minutes; } task Table { duration 15 minutes; } task Tray { duration 5 minutes; }
}
"""
LONGER = KITCHEN.replace("duration 10 minutes", "duration 25 minutes")
LOOP = """package main;
workflow Loop {
  param n in integer 0 .. 3;
  START -> Mix; Mix -> PARALLEL_1; PARALLEL_1 -> A -> PARALLEL_END_1; PARALLEL_1 -> B -> PARALLEL_END_1;
  PARALLEL_END_1 ?-> Mix { condition "n > 0"; }
  PARALLEL_END_1 ?-> END { condition "otherwise"; }
  task Mix { duration 1 hour; effect n = "n - 1"; } task A { duration 1 hour; } task B { duration 2 hours; }
}
"""


def asked(text: str) -> list[Case]:
    return list(cases(PATTERN, Scope(notation("wadl").read(text), "workflow 'W'", True)))


def constraints_of(case: Case) -> Schedule:
    return schedule(case.answer)


def drawn(tasks: int, count: int) -> list[Question]:
    settings = UnderstandingSettings(instances=count, tasks=(tasks,), seed=11)
    return [question(reference, settings) for reference in references(settings, {"patterns": PATTERN.name})]


def test_only_tasks_that_run_in_the_situation_have_constraints() -> None:
    by_guests = {case.fields["situation"]: constraints_of(case) for case in asked(KITCHEN)}
    assert {("Table" in each.tasks, "Tray" in each.tasks) for each in by_guests.values()} == {
        (True, False),
        (False, True),
    }
    assert all(("Table" in each.tasks) == (int(text.split(" ")[-1]) > 6) for text, each in by_guests.items())


def test_limit_is_shortest_time_of_workers_in_the_unit_of_the_answers() -> None:
    shared = [case for case in asked(LONGER) if case.fields["workers"] == 2]
    # Boil beside Chop and Fry, 60 + 45 minutes, and Table or Tray.
    assert {(case.fields["limit"], constraints_of(case).limit) for case in shared} == {
        ("2 hours", 120),
        ("110 minutes", 110),
    }
    assert {constraints_of(case).unit for case in shared} == {"minutes"}


def test_workers_that_make_no_difference_are_not_asked_about() -> None:
    assert {case.fields["workers"] for case in asked(KITCHEN)} == {None}
    assert {case.fields["workers"] for case in asked(LONGER)} == {None, 2}


def test_tasks_that_run_several_times_are_not_asked_about() -> None:
    situations = {case.fields["situation"] for case in asked(LOOP)}
    assert situations <= {"n = 0", "n = 1"}


@pytest.mark.parametrize("tasks", [6, 12, pytest.param(40, marks=pytest.mark.exhaustive)])
def test_rules_without_planning_never_answer(tasks: int) -> None:
    for each in drawn(tasks, 30):
        expected = schedule(each.reference)
        at_once = [0] * len(expected.tasks)
        after_another = [sum(expected.durations[:i]) for i in range(len(expected.tasks))]
        early = [0] * len(expected.tasks)
        for first, second in sorted(expected.before, key=lambda pair: pair[1]):
            early[second] = max(early[second], early[first] + expected.durations[first])
        rules = [at_once, after_another, *([early] if expected.workers else [])]
        for starts in rules:
            assert constraints({"tasks": [*expected.tasks], "starts": [*starts]}, each.reference) < 1.0


@pytest.mark.parametrize("tasks", [6, 12, 40])
def test_shown_schedule_keeps_the_constraints_and_meets_the_limit(tasks: int) -> None:
    for each in drawn(tasks, 12):
        expected = schedule(each.reference)
        ends = [start + length for start, length in zip(expected.starts, expected.durations, strict=True)]
        assert constraints(each.reference, each.reference) == 1.0
        assert max(ends) == expected.limit
        assert {*expected.tasks} <= {*each.names}


@pytest.mark.parametrize("tasks", [8, 20, pytest.param(60, marks=pytest.mark.exhaustive)])
def test_limits_do_not_depend_on_the_order_of_declaration(tasks: int) -> None:
    for ordinal in range(12):
        level = draw(PATTERN, tasks, 5, ordinal).scope.workflow
        turned = shuffle_declarations(level, Random(ordinal))
        limits, others = (
            sorted(str((case.fields["situation"], case.fields["workers"], case.fields["limit"]))
                   for case in cases(PATTERN, Scope(each, "workflow 'W'", True)))
            for each in (level, turned)
        )  # fmt: skip
        assert limits == others

"""Questions about times: which are asked."""

from __future__ import annotations

import pytest

from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.families.understanding.patterns.scope import Scope, cases
from pytest_taskgraph.notations import notation

TIMING = [pattern for pattern in catalogue().values() if pattern.category == "timing"]
MIXED = """package main;
workflow W {
  START -> PARALLEL_1; PARALLEL_1 -> A -> PARALLEL_END_1; PARALLEL_1 -> B -> PARALLEL_END_1;
  PARALLEL_END_1 -> C -> END;
  task A { duration 90 minutes; } task B { duration 2 hours; } task C { duration 30 minutes; }
}
"""


def asked(name: str, text: str) -> list[Case]:
    return list(cases(catalogue()[name], Scope(notation("wadl").read(text), "workflow 'W'", True)))


@pytest.mark.parametrize("pattern", TIMING, ids=lambda each: each.name)
def test_level_without_durations_is_not_asked_about(pattern: Pattern) -> None:
    bare = (
        MIXED.replace("duration 90 minutes;", "").replace("duration 2 hours;", "").replace("duration 30 minutes;", "")
    )
    assert asked(pattern.name, bare) == []


@pytest.mark.parametrize("pattern", TIMING, ids=lambda each: each.name)
def test_level_with_one_duration_missing_is_not_asked_about(pattern: Pattern) -> None:
    assert asked(pattern.name, MIXED.replace("duration 2 hours;", "")) == []


def test_answer_is_in_smallest_unit_that_level_states() -> None:
    [case] = asked("makespan", MIXED)
    assert (case.answer, case.fields["unit"]) == (150, "minutes")


def test_time_in_question_is_in_largest_unit_that_fits() -> None:
    deadlines = {case.fields["deadline"]: case.answer for case in asked("deadline_met", MIXED)}
    assert deadlines == {"90 minutes": "no", "2 hours": "no", "150 minutes": "yes", "3 hours": "yes"}


def test_delay_harmless_answers_turn_at_time_to_spare() -> None:
    answers = {(case.fields["task"], case.fields["extra"]): case.answer for case in asked("delay_harmless", MIXED)}
    assert answers["A", "30 minutes"] == "yes"
    assert answers["A", "1 hour"] == "no"


def test_running_at_no_task_starts_or_ends_then() -> None:
    assert [(case.fields["moment"], case.answer) for case in asked("running_at", MIXED)] == [
        ("45 minutes", ["A", "B"]),
        ("105 minutes", ["B"]),
        ("135 minutes", ["C"]),
    ]

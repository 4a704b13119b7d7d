"""Schedules: the constraints against a checker that lets a clock run, replies in each shape, and what sentences say."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.scoring.forms import FORMS, explain_answer, show_answer
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.scoring.schedules import Schedule, constraints, schedule
from pytest_taskgraph.trial import Json, Parsing, Question, Reply, Score

NAMES = ["Wash", "Chop12", "Stir fry", "Serve, hot"]
MEAL = Schedule(tuple(NAMES), (3, 5, 4, 1), ((0, 2), (1, 2), (2, 3)), 2, 10, "minutes", (0, 0, 5, 9))
QUESTION = "State for each task how many minutes after the start of workflow 'Meal' it starts."
RIGHT: dict[str, Json] = {"tasks": [*NAMES], "starts": [0, 0, 5, 9]}


def graded(reply: str, parsing: Parsing = "lenient", spellings: Mapping[str, str] | None = None) -> Score:
    question = Question(
        "q", "f", "g", "s", QUESTION, "?", "schedule", MEAL.to_json(), "constraints", names=NAMES, parsing=parsing,
        spellings=dict(spellings or {}),
    )  # fmt: skip
    return grade(question, Reply(reply))


def given_starts(score: Score) -> dict[str, int]:
    assert isinstance(score.given, dict)
    return dict(zip(score.given["tasks"], score.given["starts"], strict=True))  # type: ignore[arg-type]


def holds(expected: Schedule, starts: Mapping[str, int]) -> bool:
    """Whether a clock that runs finds the schedule in order, beside an answer with one start for each task."""
    if starts.keys() != {*expected.tasks} or min(starts.values()) < 0:
        return False
    done, running = set[str](), dict[str, int]()
    before = {name: {expected.tasks[i] for i, j in expected.before if expected.tasks[j] == name} for name in starts}
    lengths = dict(zip(expected.tasks, expected.durations, strict=True))
    for now in range(expected.limit + 1):
        done |= {name for name, end in running.items() if end == now}
        running = {name: end for name, end in running.items() if end > now}
        for name in (name for name, start in starts.items() if start == now):
            if not before[name] <= done:
                return False
            running[name] = now + lengths[name]
        if expected.workers and len(running) > expected.workers:
            return False
    return done == starts.keys()


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    """Constraints with a schedule that keeps them: of starts that are drawn, what holds there is asked for."""
    size = draw(st.integers(1, 7))
    times = st.integers(0, 9)
    starts = tuple(draw(st.lists(times, min_size=size, max_size=size)))
    durations = tuple(draw(st.lists(st.integers(1, 4), min_size=size, max_size=size)))
    possible = [(i, j) for i, j in product(range(size), repeat=2) if starts[i] + durations[i] <= starts[j]]
    before = tuple(draw(st.lists(st.sampled_from(possible), unique=True))) if possible else ()
    ends = [start + length for start, length in zip(starts, durations, strict=True)]
    busy = max(sum(starts[i] <= now < ends[i] for i in range(size)) for now in range(max(ends)))
    workers = draw(st.sampled_from([None, busy, busy + 1]))
    return Schedule(
        tuple("ABCDEFG"[:size]), durations, before, workers, max(ends) + draw(st.integers(0, 1)), "hours", starts
    )


@given(schedules(), st.data())
def test_constraints_are_all_kept_where_clock_finds_no_fault(expected: Schedule, data: st.DataObject) -> None:
    moved = data.draw(st.lists(st.integers(-1, 2), min_size=len(expected.tasks), max_size=len(expected.tasks)))
    starts = [start + move for start, move in zip(expected.starts, moved, strict=True)]
    answer: Json = {"tasks": [*expected.tasks], "starts": [*starts]}
    right = constraints(answer, expected.to_json()) == 1.0
    assert right == holds(expected, dict(zip(expected.tasks, starts, strict=True)))
    assert right == (expected.faults(answer) == ())


@given(schedules())
def test_shown_schedule_keeps_all_constraints(expected: Schedule) -> None:
    reference = expected.to_json()
    assert schedule(reference) == expected
    assert constraints(reference, reference) == constraints(expected.answer, reference) == 1.0
    text = FORMS["schedule"].write(reference, [*expected.tasks])
    assert FORMS["schedule"].read(text, [*expected.tasks], "strict") == expected.answer


@given(schedules(), st.data())
def test_answer_that_breaks_more_constraints_scores_less(expected: Schedule, data: st.DataObject) -> None:
    reference = expected.to_json()
    answers: list[Json] = [
        {"tasks": [*expected.tasks], "starts": [*data.draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))]}
        for n in [len(expected.tasks)] * 2
    ]
    kinds: list[set[Any]] = [{(fault.kind, fault.tasks[0]) for fault in expected.faults(each)} for each in answers]
    counts = [len(expected.faults(each)) for each in answers]
    scores = [constraints(each, reference) for each in answers]
    assert (scores[0] < scores[1]) == (counts[0] > counts[1])
    assert all((score == 1.0) == (not kind) for score, kind in zip(scores, kinds, strict=True))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"Stir fry": 4}, '"Stir fry" starts at 4, before Chop12 ends at 5'),
        ({"Serve, hot": 10}, '"Serve, hot" ends at 11, later than 10'),
        ({"Wash": -3}, "Wash starts at -3, before the start of the whole"),
    ],
)
def test_single_fault_is_named_and_costs_one_constraint(change: dict[str, int], sentence: str) -> None:
    starts = dict(zip(NAMES, MEAL.starts, strict=True)) | change
    answer: Json = {"tasks": [*starts], "starts": [*starts.values()]}
    assert explain_answer("schedule", MEAL.to_json(), answer) == [sentence]
    assert constraints(answer, MEAL.to_json()) == 1 - 1 / 11  # four tasks, three pairs, two workers at four starts


def test_more_tasks_than_workers_are_named_with_the_time() -> None:
    crowd = Schedule(("A", "B", "C"), (2, 2, 2), (), 2, 9, "hours", (0, 0, 2))
    answer: Json = {"tasks": ["A", "B", "C"], "starts": [0, 0, 1]}
    assert explain_answer("schedule", crowd.to_json(), answer) == ["at 1, 3 tasks run with 2 workers: A, B and C"]
    assert constraints(answer, crowd.to_json()) == 1 - 1 / 6


def test_missing_unknown_and_repeated_tasks_are_named_and_break_constraints() -> None:
    score = graded("Final answer:\nWash: 0\nWash: 2\nStir fry: 5\nServe, hot: 9\nMop: 3")
    assert (score.missing, score.extra) == (["Chop12"], ["Mop", "Wash"])
    assert explain_answer("schedule", MEAL.to_json(), score.given) == ["Wash has 2 starts: 0 and 2"]
    # Wash and Chop12 themselves, their pairs, their workers, and Mop.
    assert score.value == pytest.approx(1 - 7 / 12)


def test_same_start_stated_twice_counts_once() -> None:
    score = graded("Final answer:\nWash: 0\nWash: 0\nChop12: 0\nStir fry: 5\nServe, hot: 9")
    assert score.value == 1.0


@pytest.mark.parametrize(
    "reply",
    [
        "Final answer:\nWash: 0\nChop12: 0\nStir fry: 5\nServe, hot: 9",
        "**Final answer:**\n\n- **Wash**: 0\n- **Chop12**: 0\n- `Stir fry`: 5 minutes\n- Serve, hot: 9 min",
        "Final answer:\n1. Wash: start 0, end 3\n2. Chop12: 0 to 5\n3. Stir fry: start 5, end 9\n4. Serve, hot: 9-10",
        "Final answer: Wash: 0; Chop12: 0; Stir fry: 5; Serve, hot: 9",
        "Final answer:\nWash (3 min): 0\nChop12 (5 min): 0\nStir fry (4 min): 5\nServe, hot: 9\n\nIt ends at 10.",
        "Final answer:\n| Task | Start | End |\n|---|---|---|\n| Wash | 0 | 3 |\n| Chop12 | 0 | 5 |\n"
        "| Stir fry | 5 | 9 |\n| Serve, hot | 9 | 10 |",
        'Final answer:\n```json\n{"Wash": 0, "Chop12": 0, "Stir fry": 5, "Serve, hot": 9}\n```',
        'Final answer: {"schedule": [{"task": "Wash", "start": 0, "end": 3}, {"task": "Chop12", "start": "0 min"}, '
        '{"task": "Stir fry", "start": 5}, {"task": "Serve, hot", "start_minutes": 9}], "makespan": 10}',
        "Final answer:\nWash starts at 0.\nChop12 starts at 0.\nStir fry starts at 5.\nServe, hot starts at 9.",
        "Final answer:\nWash: at minute 0\nChop12: **0**\nStir fry: starts at minute 5, ends at 9\nServe, hot: t=9",
        "Final answer:\nAt 0: Wash, Chop12\nAt 5: Stir fry\nAt 9: Serve, hot",
        "Final answer:\nSTART: 0\nWash → 0\nChop12 → 0\nStir fry → 5\nServe, hot → 9\nEND: 10",
        "Wash: 3 minutes, it waits for nothing.\n\nSo:\n\nWash: 0\nChop12: 0\nStir fry: 300 s\nServe, hot: 0.15 hours",
    ],
)
def test_schedule_in_each_shape_is_read(reply: str) -> None:
    assert given_starts(graded(reply)) == dict(zip(NAMES, MEAL.starts, strict=True))


@pytest.mark.parametrize(
    "reply",
    [
        "Final answer:\nWash: 00:00\nChop12: 00:00\nStir fry: 00:05\nServe, hot: 00:09",
        "Final answer:\nWash: 0\nChop12: 0\nStir fry: 5 or 6\nServe, hot: 9",
        "Final answer:\nWash: 0\nChop12: 0\nStir fry: 90 seconds\nServe, hot: 9",
        "Final answer:\nWash: 0\nChop12: 0\nStir fry: when both have ended\nServe, hot: 9",
        "Final answer:\n1. Wash\n2. Chop12\n3. Stir fry\n4. Serve, hot",
        "Final answer:\nWash: 0\nChop12: 0\n\nOr else:\n\nWash: 2\nStir fry: 5",
        "Final answer: none",
        "Final answer:\nWash: about 0\nChop12: 0",
        "Final answer:\nWash: day 1\nChop12: day 1\nStir fry: day 6\nServe, hot: day 10",
        "Final answer:\nWash: 0\nChop12: 0\nStir fry: 1,200\nServe, hot: 9",
    ],
)
def test_schedule_that_is_not_certain_is_unparseable(reply: str) -> None:
    assert graded(reply).status == "unparseable"


def test_hours_of_a_range_count_for_both_ends() -> None:
    score = graded("Final answer:\nWash: 0-2 hours\nChop12: 1-3 hours\nStir fry: 5\nServe, hot: 9")
    assert given_starts(score)["Chop12"] == 60


def test_strict_parsing_takes_lines_of_name_and_number_alone() -> None:
    assert graded("Final answer:\nWash: 0\nChop12: 0\nStir fry: 5\nServe, hot: 9", "strict").value == 1.0
    assert graded("Final answer:\nWash: 0\nChop12: 5 minutes", "strict").status == "unparseable"


def test_spellings_of_names_are_resolved() -> None:
    score = graded("Final answer:\nact_1: 0\nChop12: 0\nStir fry: 5\nServe, hot: 9", spellings={"act_1": "Wash"})
    assert score.value == 1.0


def test_all_at_once_and_one_after_another_break_constraints() -> None:
    after = [0, 3, 8, 12]
    for starts in ([0] * 4, after):
        assert constraints({"tasks": [*NAMES], "starts": [*starts]}, MEAL.to_json()) < 1.0


def test_show_answer_says_that_reference_is_one_of_several() -> None:
    assert show_answer("schedule", MEAL.to_json()) == (
        "Wash at 0, Chop12 at 0, Stir fry at 5, Serve, hot at 9 (minutes; one of several right answers)"
    )
    assert show_answer("schedule", {"tasks": ["Wash"], "starts": [4]}) == "Wash at 4"


@pytest.mark.parametrize(
    "reference", [None, {}, {**MEAL.to_json(), "starts": [0]}, {**MEAL.to_json(), "before": [[0, 9]]}]
)
def test_schedule_malformed_reference_is_usage_error(reference: Json) -> None:
    with pytest.raises(UsageError, match="expected a schedule"):
        schedule(reference)


def test_long_reply_is_read_in_linear_time() -> None:
    noise = "\n".join(["Wash " + " *`" * 300 + " x"] * 300)
    assert graded(f"{noise}\nFinal answer:\nWash: 0\nChop12: 0\nStir fry: 5\nServe, hot: 9").value == 1.0
    assert graded(f"Final answer:\n{noise}").status == "unparseable"

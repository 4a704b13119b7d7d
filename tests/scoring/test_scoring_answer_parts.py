"""The parts of answers of each form, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.scoring.answer_parts import MOST_ITEMS, AnswerParts, answer_parts
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.scoring.metrics.agreement import matching
from pytest_taskgraph.trial import Json, Question, Score

DIAMOND: Json = {"tasks": ["A", "B", "C", "D"], "before": [[0, 1], [0, 2], [1, 3], [2, 3]]}
QUESTION = Question("q", "f", "g", "", "Which?", "prompt", "task-set", [], "jaccard", names=["A", "B", "C", "D"])


def parts_of(form: str, reference: Json, answer: Json, value: float = 0.0, **fields: object) -> AnswerParts:
    question = replace(QUESTION, form=form, reference=reference, **fields)  # type: ignore[arg-type]
    return answer_parts(question, Score(value, given=answer))


def texts(parts: AnswerParts) -> list[str]:
    return [f"{part.name} {part.verdict} {part.tag}".strip() for part in (*parts.names, *parts.conditions)]


@pytest.mark.parametrize(
    ("form", "reference", "answer", "expected"),
    [
        ("task-set", ["A", "B"], ["B", "X"], ["A missing", "B right", "X extra"]),
        ("task-set", [], [], []),
        ("task", "A", "A", ["A right"]),
        ("task", "A", "B", ["A missing", "B extra"]),
        ("task", "A", "A, B", ["A right", "B extra"]),
        ("task-reasons", {"tasks": ["A"], "reasons": {"A": "x"}}, {"tasks": ["B"], "reasons": {}},
         ["A missing", "B extra"]),
        ("pair-reason", {"tasks": ["A", "B"], "reasons": {}}, {"tasks": ["A", "C"], "reasons": {}},
         ["A right", "B missing", "C extra"]),
        ("groups", [["A", "B"]], [["B", "A"]], ["A right", "B right"]),
        ("groups", [["A", "B"], ["C", "D"]], [["C"], ["B", "A", "D"]],
         ["A right 1", "B right 1", "D extra 1", "C right 2", "D missing 2"]),
        ("groups", [["A", "B"]], [["C"], ["A", "B"]], ["A right 1", "B right 1", "C extra 2"]),
        # The first given group shares most with the first expected one, and yet the score matches it with the second.
        ("groups", [["A", "B", "C", "D", "E"], ["F", "G", "H"]], [["A", "B", "C", "F", "G"], ["D", "E"]],
         ["A missing 1", "B missing 1", "C missing 1", "D right 1", "E right 1",
          "F right 2", "G right 2", "H missing 2", "A extra 2", "B extra 2", "C extra 2"]),
        ("condition", {"condition": "n > 1", "domains": {}}, "n > 2", ["n > 1 missing", "n > 2 extra"]),
        ("yes-no", "yes", "no", []),
        ("number", 3, 4, []),
        ("text", "A", "B", []),
        ("unregistered", ["A"], ["B"], ["A missing", "B extra"]),
    ],
)  # fmt: skip
def test_answer_parts_of_form_are_those_worked_by_hand(
    form: str, reference: Json, answer: Json, expected: list[str]
) -> None:
    assert texts(parts_of(form, reference, answer)) == expected


GROUPS = st.lists(st.lists(st.sampled_from("ABCDE"), min_size=1, unique=True), min_size=1, max_size=4)


@given(GROUPS, GROUPS)
def test_right_names_of_groups_are_those_that_score(reference: list[list[str]], answer: list[list[str]]) -> None:
    expected: list[Json] = [[*group] for group in reference]
    given_groups: list[Json] = [[*group] for group in answer]
    names = parts_of("groups", expected, given_groups).names
    shares = []
    for tag in {part.tag for part in names}:
        verdicts = [part.verdict for part in names if part.tag == tag]
        shares.append(verdicts.count("right") / len(verdicts))
    assert sum(shares) / max(len(reference), len(answer)) == pytest.approx(matching(given_groups, expected))


def test_answer_parts_of_condition_that_scores_one_is_right() -> None:
    parts = parts_of("condition", {"condition": "n > 1", "domains": {"n": {"kind": "integer"}}}, "n >= 2", 1.0)
    assert texts(parts) == ["n > 1 right"]


def test_answer_parts_of_letter_have_text_of_option() -> None:
    parts = parts_of("letter", "A", "B", spellings={"Boil": "A", "Brew": "B"}, names=["A", "B"])
    assert [(part.name, part.verdict, part.spellings) for part in parts.names] == [
        ("A", "missing", ("Boil",)),
        ("B", "extra", ("Brew",)),
    ]
    assert not parts.complete


@pytest.mark.parametrize(
    ("answer", "expected", "reversed_pairs"),
    [
        (["A", "C", "B", "D"], ["A right 1", "B right 3", "C right 2", "D right 4"], []),
        (["A", "D", "B", "C"], ["A right 1", "B right 3", "C right 4", "D misplaced 2"], [("B", "D"), ("C", "D")]),
        (["B", "A"], ["A misplaced 2", "B right 1", "C missing", "D missing"], [("A", "B")]),
        (["A", "A", "X", "B", "C", "D"],
         ["A right 1", "A extra 2", "B right 4", "C right 5", "D right 6", "X extra 3"], []),
    ],
)  # fmt: skip
def test_answer_parts_of_order_blame_tasks_in_most_pairs(
    answer: list[str], expected: list[str], reversed_pairs: list[tuple[str, str]]
) -> None:
    parts = parts_of("task-order", DIAMOND, [*answer])
    assert sorted(texts(parts)) == sorted(expected)
    assert sorted(parts.reversed_pairs) == reversed_pairs


def test_answer_parts_of_order_with_loop_count_each_run() -> None:
    loop: Json = {"tasks": ["A", "B", "A", "B"], "before": [[0, 1], [1, 2], [2, 3]]}
    assert texts(parts_of("task-order", loop, ["A", "B", "A", "B"])) == ["A right 1, 3", "B right 2, 4"]
    assert texts(parts_of("task-order", loop, ["A", "B", "A"])) == ["A right 1, 3", "B right 2", "B missing 1×"]


def test_answer_parts_without_score_are_none() -> None:
    assert answer_parts(QUESTION, None) == AnswerParts()


def test_answer_parts_of_unparseable_reply_are_missing() -> None:
    question = replace(QUESTION, reference=["A"])
    assert texts(answer_parts(question, Score(0.0, status="unparseable"))) == ["A missing"]
    ordered = replace(QUESTION, form="task-order", reference=DIAMOND)
    assert {part.verdict for part in answer_parts(ordered, Score(0.0, status="refused")).names} == {"missing"}


def test_answer_parts_of_long_answer_are_bounded() -> None:
    answer: Json = [f"T{at}" for at in range(100_000)]
    assert len(parts_of("task-set", [], answer).names) == MOST_ITEMS
    chain: Json = {"tasks": [f"T{at}" for at in range(1_000)], "before": [[at, at + 1] for at in range(999)]}
    parts = parts_of("task-order", chain, [f"T{at}" for at in reversed(range(100_000))])
    assert len(parts.names) <= 1_000 + MOST_ITEMS


def json_values() -> st.SearchStrategy[Json]:
    leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(["A", "B", "A, B", "", "X"])
    keys = st.sampled_from(["tasks", "before", "reasons", "condition", "steps", "links"])
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=3))


@given(st.sampled_from([*FORMS, "unregistered"]), json_values(), json_values(), st.sampled_from([0.0, 1.0]))
def test_answer_parts_of_damaged_answer_never_raise(form: str, reference: Json, answer: Json, value: float) -> None:
    for part in parts_of(form, reference, answer, value).names:
        assert isinstance(part.name, str)


@given(st.lists(st.sampled_from("ABCD"), unique=True, max_size=4), st.lists(st.sampled_from("ABCDXY"), max_size=6))
def test_answer_parts_of_order_without_blamed_keep_order(tasks: list[str], answer: list[str]) -> None:
    reference: Json = {"tasks": [*tasks], "before": [[at, at + 1] for at in range(len(tasks) - 1)]}
    parts = parts_of("task-order", reference, [*answer])
    right = sorted((int(part.tag), part.name) for part in parts.names if part.verdict == "right")
    assert [name for _, name in right] == [name for name in tasks if name in [right_name for _, right_name in right]]
    assert {part.name for part in parts.names} == {*tasks, *answer}
    assert bool(parts.reversed_pairs) == any(part.verdict == "misplaced" for part in parts.names)

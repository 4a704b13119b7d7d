"""Replies in the shapes that models choose: parsed right, or unparseable, and never silently wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UnparseableError
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.trial import Json, Parsing

NAMES = ("Bake", "Mix", "Stir")
ODD_NAMES = ("Salt and pepper", "Boil (twice)", "Cut: fine", "Wash, dry", "Bake")
TWO = [
    "Bake and Mix",
    "Bake & Mix",
    "Bake, and Mix",
    "Bake (in the oven), Mix",
    "Bake (after Stir), Mix (not Stir)",
    "The tasks are: Bake, Mix",
    "The tasks that follow Stir are: Bake, Mix",
    "The tasks are Bake and Mix.",
    "Therefore, Bake, Mix",
    "Tasks: Bake, Mix",
    "`Bake`: it is hot\n`Mix`: it is cold",
    "- Bake (in Dinner): it is hot\n- Mix (in Dinner): it follows Stir",
    "1. **Bake** - it is hot\n2. **Mix** - it is cold",
    r"\boxed{Bake, Mix}",
    r"The answer is $\boxed{\text{Bake}, \text{Mix}}$.",
    r"\boxed{Bake}, \boxed{Mix}",
    "Bake, Mix. They run in parallel.",
    "Bake, Mix\nThese run in parallel.",
    "Bake, Mix\n\nBoth of these follow Stir.",
    "- Bake\n- Mix\n\nBake comes before Mix.",
    "Bake, Mix, which run in parallel.",
    "Here they are:\n- Bake\n- Mix",
    '{"tasks": ["Bake", "Mix"]}',
    "Bake; Mix",
    "The task `Bake` and the task `Mix`",
]
UNCLEAR = [
    "Bake or Mix",
    "Bake but not Mix",
    "Bake (and Mix)",
    "Bake: Mix, Stir",
    "Bake. Also Mix.",
    "Bake. Mix",
    "Bake, Mix. Wait, only Bake.",
    "Bake, Mix\nHowever, Mix does not run.",
    "Bake, Mix. Stir follows as well.",
    "Included: Bake\nExcluded: Mix",
    "The first are: Bake\nThe others are: Mix",
    "All but Bake",
    "None except Bake",
    "Excluded: Bake",
    "Neither Bake nor Mix",
    "Bake runs before Mix",
    "Bake comes first. Mix",
    "I do not know",
]
NOTHING = [
    "(none)",
    "There are none",
    "There are none.",
    "There are no such tasks.",
    "There is none, because Stir is the last.",
    "None of them",
    "No tasks",
    "Nothing runs after Stir.",
    "∅",
    r"\emptyset",
    r"\boxed{\text{none}}",
    r"$\boxed{\varnothing}$",
    "{}",
    "the empty set",
]


def parsed(form: str, text: str, names: tuple[str, ...] = NAMES, parsing: Parsing = "lenient") -> Json:
    return FORMS[form].read(text, names, parsing)


def unparseable(form: str, text: str, names: tuple[str, ...] = NAMES) -> bool:
    try:
        parsed(form, text, names)
    except UnparseableError:
        return True
    return False


@pytest.mark.parametrize("text", TWO)
@pytest.mark.parametrize("names", [NAMES, (), ("Bake",)])
def test_names_in_each_shape_are_listed(text: str, names: tuple[str, ...]) -> None:
    for form in ("task-set", "task-order"):
        if names == NAMES or not unparseable(form, text, names):
            assert parsed(form, text, names) == ["Bake", "Mix"]
    if names == NAMES:
        assert parsed("task", text, names) == "Bake, Mix"


@pytest.mark.parametrize("text", TWO)
def test_reason_forms_each_shape_names_the_tasks(text: str) -> None:
    for form in ("task-reasons", "pair-reason"):
        answer = parsed(form, text)
        assert isinstance(answer, dict)
        assert answer["tasks"] == ["Bake", "Mix"]


@pytest.mark.parametrize("text", UNCLEAR)
@pytest.mark.parametrize("form", ["task-set", "task-order", "task", "groups"])
def test_lists_with_unclear_words_are_unparseable(form: str, text: str) -> None:
    if form == "groups" and text.startswith("The first are"):
        assert parsed(form, text) == [["Bake"], ["Mix"]]
        return
    with pytest.raises(UnparseableError, match="expected names"):
        parsed(form, text)


@pytest.mark.parametrize("text", NOTHING)
@pytest.mark.parametrize("form", ["task-set", "task-order", "groups", "task-reasons", "pair-reason"])
def test_words_for_nothing_are_an_empty_answer(form: str, text: str) -> None:
    empty: Json = {"tasks": [], "reasons": {}} if form.endswith(("reasons", "reason")) else []
    assert parsed(form, text) == empty


@pytest.mark.parametrize("text", ["There are none", "(none)"])
def test_none_as_a_known_name_is_that_name(text: str) -> None:
    assert parsed("task-set", text, ("none", "Bake")) == ["none"]


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("Bake and Mix\nStir", [["Bake", "Mix"], ["Stir"]]),
        ("The groups are:\n1. Bake (hot), Mix\n2. Stir", [["Bake", "Mix"], ["Stir"]]),
        ("Group 1: Bake, Mix\nGroup 2: Stir", [["Bake", "Mix"], ["Stir"]]),
        ("(Bake, Mix), (Stir)", [["Bake", "Mix"], ["Stir"]]),
        ('[["Bake", "Mix"], ["Stir"]]', [["Bake", "Mix"], ["Stir"]]),
        ("Bake, Mix\nStir\n\nThese are all.", [["Bake", "Mix"], ["Stir"]]),
        (r"\boxed{Bake, Mix}", [["Bake", "Mix"]]),
    ],
)
def test_groups_in_each_shape_are_listed(text: str, groups: Json) -> None:
    assert parsed("groups", text) == groups


@pytest.mark.parametrize("text", ["Group 1:\n- Bake\n- Mix", "Bake; Mix and Stir\n(Mix), because"])
def test_groups_with_unclear_borders_are_unparseable(text: str) -> None:
    assert unparseable("groups", text)


@pytest.mark.parametrize(
    ("text", "order"),
    [("Bake, then Mix", ["Bake", "Mix"]), ("Bake -> Mix (hot) -> Bake", ["Bake", "Mix", "Bake"])],
)
def test_orders_in_each_shape_are_listed(text: str, order: Json) -> None:
    assert parsed("task-order", text) == order


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The task is: Bake", "Bake"),
        ("Bake (in Dinner)", "Bake"),
        ("`Bake`: it follows Mix", "Bake"),
        (r"\boxed{\text{Bake}}", "Bake"),
        ("Bake. It runs first.", "Bake"),
        ("So the answer is clear. Bake", "Bake"),
    ],
)
def test_one_name_in_each_shape_is_that_name(text: str, answer: str) -> None:
    assert parsed("task", text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("No doubt, yes", "yes"),
        ("There is no doubt about it: yes", "yes"),
        ("Yes, no doubt", "yes"),
        ("No task comes between, so yes.", "yes"),
        ("Yes or no: no", "no"),
        (r"\boxed{\text{No}}", "no"),
        ("Yes. No task is left over.", "yes"),
        ("no it does not", "no"),
    ],
)
def test_verdicts_in_each_shape_are_found(text: str, answer: str) -> None:
    assert parsed("yes-no", text) == answer
    explained = parsed("yes-no-reason", text)
    assert isinstance(explained, dict)
    assert explained["answer"] == answer


@pytest.mark.parametrize("text", ["No doubt", "Yes and no", "yes/no", "No, wait: yes", "not yes", "There is no link."])
def test_verdicts_absent_or_contradictory_are_unparseable(text: str) -> None:
    assert unparseable("yes-no", text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The answer is: 3", 3),
        (r"$\boxed{3}$", 3),
        ("3 (for n = 1, 2, 3)", 3),
        ("Task 7 runs 3 times.", 3),
        ("3. It then ends.", 3),
    ],
)
def test_numbers_in_each_shape_are_found(text: str, answer: int) -> None:
    assert parsed("number", text, ("Task 7",)) == answer


@pytest.mark.parametrize("text", ["3 or 4", "3, 4", "3-4", "3 + 1 = 4", "between 3 and 4", "(none)", "∅", "1. 3"])
def test_several_numbers_are_unparseable(text: str) -> None:
    assert unparseable("number", text)


@pytest.mark.parametrize(
    "text", [r"\boxed{n < 3}", r"$\boxed{n < 3}$", "`n < 3`", "If `n < 3`.", "`n` < `3`", "If n < 3."]
)
def test_conditions_in_each_shape_are_found(text: str) -> None:
    assert parsed("condition", text) == "n < 3"


@pytest.mark.parametrize("text", ["n < 3 (or 4)", "n < 3. Also m > 2", "none", "∅", "There are none"])
def test_conditions_with_other_words_are_unparseable(text: str) -> None:
    assert unparseable("condition", text)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("A and B", ["AandB"]),
        ("A (note), B", ["A(note)", "B"]),
        ("The tasks are: A, B", ["B", "Thetasksare:A"]),
        ("`A`: why", ["A:why"]),
        (r"\boxed{A, B}", ["B}", r"\boxed{A"]),
        ("none", []),
        ("(none)", ["(none)"]),
        ("There are none", ["Therearenone"]),
        ("∅", ["∅"]),
        ("A, B. They run.", ["A", "B.Theyrun"]),
    ],
)
def test_strict_parsing_follows_published_rules(text: str, items: Json) -> None:
    assert parsed("task-set", text, ("A", "B"), "strict") == items


def test_strict_verdict_after_no_doubt_is_unparseable() -> None:
    with pytest.raises(UnparseableError, match="expected yes or no"):
        parsed("yes-no", "No doubt, yes", NAMES, "strict")


@pytest.mark.parametrize("parsing", ["lenient", "strict"])
def test_repeated_lines_about_one_task_the_last_counts(parsing: Parsing) -> None:
    answer = parsed("task-reasons", "Bake: one.\nMix: two.\nBake: three.", NAMES, parsing)
    assert answer == {"tasks": ["Bake", "Mix"], "reasons": {"Bake": "three.", "Mix": "two."}}


def test_tasks_before_one_reason_share_it() -> None:
    shared = {"tasks": ["Bake", "Mix"], "reasons": {"Bake": "both sell.", "Mix": "both sell."}}
    assert parsed("task-reasons", "Bake and Mix (in Dinner): both sell.") == shared


def test_closing_paragraph_is_no_part_of_the_last_reason() -> None:
    answer = parsed("task-reasons", "Bake: it sells.\nMix: it buys.\n\nBoth of these contradict the goal.")
    assert answer == {"tasks": ["Bake", "Mix"], "reasons": {"Bake": "it sells.", "Mix": "it buys."}}


def test_pair_on_two_lines_has_both_tasks() -> None:
    answer = parsed("pair-reason", "- Bake: it comes first.\n- Mix: it comes last.")
    assert answer == {"tasks": ["Bake", "Mix"], "reasons": {"": "it comes first. it comes last."}}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Salt and pepper and Bake", ["Bake", "Salt and pepper"]),
        ("Boil (twice) (in Dinner), Bake", ["Bake", "Boil (twice)"]),
        ("The tasks are: Cut: fine, Bake", ["Bake", "Cut: fine"]),
        ("`Cut: fine`: it is sharp", ["Cut: fine"]),
        ("Wash, dry and Bake", ["Bake", "Wash, dry"]),
        (r"\boxed{Wash, dry}", ["Wash, dry"]),
        ("Salt and pepper", ["Salt and pepper"]),
    ],
)
def test_known_names_with_marks_of_lists_stay_whole(text: str, names: Json) -> None:
    assert parsed("task-set", text, ODD_NAMES) == names


@pytest.mark.parametrize(
    "text",
    [
        "Task1 and Task2",
        "Dinner.Task1 and Dinner.Task2",
        "Task1 (composite), Task2",
        "Tasks Task1 and Task2",
        "Both Task1 and Task2",
        "`Task1`: runs first\n`Task2`: second",
        "- Task1 (in Dinner): it is first\n- Task2 (in Dinner): it is last",
        "Next: Task1, Task2",
        "Task1, Task2. Let me know if you need more.",
        "Task1, Task2\n\n---\nThese are the last tasks.",
    ],
)
def test_plain_names_that_are_not_known_are_listed(text: str) -> None:
    assert parsed("task-set", text, ()) == ["Task1", "Task2"]


@pytest.mark.parametrize(
    "text",
    [
        "Just Task1, Task2",
        "Task1, Task2, and more",
        "Task1, etc.",
        "Task1 / Task2",
        "Task1 → Task2",
        "'Task1' 'Task2'",
        "1) Task1 2) Task2",
    ],
)
def test_plain_names_among_unclear_words_are_unparseable(text: str) -> None:
    assert unparseable("task-set", text, ())


def test_unknown_names_stay_in_the_answer() -> None:
    assert parsed("task-set", "Bake and Roast") == ["Bake", "Roast"]
    assert parsed("task-set", "Bake (hot), Roast") == ["Bake", "Roast"]
    assert parsed("task-set", "Bake, Roast lamb") == ["Bake", "Roast lamb"]


SHAPES: dict[str, Callable[[list[str]], str]] = {
    "and": lambda chosen: " and ".join(chosen),
    "last and": lambda chosen: ", ".join(chosen[:-1]) + f" and {chosen[-1]}" if len(chosen) > 1 else chosen[0],
    "note": lambda chosen: ", ".join(f"{name} (as shown)" for name in chosen),
    "lead": lambda chosen: f"The tasks are: {', '.join(chosen)}",
    "copula": lambda chosen: f"The tasks are {', '.join(chosen)}.",
    "reason": lambda chosen: "\n".join(f"`{name}`: because it is so" for name in chosen),
    "container": lambda chosen: "\n".join(f"- {name} (in Dinner): as one sees" for name in chosen),
    "box": lambda chosen: rf"\boxed{{{', '.join(chosen)}}}",
    "sentence": lambda chosen: f"{', '.join(chosen)}. They are all of them.",
    "paragraph": lambda chosen: "\n".join(f"- {name}" for name in chosen) + "\n\nThese are all of them.",
}
PIECES = st.sampled_from(
    ["Bake", "Mix", "and", "(twice)", "a: b", "Salt, sugar", "the", "none", "in", "1", "A-B", "x.y", "yes", "is"]
)
ANY_NAMES = st.lists(
    st.lists(PIECES, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=5, unique=True
).filter(lambda names: all(name[0].isalnum() for name in names))


def test_known_names_in_any_shape_are_parsed_or_unparseable() -> None:
    parsed: list[bool] = []

    @given(ANY_NAMES, st.sampled_from(sorted(SHAPES)), st.data())
    def parse_shape(names: list[str], shape: str, data: st.DataObject) -> None:
        chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True))
        text = SHAPES[shape](chosen)
        others = [name for name in names if name not in chosen]
        assume(not any(name in text for name in others))  # "a and b" is that name if it is known, and no list of two
        assume(not any(first in second for first in names for second in names if first != second))
        try:
            answer = FORMS["task-set"].read(text, names, "lenient")
        except UnparseableError:
            parsed.append(False)
            return
        parsed.append(True)
        assert answer == sorted(chosen)

    parse_shape()
    assert sum(parsed) > len(parsed) / 5


@pytest.mark.parametrize(
    "piece",
    [
        *("- ", "\n", "1 and ", r"\boxed{", "Bake (", "Bake or "),
        *(
            pytest.param(piece, marks=pytest.mark.exhaustive)
            for piece in (". ", ") ", "no ", "yes/no ", "Bake: ", "a.", "]  ")
        ),
    ],
)
@pytest.mark.parametrize("form", sorted(FORMS))
def test_long_hostile_answers_are_parsed_in_linear_time(form: str, piece: str) -> None:
    text = piece * (20_000 // len(piece)) + "x"
    begun = time.process_time()
    with suppress(UnparseableError):
        parsed(form, text)
    assert time.process_time() - begun < 5, "quadratic time would be minutes"

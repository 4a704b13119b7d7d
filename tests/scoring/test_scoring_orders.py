from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rapidfuzz.distance import DamerauLevenshtein

from pytest_taskgraph.errors import OrderTooWideError, UsageError
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.scoring.metrics.orders import order, order_distance
from pytest_taskgraph.scoring.partial_order import count_downsets, linear_extension, partial_order
from pytest_taskgraph.trial import Json, Place, Question, Reply

Pairs = list[tuple[int, int]]


def reference(tasks: list[str], before: Pairs) -> Json:
    return {"tasks": [*tasks], "before": [[first, second] for first, second in before]}


def linked(links: str) -> Json:
    """`AB AC D`: A before B, A before C, and D."""
    names = sorted({name for link in links.split() for name in link})
    return reference(names, [(names.index(link[0]), names.index(link[1])) for link in links.split() if len(link) == 2])


def allowed(tasks: list[str], before: Pairs) -> list[list[str]]:
    """Every order of the tasks that the pairs allow, by trying all."""
    places = permutations(range(len(tasks)))
    fitting = (order for order in places if all(order.index(first) < order.index(second) for first, second in before))
    return [[tasks[node] for node in order] for order in fitting]


@st.composite
def partial_orders(draw: st.DrawFn, labels: str) -> tuple[list[str], Pairs]:
    tasks = draw(st.lists(st.sampled_from(labels), max_size=6))
    shuffled = draw(st.permutations(range(len(tasks))))
    pairs = [(shuffled[i], shuffled[j]) for i in range(len(tasks)) for j in range(i + 1, len(tasks))]
    return tasks, [pair for pair in pairs if draw(st.booleans())]


@st.composite
def questions_and_answers(draw: st.DrawFn) -> tuple[list[str], Pairs, list[str]]:
    """A small partial order, labels often repeated, and an answer: anything, or an allowed order with a few edits."""
    labels = draw(st.sampled_from(["AB", "ABCD", "ABCDEFGH"]))
    tasks, before = draw(partial_orders(labels))
    names = st.sampled_from(labels + "?")
    answer = draw(st.lists(names, max_size=8) | st.sampled_from(allowed(tasks, before)).map(list))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(answer)))
        answer[at : at + draw(st.integers(0, 2))] = answer[at : at + 2][::-1] + draw(st.lists(names, max_size=1))
    return tasks, before, answer


@pytest.mark.parametrize(
    ("links", "answer", "edits", "score"),
    [
        ("AB AC BD CD", "ACBD", 0, 1.0),
        ("AB AC BD CD", "ABDC", 1, 0.75),
        ("AB AC BD CD", "AXBCDD", 2, 0.6667),
        ("AB BC CD", "BAD", 2, 0.5),
        ("AB BC", "CA", 2, 0.3333),  # 3, were no element edited twice
        ("A B C", "CBA", 0, 1.0),
        ("AB PQ", "BAQP", 2, 0.5),
        ("AB C", "", 3, 0.0),
        ("", "", 0, 1.0),
        ("", "AB", 2, 0.0),
        ("AB BC CD", "BCDA", 2, 0.5),
        ("AB BC CD DE", "EA", 4, 0.2),  # swapped, with three inserted between
        ("ZB A", "ABA", 1, 0.6667),  # the first A for Z, the second for A
        ("AB", "BXXA", 3, 0.25),  # swapped, with two deleted between
    ],
)
def test_order_distance_of_worked_examples(links: str, answer: str, edits: int, score: float) -> None:
    assert order_distance(partial_order(linked(links)), answer) == edits
    assert order(list(answer), linked(links)) == pytest.approx(score, abs=5e-5)


def test_rapidfuzz_edits_elements_more_than_once() -> None:
    assert DamerauLevenshtein.distance("CA", "ABC") == 2


@given(questions_and_answers())
def test_order_distance_is_least_over_all_extensions(case: tuple[list[str], Pairs, list[str]]) -> None:
    tasks, before, answer = case
    least = min(DamerauLevenshtein.distance(answer, extension) for extension in allowed(tasks, before))
    assert order_distance(partial_order(reference(tasks, before)), answer) == least
    longest = max(len(tasks), len(answer))
    assert order([*answer], reference(tasks, before)) == pytest.approx(1 - least / longest if longest else 1.0)


@given(st.lists(st.sampled_from("ABCDE"), max_size=12), st.lists(st.sampled_from("ABCDEX"), max_size=14))
def test_order_distance_of_chain_is_plain_distance(tasks: list[str], answer: list[str]) -> None:
    chain = reference(tasks, [(at, at + 1) for at in range(len(tasks) - 1)])
    assert order_distance(partial_order(chain), answer) == DamerauLevenshtein.distance(answer, tasks)


@given(partial_orders("ABCDEF"))
def test_linear_extension_is_allowed_by_reference(case: tuple[list[str], Pairs]) -> None:
    tasks, before = case
    text = linear_extension(reference(tasks, before))
    assert text in allowed(tasks, before)
    assert order([*text], reference(tasks, before)) == 1.0


@given(partial_orders("ABCDEF"))
def test_order_distance_ignores_numbering_and_implied_pairs(case: tuple[list[str], Pairs]) -> None:
    tasks, before = case
    turned = [(len(tasks) - 1 - first, len(tasks) - 1 - second) for first, second in before]
    implied = [(a, d) for a, b in before for c, d in before if b == c]
    answer: list[Json] = [*sorted(tasks)]
    score = order(answer, reference(tasks, before))
    assert order(answer, reference(tasks[::-1], turned)) == score
    assert order(answer, reference(tasks, before + implied)) == score


def test_count_downsets_of_worked_examples() -> None:
    assert count_downsets(partial_order(linked("AB BC"))) == 4
    assert count_downsets(partial_order(linked("A B C"))) == 8
    assert count_downsets(partial_order(linked("AB AC BD CD"))) == 6


def test_order_distance_too_wide_raises_error() -> None:
    loose = partial_order(reference([f"T{at}" for at in range(12)], [(at, at + 3) for at in range(9)]))
    answer = [f"T{at}" for at in (3, 9, 0, 6, 4, 10, 1, 7, 5, 11, 2, 8)]
    assert order_distance(loose, answer) == 8  # as listing all 34,650 orders tells
    with pytest.raises(OrderTooWideError, match="an order of 12 tasks needs more than 30 states"):
        order_distance(loose, answer, most=30)
    with pytest.raises(OrderTooWideError, match="more than 100 states"):
        count_downsets(loose, most=100)


@given(questions_and_answers())
def test_order_distance_visits_at_most_downsets_times_places(case: tuple[list[str], Pairs, list[str]]) -> None:
    tasks, before, answer = case
    order = partial_order(reference(tasks, before))
    order_distance(order, answer, most=count_downsets(order) * (len(answer) + 1))


def test_order_distance_of_good_answer_visits_few_states() -> None:
    wide = partial_order(reference([f"T{at}" for at in range(60)], [(at, at + 4) for at in range(56)]))
    free = partial_order(reference([f"T{at}" for at in range(60)], []))
    answer = [f"T{at}" for at in range(60)]
    assert order_distance(wide, answer, most=61) == order_distance(free, answer[::-1], most=61) == 0
    assert order_distance(wide, answer[::-1], most=1000) == 56
    answer[4], answer[8] = answer[8], answer[4]
    answer[30:31] = ["Else"]
    answer.remove("T50")
    assert order_distance(wide, answer, most=1000) == 4


def test_order_distance_of_repetitive_answer_visits_few_states() -> None:
    wide = partial_order(reference([f"T{at}" for at in range(20)], [(at, at + 5) for at in range(15)]))
    assert order_distance(wide, ["T0", "T5"] * 1000, most=10_000) == 1998


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        (["A", "B"], r"found \['A', 'B'\], expected \{\"tasks\""),
        ({"tasks": ["A"]}, 'no list "before"'),
        ({"tasks": ["A", 1], "before": []}, "expected"),
        ({"tasks": ["A", "B"], "before": [[0, 2]]}, r"found \[0, 2\] in \"before\", with 2 tasks"),
        ({"tasks": ["A", "B"], "before": [[-1, 0]]}, r"found \[-1, 0\]"),
        ({"tasks": ["A", "B"], "before": ["AB"]}, "found AB in"),
        ({"tasks": ["A", "B", "C"], "before": [[1, 2], [2, 1]]}, r"a cycle among B \(1\), C \(2\)"),
        ({"tasks": ["A"], "before": [[0, 0]]}, r"a cycle among A \(0\)"),
        ({"tasks": list("ABCD"), "before": [[0, 1], [1, 2], [2, 1], [2, 3]]}, r"among B \(1\), C \(2\), D \(3\);"),
    ],
)
def test_partial_order_malformed_reference_raises_error(stated: Json, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        order(["A"], stated)


@pytest.mark.parametrize(
    "text", ["Brew, Rinse, Brew", "Brew -> Rinse -> Brew", "Brew→Rinse→Brew.", "1. Brew\n2. `Rinse`\n3. **Brew**"]
)
def test_task_order_keeps_order_and_repetitions(text: str) -> None:
    assert form("task-order").read(text, ["Rinse", "Brew"], "lenient") == ["Brew", "Rinse", "Brew"]


def test_task_order_arrows_in_names_stay() -> None:
    assert form("task-order").read("a->b, c", ["a->b", "c"], "lenient") == ["a->b", "c"]


def test_task_order_strict_cuts_at_commas_only() -> None:
    assert form("task-order").read("B,A,B.", ["A", "B"], "strict") == ["B", "A", "B"]
    assert form("task-order").read("B -> A", ["A", "B"], "strict") == ["B->A"]
    assert form("task-order").read("None.", ["A"], "strict") == []


def test_task_order_instruction_states_order_and_repetition() -> None:
    instruction = form("task-order").instruct(["A"])
    assert "in running order, names separated by commas, each name as often as it runs" in instruction
    assert "one name a line" in form("task-order").instruct(["A, B"])


def make_question(place: Place = "marker", stated: Json = None) -> Question:
    loop = reference(["Wash", "Rinse", "Wash", "Dry"], [(0, 1), (1, 2), (2, 3)])
    return Question(
        "q", "tests", "p", "c", "?", "?", "task-order", loop if stated is None else stated, "order",
        names=["Dry", "Rinse", "Wash"], place=place,
    )  # fmt: skip


def test_grade_order_counts_repeated_missing_and_extra() -> None:
    score = grade(make_question(), Reply("Final answer: Wash, Rinse, Dry, Dry, Fold"))
    assert (score.missing, score.extra) == (["Wash"], ["Dry", "Fold"])
    assert score.value == pytest.approx(1 - 2 / 5)


def test_grade_wrong_order_of_right_names_misses_none() -> None:
    score = grade(make_question(), Reply("Final answer: Wash, Wash, Rinse, Dry"))
    assert (score.value, score.missing, score.extra) == (0.75, [], [])


@given(questions_and_answers(), st.sampled_from(["marker", "whole"]))
def test_grade_written_order_scores_1(case: tuple[list[str], Pairs, list[str]], place: Place) -> None:
    tasks, before, _ = case
    question = make_question(place, reference(tasks, before))
    text = form("task-order").write(question.reference, question.names)
    assert grade(question, Reply(f"Final answer: {text}" if place == "marker" else text)).value == 1.0


@given(st.lists(st.sampled_from(["Dry", "Rinse", "Wash", "Fold"]), max_size=9))
def test_task_order_written_answer_reads_back(answer: list[str]) -> None:
    names = ["Dry", "Rinse", "Wash"]
    assume(answer)
    assert form("task-order").read(form("task-order").write([*answer], names), names, "lenient") == answer


def test_task_order_endless_dashes_take_linear_time() -> None:
    read = form("task-order").read("-" * 1_000_000, ["A"], "lenient")
    assert isinstance(read, list)
    assert len(read) == 1

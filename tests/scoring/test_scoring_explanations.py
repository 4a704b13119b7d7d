"""What is wrong with an answer, in words: by hand for each form, and laws over all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from procedural_builders import END, START, action, gateway, graph, procedural_graphs, stated

from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.scoring.forms import FORMS, explain_answer
from pytest_taskgraph.scoring.metrics.orders import order
from pytest_taskgraph.scoring.partial_order import linear_extension
from pytest_taskgraph.scoring.trial_explanation import explain_trial
from pytest_taskgraph.trial import Json, Outcome, Question, Reply, Score, Trial
from pytest_taskgraph.workflow.procedural_graph import ProceduralNode

CHAIN: Json = {"tasks": ["A", "B", "C", "D"], "before": [[0, 1], [1, 2], [0, 3]]}
LOOP: Json = {"tasks": ["A", "B", "A", "B"], "before": [[0, 1], [1, 2], [2, 3]]}
TWO_RUNS: Json = {"tasks": ["A", "B", "A", "C"], "before": [[0, 1], [2, 3]]}  # no order between both A
PASTA_STEPS: Json = ["boil water", "add the pasta", "drain the pasta", "eat"]
PASTA: Json = {
    "steps": PASTA_STEPS,
    "dependencies": [[0, 1], [1, 2], [2, 3]],
}
REASONS: Json = {"tasks": ["A", "B"], "reasons": {"A": "it waits for the data", "B": "it is last"}}


@pytest.mark.parametrize(
    ("reference", "answer", "sentences"),
    [
        (CHAIN, ["A", "C", "B", "D"], ["C stands before B, but has to come after it"]),
        (
            CHAIN,
            ["C", "B", "A", "D"],
            ["C stands before B, but has to come after it", "B stands before A, but has to come after it"],
        ),
        (CHAIN, ["C", "A"], ["C stands before A, but has to come after it"]),  # also without B between them
        (CHAIN, ["A", "D", "A", "B", "C"], ["A stands twice, but runs once"]),
        (CHAIN, ["D", "A", "D", "B", "C"], ["D stands twice, but runs once"]),
        (
            CHAIN,
            ["D", "D", "A", "B"],
            ["every D stands before A, but has to come after it", "D stands twice, but runs once"],
        ),
        (CHAIN, ["A", "B"], []),  # what is missing is listed elsewhere
        (CHAIN, ["A", "b", "C", "D"], ["b is not B: case, spaces and punctuation count"]),
        (LOOP, ["A", "A", "B", "B"], ["the 2nd A stands before the 1st B, but has to come after it"]),
        (LOOP, ["A", "B"], ["A stands once, but runs twice", "B stands once, but runs twice"]),
        (TWO_RUNS, ["A", "C", "A", "B"], []),
        (TWO_RUNS, ["A", "C", "B", "A"], ["B cannot stand at place 3, after the names before it"]),
    ],
)  # fmt: skip
def test_explain_answer_of_order_names_essential_pairs(reference: Json, answer: Json, sentences: list[str]) -> None:
    assert explain_answer("task-order", reference, answer) == sentences


def test_explain_answer_of_long_reversed_order_counts_further_pairs() -> None:
    names = [f"T{at}" for at in range(12)]
    chain: Json = {"tasks": [*names], "before": [[at, at + 1] for at in range(11)]}
    sentences = explain_answer("task-order", chain, [*reversed(names)])
    assert sentences[0] == "T11 stands before T10, but has to come after it"
    assert sentences[5:] == ["and 6 more pairs"]


@pytest.mark.parametrize(
    ("reference", "answer", "sentences"),
    [
        (
            [["A", "B"], ["C", "D"], ["E"]],
            [["A", "B", "C", "D"], ["E"]],
            ["A, B, C and D stand in one group, but belong in 2: A, B | C, D"],
        ),
        (
            [["A", "B", "C"], ["E"]],
            [["A", "B"], ["C"], ["E"]],
            ["A, B and C belong in one group, but stand in 2: A, B | C"],
        ),
        (
            [["A", "B", "C"], ["D", "E"]],
            [["A", "B"], ["C", "D", "E"]],
            ["C stands with D and E, but belongs with A and B"],
        ),
        (
            [["A", "B", "C"], ["D"], ["E"]],
            [["A", "B", "D", "X"], ["E"]],
            [
                "D stands with A and B, but belongs alone",
                "X stands with A and B, but belongs in no group",
                "C stands in no group, but belongs with A and B",
            ],
        ),
        (
            [["A", "B", "C"], ["A", "E"]],  # A stands in two groups
            [["A", "B"], ["A", "E", "C"]],
            ["the group A and B lacks C", "the group A, C and E must not hold C"],
        ),
        (
            [["A", "B", "C", "D"], ["E", "F"]],
            [["A", "B", "X", "Y", "E", "F"], ["C", "D", "Z"]],
            [
                "A and B stand with E and F, but belong with C and D",
                "X and Y stand with E and F, but belong in no group",
                "Z stands with C and D, but belongs in no group",
            ],
        ),
        (
            [["A", "B", "C"], ["E", "F"], ["G"]],
            [["A", "B", "C", "E", "F", "X"], ["G"]],
            [
                "E and F stand with A, B and C, but belong in a group of their own",
                "X stands with A, B and C, but belongs in no group",
            ],
        ),
        (
            [["A", "B", "C", "D", "E"]],
            [["A", "B", "E", "X"], ["C", "D"]],
            [
                "X stands with A, B and E, but belongs in no group",
                "C and D stand apart, but belong with A, B and E",
            ],
        ),
        ([["A", "B"]], [], []),
    ],
)
def test_explain_answer_of_groups_names_moved_names(reference: Json, answer: Json, sentences: list[str]) -> None:
    assert explain_answer("groups", reference, answer) == sentences


DOMAINS: Json = {"m": {"kind": "integer", "low": 0, "high": 20}, "n": {"kind": "integer"}}


@pytest.mark.parametrize(
    ("condition", "answer", "sentences"),
    [
        ("m > 10", "m >= 10", ["for m = 10 the given condition is true, the right one false"]),
        ("m >= 10", "m > 10", ["for m = 10 the given condition is false, the right one true"]),
        ("m > 10", "m >= 11", []),
        ("x > 10", "x >= 11", ["for x = 10.5 the given condition is false, the right one true"]),
        ("w = 'a'", "w = 'b'", ["for w = a the given condition is false, the right one true"]),
        (
            "m > 10 and n = 2",
            "m > 10 and k = 2",
            [
                "for k = 2, m = 20 and n = 1 the given condition is true, the right one false",
                "k is not in the right condition",
            ],
        ),
        ("m > 10", 'm = "x"', ["no proof that the given condition holds exactly where the right one does"]),
    ],
)
def test_explain_answer_of_condition_gives_values(condition: str, answer: str, sentences: list[str]) -> None:
    assert explain_answer("condition", {"condition": condition, "domains": DOMAINS}, answer) == sentences


@pytest.mark.parametrize(
    ("form_name", "reference", "answer", "sentences"),
    [
        ("number", 3, 6, ["3 too many"]),
        ("number", 1203, 1, ["1,202 too few"]),
        ("yes-no", "yes", "no", []),
        ("letter", "A", "B", []),
        ("text", "it waits", "it runs", []),
        ("task", "A", "B", []),
        ("task", "A", "A, B", ["the answer gives several names, A among them; expected one name"]),
        ("task", "Wash Car", "wash_car", ['wash_car is not "Wash Car": case, spaces and punctuation count']),
        ("task-set", ["Bake", "Mix"], ["mix", "Stir"], ["mix is not Mix: case, spaces and punctuation count"]),
        (
            "task-reasons",
            REASONS,
            {"tasks": ["A", "C"], "reasons": {}},
            [
                'B is missed, and the reason for it: "it is last"',
                'A has no reason, expected: "it waits for the data"',
            ],
        ),
        (
            "task-reasons",
            REASONS,
            {"tasks": ["A", "B"], "reasons": {"A": "because of the data", "B": "nobody knows"}},
            ['the reason of B shares no word with the expected one: "it is last"'],
        ),
        ("pair-reason", {"tasks": ["A", "B"]}, {"tasks": ["A", "C"]}, ["A stands with C, but belongs with B"]),
        ("pair-reason", {"tasks": ["A", "B"]}, {"tasks": ["A"]}, ["A stands alone, but belongs with B"]),
        (
            "pair-reason",
            {"tasks": ["A", "B"]},
            {"tasks": ["A", "B", "C"]},
            ["3 names are given, expected the pair A and B"],
        ),
        ("pair-reason", {"tasks": ["A", "B"]}, {"tasks": ["C", "D"]}, []),
        (
            "yes-no-reason",
            {"answer": "yes", "reason": "it loops"},
            {"answer": "no", "reason": ""},
            ['the verdict has no reason, expected: "it loops"'],
        ),
    ],
)  # fmt: skip
def test_explain_answer_of_values_and_reasons_by_hand(
    form_name: str, reference: Json, answer: Json, sentences: list[str]
) -> None:
    assert explain_answer(form_name, reference, answer) == sentences


def test_explain_answer_of_task_graph_names_turned_missing_and_extra() -> None:
    answer: Json = {
        "steps": ["boil the water", "drain the pasta", "add the pasta", "sing"],
        "dependencies": [[0, 1], [1, 2], [2, 3]],
        "unread": [[0, 3]],
    }
    assert explain_answer("task-graph", PASTA, answer) == [
        '"add the pasta" has to come before "drain the pasta", and not after it',
        "no step of the answer stands for eat",
        "sing stands for no expected step",
        "1 pair has no parseable answer",
    ]
    split: Json = {"steps": ["boil water", "add the pasta", "eat", "sleep"], "dependencies": [[0, 1], [0, 2]]}
    free: Json = {"steps": ["boil water", "add the pasta", "eat", "sleep"], "dependencies": [[0, 1], [1, 2], [3, 2]]}
    assert explain_answer("task-graph", free, split) == [
        '"add the pasta" has to come before eat, and the answer does not say so',
        "sleep has to come before eat, and the answer does not say so",
    ]
    assert explain_answer("task-graph", split, free) == [
        '"add the pasta" need not come before eat',
        "sleep need not come before eat",
    ]


def test_explain_answer_of_reversed_task_graph_names_essential_pairs() -> None:
    closure: Json = [[3, 0], [3, 1], [3, 2], [2, 0], [2, 1], [1, 0]]
    assert explain_answer("task-graph", PASTA, {"steps": PASTA_STEPS, "dependencies": closure}) == [
        '"drain the pasta" has to come before eat, and not after it',
        '"add the pasta" has to come before "drain the pasta", and not after it',
        '"boil water" has to come before "add the pasta", and not after it',
    ]


def test_explain_answer_of_procedural_graph_names_each_kind_of_fault() -> None:
    gold = graph(
        (START, action("check the order", "clerk")),
        (action("check the order", "clerk"), gateway("XOR1")),
        (gateway("XOR1"), action("ship the goods", "porter"), "it is paid"),
        (gateway("XOR1"), END, "it is not paid"),
        (ProceduralNode("data", "the invoice"), action("ship the goods", "porter")),
    )
    answer = graph(
        (START, action("check the order", "manager")),
        (action("check the order", "manager"), gateway("AND7")),
        (gateway("AND7"), action("ship the goods", "porter"), "the sun shines"),
        (END, gateway("AND7")),
        (START, action("sing", "bird")),
        (START, gateway("AND7")),
    )
    assert explain_answer("procedural-graph", stated(gold), stated(answer)) == [
        '"check the order" is done by clerk, and the answer says manager',
        "AND7 is a parallel gateway (AND), but has to be an exclusive gateway (XOR)",
        "the flow XOR1 → End is turned round",
        "the flow Start → XOR1 is extra",
        'the flow XOR1 → "ship the goods" has the condition "it is paid", and the answer says "the sun shines"',
        'the data constraint "the invoice" is missing',
        "the action sing is extra",
    ]


def test_explain_answer_of_renamed_gateways_finds_no_fault() -> None:
    wash, dry = action("wash the car"), action("dry the car")
    first = graph((wash, gateway("XOR1")), (gateway("XOR1"), gateway("AND1")), (gateway("AND1"), dry))
    other = graph((wash, gateway("XOR7")), (gateway("XOR7"), gateway("AND3")), (gateway("AND3"), dry))
    assert explain_answer("procedural-graph", stated(first), stated(other)) == []


def test_explain_answer_writes_long_and_odd_names_in_one_line() -> None:
    answer: Json = [["x" * 100_000, "A\nB", "C"]]
    (sentence,) = explain_answer("groups", [["A\nB", "C"], ["D"]], answer)
    assert sentence == f'"{"x" * 79}…" stands with "A B" and C, but belongs in no group'


@st.composite
def partial_orders(draw: st.DrawFn) -> Json:
    """Draw a partial order of up to 6 nodes, some of which share a label."""
    labels = draw(st.lists(st.sampled_from("ABCD"), max_size=6))
    nodes = len(labels)
    pairs = [(low, high) for low in range(nodes) for high in range(low + 1, nodes)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return {"tasks": [*labels], "before": [[*pair] for pair in chosen]}


@given(partial_orders())
def test_explain_answer_of_right_order_is_empty(reference: Json) -> None:
    assert explain_answer("task-order", reference, [*linear_extension(reference)]) == []


@settings(deadline=None)
@given(partial_orders(), st.data())
def test_explain_answer_of_permuted_order_is_empty_only_if_right(reference: Json, data: st.DataObject) -> None:
    assert isinstance(reference, dict)
    assert isinstance(reference["tasks"], list)
    answer = data.draw(st.permutations(reference["tasks"]))
    assert (explain_answer("task-order", reference, [*answer]) == []) == (order([*answer], reference) == 1.0)


@settings(deadline=None)
@given(partial_orders(), st.lists(st.sampled_from("ABCDE"), max_size=5))
def test_explain_answer_of_order_blames_no_pair_that_some_order_has(reference: Json, answer: list[str]) -> None:
    assert isinstance(reference, dict)
    assert isinstance(reference["tasks"], list)
    allowed = [labels for labels in {*permutations(map(str, reference["tasks"]))} if order([*labels], reference) == 1.0]
    if any(_is_subsequence(answer, labels) for labels in allowed):  # names are missing, and the others are in order
        sentences = explain_answer("task-order", reference, [*answer])
        assert [sentence for sentence in sentences if "stands before" in sentence] == []


def _is_subsequence(answer: list[str], labels: tuple[str, ...]) -> bool:
    rest = iter(labels)
    return all(name in rest for name in answer)


NAMES = st.sampled_from(["A", "B", "wash car", "C, D", "1", "é"])
GROUPS = st.lists(st.lists(NAMES, max_size=4), max_size=4)
STEPS = st.lists(st.sampled_from(["boil water", "add salt", "add oil", "!", ""]), max_size=4)


@st.composite
def step_graphs(draw: st.DrawFn) -> Json:
    """Draw steps, some without words, and dependencies between them, also in circles."""
    steps = draw(STEPS)
    pairs = st.tuples(*[st.integers(0, len(steps) - 1)] * 2)
    return {"steps": [*steps], "dependencies": [[*pair] for pair in draw(st.lists(pairs))] if steps else []}


@settings(deadline=None)
@given(GROUPS)
def test_explain_answer_of_right_groups_is_empty(groups: list[list[str]]) -> None:
    turned: Json = [[*reversed(group)] for group in reversed(groups)]
    assert explain_answer("groups", [[*group] for group in groups], turned) == []


@settings(deadline=None)
@given(step_graphs())
def test_explain_answer_of_right_task_graph_is_empty(steps: Json) -> None:
    assert explain_answer("task-graph", steps, steps) == []


@settings(deadline=None)
@given(procedural_graphs(), st.data())
def test_explain_answer_of_right_procedural_graph_is_empty(one: object, data: st.DataObject) -> None:
    flows = data.draw(st.permutations(one.to_json()))  # type: ignore[attr-defined]
    assert explain_answer("procedural-graph", stated(one), {"flows": [*flows]}) == []  # type: ignore[arg-type]


TEXT = st.sampled_from(["A", "B", "tasks", "m > 1", "yes", "", "\n", "\ud800", "embeddings", "action", "start"])
WORDS = "tasks before reasons answer reason condition domains steps dependencies unread similarity flows m kind"
KEYS = st.sampled_from(WORDS.split())
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("form_name", [*FORMS])
@given(reference=ANY_JSON, answer=ANY_JSON)
def test_explain_answer_of_any_values_returns_lines(form_name: str, reference: Json, answer: Json) -> None:
    sentences = explain_answer(form_name, reference, answer)
    assert all(isinstance(sentence, str) and "\n" not in sentence for sentence in sentences)


HUGE = [f"T{at}" for at in range(100_000)]


@pytest.mark.parametrize(
    ("form_name", "reference", "answer"),
    [
        ("task-order", CHAIN, lambda: [*HUGE, *["A", "B"] * 50_000]),
        ("groups", [["A", "B"]], lambda: [[name] for name in HUGE]),
        ("groups", [["A", "B"]], lambda: [[*HUGE]]),
        ("task-set", ["t1"], lambda: HUGE),
        ("task-reasons", REASONS, lambda: {"tasks": [*HUGE], "reasons": dict.fromkeys(HUGE, "so")}),
        ("pair-reason", REASONS, lambda: {"tasks": ["A", *HUGE], "reasons": {}}),
        ("task-graph", PASTA, lambda: {"steps": [*HUGE], "dependencies": [[at, at + 1] for at in range(99_999)]}),
        (
            "procedural-graph",
            stated(graph((START, END))),
            lambda: {"flows": [[["action", name, ""], ["end", "", ""], ""] for name in HUGE]},
        ),
        ("condition", {"condition": "m > 1", "domains": {}}, lambda: "m > 1 and " * 10_000),
    ],
)  # fmt: skip
def test_explain_answer_of_huge_answer_is_short(form_name: str, reference: Json, answer: Callable[[], Json]) -> None:
    sentences = explain_answer(form_name, reference, answer())
    assert len(sentences) < 20
    assert max(map(len, sentences), default=0) < 1000


def _explain_length(reference: Json, given: Json) -> list[str]:
    return [f"{len(str(given)) - len(str(reference))} characters too long"]


def _explain_in_one_text(reference: Json, given: Json) -> list[str]:
    return "it is too long"  # type: ignore[return-value]


def _raise_key_error(reference: Json, given: Json) -> list[str]:
    raise KeyError("begin")


@pytest.mark.parametrize(
    ("explain", "sentences"),
    [
        (_explain_length, ["2 characters too long"]),
        (_explain_in_one_text, ["it is too long"]),
        (_raise_key_error, []),
    ],
)
def test_explain_answer_of_registered_form_asks_the_form(
    explain: Callable[[Json, Json], list[str]], sentences: list[str]
) -> None:
    with registrations() as opened:
        opened.add(FORMS.kind, "own", dataclasses.replace(FORMS["text"], name="own", explain=explain), "conftest.py")
        assert explain_answer("own", "ab", "abcd") == sentences


def test_explain_answer_of_unknown_form_is_empty() -> None:
    assert explain_answer("nonesuch", "a", "b") == []


def test_explain_answer_without_an_answer_is_empty() -> None:
    assert explain_answer("number", 3, None) == []


def make_letter_trial(given: Json, status: str = "read") -> Trial:
    spellings = {"stir the pot": "B", "boil water": "A"}
    question = Question(
        "q", "f", "g", "s", "?", "?", "letter", "A", "choice_accuracy", names=["A", "B", "tie"], spellings=spellings
    )
    outcome: Outcome = "right" if given == "A" else "wrong"
    return Trial(question, "m", outcome, Reply("r"), Score(0.0, given=given, status=status))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "sentences"),
    [("B", ['the right option is "boil water", the given one "stir the pot"']), ("tie", []), ("A", [])],
)
def test_explain_trial_of_letter_quotes_both_options(answer: str, sentences: list[str]) -> None:
    assert explain_trial(make_letter_trial(answer)) == sentences


def test_explain_trial_asks_form_about_wrong_answer_alone() -> None:
    question = Question("q", "f", "g", "s", "?", "?", "number", 3, "correctness")
    wrong = Trial(question, "m", "wrong", Reply("4"), Score(0.0, given=4))
    assert explain_trial(wrong) == ["1 too many"]
    assert explain_trial(dataclasses.replace(wrong, outcome="right")) == []
    assert explain_trial(dataclasses.replace(wrong, score=None)) == []
    assert explain_trial(dataclasses.replace(wrong, score=Score(0.0, status="unparseable"))) == []

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.errors import UnknownNameError, UnparseableError
from pytest_taskgraph.scoring.forms import FORMS, form, show_answer
from pytest_taskgraph.scoring.grade import grade, read_answer
from pytest_taskgraph.scoring.statements import find_statement
from pytest_taskgraph.trial import Json, Place, Question, Reply
from pytest_taskgraph.workflow.procedural_graph import ProceduralFlow, ProceduralGraph, ProceduralNode

ODD = st.text(st.sampled_from("aAb1 ,;|.'\"`*-()[]#:/&é中_"), min_size=1, max_size=6).map(str.strip)
WORDS = st.sampled_from(["none", "None", "empty", "n/a", "[]", "1. Bake", "A, B", "A", "B", "yes"])
NASTY = st.lists((ODD | WORDS).filter(lambda name: name and "``" not in name), min_size=1, max_size=6, unique=True)
PLAIN = st.lists(
    st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True).filter(lambda name: name.lower() != "none"),
    min_size=1, max_size=6, unique=True,
)  # fmt: skip

SENTENCE = st.text(st.sampled_from("aAb1 ,;:=.'\"`*-()é"), min_size=1, max_size=12).map(
    lambda text: " ".join(f"so {text}".split())
)


def _procedure(names: list[str]) -> Json:
    """Return a graph in which a clerk does something with every name, and then a gateway asks for each."""
    nodes = [ProceduralNode("action", " ".join(f"Do {name} now".split()), "clerk") for name in names]
    chain = [ProceduralNode("start"), *nodes, ProceduralNode("exclusive", "XOR1")]
    flows = [ProceduralFlow(source, target) for source, target in pairwise(chain)]
    conditioned = (ProceduralFlow(chain[-1], nodes[0], " ".join(f"so {name}".split())) for name in names)
    return {"flows": [*ProceduralGraph.of([*flows, *conditioned]).to_json()]}


def answers(name: str, names: list[str]) -> st.SearchStrategy[Json]:
    """Return a strategy for the answers of a form over these names."""

    def some(least: int) -> st.SearchStrategy[Json]:
        return st.lists(st.sampled_from(names), min_size=least, unique=True).map(lambda chosen: [*sorted(chosen)])

    def reasoned(least: int) -> st.SearchStrategy[Json]:
        return st.dictionaries(st.sampled_from(names), SENTENCE | st.just(""), min_size=least).map(
            lambda reasons: {
                "tasks": [*sorted(reasons)],
                "reasons": {name: text for name, text in reasons.items() if text},
            }
        )

    def pair() -> st.SearchStrategy[Json]:
        return st.tuples(some(0), SENTENCE).map(
            lambda both: {"tasks": both[0], "reasons": {"": both[1]} if both[0] else {}}
        )

    task_graphs: st.SearchStrategy[Json] = st.lists(st.sampled_from(names), min_size=1, unique=True).map(
        lambda chosen: {
            "steps": [" ".join(f"Do {name} now".split()) for name in chosen],
            "dependencies": [[at, at + 1] for at in range(len(chosen) - 1)],
        }
    )
    kinds: dict[str, st.SearchStrategy[Json]] = {
        "yes-no": st.sampled_from(["yes", "no"]),
        "task": st.sampled_from(names),
        "letter": st.sampled_from(names),
        "task-set": some(0),
        "groups": st.lists(some(1), max_size=4).map(lambda groups: [*groups]),
        "task-order": st.lists(st.sampled_from(names), max_size=8).map(lambda chosen: [*chosen]),
        "number": st.integers(-(10**17), 10**17),
        "condition": st.sampled_from(["n < 3", 'mode = "very slow"', "not (n = 1 or n >= 2.5) and mode != fast"]),
        "text": SENTENCE,
        "task-reasons": reasoned(0),
        "pair-reason": pair(),
        "yes-no-reason": st.tuples(st.sampled_from(["yes", "no"]), SENTENCE | st.just("")).map(
            lambda both: {"answer": both[0], "reason": both[1]}
        ),
        "schedule": st.dictionaries(st.sampled_from(names), st.integers(0, 10**9), min_size=1).map(
            lambda starts: {"tasks": [*starts], "starts": [*starts.values()]}
        ),
        "task-graph": task_graphs,
        "composed-task-graph": task_graphs,
        "procedural-graph": st.lists(st.sampled_from(names), min_size=1, unique=True).map(_procedure),
    }
    return kinds[name]


def replied(text: str, place: Place) -> str:
    return f"It begins here.\n\n**Final answer:** {text}\n" if place == "marker" else text


@pytest.mark.parametrize("name", sorted(FORMS))
@given(data=st.data(), place=st.sampled_from(["marker", "whole", "first-line"]))
def test_form_written_answer_reads_back_for_any_names(name: str, place: Place, data: st.DataObject) -> None:
    names = data.draw(NASTY)
    answer = data.draw(answers(name, names))
    reply = replied(FORMS[name].write(answer, names), place)
    question = Question(
        id="q", family="f", group="g", section="", text="", prompt="", form=name, reference=answer,
        metric=FORMS[name].metric, names=names, place=place,
    )  # fmt: skip
    assert read_answer(question, Reply(reply)) == answer


def test_schedule_bold_marker_is_no_task_of_its_sign() -> None:
    answer: Json = {"tasks": ["Mix", "*"], "starts": [0, 5]}
    question = Question(
        id="q", family="f", group="g", section="", text="", prompt="", form="schedule", reference=answer,
        metric="constraints", names=["Mix", "*"], place="marker",
    )  # fmt: skip
    assert read_answer(question, Reply("**Final answer:** Mix: 0\n*: 5")) == answer


@pytest.mark.parametrize("name", sorted(FORMS))
@given(data=st.data(), place=st.sampled_from(["marker", "whole"]))
def test_form_strict_parsing_reads_plain_names_back(name: str, place: Place, data: st.DataObject) -> None:
    names = data.draw(PLAIN)
    answer = data.draw(answers(name, names))
    text = find_statement(f"So.\nFinal answer: {FORMS[name].write(answer, names)}" if place == "marker" else
                       FORMS[name].write(answer, names), place, "strict")  # fmt: skip
    assert FORMS[name].read(text, names, "strict") == answer


@pytest.mark.parametrize(
    "text", ["yes", "Yes, because no", "**Yes**", "_yes_", '"YES".', "yes\nyes", "The answer is yes."]
)
def test_yes_no_first_verdict_counts(text: str) -> None:
    assert form("yes-no").read(text, [], "lenient") == "yes"


def test_yes_no_strict_word_stands_alone() -> None:
    assert form("yes-no").read(' "No." ', [], "strict") == "no"
    with pytest.raises(UnparseableError, match="expected yes or no, found 'no, never'"):
        form("yes-no").read("no, never", [], "strict")


@pytest.mark.parametrize("text", ["", "maybe", "nothing", "yesterday", "\x00"])
def test_yes_no_without_verdict_is_unparseable(text: str) -> None:
    with pytest.raises(UnparseableError, match="expected yes or no"):
        form("yes-no").read(text, [], "lenient")


@pytest.mark.parametrize("text", ["none", "None.", "**Empty**", "`n/a`", "[]", "∅", '"none"', "{ }"])
@pytest.mark.parametrize("name", ["task-set", "groups"])
def test_task_set_words_for_none_are_empty(name: str, text: str) -> None:
    assert form(name).read(text, ["A"], "lenient") == []


def test_task_set_known_name_none_is_a_task() -> None:
    names = ["none", "A"]
    assert form("task-set").read("none", names, "lenient") == ["none"]
    assert form("task-set").read("none", names, "strict") == ["none"]
    assert form("task-set").write([], names) == "empty"
    assert '"empty"' in form("task-set").instruct(names)


def test_task_set_none_among_names_is_wrong_name() -> None:
    assert form("task-set").read("none, A", ["A"], "lenient") == ["A", "none"]


def test_task_set_names_with_commas_stand_on_lines() -> None:
    names = ["Pick, pack", "Ship"]
    assert "one name a line" in form("task-set").instruct(names)
    assert form("task-set").write(["Ship", "Pick, pack"], names) == "Pick, pack\nShip"
    assert "commas" in form("task-set").instruct(["Ship"])
    assert form("groups").write([["Ship", "Pick, pack"]], names) == "Pick, pack; Ship"
    assert "semicolons" in form("groups").instruct(names)


def test_groups_stand_on_lines_with_or_without_bullets() -> None:
    text = "1. B, A\n2. **C**, D\n\n- A, B"
    assert form("groups").read(text, list("ABCD"), "lenient") == [["A", "B"], ["C", "D"], ["A", "B"]]


def test_task_set_strict_cuts_at_commas_and_keeps_empty_items() -> None:
    assert form("task-set").read(" `A`, B C,.\n", [], "strict") == ["", "A", "BC"]
    assert form("task-set").read("A\nB", [], "strict") == ["A\nB"]
    assert form("task-set").read("Main.A", [], "strict") == ["Main.A"]
    assert form("task-set").read("None.", [], "strict") == []
    assert form("task-set").read("n/a", [], "strict") == ["n/a"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("`Brew`.", "Brew"),
        ("Main.Brew", "Brew"),
        ("Brew\nBrew", "Brew"),
        ("Brew, as it follows", "Brew"),
        ("brew", "brew"),
        ("Brew, Grind", "Brew, Grind"),
        ("Stir", "Stir"),
    ],
)
def test_task_keeps_case_and_joins_several_names(text: str, answer: str) -> None:
    assert form("task").read(text, ["Brew", "Grind"], "lenient") == answer


@pytest.mark.parametrize("parsing", ["lenient", "strict"])
def test_task_without_name_is_unparseable(parsing: str) -> None:
    with pytest.raises(UnparseableError, match="expected one name"):
        form("task").read(" \n", ["A"], "strict" if parsing == "strict" else "lenient")


@given(st.text(st.characters(exclude_categories=()), max_size=60), st.sampled_from(sorted(FORMS)), NASTY)
def test_form_any_text_is_answer_or_unparseable(text: str, name: str, names: list[str]) -> None:
    for parsing in ("lenient", "strict"):
        try:
            answer = FORMS[name].read(text, names, "strict" if parsing == "strict" else "lenient")
        except UnparseableError:
            continue
        assert isinstance(answer, int) == (name == "number")
        assert isinstance(answer, list) == (name in ("task-set", "groups", "task-order"))


@given(NASTY, st.data())
def test_task_set_ignores_order_and_repetition(names: list[str], data: st.DataObject) -> None:
    assume(not any("," in name for name in names))
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1))
    assert form("task-set").read(", ".join(chosen), names, "lenient") == sorted(set(chosen))


def test_form_unknown_name_lists_known_names() -> None:
    with pytest.raises(
        UnknownNameError,
        match=r"unknown answer form 'poem'; known: composed-task-graph, condition, groups, letter, number, pair-reason",
    ):
        form("poem")


def references(name: str, answer: Json) -> Json:
    """A reference by which the answer is right, as the metric of its form takes it."""
    if name == "schedule" and isinstance(answer, dict):
        lengths = [1] * len(answer["tasks"])  # type: ignore[arg-type]
        return {**answer, "durations": [*lengths], "before": [], "workers": None, "limit": 10**9 + 1, "unit": "hours"}
    if name != "task-order" or not isinstance(answer, list):
        return answer
    return {"tasks": answer, "before": [[place, place + 1] for place in range(len(answer) - 1)]}


@pytest.mark.parametrize("name", sorted(FORMS))
@given(data=st.data())
def test_form_wrong_answer_parses_and_scores_0(name: str, data: st.DataObject) -> None:
    names = [*data.draw(NASTY), *(["A", "B"] if name == "letter" else [])]
    reference = references(name, data.draw(answers(name, names)))
    shape = FORMS[name]
    assert shape.wrong is not None
    wrong = shape.wrong(reference, names)
    question = Question("q", "f", "g", "s", "?", "?", name, reference, shape.metric, names=names)
    score = grade(question, Reply(f"Final answer: {shape.write(wrong, names)}"))
    assert (score.status, score.value, score.given) == ("read", 0.0, wrong)


@pytest.mark.parametrize("name", sorted(FORMS))
@given(data=st.data())
def test_show_answer_of_any_answer_is_one_line(name: str, data: st.DataObject) -> None:
    answer = data.draw(answers(name, data.draw(NASTY)))
    for value in (answer, references(name, answer)):
        line = show_answer(name, value)
        assert line.strip()
        assert len(line.splitlines()) == 1
    if isinstance(answer, list) and name != "groups":
        assert all(str(item) in line or json.dumps(item, ensure_ascii=False) in line for item in answer)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tasks", "reasons", "before", "answer", "reason", "condition"]), inner)
    ),
    max_leaves=6,
)


@given(st.sampled_from([*sorted(FORMS), "of-another-project"]), ANYTHING)
def test_show_answer_of_any_json_is_one_line(name: str, answer: Json) -> None:
    line = show_answer(name, answer)
    assert line
    assert len(line.splitlines()) <= 1


@pytest.mark.parametrize(
    ("name", "answer", "text"),
    [
        ("yes-no", "yes", "yes"),
        ("task-set", ["A", "B"], "A, B"),
        ("task-set", [], "none"),
        ("groups", [["A", "B"], ["C"]], "[A, B], [C]"),
        ("task-set", ["A, or B", "C"], '"A, or B", C'),
        ("task", None, "nothing"),
        ("number", 3, "3"),
        ("text", "", '""'),
        ("task-order", {"tasks": ["A", "B"], "before": [[0, 1]]}, "A, B, in any order that keeps A before B"),
        ("task-order", {"tasks": ["A", "B"], "before": [[0, 9]]}, "A, B, in any order that keeps nothing"),
        ("task-order", {"tasks": ["A"], "before": []}, "A, in any order that keeps nothing"),
        ("condition", {"condition": "n < 3", "domains": {"n": None}}, "n < 3"),
        ("task-reasons", {"tasks": ["A", "B"], "reasons": {"A": "late", "B": "so is this"}}, "A, B: late so is this"),
        ("task-reasons", {"tasks": [], "reasons": {}}, "none"),
        ("yes-no-reason", {"answer": "yes", "reason": "both wait"}, "yes: both wait"),
        ("yes-no-reason", {"answer": "no", "reason": ""}, "no"),
        ("of-another-project", {"a": 1}, '{"a": 1}'),
        ("of-another-project", "two\n lines", "two lines"),
    ],
)
def test_show_answer_writes_for_people(name: str, answer: Json, text: str) -> None:
    assert show_answer(name, answer) == text


def test_show_answer_of_failing_form_falls_back() -> None:
    def fails(answer: Json) -> str:
        raise KeyError("steps")

    with registrations() as registered:
        registered.add(FORMS.kind, "steps", replace(FORMS["text"], name="steps", show=fails), "tests")
        assert show_answer("steps", ["Boil", "Pour"]) == "Boil, Pour"

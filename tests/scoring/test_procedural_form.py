"""Procedural graphs in replies: what is read, what is unparseable, and that what is written reads back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from procedural_builders import END, START, action, gateway, graph, procedural_graphs, stated

from pytest_taskgraph.errors import ProviderError, UnparseableError
from pytest_taskgraph.notations.procedural_text import write_procedural_graph
from pytest_taskgraph.scoring.forms.procedural_graph_form import (
    MOST_FLOWS,
    MOST_UNREAD,
    PROCEDURAL_GRAPH,
    read_procedure,
    write_procedure,
)
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Json, Parsing, Question, Reply
from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph

SHIP = graph(
    (START, action("check the order", "clerk")),
    (action("check the order", "clerk"), gateway("XOR1")),
    (gateway("XOR1"), action("ship the goods", "porter"), "it is paid"),
    (gateway("XOR1"), END, "it is not paid"),
)
TEXT = """
For clerk:
Start -> check the order
check the order -> XOR1
XOR1 -> (it is not paid) End

For porter:
XOR1 -> (it is paid) ship the goods
"""
REPLY = f"The clerk begins, I think.\n\n```text{TEXT}```\n\nI hope this helps."


def make_question(reference: ProceduralGraph, parsing: Parsing = "lenient") -> Question:
    return Question(
        "q", "f", "g", "s", "?", "?", "procedural-graph", stated(reference), "procedural_f1",
        pass_threshold=0.0, place="whole", parsing=parsing,
    )  # fmt: skip


def graph_in(answer: Json) -> ProceduralGraph:
    assert isinstance(answer, dict)
    return ProceduralGraph.from_json(answer["flows"])


@pytest.mark.parametrize("text", [TEXT, REPLY])
def test_read_procedure_of_a_text_or_a_reply_gives_its_flows(text: str) -> None:
    answer = read_procedure(text, "lenient")
    assert graph_in(answer) == SHIP
    assert "unread" not in answer
    assert grade(make_question(SHIP), Reply(text)).value == 1.0


def test_read_procedure_lists_unread_lines() -> None:
    answer = read_procedure("Start -> wash\nand then\nwash ->\nwash -> End", "lenient")
    assert graph_in(answer) == graph((START, action("wash")), (action("wash"), END))
    assert answer["unread"] == ["and then", "wash ->"]
    assert read_procedure(write_procedure(answer), "lenient") == answer


@pytest.mark.parametrize("parsing", ["lenient", "strict"])
@pytest.mark.parametrize(
    "text", ["", " \n", "I cannot find one.", "Start", "For clerk:", '{"flows": []}', "Unread: []"]
)
def test_read_procedure_without_flows_is_unparseable(text: str, parsing: Parsing) -> None:
    with pytest.raises(UnparseableError, match="expected flows, one a line, such as Start -> check, found"):
        read_procedure(text, parsing)


def test_read_procedure_strictly_refuses_any_other_line() -> None:
    assert graph_in(read_procedure(TEXT, "strict")) == SHIP
    with pytest.raises(UnparseableError, match=r"expected flows alone, one a line, found 'The clerk begins, I think.'"):
        read_procedure(REPLY, "strict")


def test_read_procedure_of_a_huge_reply_is_cut() -> None:
    reply = "\n".join(f"step {at} -> step {at + 1}" for at in range(3 * MOST_FLOWS))
    answer = read_procedure(reply, "lenient")
    flows, unread = answer["flows"], answer["unread"]
    assert isinstance(flows, list)
    assert isinstance(unread, list)
    assert len(flows) == MOST_FLOWS
    assert unread[0] == f"step {MOST_FLOWS} → step {MOST_FLOWS + 1}"
    assert len(unread) == MOST_UNREAD


@pytest.mark.parametrize("last", ['Unread: ["x", 3]', "Unread: [x]", f"Unread: {'[' * 3000}{']' * 3000}", "Unread: []"])
def test_read_procedure_of_a_reply_that_states_unread_lines_is_read(last: str) -> None:
    answer = read_procedure(f"Start -> End\n{last}", "lenient")
    assert answer["flows"] == stated(graph((START, END)))["flows"]  # type: ignore[index, call-overload]
    assert answer.get("unread", ["x"]) == ["x"]


@given(procedural_graphs(least=1), st.lists(st.text(max_size=9), max_size=3), st.sampled_from(["lenient", "strict"]))
def test_form_written_answer_reads_back(gold: ProceduralGraph, unread: list[str], parsing: Parsing) -> None:
    answer = read_procedure(write_procedural_graph(gold), parsing)
    if unread and parsing == "lenient":
        answer["unread"] = [*unread]
    assert graph_in(answer) == gold or parsing == "lenient"  # which joins an action with who goes on with it
    assert PROCEDURAL_GRAPH.read(PROCEDURAL_GRAPH.write(answer, []), [], parsing) == answer


@given(st.text(), st.sampled_from(["lenient", "strict"]))
def test_read_procedure_of_any_text_gives_flows_or_is_unparseable(text: str, parsing: Parsing) -> None:
    try:
        answer = read_procedure(text, parsing)
    except UnparseableError:
        return
    assert answer["flows"]


PIECES = st.sampled_from(["a", "b", " -> ", "->", "→", "=", "(", ")", '"', ":", "\n", "\\", "`", "*", "XOR1", "For "])


FLOWS = st.sampled_from(["Start -> a", "a -> b", "b -> XOR1", "XOR1 -> (a > 1) b", 'a -> "b: c"', "For b: a -> End"])


@pytest.mark.parametrize("parsing", ["lenient", "strict"])
def test_read_procedure_of_any_flows_reads_back_what_it_writes(parsing: Parsing) -> None:
    parsed: list[bool] = []

    @given(st.lists(FLOWS), st.just([]) | st.lists(PIECES, max_size=15))
    def read_back(flows: list[str], pieces: list[str]) -> None:
        try:
            answer = read_procedure("\n".join([*flows, "".join(pieces)]), parsing)
        except UnparseableError:
            parsed.append(False)
            return
        parsed.append(True)
        assert PROCEDURAL_GRAPH.read(write_procedure(answer), [], parsing) == answer

    read_back()
    assert sum(parsed) > len(parsed) / 10


@given(st.recursive(st.none() | st.integers() | st.text(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)))
def test_form_show_and_write_take_any_json(answer: Json) -> None:
    assert isinstance(PROCEDURAL_GRAPH.show(answer), str)
    assert isinstance(write_procedure(answer), str)


def test_form_shows_a_graph_in_one_line_with_actors_and_conditions() -> None:
    assert PROCEDURAL_GRAPH.show(stated(SHIP)) == (
        "Start → clerk: check the order; clerk: check the order → XOR1; "
        "XOR1 → (it is paid) porter: ship the goods; XOR1 → (it is not paid) End"
    )


def test_grade_of_unread_lines_lists_them_in_the_remark() -> None:
    score = grade(make_question(SHIP), Reply("Start -> check\n-> what?\ncheck -> End"))
    assert score.remark == "left out 1 line of the reply: '-> what?'"


def test_grade_of_a_refusal_adds_the_gold_elements_to_recall() -> None:
    score = grade(make_question(SHIP), Reply("I'm sorry, but I can't help with that."))
    assert (score.status, score.value) == ("refused", 0.0)
    assert score.parts["action_recall"] == [0.0, 2]
    assert score.parts["action_precision"] == [0.0, 0]


def test_grade_of_apology_before_graph_scores_the_graph() -> None:
    apology = "I'm sorry, but I can't help with all of it."
    assert grade(make_question(SHIP), Reply(f"{apology}\n{TEXT}")).value == 1.0
    refused = grade(make_question(SHIP), Reply(f"{apology}\nask a lawyer -> trust them"))
    assert refused.status == "refused"


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        (f"I reason.\n{TEXT}", 1.0),  # no marker: the graph is found among other text
        (f"The answer follows.\nStart -> stop\nFinal answer:\n{TEXT}", 1.0),
        (
            f'I shall write "Final answer:" and the graph.\n{TEXT.replace("clerk", "cook")}\n**Final Answer:**\n{TEXT}',
            1.0,
        ),
        ("I have no idea.", 0.0),
    ],
)
def test_grade_of_marked_graph_reads_behind_last_marker_or_all(reply: str, value: float) -> None:
    assert grade(replace(make_question(SHIP), place="marker"), Reply(reply)).value == value


def test_grade_of_marked_graph_strictly_demands_marker() -> None:
    question = replace(make_question(SHIP, "strict"), place="marker")
    assert grade(question, Reply(TEXT)).status == "unparseable"
    assert grade(question, Reply(f"Final answer:{TEXT}")).value == 1.0


def test_grade_of_unmarked_graph_cut_off_raises_truncated() -> None:
    with pytest.raises(ProviderError, match="cut off"):
        grade(replace(make_question(SHIP), place="marker"), Reply(TEXT, finish_reason="length"))

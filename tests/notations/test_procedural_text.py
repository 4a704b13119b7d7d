"""The text form of procedural graphs: written, read strictly, and read from replies."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from procedural_graphs import WORDS, graphs

from pytest_taskgraph.notations.procedural_lines import (
    ARROW,
    LENIENT_ARROW,
    LONGEST_LINE,
    LONGEST_REPLY,
    split_at_arrows,
)
from pytest_taskgraph.notations.procedural_text import (
    MOST_READ_FLOWS,
    read_procedural_graph,
    write_procedural_graph,
)
from pytest_taskgraph.workflow.procedural_graph import ProceduralFlow, ProceduralGraph, ProceduralNode

START, END = ProceduralNode("start"), ProceduralNode("end")
XOR1, AND = ProceduralNode("exclusive", "XOR1"), ProceduralNode("parallel", "AND")


def action(text: str, actor: str = "") -> ProceduralNode:
    return ProceduralNode("action", text, actor)


def flows(text: str, lenient: bool = False) -> list[ProceduralFlow]:
    """Return the flows of a text all of whose lines can be read."""
    read = read_procedural_graph(text, lenient)
    assert read.unread == ()
    return list(read.graph.flows)


RESTAURANT = """\
Start -> seat the guests
seat the guests -> XOR1
XOR1 -> End

For customer:
XOR1 -> (hungry (or thirsty)) order
DataConstraint(menu) -> order
order -> cook: prepare the dish

For cook:
prepare the dish -> ActionConstraint(keep it warm)
prepare the dish -> End"""


def test_write_of_several_actors_groups_their_flows() -> None:
    order, cook = action("order", "customer"), action("prepare the dish", "cook")
    graph = ProceduralGraph.of(
        [
            ProceduralFlow(cook, ProceduralNode("notice", "keep it warm")),
            ProceduralFlow(START, action("seat the guests")),
            ProceduralFlow(action("seat the guests"), XOR1),
            ProceduralFlow(XOR1, order, "hungry (or thirsty)"),
            ProceduralFlow(XOR1, END),
            ProceduralFlow(ProceduralNode("data", "menu"), order),
            ProceduralFlow(order, cook),
            ProceduralFlow(cook, END),
        ]
    )
    sections = write_procedural_graph(graph).split("\n\n")
    assert [sections[0], *sections[:0:-1]] == RESTAURANT.split("\n\n")
    assert read_procedural_graph(RESTAURANT).graph == graph


def test_write_of_gateways_without_names_of_the_form_names_them() -> None:
    fork, join = ProceduralNode("parallel", "fork"), ProceduralNode("parallel", "join")
    graph = ProceduralGraph.of([ProceduralFlow(START, fork), ProceduralFlow(fork, join), ProceduralFlow(join, AND)])
    assert write_procedural_graph(graph) == "Start -> AND1\nAND1 -> AND2\nAND2 -> AND"


def test_write_of_an_empty_graph_is_empty() -> None:
    assert write_procedural_graph(ProceduralGraph()) == ""
    assert read_procedural_graph("") == read_procedural_graph(" \n\n")


@pytest.mark.parametrize(
    "text", ["Start", "XOR1", "(re)send the form", "a -> b", 'call "home"', "clerk: pay", "a) first"]
)
def test_write_of_a_text_that_breaks_the_form_quotes_it(text: str) -> None:
    graph = ProceduralGraph.of([ProceduralFlow(action("wait", "clerk"), action(text, "clerk"))])
    assert write_procedural_graph(graph).startswith('For clerk:\nwait -> "')
    assert read_procedural_graph(write_procedural_graph(graph)).graph == graph


@given(graph=graphs())
@example(graph=ProceduralGraph.of([ProceduralFlow(action("pay", "a -> b"), action("pay", "b: c"), "a -> (b")]))
@example(graph=ProceduralGraph.of([ProceduralFlow(action("x", "→"), action("→: x", "a"), ")")]))
def test_read_of_written_text_is_the_graph(graph: ProceduralGraph) -> None:
    read = read_procedural_graph(write_procedural_graph(graph))
    assert read.graph == graph
    assert read.unread == ()


@given(graph=graphs(WORDS, st.sampled_from(["clerk", "head cook"])))
def test_lenient_read_of_plain_words_is_the_graph(graph: ProceduralGraph) -> None:
    texts = [node.text for node in graph.nodes_of("action")]
    assume(len(set(texts)) == len(texts))
    read = read_procedural_graph(write_procedural_graph(graph), lenient=True)
    assert read.graph == graph
    assert read.unread == ()


def test_read_of_blanks_around_the_arrow_ignores_them() -> None:
    assert flows("  Start->a b  \na b   ->   End") == [
        ProceduralFlow(START, action("a b")),
        ProceduralFlow(action("a b"), END),
    ]


@pytest.mark.parametrize(
    ("line", "condition", "target"),
    [
        ("XOR1 -> (stock is low) order more", "stock is low", action("order more")),
        ("XOR1 -> (a (b) c) AND", "a (b) c", AND),
        ("XOR1 -> (done) End", "done", END),
        ("XOR1 -> (a -> b) End", "a -> b", END),
        ("XOR1 -> order (more)", "", action("order (more)")),
        ("XOR1 -> (order more)", "", action("(order more)")),
        ("XOR1 -> (not closed End", "", action("(not closed End")),
        ('XOR1 -> ("a) first") End', "a) first", END),
    ],
)
def test_read_of_brackets_behind_the_arrow_takes_a_condition(line: str, condition: str, target: ProceduralNode) -> None:
    assert flows(line) == [ProceduralFlow(XOR1, target, condition)]


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("XOR", ProceduralNode("exclusive", "XOR")),
        ("OR3", ProceduralNode("inclusive", "OR3")),
        ("ORDER", action("ORDER")),
        ("DataConstraint(a (b))", ProceduralNode("data", "a (b)")),
        ("DataObject(a)", ProceduralNode("data", "a")),
        ("ActionConstraint( a )", ProceduralNode("notice", "a")),
        ("TextAnnotation(a)", ProceduralNode("notice", "a")),
        ("DataConstraint(a) now", action("DataConstraint(a) now")),
        ("press (A -> B)", action("press (A -> B)")),
        ("start", action("start")),
    ],
)
def test_read_of_a_node_finds_its_sort(text: str, node: ProceduralNode) -> None:
    assert flows(f"Start -> {text}") == [ProceduralFlow(START, node)]


def test_read_of_headings_sets_actors_until_the_next() -> None:
    stated = "Start -> a\nFor clerk:\na -> XOR1\nXOR1 -> b\nFor head of sales:\nXOR1 -> b"
    assert flows(stated) == [
        ProceduralFlow(START, action("a")),
        ProceduralFlow(action("a", "clerk"), XOR1),
        ProceduralFlow(XOR1, action("b", "clerk")),
        ProceduralFlow(XOR1, action("b", "head of sales")),
    ]


def test_read_of_names_before_a_colon_takes_those_with_a_heading() -> None:
    assert flows("note: a -> clerk: b\nFor clerk:") == [ProceduralFlow(action("note: a"), action("b", "clerk"))]


def test_read_of_repeated_lines_counts_them_once() -> None:
    assert len(flows("Start -> a\nStart -> a\nStart  ->  a")) == 1


def test_read_of_lines_without_flows_keeps_them_in_order() -> None:
    lines = ["hello", "a -> b -> c", "-> b", "a ->", "a --> b", "a -> DataConstraint()", "For :"]
    read = read_procedural_graph("\n".join([*lines[:3], "Start -> a", "", *lines[3:]]))
    assert read.graph.flows == (ProceduralFlow(START, action("a")),)
    assert list(read.unread) == lines


REPLY = """\
Sure! First the clerk checks the form; this leads to a choice.
For example:
the form may be incomplete.

### For the clerk:
```text
1. Start → check (the form)
2) check (the form) --> **XOR 1**
- XOR_1 => (complete) `file it`;
* xor1 -> (incomplete): "send it back"
hm
Data Constraint: form -> check (the form)
send it back -> the clerk: wait -> END.
```
**For Customer**
```
exclusive gateway 1 -> leave
```
So the arrow -> shows what comes next.
"""


def test_lenient_read_of_a_decorated_reply_finds_its_flows() -> None:
    read = read_procedural_graph(REPLY, lenient=True)
    clerk = "the clerk"
    check, back = action("check (the form)", clerk), action("send it back", clerk)
    assert read.graph.flows == (
        ProceduralFlow(START, check),
        ProceduralFlow(check, XOR1),
        ProceduralFlow(XOR1, action("file it", clerk), "complete"),
        ProceduralFlow(XOR1, back, "incomplete"),
        ProceduralFlow(ProceduralNode("data", "form"), check),
        ProceduralFlow(back, action("wait", clerk)),
        ProceduralFlow(action("wait", clerk), END),
        ProceduralFlow(XOR1, action("leave", "Customer")),
    )
    assert read.unread == ("hm",)


def test_lenient_read_without_fences_ignores_text_around() -> None:
    read = read_procedural_graph(
        "Let me think.\nFor cook:\nStart -> a\nwell\na -> End\n\nI hope this helps.", lenient=True
    )
    assert read.graph.flows == (ProceduralFlow(START, action("a", "cook")), ProceduralFlow(action("a", "cook"), END))
    assert read.unread == ("well",)


@pytest.mark.parametrize(
    "line",
    [
        'XOR1 -> b [label="it is c"];',
        "XOR1 -> b [color=red, label = it is c]",
        "XOR1 -- it is c --> b",
        "XOR1 --|it is c|--> b",
        "XOR1 -[it is c]-> b",
        "XOR 1 -> [it is c] b",
        "XOR1 -->|it is c| b",
        '"XOR1" -> "b" [label="it is c"]',
    ],
)
def test_lenient_read_of_a_label_takes_it_for_the_condition(line: str) -> None:
    assert read_procedural_graph(line, lenient=True).graph.flows == (ProceduralFlow(XOR1, action("b"), "it is c"),)


@pytest.mark.parametrize(
    "text", ["[soft] boil", "wash -- twice", "fill [a=b]", "XOR1 -- yes", "OR1-(no)", "<br>", "</think>"]
)
def test_lenient_read_of_written_texts_like_labels_keeps_them(text: str) -> None:
    graph = ProceduralGraph.of(
        [ProceduralFlow(START, action(text)), ProceduralFlow(action(text), XOR1), ProceduralFlow(XOR1, action(text))]
    )
    assert read_procedural_graph(write_procedural_graph(graph), lenient=True).graph == graph


def test_lenient_read_behind_thoughts_ignores_them() -> None:
    text = "<think>Start -> x\nx -> End</think>\nStart -> a"
    assert read_procedural_graph(text, lenient=True).graph.flows == (ProceduralFlow(START, action("a")),)
    assert len(read_procedural_graph("Start -> x\n</think>Done.", lenient=True).graph.flows) == 1


@pytest.mark.parametrize("line", ["\ufeffStart -> a", "| Start -> a |", "1: Start -> a", "Step 2. Start -> a<br>"])
def test_lenient_read_of_a_decorated_line_finds_its_flow(line: str) -> None:
    assert read_procedural_graph(line, lenient=True).graph.flows == (ProceduralFlow(START, action("a")),)


def test_lenient_read_of_one_actor_spelled_twice_takes_the_first() -> None:
    read = read_procedural_graph("For the Cook:\nStart -> a\nFor cook:\na -> b", lenient=True)
    assert read.graph.actors == ("the Cook",)


HANDED_OVER = "For clerk:\nStart -> check\ncheck -> pay\nDataConstraint(bill) -> pay\nFor customer:\npay -> End"


def test_lenient_read_of_action_followed_elsewhere_takes_that_actor() -> None:
    graph = read_procedural_graph(HANDED_OVER, lenient=True).graph
    assert graph == ProceduralGraph.of(flows(HANDED_OVER.replace("-> pay", "-> customer: pay")))
    assert ProceduralNode("action", "pay", "clerk") in read_procedural_graph(HANDED_OVER).graph.nodes


def test_lenient_read_of_an_action_followed_under_two_headings_keeps_it() -> None:
    graph = read_procedural_graph(f"{HANDED_OVER}\nFor bank:\npay -> End", lenient=True).graph
    assert [node.actor for node in graph.nodes if node.text == "pay"] == ["clerk", "customer", "bank"]


def test_lenient_read_without_arrows_keeps_every_line_unread() -> None:
    assert read_procedural_graph("I cannot\ndo that.", lenient=True).unread == ("I cannot", "do that.")


@given(text=st.text(alphabet='ab ->()[]|":\n\\`*→=XOR1For', max_size=80), lenient=st.booleans())
def test_read_of_any_text_returns_a_graph_that_is_read_back(text: str, lenient: bool) -> None:
    graph = read_procedural_graph(text, lenient).graph
    assert read_procedural_graph(write_procedural_graph(graph)).graph == graph


READ_BY_BOTH = ("(", '"', "->", '"\\', "\n")
REPEATED = (
    *(")", '("', "-", "=", "→", " ", ":", "\\", "* ", "`", "For ", "(a", "1. ", "> ", "[a=", "OR1 --[", "|"),
    *("</think>", "<br>"),
)


@pytest.mark.parametrize(
    ("sign", "lenient"),
    [
        *((sign, True) for sign in (*READ_BY_BOTH, *REPEATED)),
        *((sign, False) for sign in READ_BY_BOTH),
        *(pytest.param(sign, False, marks=pytest.mark.exhaustive) for sign in REPEATED),
    ],
)
def test_read_of_hostile_repetition_comes_to_an_end(sign: str, lenient: bool) -> None:
    text = f"Start -> {sign * 10_000} -> End\n" + f"{sign} -> {sign}\n" * 2_500
    read = read_procedural_graph(text, lenient)
    assert not lenient or sum(map(len, read.unread)) <= LONGEST_REPLY


def test_lenient_read_of_long_replies_is_bounded() -> None:
    longest = "a" * (LONGEST_LINE + 1)
    text = "\n".join([f"{longest} -> b", *(f"a{at} -> b" for at in range(MOST_READ_FLOWS + 1))])
    read = read_procedural_graph(text, lenient=True)
    assert len(read.graph.flows) == MOST_READ_FLOWS
    assert read.unread == (f"a{MOST_READ_FLOWS} -> b",)
    assert len(read_procedural_graph(text).graph.flows) == MOST_READ_FLOWS + 2


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("a -> b", ["a", "b"]),
        ("a", ["a"]),
        ("a (b -> c) -> d", ["a (b -> c)", "d"]),
        ("a (b -> c", ["a (b", "c"]),
        ('"a -> b" -> c', ['"a -> b"', "c"]),
        ('5" pipe -> cut 3" pipe', ['5" pipe', 'cut 3" pipe']),
        ('x: "a -> b" -> c', ['x: "a -> b"', "c"]),
        ("a <-> b", ["a <-> b"]),
    ],
)
def test_split_at_arrows_keeps_quotes_and_brackets_whole(line: str, parts: list[str]) -> None:
    assert split_at_arrows(line, ARROW) == parts
    assert split_at_arrows(line.replace("->", "-->"), LENIENT_ARROW) == [part.replace("->", "-->") for part in parts]


@pytest.mark.parametrize(
    "text",
    ["use `rm`", "**now** wash", "the __init__ file", "1. wash", "- wash", "a) wash", "> wash", "wash it.", "wash;",
     "wash -&gt; dry", "_wash_", "“wash”", ": wash", "Cook: wash", "the cook: wash", "*", "`", "x_", "# wash"],
)  # fmt: skip
def test_lenient_read_of_written_texts_with_decoration_keeps_them(text: str) -> None:
    cook = ProceduralNode("action", text if any(map(str.isalnum, text)) else f"wash {text}", "cook")
    notice, split = ProceduralNode("notice", f"see {text}"), ProceduralNode("exclusive", "XOR1")
    graph = ProceduralGraph.of(
        [ProceduralFlow(cook, split), ProceduralFlow(split, cook, f"so {text}"), ProceduralFlow(notice, cook)]
    )
    for lenient in (False, True):
        read = read_procedural_graph(write_procedural_graph(graph), lenient)
        assert (read.graph, read.unread) == (graph, ())


@pytest.mark.parametrize(
    "actor",
    ["example ltd", "`root`", "1. cook", "the **boss**", "cook.", "()", "(new) cook", "[x] cook", "OR1 -- cook"],
)
def test_lenient_read_of_written_actors_with_decoration_keeps_them(actor: str) -> None:
    wash = ProceduralNode("action", "wash", actor)
    graph = ProceduralGraph.of(
        [ProceduralFlow(START, wash), ProceduralFlow(action("dry"), wash), ProceduralFlow(wash, action("dry"))]
    )
    for lenient in (False, True):
        assert read_procedural_graph(write_procedural_graph(graph), lenient).graph == graph


def test_read_lenient_collapses_white_space_inside_names() -> None:
    read = read_procedural_graph("Start -> choose  the dishes\nchoose the\tdishes -> End", lenient=True)
    assert read.graph == read_procedural_graph("Start -> choose the dishes\nchoose the dishes -> End").graph

"""Exceptional links in every notation: read from text written by hand, written and read back, and told in the guide."""

from __future__ import annotations

import pytest
from canonical_form import canonical

from pytest_taskgraph.errors import ReadError
from pytest_taskgraph.notations import NOTATIONS, Notation, notation
from pytest_taskgraph.notations.notation import EXCEPTIONAL_LINKS
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.model import END, START, Gateway, Link, Task, Workflow
from pytest_taskgraph.workflow.references import assemble

TO_GATEWAY = Workflow(
    "Wash",
    tasks=(Task("Soak"), Task("Rinse"), Task("Dry"), Task("Call help")),
    gateways=(Gateway("Fork", "parallel", "split"), Gateway("Join", "parallel", "join")),
    links=(
        Link(START, "Soak"),
        Link("Soak", "Fork"),
        Link("Fork", "Rinse"),
        Link("Fork", "Dry"),
        Link("Rinse", "Join"),
        Link("Dry", "Join"),
        Link("Join", END),
        Link("Call help", END),
    ),
    exceptional_links=(Link("Soak", "Call help"), Link("Call help", "Fork"), Link("Dry", END), Link("Rinse", "Rinse")),
)
each_notation = pytest.mark.parametrize("each", NOTATIONS.values(), ids=lambda each: each.name)


@each_notation
def test_written_exceptional_links_are_read_back(each: Notation) -> None:
    text = each.write(TO_GATEWAY)
    read = each.read(text)
    assert not problems(read)
    assert canonical(read) == canonical(TO_GATEWAY)
    assert len(assemble(read).exceptional_links) == 4


@each_notation
def test_guide_of_text_without_exceptional_links_does_not_mention_them(each: Notation) -> None:
    assert "xceptional" not in each.guide
    assert "xceptional" in each.exceptional_guide


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("START !-> A;", "`!->` behind START"),
        ("START -> PARALLEL_1 -> A; PARALLEL_1 !-> A;", "`!->` behind PARALLEL_1"),
        ('A !-> A { condition "n > 1"; }', "`{`"),
        ("A !-> A !-> END;", "`!->`"),
    ],
)
def test_read_wadl_exceptional_link_in_wrong_place_refused(text: str, found: str) -> None:
    with pytest.raises(ReadError, match="expected") as raised:
        notation("wadl").read(f"package main; workflow W {{ task A {{}} {text} }}", "w.xxp")
    assert found in str(raised.value)
    assert str(raised.value).startswith("w.xxp:1:")


def test_read_wadl_derived_workflow_has_exceptional_links_of_base() -> None:
    base = "package p; workflow B { task A {} task C {} START -> A -> END; A !-> C; }"
    derived = "package main; workflow W from p.B { task D {} A !-> D; }"
    assembled = assemble(notation("wadl-separate").read(f"{derived} {base}"))
    assert assembled.exceptional_links == (Link("A", "C"), Link("A", "D"))


@pytest.mark.parametrize("arrow", ["-->|exception|", "-.->|exception|", "--o|exception|", "--x|error|"])
def test_read_mermaid_other_arrow_with_text_is_conditional(arrow: str) -> None:
    read = notation("mermaid").read(f"flowchart TD\nSTART --> A\nA {arrow} B --> END")
    assert read.exceptional_links == ()
    assert [link.guard for link in read.links if link.source == "A"] == [arrow.split("|")[1]]


def test_read_mermaid_plain_cross_is_control_flow() -> None:
    read = notation("mermaid").read("flowchart TD\nSTART --> A --x B --> END")
    assert (read.exceptional_links, Link("A", "B") in read.links) == ((), True)


def test_read_mermaid_exception_behind_gateway_is_conditional() -> None:
    read = notation("mermaid").read("flowchart TD\nA --> G{which?}\nG --x|exception| B\nG -->|else| C")
    assert read.exceptional_links == ()
    assert {link.guard for link in read.links if link.target == "B"} == {"exception"}


def test_read_mermaid_task_after_exception_alone_is_no_start() -> None:
    read = notation("mermaid").read("flowchart TD\nA --> B\nA -- exception --x C\nC --> B")
    assert read.exceptional_links == (Link("A", "C"),)
    assert [link.target for link in read.links if link.source == START] == ["A"]


def test_interpret_mermaid_guide_tells_exceptional_arrow_where_there_is_one() -> None:
    mermaid = notation("mermaid")
    with_one = " ".join(mermaid.interpret("flowchart TD\nA --> B\nA --x|exception| C").guide)
    without = " ".join(mermaid.interpret("flowchart TD\nA --> B\nA --x C").guide)
    assert f"{mermaid.exceptional_guide} {EXCEPTIONAL_LINKS}" in with_one
    assert "xceptional" not in without


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (Link(START, "A"), "exceptional link 'START' -> 'A': found 'START' before it; expected a task before it"),
        (Link("A", "B", "n > 1"), "exceptional link 'A' -> 'B': found a condition on it"),
        (Link("A", "X"), "link 'A' -> 'X': found 'X'; expected a task, gateway, START or END"),
        (Link("A", START), "link 'A' -> 'START': found; expected no link into START"),
    ],
)
def test_problems_exceptional_link_in_wrong_place_is_told(link: Link, message: str) -> None:
    workflow = Workflow("W", tasks=(Task("A"), Task("B")), links=(Link(START, "A"),), exceptional_links=(link,))
    assert any(message in problem for problem in problems(workflow))

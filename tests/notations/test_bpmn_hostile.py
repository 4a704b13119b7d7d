"""Hostile and broken XML in place of a BPMN model: refused with line and column, within bounds."""

from __future__ import annotations

import tracemalloc
from contextlib import suppress

import pytest
from bpmn_models import NAMESPACE, flows, process, read, tasks, written
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import ReadError
from pytest_taskgraph.notations.bpmn import BPMN
from pytest_taskgraph.notations.bpmn.flow_scopes import MAX_NODES
from pytest_taskgraph.notations.bpmn.shown_text import shown_text
from pytest_taskgraph.notations.bpmn.xml_tree import MAX_DEPTH, MAX_ELEMENTS, decode, parse_xml
from pytest_taskgraph.source import Source

LAUGHS = '<!DOCTYPE d [<!ENTITY a "lol">' + "".join(
    f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9)
)
BODY = process(tasks("A B") + flows("A>B"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            written(process(tasks(" ".join(f"t{i}" for i in range(MAX_NODES + 1))))),
            f"more than {MAX_NODES:,} flow nodes",
        ),
        (f"{LAUGHS}]><d>&j;</d>", "found a document type"),
        ('<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><d>&x;</d>', "found a document type"),
        ('<!DOCTYPE d SYSTEM "http://127.0.0.1:9/x.dtd"><d/>', "found a document type"),
        (
            written("<process>" * 10_000),
            f"m.bpmn:1:{len(written('')) - 14 + 9 * MAX_DEPTH - 8}: found an element <process>",
        ),
        (written(process("<task/>" * MAX_ELEMENTS)), f"more than {MAX_ELEMENTS:,} elements"),
        ("", "m.bpmn:1:1: found XML that is not well-formed: no element found"),
        (
            f'<definitions xmlns="{NAMESPACE}">\n  <process>\n</definitions>',
            "m.bpmn:3:3: found XML that is not well-formed",
        ),
        ("<project/>", "m.bpmn:1:1: found the root element <project>, expected <definitions>"),
        (written(process(tasks("A B") + "&nbsp;")), "not well-formed: undefined entity"),
        (written(process('<task id="A" name="\ud800"/>')), "found half of a surrogate pair"),
        (written("\x00"), "not well-formed"),
    ],
    ids=["nodes", "laughs", "file", "address", "deep", "wide", "empty", "open", "root", "entity", "surrogate", "null"],
)
def test_bpmn_hostile_xml_is_refused_within_bounds(text: str, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        BPMN.parse(text, "m.bpmn")
    assert message in str(caught.value)


def test_bpmn_million_flows_are_refused_without_memory() -> None:
    text = written(process(flows("A>B") * 1_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(ReadError, match=f"more than {MAX_ELEMENTS:,} elements"):
            BPMN.parse(text, "m.bpmn")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


@pytest.mark.parametrize("links", ["chain", "fork", "gateways", "events"])
def test_bpmn_large_models_are_read_without_recursion(links: str) -> None:
    tags = {"chain": "task", "fork": "task", "gateways": "exclusiveGateway", "events": "intermediateThrowEvent"}
    nodes = "".join(f'<{tags[links]} id="n{i}"/>' for i in range(1_500))
    pairs = [f"a>n{i} n{i}>b" if links == "fork" and i < 400 else f"n{i}>n{i + 1}" for i in range(1_499)]
    reading = read(process(tasks("a b") + nodes + flows(" ".join([*pairs, "a>n0", "n1499>b"]))))
    assert {"a", "b"} <= set(reading.workflows[0].task_names)


def test_bpmn_calls_in_long_chains_are_followed_without_recursion() -> None:
    calls = [
        process(f'<callActivity id="c{i}" calledElement="p{i + 1}"/><task id="t{i}"/>', f"P{i}") for i in range(2_000)
    ]
    workflows = BPMN.parse(written("".join(calls)), "m.bpmn")
    assert len(workflows) == 2_000
    with pytest.raises(ReadError, match="which calls 'p0' again"):
        BPMN.parse(written("".join(calls) + process('<callActivity id="c" calledElement="p0"/>', "P2000")), "m.bpmn")


@pytest.mark.parametrize(
    ("encoding", "declared", "mark"),
    [
        ("utf-8", "", b""),
        ("utf-8", "UTF-8", b"\xef\xbb\xbf"),
        ("latin-1", "ISO-8859-1", b""),
        ("cp1252", "windows-1252", b""),
        ("utf-16-le", "UTF-16", b"\xff\xfe"),
        ("utf-16-be", "", b"\xfe\xff"),
    ],
)
def test_bpmn_files_of_other_encodings_are_decoded(encoding: str, declared: str, mark: bytes) -> None:
    declaration = f'<?xml version="1.0" encoding="{declared}"?>\n' if declared else ""
    text = declaration + written(process('<task id="a" name="Prüfen"/><task id="b"/>'))
    (workflow,) = BPMN.parse(decode(mark + text.encode(encoding)), "m.bpmn")
    assert "Prüfen" in workflow.task_names


@pytest.mark.parametrize("declared", ["utf-8", "klingon"])
def test_bpmn_files_of_wrong_encodings_are_errors_of_decoding(declared: str) -> None:
    with pytest.raises((UnicodeDecodeError, LookupError)):
        decode(f'<?xml version="1.0" encoding="{declared}"?>é'.encode("latin-1"))


@given(st.text(max_size=30).map(lambda text: text.encode("utf-8", "ignore").decode()), st.integers(0, 60))
def test_bpmn_broken_texts_are_read_errors(rubbish: str, place: int) -> None:
    text = written(BODY)
    place = place * len(text) // 60
    with suppress(ReadError):
        BPMN.interpret(text[:place] + rubbish + text[place:], "m.bpmn")


NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00", categories=("L", "N", "P", "S", "Z")), max_size=8
)


@given(st.lists(NAMES, min_size=2, max_size=6))
def test_bpmn_any_names_are_shown_and_read_again(names: list[str]) -> None:
    (root,) = parse_xml(Source(written(process("".join(f'<task id="_t{i}"/>' for i in range(len(names)))))))
    for task, name in zip(root.children[0].children, names, strict=True):
        task.attributes["name"] = name
    reading = BPMN.interpret(shown_text(root), "m.bpmn")
    shown = [" ".join(name.split()) for name in names]
    unique = {name for name in shown if name and shown.count(name) == 1 and not name.startswith("_t")}
    assert set(reading.workflows[0].task_names) >= unique - {"START", "END"}
    assert BPMN.interpret(reading.presented, "m.bpmn").workflows == reading.workflows

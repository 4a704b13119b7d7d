"""The files that the authors of PAGED published, in their layout: read as their text form states the graphs."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.data_sets.data_problems import DataProblems
from pytest_taskgraph.families.paged.document_sets.documents_folder import read_documents
from pytest_taskgraph.families.paged.document_sets.pair_texts import read_graph_text
from pytest_taskgraph.families.paged.document_sets.published_pairs import read_published_pairs
from pytest_taskgraph.notations.procedural_text import write_procedural_graph
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.measurement import Measurement
from pytest_taskgraph.scoring.metrics import metric
from pytest_taskgraph.workflow.procedural_graph import ProceduralNode

Record = dict[str, Any]


def node(resource_id: str, kind: str, text: str = "", agent: str = "") -> Record:
    return {"resourceId": resource_id, "NodeText": text, "agent": agent, "type": kind}


def flow(source: str, target: str, condition: str = "") -> Record:
    return {"src": source, "tgt": target, "condition": condition}


def association(source: str, target: str) -> Record:
    return {"src": source, "tgt": target}


def record(index: int | str = 1, **changes: object) -> Record:
    """Return a pair in the published layout, with some of its fields changed."""
    return {
        "file_index": index,
        "paragraph": "The guest books a room. <SEP> If it is free, the clerk confirms it; otherwise the stay is over.",
        "step_nodes": [
            node("s", "StartNode", "Guest arrives", "guest"),
            node("book", "Activity", "book a\nroom", "guest"),
            node("x1", "XOR", "Is it free?", "clerk"),
            node("confirm", "Activity", "confirm it", "clerk"),
            node("x2", "XOR", "", "clerk"),
            node("e", "EndNode", "Done", "clerk"),
        ],
        "data_nodes": [node("d", "DataObject", "room list"), node("d0", "DataObject", "")],
        "text_nodes": [node("t", "TextAnnotation", "name the price")],
        "SequenceFlow": [
            flow("s", "book"),
            flow("book", "x1"),
            flow("x1", "confirm", "it is free"),
            flow("confirm", "x2"),
            flow("x1", "x2", "otherwise"),
            flow("x2", "e"),
        ],
        "MessageFlow": [association("book", "confirm")],
        "Association": [association("d", "book"), association("confirm", "t"), association("d0", "book")],
        "or_node_num": 0,
        **changes,
    }


EXPECTED = """\
For guest:
Start -> book a room
DataConstraint(room list) -> book a room
book a room -> XOR1

For clerk:
XOR1 -> (it is free) confirm it
confirm it -> XOR2
XOR1 -> (otherwise) XOR2
XOR2 -> End
confirm it -> ActionConstraint(name the price)
"""


def write(path: Path, files: Mapping[str, Sequence[Record] | bytes]) -> Path:
    """Write the files, each a list of pairs or bytes, and return the folder."""
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content, indent=2).encode())
    return path


def test_read_documents_published_record_has_graph_of_text_form(tmp_path: Path) -> None:
    documents = read_documents(write(tmp_path, {"test.json": [record()]}))
    [pair] = documents.test
    assert documents.problems == ()
    assert pair.graph == read_graph_text(EXPECTED)
    assert (pair.id, pair.title) == ("document-1", "Document 1")


def test_read_documents_published_separator_begins_line(tmp_path: Path) -> None:
    [pair] = read_documents(write(tmp_path, {"test.json": [record()]})).test
    assert pair.document == (
        "The guest books a room.\nIf it is free, the clerk confirms it; otherwise the stay is over."
    )


def test_read_documents_published_files_state_splits(tmp_path: Path) -> None:
    records = {"train": [record(1), record(2), record(3)], "dev": [record(4)], "test": [record(5), record(6)]}
    folder = write(tmp_path, {f"dataset/graphs/{name}.json": pairs for name, pairs in records.items()})
    documents = read_documents(folder)
    ids = [[pair.id for pair in split] for split in (documents.train, documents.validation, documents.test)]
    assert ids == [
        ["document-1", "document-2", "document-3"],
        ["document-4"],
        ["document-5", "document-6"],
    ]


def test_read_documents_published_archive_equals_its_folder(tmp_path: Path) -> None:
    folder = write(tmp_path / "paged", {"PAGED-main/train.json": [record(1)], "PAGED-main/test.json": [record(2)]})
    with zipfile.ZipFile(tmp_path / "paged.zip", "w") as archive:
        for name in ("PAGED-main/train.json", "PAGED-main/test.json"):
            archive.write(folder / name, name)
    assert read_documents(tmp_path / "paged.zip") == read_documents(folder)


def test_read_documents_published_nodes_without_way_from_start_are_left_out(tmp_path: Path) -> None:
    stray = node("stray", "Activity", "dust the shelf")
    changed = record(step_nodes=[*record()["step_nodes"], stray])
    changed["SequenceFlow"].append(flow("stray", "x2"))
    changed["Association"].append(association("d", "stray"))
    [pair] = read_documents(write(tmp_path, {"test.json": [changed]})).test
    assert pair.graph == read_graph_text(EXPECTED)


def test_read_documents_published_two_pools_are_one_graph(tmp_path: Path) -> None:
    second = [node("s2", "StartNode"), node("wash", "Activity", "wash up", "cook"), node("e2", "EndNode")]
    changed = record(step_nodes=[*record()["step_nodes"], *second])
    changed["SequenceFlow"] += [flow("s2", "wash"), flow("wash", "e2")]
    [pair] = read_documents(write(tmp_path, {"test.json": [changed]})).test
    assert pair.graph == read_graph_text(f"{EXPECTED}\nFor cook:\nStart -> wash up\nwash up -> End\n")


def test_read_documents_published_gateways_are_numbered_by_type(tmp_path: Path) -> None:
    steps = [node("s", "StartNode"), node("a", "AND"), node("o", "OR"), node("a2", "AND"), node("x", "Activity", "go")]
    flows = [flow("s", "a"), flow("a", "o"), flow("o", "a2", "it is late"), flow("a2", "x")]
    [pair] = read_documents(write(tmp_path, {"test.json": [record(step_nodes=steps, SequenceFlow=flows)]})).test
    expected = "Start -> AND1\nAND1 -> OR1\nOR1 -> (it is late) AND2\nAND2 -> go\n"
    assert pair.graph == read_graph_text(expected)


def test_published_graph_scores_one_against_itself(tmp_path: Path) -> None:
    odd = record(2)
    odd["step_nodes"][1]["NodeText"] = 'XOR1 -> (say) "Start"'
    for pair in read_documents(write(tmp_path, {"test.json": [record(1), odd]})).test:
        answer = form("procedural-graph").read(write_procedural_graph(pair.graph), [], "lenient")
        measurement = metric("procedural_f1")(answer, {"flows": [*pair.graph.to_json()]})
        assert isinstance(measurement, Measurement)
        assert measurement.value == 1.0


def without(name: str) -> Record:
    return {key: value for key, value in record().items() if key != name}


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (without("paragraph"), '"paragraph" of the pair is left out; expected a text'),
        (without("SequenceFlow"), 'no "SequenceFlow"'),
        (record(paragraph=" <SEP> "), "the document is empty"),
        (record(step_nodes=3), '"step_nodes" is a number; expected a list of objects'),
        (record(text_nodes=[1]), '"text_nodes" is a list with other values; expected a list of objects'),
        (record(step_nodes=[node("s", "Event")]), 'a node is of the type "Event"; expected one of StartNode'),
        (record(step_nodes=[node("s", "StartNode"), node("a", "Activity", "\n")]), 'the activity "a" has no NodeText'),
        (record(SequenceFlow=[flow("s", "nowhere")]), 'a SequenceFlow names "nowhere", which is none of the'),
        (record(SequenceFlow=[{"src": "s"}]), '"tgt" of a SequenceFlow is left out; expected a text'),
        (record(SequenceFlow=[]), "the graph has no action"),
        ([1], "found a list; expected an object with a document and its graph"),
    ],
)  # fmt: skip
def test_read_documents_broken_published_pair_is_told_with_file_and_line(
    tmp_path: Path, broken: Record, message: str
) -> None:
    lines = ["[", json.dumps(record(1)), ",", json.dumps(broken), ",", json.dumps(record(2)), "]"]
    documents = read_documents(write(tmp_path, {"test.json": "\r\n".join(lines).encode("utf-8-sig")}))
    assert [pair.id for pair in documents.test] == ["document-1", "document-2"]
    [problem] = documents.problems
    assert problem.startswith(f"test.json, line 4: {message}")
    assert problem.endswith("; the pair is left out")


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (b",\n{", "test.json, line 2: broken JSON (Expecting property name"),
        (b"", "test.json: the list does not end; the file may be incomplete"),
    ],
)
def test_read_documents_cut_published_file_keeps_pairs_before(tmp_path: Path, rest: bytes, message: str) -> None:
    content = b"[" + json.dumps(record()).encode() + rest
    documents = read_documents(write(tmp_path, {"test.json": content}))
    assert len(documents.test) == 1
    assert documents.problems[0].startswith(message)


def test_read_documents_published_file_in_other_encoding_is_told_with_line(tmp_path: Path) -> None:
    other = json.dumps([record()], indent=2).replace("price", "pr\u00efce").encode("utf-16")
    latin = b'[\n{"paragraph": "\xef"}]'
    documents = read_documents(write(tmp_path, {"test.json": [record()], "other.json": latin, "wide.json": other}))
    assert documents.problems[0] == "other.json, line 2: it is not UTF-8; the file is left out"
    assert [pair.id for pair in documents.test] == ["document-1"]


VALUES: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.integers(), st.text(max_size=3), st.lists(st.none() | st.just({}), max_size=2)
)


@given(st.dictionaries(st.sampled_from([*record()]), VALUES, max_size=3))
def test_read_published_pairs_of_any_values_raises_nothing(changes: Record) -> None:
    content = json.dumps([record() | changes]).encode()
    problems = DataProblems()
    pairs = [*read_published_pairs(content, "p.json", "test", problems)]
    assert len(pairs) + len(problems.lines) == 1


@given(st.binary(max_size=60))
def test_read_published_pairs_of_any_bytes_yields_nothing(content: bytes) -> None:
    assert [*read_published_pairs(b"[" + content, "p.json", "test", DataProblems())] == []


def test_page_names_every_field_and_type_of_published_pairs() -> None:
    page = Path(__file__).parents[2] / "docs" / "benchmarks" / "paged.md"
    section = page.read_text("utf-8").partition("### Published documents")[2].partition("\n## ")[0]
    nodes = [step for name in ("step_nodes", "data_nodes", "text_nodes") for step in record()[name]]
    names = {*record(), *nodes[0], *flow("a", "b"), *(step["type"] for step in nodes), "OR", "AND"}
    assert {name for name in names if f"`{name}`" not in section} == set()


def test_read_documents_published_actor_is_that_of_the_node(tmp_path: Path) -> None:
    [pair] = read_documents(write(tmp_path, {"test.json": [record()]})).test
    assert pair.graph.nodes_of("action") == (
        ProceduralNode("action", "book a room", "guest"),
        ProceduralNode("action", "confirm it", "clerk"),
    )

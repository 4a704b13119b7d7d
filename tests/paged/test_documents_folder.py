"""The user's own documents: pairs of files, lines, splits, archives; and what is wrong with them, by file and line."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.data_sets.data_problems import DataProblems
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.paged.document_sets import DocumentSet
from pytest_taskgraph.families.paged.document_sets.documents_folder import read_documents, read_lines
from pytest_taskgraph.families.paged.document_sets.generated_documents import generate_graph
from pytest_taskgraph.families.paged.document_sets.pair_texts import (
    LONGEST_DOCUMENT,
    LONGEST_TEXT,
    UnusableTextError,
    read_document_text,
    read_graph_json,
    read_graph_text,
)
from pytest_taskgraph.notations.procedural_text import write_procedural_graph
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.forms.procedural_graph_form import MOST_FLOWS
from pytest_taskgraph.scoring.measurement import Measurement
from pytest_taskgraph.scoring.metrics import metric
from pytest_taskgraph.workflow.procedural_graph import ProceduralFlow, ProceduralGraph, ProceduralNode

TEA = "Start -> boil water\nboil water -> steep tea\nsteep tea -> End\n"
TEA_GRAPH = read_graph_text(TEA)
TEA_DOCUMENT = "Boil water. Then steep tea."


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write the files, by their names below the folder, and return the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def pair(name: str, graph: str | bytes = TEA, document: str | bytes = TEA_DOCUMENT) -> dict[str, str | bytes]:
    """Return the two files of a pair."""
    return {f"{name}.graph.txt": graph, f"{name}.document.txt": document}


def packed(folder: Path) -> Path:
    """Return an archive of the folder."""
    path = folder.with_name("own.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(file, file.relative_to(folder).as_posix())
    return path


def ids(documents: DocumentSet) -> list[list[str]]:
    """Return the ids of each split."""
    return [[read_pair.id for read_pair in split] for split in (documents.train, documents.validation, documents.test)]


def test_read_documents_pair_of_files_returns_graph_and_document(tmp_path: Path) -> None:
    documents = read_documents(write(tmp_path, pair("Make tea")))
    [read_pair] = documents.test
    assert (read_pair.id, read_pair.title, read_pair.document, read_pair.split) == (
        "make-tea",
        "Make tea",
        TEA_DOCUMENT,
        "test",
    )
    assert [flow.target.text for flow in read_pair.graph.flows] == ["boil water", "steep tea", ""]
    assert (documents.source, documents.train, documents.problems) == ("own", (), ())


def test_read_documents_markdown_document_is_read(tmp_path: Path) -> None:
    files = {
        "tea.graph.txt": TEA,
        "tea.document.md": "# Tea\n\nBoil water.\r\n\r\n\r\nThen steep  tea.\n",
        "README.md": "x",
    }
    [read_pair] = read_documents(write(tmp_path, files)).test
    assert read_pair.document == "# Tea\n\nBoil water.\n\nThen steep tea."


def test_read_documents_folders_state_splits(tmp_path: Path) -> None:
    files = {**pair("train/a"), **pair("dev/b"), **pair("test/c"), **pair("d"), **pair("set1/training/x/e")}
    documents = read_documents(write(tmp_path, files))
    assert ids(documents) == [["e", "a"], ["b"], ["d", "c"]]


def test_read_documents_name_of_pair_states_no_split(tmp_path: Path) -> None:
    documents = read_documents(write(tmp_path, {**pair("train ticket"), **pair("train/test-run")}))
    assert ids(documents) == [["test-run"], [], ["train-ticket"]]


def test_read_documents_same_name_in_two_folders_gets_number(tmp_path: Path) -> None:
    documents = read_documents(write(tmp_path, {**pair("one/tea"), **pair("two/tea")}))
    assert ids(documents)[2] == ["tea", "tea-2"]


def test_read_documents_archive_equals_its_folder(tmp_path: Path) -> None:
    folder = write(tmp_path / "own", {**pair("train/a"), **pair("b"), ".hidden/x.graph.txt": TEA})
    assert read_documents(packed(folder)) == read_documents(folder)


def test_read_documents_changed_file_is_read_again(tmp_path: Path) -> None:
    write(tmp_path, pair("tea"))
    before = read_documents(tmp_path)
    assert read_documents(tmp_path) is before
    write(tmp_path, {"tea.document.txt": "Another document."})
    assert read_documents(tmp_path).test[0].document == "Another document."


def test_read_documents_lines_state_id_title_and_split(tmp_path: Path) -> None:
    records = [
        {"document": TEA_DOCUMENT, "graph": TEA, "id": "tea 1", "title": "Tea", "split": "train"},
        {"document": TEA_DOCUMENT, "graph": TEA_GRAPH.to_json(), "title": "Green tea"},
        {"document": TEA_DOCUMENT, "graph": {"flows": TEA_GRAPH.to_json()}, "split": "validation"},
    ]
    path = write(tmp_path, {"pairs.jsonl": "\n".join(map(json.dumps, records))}) / "pairs.jsonl"
    documents = read_documents(path)
    assert ids(documents) == [["tea-1"], ["document-3"], ["green-tea"]]
    assert [read_pair.title for read_pair in documents.pairs] == ["Tea", "Document 3", "Green tea"]
    assert {read_pair.graph for read_pair in documents.pairs} == {TEA_GRAPH}


def test_read_documents_name_of_lines_states_split(tmp_path: Path) -> None:
    line = json.dumps({"document": TEA_DOCUMENT, "graph": TEA, "id": "tea"})
    documents = read_documents(write(tmp_path, {"train.jsonl": line, "other.json": line, "dev/more.jsonl": line}))
    assert [len(split) for split in ids(documents)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.graph.txt": TEA}, "a.graph.txt: no a.document.txt is beside it; it is left out"),
        ({"a.document.txt": "x"}, "a.document.txt: no a.graph.txt is beside it; it is left out"),
        (
            pair("a", TEA + "\nsteep the tea\nand so on"),
            'a.graph.txt, line 5: "steep the tea" is no flow (2 such lines); expected "Node -> Node"; the pair',
        ),
        (pair("a", "Start -> End"), "a.graph.txt: the graph has no action; the pair is left out"),
        (pair("a", ""), "a.graph.txt: the graph has no action"),
        (pair("a", TEA.encode() + b"\n\xff -> b"), "a.graph.txt, line 5: it is not UTF-8; the pair is left out"),
        (pair("a", TEA, " \n\x00 "), "a.document.txt: the document is empty; the pair is left out"),
        (pair("a", TEA, "x" * (LONGEST_DOCUMENT + 1)), "a.document.txt: the document has 50001 characters, more than"),
        (pair("a", f"Start -> {'x' * (LONGEST_TEXT + 1)}"), "a.graph.txt: the graph has a text of 1001 characters"),
        (
            pair("a", "".join(f"a{n} -> b{n}\n" for n in range(MOST_FLOWS + 1))),
            "a.graph.txt: the graph has 501 flows, more than the 500 of an answer",
        ),
        ({**pair("a"), "a.document.md": "x"}, "a.document.txt: a.document.md is read; this file is left out"),
        ({"p.jsonl": '{"graph": "Start -> a"}'}, 'p.jsonl, line 1: no "document"; the pair is left out'),
        ({"p.jsonl": '\n{"document": "a."}'}, 'p.jsonl, line 2: no "graph"; the pair is left out'),
        ({"p.jsonl": '{"document": 3, "graph": "Start -> a"}'}, "line 1: the document is a number; expected a text"),
        ({"p.jsonl": '{"document": "a.", "graph": "a -> b\\nc"}'}, 'line 1: line 2 of the graph: "c" is no flow'),
        ({"p.jsonl": '{"document": "a.", "graph": 1}'}, "the graph is a number; expected its text, or a list of flows"),
        ({"p.jsonl": '{"document": "a.", "graph": [1]}'}, "the graph cannot be read (a flow is a source, a target"),
        (
            {"p.jsonl": '{"document": "a.", "graph": [[["action", "\\u0001", ""], ["end", "", ""], ""]]}'},
            "the graph cannot be read (found a node of the sort action without a text; expected one)",
        ),
        (
            {"p.jsonl": '{"document": "a.", "graph": "a -> b", "split": "mine"}'},
            '"split" is mine; expected train, validation or test',
        ),
        ({"p.jsonl": "[1]"}, "p.jsonl, line 1: the line holds a list; expected an object with a document"),
    ],
)
def test_read_documents_mistake_is_told_with_file_and_line(
    tmp_path: Path, files: dict[str, str | bytes], message: str
) -> None:
    documents = read_documents(write(tmp_path, {**pair("good"), **files}))
    assert "good" in [read_pair.id for read_pair in documents.test]
    assert any(message in line for line in documents.problems), documents.problems
    assert len(documents.test) == 2 - ("a.document.md" not in files)


TWO_ACTORS = "For customer:\nStart -> pack\npack -> inspect\n\nFor clerk:\ninspect -> pay\npay -> End\n"


def test_read_documents_action_under_two_actors_is_told_and_kept(tmp_path: Path) -> None:
    line = json.dumps({"document": "x", "graph": TWO_ACTORS})
    documents = read_documents(write(tmp_path, {**pair("a", TWO_ACTORS), "p.jsonl": line}))
    assert len(documents.test) == 2
    message = (
        'no flow leaves the action "inspect" of customer, and none leads to that of clerk; if they are the same, write '
        '"clerk: inspect" in the other flows'
    )
    assert documents.problems == (f"p.jsonl, line 1: {message}", f"a.graph.txt: {message}")


def test_read_documents_action_without_actor_first_is_told(tmp_path: Path) -> None:
    [line] = read_documents(write(tmp_path, pair("a", TWO_ACTORS.removeprefix("For customer:\n")))).problems
    assert 'no flow leaves the action "inspect" without an actor, and none leads to that of clerk' in line


def test_read_documents_action_of_another_actor_in_its_flow_is_one(tmp_path: Path) -> None:
    files = pair("a", TWO_ACTORS.replace("pack -> inspect", "pack -> clerk: inspect"))
    documents = read_documents(write(tmp_path, files))
    assert documents.problems == ()
    assert len(documents.test[0].graph.nodes_of("action")) == 3


def test_read_documents_control_characters_do_not_get_through(tmp_path: Path) -> None:
    hostile = "Start -> boil\x1b[31m water\x00\r\nboil\x1b[31m water -> End"
    [read_pair] = read_documents(write(tmp_path, pair("a\x07b", hostile, "Boil\x1b water\x08.\n"))).test
    assert read_pair.graph.nodes_of("action") == (ProceduralNode("action", "boil [31m water"),)
    assert (read_pair.document, read_pair.title) == ("Boil water .", "a b")


def test_read_documents_text_above_folder_in_archive_is_never_written(tmp_path: Path) -> None:
    path = tmp_path / "own.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in pair("../../outside").items():
            archive.writestr(name, content)
    assert ids(read_documents(path))[2] == ["outside"]
    assert sorted(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["missing", "empty", "notes.txt"])
def test_read_documents_nothing_usable_says_what_is_expected(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("no pair", encoding="utf-8")
    with pytest.raises(UsageError, match=r"--taskgraph-data=paged=.*NAME.graph.txt and NAME.document.txt beside each"):
        read_documents(tmp_path / name)


def test_written_generated_graphs_are_read_back_from_folder(tmp_path: Path) -> None:
    graphs = {f"g{number:02}": generate_graph(3, number).graph for number in range(12)}
    for name, graph in graphs.items():
        write(tmp_path, pair(name, write_procedural_graph(graph)))
    documents = read_documents(tmp_path)
    assert documents.problems == ()
    for read_pair in documents.test:
        assert set(read_pair.graph.flows) == set(graphs[read_pair.id].flows)


@given(st.binary(max_size=300))
def test_read_lines_of_any_bytes_raises_nothing(content: bytes) -> None:
    problems = DataProblems()
    assert list(read_lines(content, "p.jsonl", "test", problems)) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["flows", "x"]), inner, max_size=2),
    max_leaves=12,
)


@given(JSON)
def test_read_graph_json_of_any_value_returns_graph_or_fault(value: object) -> None:
    with suppress(UnusableTextError):
        assert read_graph_json(value).nodes_of("action")


@given(st.text(alphabet=st.sampled_from("ab.\n\r\t \x1b\u2028")))
def test_read_document_text_of_any_text_is_clean_and_stable(text: str) -> None:
    with suppress(UnusableTextError):
        document = read_document_text(text)
        assert "\n\n\n" not in document
        assert [line for line in document.split("\n") if line != " ".join(line.split())] == []
        assert read_document_text(document) == document


def test_read_graph_json_cleans_conditions() -> None:
    gate, act = ProceduralNode("exclusive", "XOR1"), ProceduralNode("action", "boil  water")
    graph = read_graph_json(ProceduralGraph.of([ProceduralFlow(gate, act, "it is\tcold")]).to_json())
    assert graph.flows == (ProceduralFlow(gate, ProceduralNode("action", "boil water"), "it is cold"),)


def test_largest_graph_that_is_read_scores_one_against_itself() -> None:
    graph = read_graph_text("\n".join(f"step {at} -> step {at + 1}" for at in range(MOST_FLOWS)))
    answer = form("procedural-graph").read(write_procedural_graph(graph), [], "lenient")
    measurement = metric("procedural_f1")(answer, {"flows": [*graph.to_json()]})
    assert isinstance(measurement, Measurement)
    assert measurement.value == 1.0

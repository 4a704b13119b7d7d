"""The user's own documents and graphs: `--taskgraph-data=paged=PATH`.

The path is that of a folder, of a zip archive, or of a single file. A pair is two files beside each other,
`NAME.graph.txt` with the text form of the graph (`notations/procedural_text`) and `NAME.document.txt` or
`NAME.document.md`; or a line of a file `.jsonl` or `.json`.

The innermost folder whose name states a split decides: train, validation (valid, val, dev) or test; for lines also the
name of their file and a field of their own. Without any of these a pair belongs to the split test.

A pair with a mistake is left out and reported: a graph without some of its flows would score right answers as wrong.

Files `.json` that hold a list are those that the authors of PAGED published (`published_pairs`).

A line with a pair is a JSON object with `document` and `graph`, and perhaps `id`, `title` and `split`. The graph is its
text form, or the list of flows that `ProceduralGraph.to_json` writes. Gold graphs without documents are read as well:
files with the text form, and lines with a `graph` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeVar

from ....benchmarks.data_sets.data_files import (
    MOST_KEPT,
    DataFile,
    DataFormat,
    contents,
    data_files,
    fingerprint,
    keep_until_changed,
    nothing_usable,
    restate_path,
)
from ....benchmarks.data_sets.data_problems import DataProblems, clean_text, excerpt, kind_of_value
from ....benchmarks.data_sets.items import hyphenate, shorten, unique_ids
from ....benchmarks.data_sets.json_lines import read_objects
from ....benchmarks.data_sets.splits import split_of
from ....benchmarks.option import Split
from ....workflow.procedural_graph import ProceduralGraph
from ..paged_options import DATA
from .document_set import DocumentPair, DocumentSet
from .pair_texts import UnusableTextError, parted_actions, read_document_text, read_graph_json, read_graph_text
from .published_pairs import holds_published_pairs, read_published_pairs

GRAPH: Final = ".graph.txt"
DOCUMENTS: Final = (".document.txt", ".document.md")
MOST_PAIR_FILES: Final = 20_000
_LATEST: Final[dict[str, DocumentSet]] = {}  # of a path, as it was last read
_T = TypeVar("_T")
FORMAT: Final = DataFormat(
    "paged",
    (GRAPH, *DOCUMENTS, ".jsonl", ".json"),
    "pair of a document and its graph",
    f"expected a folder or a zip archive with NAME{GRAPH} and NAME{DOCUMENTS[0]} beside each other, a .jsonl file "
    'with an object with "document" and "graph" a line, or the published train.json, dev.json and test.json',
)
LINES: Final = ".jsonl"
MOST_GRAPHS: Final = 10_000
GRAPHS_FORMAT: Final = DataFormat(
    DATA,
    (GRAPH, LINES),
    "graph",
    f'expected a folder or a zip archive with NAME{GRAPH} files, or {LINES} files with an object with "graph" a line',
)


def read_lines(content: bytes, file: str, split: Split, problems: DataProblems) -> Iterator[DocumentPair]:
    """Yield the pairs of a file, with the ids that it states; add what cannot be used to the problems.

    Args:
        content: The bytes of the file.
        file: Its name in problems.
        split: The split of a pair that states none.
        problems: Lines that cannot be used are added here.
    """
    for place, record in read_objects(content, file, "a document and its graph", problems):
        try:
            pair = _pair_of(record, split, place.rpartition(" ")[2])
        except UnusableTextError as error:
            within = f"line {error.line} of the graph: " if error.line else ""
            problems.add("lines that cannot be used", f"{place}: {within}{error.fault}; the pair is left out")
            continue
        for doubt in parted_actions(pair.graph):
            problems.add("actions with two actors", f"{place}: {doubt}")
        yield pair


def _pair_of(record: dict[str, Any], split: Split, number: str) -> DocumentPair:
    for name in ("document", "graph"):
        if name not in record:
            raise UnusableTextError(f'no "{name}"')
    if not isinstance(record["document"], str):
        raise UnusableTextError(f"the document is {kind_of_value(record['document'])}; expected a text")
    document, graph = read_document_text(record["document"]), read_graph_json(record["graph"])
    stated = stated_split(record)
    title, stated_id = (clean_text(str(record.get(name) or "")) for name in ("title", "id"))
    return DocumentPair(
        stated_id or title or f"document-{number}",
        title or stated_id or f"Document {number}",
        graph,
        document,
        stated or split,
    )


def stated_split(record: Mapping[str, Any]) -> Split | None:
    """Return the split that a line states; None if it states none.

    Raises:
        UnusableTextError: if it states something else.
    """
    stated = record.get("split")
    split = split_of(stated) if isinstance(stated, str) else None
    if stated is not None and split is None:
        raise UnusableTextError(
            f'"split" is {excerpt(str(stated)) if isinstance(stated, str) else kind_of_value(stated)}; expected train, '
            "validation or test"
        )
    return split


def read_documents(path: Path) -> DocumentSet:
    """Return the documents at the path with their graphs; they are read again only if a file was changed.

    Raises:
        UsageError: if nothing is there, or no pair of it can be used.
    """
    documents = _read(path)
    _LATEST[str(path)] = documents
    while len(_LATEST) > MOST_KEPT:
        del _LATEST[next(iter(_LATEST))]
    return documents


def recall_documents(path: Path) -> DocumentSet:
    """Return the documents as they were last read from the path; they are read if they never were.

    The files are not looked at, because ten thousand of them take a while and every question of a run needs its own.

    Raises:
        UsageError: if nothing is there, or no pair of it can be used.
    """
    documents = _LATEST.get(str(path))
    return read_documents(path) if documents is None else documents


@keep_until_changed(FORMAT)
def _read(path: Path) -> DocumentSet:
    problems = DataProblems()
    with data_files(path, FORMAT) as files:
        pairs = list(_pairs(files, problems))
    if not pairs:
        raise nothing_usable(path, FORMAT, files, problems)
    ids = unique_ids(shorten(hyphenate(pair.id)) or "document" for pair in pairs)
    identified = [replace(pair, id=pair_id) for pair, pair_id in zip(pairs, ids, strict=True)]
    return DocumentSet.of_items("own", identified, problems.lines)


@dataclass(slots=True)
class _Halves:
    """The files of a pair, as far as they were found: for each its name and its content."""

    graph: tuple[str, bytes] | None = None
    document: tuple[str, bytes] | None = None


def _pairs(files: Sequence[DataFile], problems: DataProblems) -> Iterator[DocumentPair]:
    """Yield the pairs of all files, as yet with ids that others may have, too: those of lines, then those of files."""
    halves: dict[str, _Halves] = {}
    for file, content in contents(files, problems, MOST_PAIR_FILES):
        suffix = next((end for end in (GRAPH, *DOCUMENTS) if file.name.lower().endswith(end)), None)
        if suffix is None:
            published = file.name.lower().endswith(".json") and holds_published_pairs(content)
            read = read_published_pairs if published else read_lines
            yield from read(content, file.name, split_of(file.name) or "test", problems)
            continue
        pair_halves = halves.setdefault(file.name[: -len(suffix)], _Halves())
        if suffix == GRAPH:
            pair_halves.graph = file.name, content
        elif pair_halves.document:
            other = excerpt(pair_halves.document[0])
            problems.add("documents that occur twice", f"{excerpt(file.name)}: {other} is read; this file is left out")
        else:
            pair_halves.document = file.name, content
    for name, half in halves.items():
        if pair := _pair(PurePosixPath(name), half, problems):
            yield pair


def _pair(path: PurePosixPath, half: _Halves, problems: DataProblems) -> DocumentPair | None:
    """Return the pair of two files; None if it cannot be used, which is noted."""
    if not half.graph or not half.document:
        missing = GRAPH if half.document else DOCUMENTS[0]
        for file, _ in filter(None, (half.graph, half.document)):
            note = f"{excerpt(file)}: no {excerpt(path.name)}{missing} is beside it; it is left out"
            problems.add("files without their partner", note)
        return None
    graph = _read_half(*half.graph, read_graph_text, problems)
    document = _read_half(*half.document, read_document_text, problems)
    if graph is None or document is None:
        return None
    for doubt in parted_actions(graph):
        problems.add("actions with two actors", f"{excerpt(half.graph[0])}: {doubt}")
    name = clean_text(path.name)
    return DocumentPair(name, name, graph, document, split_of(str(path.parent)) or "test")


def _read_half(file: str, content: bytes, read: Callable[[str], _T], problems: DataProblems) -> _T | None:
    """Return what a file holds; None if it cannot be used, which is noted with its line."""
    try:
        return read(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line, fault = content.count(b"\n", 0, error.start) + 1, "it is not UTF-8"
    except UnusableTextError as error:
        line, fault = error.line, error.fault
    place = f"{excerpt(file)}, line {line}" if line else excerpt(file)
    problems.add("files that cannot be used", f"{place}: {fault}; the pair is left out")
    return None


@dataclass(frozen=True, slots=True)
class NamedGraph:
    """A graph of the user's.

    Args:
        id: A short name, unlike those of the other graphs.
        title: What the file or line is called.
        graph: The graph.
        split: The split that its folder or line states; None if none is stated.
    """

    id: str
    title: str
    graph: ProceduralGraph
    split: Split | None = None


def read_graphs(path: Path) -> tuple[tuple[NamedGraph, ...], tuple[str, ...]]:
    """Return the graphs at a path, and a line for the user on each file or line that cannot be used.

    Raises:
        UsageError: if nothing is there, or no graph of it can be used.
    """
    problems = DataProblems()
    graphs: list[NamedGraph] = []
    with restate_path(path, GRAPHS_FORMAT, str(path)):
        fingerprint(path, GRAPHS_FORMAT)
        with data_files(path, GRAPHS_FORMAT) as files:
            for file, content in contents(files, problems, MOST_GRAPHS):
                graphs += _graphs(file.name, content, problems)
        if not graphs:
            raise nothing_usable(path, GRAPHS_FORMAT, files, problems)
    for left_out in graphs[MOST_GRAPHS:]:
        problems.add("graphs that are too many", f"{excerpt(left_out.title)}: more than {MOST_GRAPHS} graphs; left out")
    del graphs[MOST_GRAPHS:]
    ids = unique_ids(shorten(hyphenate(graph.title)) or "graph" for graph in graphs)
    return tuple(replace(graph, id=graph_id) for graph, graph_id in zip(graphs, ids, strict=True)), tuple(
        problems.lines
    )


def _graphs(file: str, content: bytes, problems: DataProblems) -> Iterator[NamedGraph]:
    """Yield the graphs of a file, as yet without ids; add what cannot be used to the problems."""
    if not file.lower().endswith(GRAPH):
        yield from _graphs_of_lines(file, content, problems)
        return
    try:
        graph = read_graph_text(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problems.add("files that cannot be used", f"{excerpt(file)}, line {line}: it is not UTF-8; it is left out")
    except UnusableTextError as error:
        place = f"{excerpt(file)}, line {error.line}" if error.line else excerpt(file)
        problems.add("files that cannot be used", f"{place}: {error.fault}; it is left out")
    else:
        path = PurePosixPath(file)
        yield NamedGraph("", clean_text(path.name[: -len(GRAPH)]), graph, split_of(str(path.parent)))


def _graphs_of_lines(file: str, content: bytes, problems: DataProblems) -> Iterator[NamedGraph]:
    for place, record in read_objects(content, file, "a graph", problems):
        try:
            if "graph" not in record:
                raise UnusableTextError('no "graph"')
            graph, split = read_graph_json(record["graph"]), stated_split(record)
        except UnusableTextError as error:
            within = f"line {error.line} of the graph: " if error.line else ""
            problems.add("lines that cannot be used", f"{place}: {within}{error.fault}; the graph is left out")
            continue
        names = (clean_text(str(record.get(name) or "")) for name in ("id", "title"))
        title = next(filter(None, names), f"graph-{place.rpartition(' ')[2]}")
        yield NamedGraph("", title, graph, split or split_of(file))

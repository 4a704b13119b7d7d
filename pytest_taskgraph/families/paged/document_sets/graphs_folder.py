"""Gold graphs without documents: files with the text form, and lines of JSON.

`NAME.graph.txt` holds the text form, a line of a `.jsonl` file an object with "graph", as in `document_lines`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from ....benchmarks.data_sets.data_files import (
    DataFormat,
    contents,
    data_files,
    fingerprint,
    nothing_usable,
    restate_path,
)
from ....benchmarks.data_sets.data_problems import DataProblems, clean_text, excerpt
from ....benchmarks.data_sets.item_ids import hyphenate, shorten, unique_ids
from ....benchmarks.data_sets.json_lines import read_objects
from ....benchmarks.data_sets.splits import Split, split_of
from ....workflow.procedural_graph import ProceduralGraph
from ..paged_options import DATA
from .document_lines import stated_split
from .documents_folder import GRAPH
from .pair_texts import UnusableTextError, read_graph_json, read_graph_text

LINES: Final = ".jsonl"
MOST_GRAPHS: Final = 10_000
FORMAT: Final = DataFormat(
    DATA,
    (GRAPH, LINES),
    "graph",
    f'expected a folder or a zip archive with NAME{GRAPH} files, or {LINES} files with an object with "graph" a line',
)


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
    with restate_path(path, FORMAT, str(path)):
        fingerprint(path, FORMAT)
        with data_files(path, FORMAT) as files:
            for file, content in contents(files, problems, MOST_GRAPHS):
                graphs += _graphs(file.name, content, problems)
        if not graphs:
            raise nothing_usable(path, FORMAT, files, problems)
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

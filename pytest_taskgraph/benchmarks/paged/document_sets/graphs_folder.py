"""Gold graphs without documents: files with the text form, lines of JSON, and workflow files of any notation.

`NAME.graph.txt` holds the text form, a line of a `.jsonl` file an object with "graph", as in `document_lines`. Every
other file is read by the notation that its suffix names, but for prose; each workflow in it becomes a graph, of which a
composite task is an action.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from ....errors import UsageError
from ....workflow.procedural_graph import ProceduralGraph
from ...data_sets.data_files import DataFormat, contents, data_files, fingerprint, nothing_usable, restate_path
from ...data_sets.data_problems import DataProblems, clean_text, excerpt
from ...data_sets.item_ids import hyphenate, shorten, unique_ids
from ...data_sets.json_lines import read_objects
from ...data_sets.splits import Split, split_of
from ..paged_options import DATA
from .document_lines import stated_split
from .documents_folder import GRAPH
from .pair_texts import UnusableTextError, read_graph_json, read_graph_text

LINES: Final = ".jsonl"
LARGEST_WORKFLOW: Final = 4_000_000  # bytes of a workflow file
MOST_GRAPHS: Final = 10_000
_PROSE: Final = frozenset({".txt", ".md"})


@dataclass(frozen=True, slots=True)
class NamedGraph:
    """A graph of the user's.

    Args:
        id: A short name, unlike those of the other graphs.
        title: What the file, line or workflow is called.
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
    form, problems = graph_format(), DataProblems()
    graphs: list[NamedGraph] = []
    with restate_path(path, form, str(path)):
        fingerprint(path, form)
        with data_files(path, form) as files:
            for file, content in contents(files, problems, MOST_GRAPHS):
                graphs += _graphs(file.name, content, problems)
        if not graphs:
            raise nothing_usable(path, form, files, problems)
    for left_out in graphs[MOST_GRAPHS:]:
        problems.add("graphs that are too many", f"{excerpt(left_out.title)}: more than {MOST_GRAPHS} graphs; left out")
    del graphs[MOST_GRAPHS:]
    ids = unique_ids(shorten(hyphenate(graph.title)) or "graph" for graph in graphs)
    return tuple(replace(graph, id=graph_id) for graph, graph_id in zip(graphs, ids, strict=True)), tuple(
        problems.lines
    )


def graph_format() -> DataFormat:
    """Return which files hold graphs: those of the notations that are known now, too."""
    from ....notations import NOTATIONS

    suffixes = dict.fromkeys(suffix for notation in NOTATIONS.values() for suffix in notation.suffixes)
    notation_suffixes = tuple(suffix for suffix in suffixes if suffix not in _PROSE)
    return DataFormat(
        DATA,
        (GRAPH, LINES, *notation_suffixes),
        "graph",
        f'expected a folder or a zip archive with NAME{GRAPH} files, {LINES} files with an object with "graph" a line, '
        f"or workflow files ({', '.join(notation_suffixes)})",
    )


def _graphs(file: str, content: bytes, problems: DataProblems) -> Iterator[NamedGraph]:
    """Yield the graphs of a file, as yet without ids; add what cannot be used to the problems."""
    if file.lower().endswith(LINES):
        yield from _graphs_of_lines(file, content, problems)
        return
    try:
        titled = [*_text_graphs(file, content.decode("utf-8-sig"))]
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problems.add("files that cannot be used", f"{excerpt(file)}, line {line}: it is not UTF-8; it is left out")
    except UnusableTextError as error:
        place = f"{excerpt(file)}, line {error.line}" if error.line else excerpt(file)
        problems.add("files that cannot be used", f"{place}: {error.fault}; it is left out")
    except (UsageError, RecursionError) as error:
        problems.add("files that cannot be used", f"{excerpt(str(error) or file, 300)}; it is left out")
    else:
        split = split_of(str(PurePosixPath(file).parent))
        yield from (NamedGraph("", clean_text(title), graph, split) for title, graph in titled)


def _text_graphs(file: str, text: str) -> Iterator[tuple[str, ProceduralGraph]]:
    """Yield the graphs of a text with their names; for what is raised see `_workflow_graphs`."""
    if file.lower().endswith(GRAPH):
        yield PurePosixPath(file).name[: -len(GRAPH)], read_graph_text(text)
    else:
        yield from _workflow_graphs(file, text)


def _workflow_graphs(file: str, text: str) -> Iterator[tuple[str, ProceduralGraph]]:
    """Yield the graph of each workflow in a text of the notation that its file has, with the name of the workflow.

    Raises:
        UsageError: if it is not of the notation.
        UnusableTextError: if it is too long, or a graph cannot be used.
    """
    from ....notations import for_file
    from ....notations.procedural_text import write_procedural_graph
    from ....workflow.procedural_conversion import procedural_graph_of
    from ....workflow.project import every_level

    if len(text) > LARGEST_WORKFLOW:
        raise UnusableTextError(f"it has more than {LARGEST_WORKFLOW} characters")
    for level in every_level(for_file(file).read(text, file)):
        yield level.name, read_graph_text(write_procedural_graph(procedural_graph_of(level)))


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

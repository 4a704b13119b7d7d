"""Files with a pair a line: a JSON object with `document` and `graph`, and perhaps `id`, `title` and `split`.

The graph is its text form, or the list of flows that `ProceduralGraph.to_json` writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ....benchmarks.data_sets.data_problems import DataProblems, clean_text, excerpt, kind_of_value
from ....benchmarks.data_sets.json_lines import read_objects
from ....benchmarks.data_sets.splits import Split, split_of
from .document_set import DocumentPair
from .pair_texts import UnusableTextError, parted_actions, read_document_text, read_graph_json


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
            pair = _pair(record, split, place.rpartition(" ")[2])
        except UnusableTextError as error:
            within = f"line {error.line} of the graph: " if error.line else ""
            problems.add("lines that cannot be used", f"{place}: {within}{error.fault}; the pair is left out")
            continue
        for doubt in parted_actions(pair.graph):
            problems.add("actions with two actors", f"{place}: {doubt}")
        yield pair


def _pair(record: dict[str, Any], split: Split, number: str) -> DocumentPair:
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

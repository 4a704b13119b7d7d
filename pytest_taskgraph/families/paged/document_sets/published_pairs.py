"""The documents and graphs that Du et al. (2024) published: `train.json`, `dev.json` and `test.json`.

Each file is a JSON list with an object for each pair:

    paragraph                the document; "<SEP>" stands between groups of sentences
    step_nodes               nodes of the types StartNode, EndNode, Activity, XOR, OR and AND
    data_nodes, text_nodes   nodes of the types DataObject and TextAnnotation
    SequenceFlow             flows between steps: "src", "tgt" and a "condition", which may be empty
    Association              flows between an activity and data or texts: "src" and "tgt"
    file_index               the name of the pair

Flows name nodes by their "resourceId"; a node also has "type", "NodeText" and "agent". The graph is that of the text
form in which the authors train and prompt models: what a walk from the start nodes reaches, with gateways numbered by
type. Texts of starts, ends and gateways, message flows, and data or texts without words do not belong to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from ....benchmarks.data_sets.data_problems import DataProblems, clean_text, excerpt, kind_of_value
from ....benchmarks.option import Split
from ....trial import Json
from ....workflow.procedural_graph import GATEWAY_NAMES, NodeSort, ProceduralGraph
from .document_set import DocumentPair
from .pair_texts import UnusableTextError, read_document_text, read_graph_json

_STEPS: Final[dict[str, NodeSort]] = {
    "StartNode": "start",
    "EndNode": "end",
    "Activity": "action",
    **{name: sort for sort, name in GATEWAY_NAMES.items()},
}
_CONSTRAINTS: Final[dict[str, NodeSort]] = {"DataObject": "data", "TextAnnotation": "notice"}
_ITEM: Final = re.compile(r"[^\s,]")
_Nodes = dict[str, list[Json]]
"""From the id of a node to its sort, text and actor."""


def holds_published_pairs(content: bytes) -> bool:
    """Return True if a file is a JSON list, as the published files are."""
    return content[:1_000].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def read_published_pairs(content: bytes, file: str, split: Split, problems: DataProblems) -> Iterator[DocumentPair]:
    """Yield the pairs of a published file, with the ids that it states; add what cannot be used to the problems.

    Args:
        content: The bytes of the file.
        file: Its name in problems.
        split: The split of its pairs.
        problems: Pairs that cannot be used are added here, each with the line on which it begins.
    """
    for number, (place, record) in enumerate(_records(content, file, problems), 1):
        try:
            yield _pair_of(record, split, number)
        except UnusableTextError as error:
            problems.add("pairs that cannot be used", f"{place}: {error.fault}; the pair is left out")


def _records(content: bytes, file: str, problems: DataProblems) -> Iterator[tuple[str, object]]:
    """Yield the items of the list in a file, each with its place for problems."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problems.add("broken files", f"{excerpt(file)}, line {line}: it is not UTF-8; the file is left out")
        return
    decoder, position, line = json.JSONDecoder(), text.index("[") + 1, 1
    counted = 0
    while (begin := _ITEM.search(text, position)) and begin[0] != "]":
        line += text.count("\n", counted, begin.start())
        counted = begin.start()
        place = f"{excerpt(file)}, line {line}"
        try:
            record, position = decoder.raw_decode(text, counted)
        except (ValueError, RecursionError) as error:
            problems.add("broken files", f"{place}: broken JSON ({excerpt(str(error))}); the file is read up to there")
            return
        yield place, record
    if begin is None:
        problems.add("broken files", f"{excerpt(file)}: the list does not end; the file may be incomplete")


def _pair_of(record: object, split: Split, number: int) -> DocumentPair:
    if not isinstance(record, dict):
        raise UnusableTextError(f"found {kind_of_value(record)}; expected an object with a document and its graph")
    document = read_document_text(_text(record, "paragraph", "the pair").replace("<SEP>", "\n"))
    name = excerpt(str(record.get("file_index", number)))
    return DocumentPair(f"document-{name}", f"Document {name}", _graph_of(record), document, split)


def _graph_of(record: dict[str, Any]) -> ProceduralGraph:
    """Return the graph of a published pair: first the flows between steps, in the order of a breadth-first walk."""
    steps, constraints = _steps_of(record), _constraints_of(record)
    leaving: dict[str, list[tuple[str, str]]] = {}
    for flow in _objects(record, "SequenceFlow"):
        source, target = (_text(flow, end, "a SequenceFlow") for end in ("src", "tgt"))
        for end in (source, target):
            if end not in steps:
                raise UnusableTextError(f'a SequenceFlow names "{excerpt(end)}", which is none of the step_nodes')
        leaving.setdefault(source, []).append((target, _text(flow, "condition", "a SequenceFlow")))
    reached = [step for step, node in steps.items() if node[0] == "start"]
    seen, flows = set(reached), list[Json]()
    for source in reached:  # grows as the walk goes on
        for target, condition in leaving.get(source, ()):
            flows.append([steps[source], steps[target], condition])
            if target not in seen:
                seen.add(target)
                reached.append(target)
    known = {**constraints, **{step: steps[step] for step in reached}}
    for flow in _objects(record, "Association"):
        source, target = (_text(flow, end, "an Association") for end in ("src", "tgt"))
        if source in known and target in known and (source in constraints) != (target in constraints):
            flows.append([known[source], known[target], ""])
    return read_graph_json(flows)


def _steps_of(record: dict[str, Any]) -> _Nodes:
    steps: _Nodes = {}
    numbers: dict[NodeSort, int] = {}
    for node in _objects(record, "step_nodes"):
        node_id, kind = _text(node, "resourceId", "a node"), _text(node, "type", "a node")
        sort, text, actor = _STEPS.get(kind), "", ""
        if sort is None:
            raise UnusableTextError(f'a node is of the type "{excerpt(kind)}"; expected one of {", ".join(_STEPS)}')
        if sort == "action":
            text, actor = (_text(node, name, "an activity") for name in ("NodeText", "agent"))
            if not clean_text(text):
                raise UnusableTextError(f'the activity "{excerpt(node_id)}" has no NodeText')
        elif sort in GATEWAY_NAMES:
            numbers[sort] = numbers.get(sort, 0) + 1
            text = f"{GATEWAY_NAMES[sort]}{numbers[sort]}"
        steps[node_id] = [sort, text, actor]
    return steps


def _constraints_of(record: dict[str, Any]) -> _Nodes:
    """Return the data and texts that have words."""
    constraints: _Nodes = {}
    for node in (*_objects(record, "data_nodes"), *_objects(record, "text_nodes")):
        node_id, kind, text = (_text(node, name, "a node") for name in ("resourceId", "type", "NodeText"))
        if kind in _CONSTRAINTS and clean_text(text):
            constraints[node_id] = [_CONSTRAINTS[kind], text, ""]
    return constraints


def _objects(record: dict[str, Any], name: str) -> list[dict[str, Any]]:
    if name not in record:
        raise UnusableTextError(f'no "{name}"')
    values = record[name]
    if isinstance(values, list) and all(isinstance(value, dict) for value in values):
        return values
    found = "a list with other values" if isinstance(values, list) else kind_of_value(values)
    raise UnusableTextError(f'"{name}" is {found}; expected a list of objects')


def _text(value: dict[str, Any], name: str, owner: str) -> str:
    """Return a text of an object; an actor and a condition may be left out."""
    text = value.get(name)
    if isinstance(text, str):
        return text
    if text is None and name in ("agent", "condition"):
        return ""
    found = kind_of_value(text) if name in value else "left out"
    raise UnusableTextError(f'"{name}" of {owner} is {found}; expected a text')

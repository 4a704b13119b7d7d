"""The elements of a document that a model extracts, in the order of the text, and the graph that rules build of them.

So does CIS (Bellan et al. 2022): a language model finds the elements, hand-written rules construct the graph. In a
reply an element is a line "kind: text", an activity with its actor behind a bar:

    activity: pack the parcel | customer
    condition: the goods are damaged
    gateway: otherwise
    needs: delivery note
    produces: receipt
    notice: the emergency exits stay free
    end
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ....workflow.procedural_graph import ProceduralGraph
from .element_rules import mentions_of_elements
from .extracted_element import ElementKind, ExtractedElement
from .tree_builder import build_graph

MOST_ELEMENTS: Final = 1_000
LONGEST_REPLY: Final = 100_000  # characters that are read
LONGEST_ELEMENT: Final = 300  # characters of a text
FORMAT: Final = """\
activity: what is done, as an imperative without its actor | who does it
condition: a condition, without "if"
gateway: words that say how activities are connected, such as: otherwise, at the same time, either, in any case, then
needs: data that the activity before needs
produces: data that the activity before produces
notice: what to pay attention to in the activity before
end
"""
"""The lines of a reply, for prompts."""

_KINDS: Final[dict[str, ElementKind]] = {
    "activity": "activity", "activities": "activity", "action": "activity", "task": "activity", "step": "activity",
    "condition": "condition", "if": "condition",
    "gateway": "gateway", "cue": "gateway", "connector": "gateway",
    "needs": "needs", "need": "needs", "requires": "needs", "input": "needs", "data": "needs",
    "produces": "produces", "produce": "produces", "output": "produces",
    "notice": "notice", "note": "notice", "constraint": "notice",
    "end": "end",
}  # fmt: skip
_PREFIX = re.compile(r"^[\s>#]*(?:(?:[-*•+]|\(?\d{1,4}[.):])\s+)*")
_LINE = re.compile(r"[\"'`]?(?P<kind>[A-Za-z]{2,12})\s*(?:\d{1,4}\s*)?[\"'`]?\s*[:=]\s*(?P<text>.*)")
_ENDS = re.compile(r"[\"'`]?(?:end|the (?:procedure|process) ends?)[\"'`]?[\s.:|]*", re.IGNORECASE)
_NO_ACTOR = frozenset(("", "-", "–", "none", "n/a", "unknown", "no actor", "not stated", "null", "nobody"))
_EDGES: Final = " \t\"'`“”,;"


@dataclass(frozen=True, slots=True)
class ReadElements:
    """Result of reading a reply: the elements, and the lines of which nothing could be read."""

    elements: tuple[ExtractedElement, ...] = ()
    unread: tuple[str, ...] = ()


def read_elements(reply: str) -> ReadElements:
    """Return the elements that a reply lists, a line each, and the other lines.

    Numbers, bullets, bold, fences, capitals and a JSON array of objects are understood. What stands before the first
    element is talk, and no unread line. Of a longer reply the first 100,000 characters are read.
    """
    text = reply[:LONGEST_REPLY]
    from_json = _json_elements(text)
    if from_json is not None:
        return ReadElements(from_json)
    elements: list[ExtractedElement] = []
    unread: list[str] = []
    for line in text.splitlines():
        bare = line.replace("**", "").replace("__", "").strip()
        if not bare or bare.startswith(("```", "~~~")) or len(elements) == MOST_ELEMENTS:
            continue
        element = _element_of_line(_PREFIX.sub("", bare, count=1))
        if element is not None:
            elements.append(element)
        elif elements:
            unread.append(bare[:LONGEST_ELEMENT])
    return ReadElements(tuple(elements), tuple(unread))


def write_elements(elements: Iterable[ExtractedElement]) -> str:
    """Return elements as the lines of a reply."""
    lines = []
    for element in elements:
        actor = f" | {element.actor}" if element.actor else ""
        lines.append("end" if element.kind == "end" else f"{element.kind}: {element.text}{actor}")
    return "\n".join(lines)


def graph_of_elements(elements: Sequence[ExtractedElement]) -> ProceduralGraph:
    """Return the procedural graph that the rules of `element_rules` and `build_graph` make of elements."""
    return build_graph(list(mentions_of_elements(elements[:MOST_ELEMENTS])))


def _element_of_line(line: str) -> ExtractedElement | None:
    if _ENDS.fullmatch(line):
        return ExtractedElement("end")
    match = _LINE.fullmatch(line)
    kind = _KINDS.get(match["kind"].lower()) if match else None
    return _element(kind, match["text"]) if match and kind else None


def _element(kind: ElementKind, text: str, actor: str = "") -> ExtractedElement | None:
    if kind == "end":
        return ExtractedElement("end")
    if kind == "activity" and not actor:
        text, _, actor = text.partition("|")
    words = " ".join(text.split())[:LONGEST_ELEMENT].strip(_EDGES).removesuffix(".")
    who = " ".join(actor.split())[:LONGEST_ELEMENT].strip(_EDGES)
    if not any(map(str.isalnum, words)):
        return None
    return ExtractedElement(kind, words, "" if who.lower() in _NO_ACTOR else who)


def _json_elements(text: str) -> tuple[ExtractedElement, ...] | None:
    """Return the elements of a JSON array of objects; None if the reply is none, or none of them is an element."""
    start, end = text.find("["), text.rfind("]")
    if start < 0 or end < start or "{" not in text[start : start + 20]:
        return None
    try:
        data = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    objects = []
    for value in data[:MOST_ELEMENTS] if isinstance(data, list) else ():
        match value:
            case {"kind": str(kind)} if kind.lower() in _KINDS:
                words, actor = (str(value.get(name) or "") for name in ("text", "actor"))
                objects.append(_element(_KINDS[kind.lower()], words, actor))
    elements = tuple(element for element in objects if element is not None)
    return elements or None

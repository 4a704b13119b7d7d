"""Extraction in two steps after CIS (Bellan et al. 2022): a model lists the elements, rules build the graph of them."""

from __future__ import annotations

from dataclasses import replace

from ...asking import Transcript, Turns, one_turn
from ...benchmarks.episodes import opening
from ...notations.procedural_text import write_procedural_graph
from ...trial import Json, Question, Request
from .extraction_rules.document_elements import graph_of_elements, read_elements


@one_turn
def extract_elements(question: Question) -> Turns:
    """Ask for the elements of the document, and answer with the graph that rules build of them.

    The note of the exchange says how many elements were read, and which lines were not. A reply without any element
    stays as it is: it may hold a graph.
    """
    (reply,) = yield [Request(messages=opening(question))]
    extracted = read_elements(reply.text)
    note: dict[str, Json] = {"elements": len(extracted.elements), "unread": [*extracted.unread]}
    if not extracted.elements:
        return Transcript(reply, notes=[note])
    text = write_procedural_graph(graph_of_elements(extracted.elements))
    return Transcript(replace(reply, text=text), notes=[note])

"""The methods of PAGED: what a method is, and all of them in the order of reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from ...asking import Transcript, Turns, one_turn
from ...benchmarks.episodes import opening
from ...benchmarks.method_family import MethodSet
from ...notations.procedural_text import write_procedural_graph
from ...trial import Json, Place, Question, Request
from .extraction_rules.document_elements import FORMAT, graph_of_elements, read_elements
from .prompts import PROMPTS
from .refinement.refine_episode import check_refinement, refine, refine_settings
from .worked_examples import read_worked_examples

if TYPE_CHECKING:
    from ...asking import Episode
    from ...trial import Json
    from .document_sets import DocumentPair
    from .paged_settings import PagedSettings


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


@dataclass(frozen=True, slots=True)
class ExtractionMethod:
    """One way to ask for the graph of a document.

    Args:
        name: The name in options, gates and tables.
        title: What it does, in a few words, for the documentation.
        prompt: From the document and the settings to the text of the first request.
        place: Where the graph stands in the reply.
        episode: How a question is put; None for one prompt and one reply.
        settings: From the document and the settings to what the episode needs beside the prompt.
        check: Checks, before anything is asked, that the settings can be met. Raises UsageError.
    """

    name: str
    title: str
    prompt: Callable[[DocumentPair, PagedSettings], str]
    place: Place
    episode: Episode | None = None
    settings: Callable[[DocumentPair, PagedSettings], dict[str, Json]] = lambda pair, settings: {}
    check: Callable[[PagedSettings], None] = lambda settings: None
    section: ClassVar[str] = "extraction"
    metrics: ClassVar[tuple[str, ...]] = ("procedural_f1",)


def extraction_prompt(reasoning: bool, pair: DocumentPair, settings: PagedSettings) -> str:
    """Return the prompt that asks for the graph of a document, after worked examples.

    Args:
        reasoning: Whether the model is to reason before the graph.
        pair: The document.
        settings: They state the number of worked examples.

    Raises:
        UsageError: if the user's template cannot be read or fails.
    """
    examples = read_worked_examples()[: settings.examples]
    fields = {"document": pair.document.strip(), "examples": examples, "reasoning": reasoning}
    return PROMPTS.render("extract", fields, settings)


def elements_prompt(pair: DocumentPair, settings: PagedSettings) -> str:
    """Return the prompt that asks for the elements of a document, after worked examples.

    Raises:
        UsageError: if the user's template cannot be read or fails.
    """
    examples = read_worked_examples()[: settings.examples]
    fields = {"document": pair.document.strip(), "examples": examples, "format": FORMAT.strip()}
    return PROMPTS.render("elements", fields, settings)


METHODS: Final = MethodSet(
    "PAGED",
    (
        ExtractionMethod("extract", "the graph at once", partial(extraction_prompt, False), "whole"),
        ExtractionMethod("reason", "the graph after reasoning", partial(extraction_prompt, True), "marker"),
        ExtractionMethod(
            "elements", "the elements, of which rules build the graph", elements_prompt, "whole", extract_elements
        ),
        ExtractionMethod(
            "refine",
            "the graph, refined by feedback",
            partial(extraction_prompt, False),
            "whole",
            refine,
            refine_settings,
            check_refinement,
        ),
    ),
)


def extraction_episodes() -> dict[str, Episode]:
    """Return the episodes of the methods that have one, by the name of the method."""
    return {name: method.episode for name, method in METHODS.items() if method.episode is not None}

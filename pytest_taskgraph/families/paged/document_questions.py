"""The references of a run: a question about each document for each method, and what a user should know of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from ...benchmarks.data_sets.items import draw_items
from ...benchmarks.family import QuestionReference
from ...benchmarks.option import SPLITS
from ...diagram import Diagram, DiagramEdge, DiagramNode, DiagramPair, NodeKind
from ...errors import UsageError
from ...scoring.forms.procedural_graph_form import PROCEDURAL_GRAPH
from ...scoring.procedural_graphs.answered_graphs import answered_procedure, gold_procedure
from ...scoring.procedural_graphs.node_matches import procedural_counterparts
from ...trial import Question, Score, digest_of
from ...workflow.procedural_graph import NodeSort, ProceduralGraph, ProceduralNode
from .document_sets import DocumentPair, load
from .extraction_methods import METHODS as METHODS
from .extraction_methods import elements_prompt, extraction_prompt
from .paged_options import ROUNDS
from .paged_settings import PagedSettings
from .paged_tables import MOST_ROUNDS
from .prompts import PROMPTS
from .refinement.verifier_feedback import FEEDBACK_PROMPT, VerifierFeedback

_PROBE: Final = DocumentPair("probe", "Probe", ProceduralGraph.of([]), "Every quiet otter must fold seven paper boats.")
_ASKING: Final[Mapping[str, tuple[Callable[[DocumentPair, PagedSettings], str], ...]]] = {
    "extract": (partial(extraction_prompt, False), partial(extraction_prompt, True)),
    "elements": (elements_prompt,),
}
"""From the name of a template to the prompts that are rendered of it."""
_FEEDBACK: Final = (
    VerifierFeedback("exclusive", "XOR1", "XOR2", ("it is wet", "it is late")),
    VerifierFeedback("inclusive", "OR1", "", ("it is wet", "it is dry")),
    VerifierFeedback("parallel", "AND1", "AND2", ("fold the boat", "paint the boat")),
    VerifierFeedback("sequential", "", "", ("fold the boat", "wash the car")),
)
"""Feedback of each kind, with and without a join."""
_KINDS: Final[Mapping[NodeSort, NodeKind]] = {
    "start": "start",
    "end": "end",
    "action": "task",
    "data": "data",
    "notice": "data",
    "exclusive": "exclusive",
    "inclusive": "inclusive",
    "parallel": "parallel",
}
_NOTES: Final[Mapping[NodeSort, str]] = {"data": "data constraint", "notice": "action constraint"}


def check_prompts(settings: PagedSettings) -> None:
    """Check the templates that replace built-in ones.

    Raises:
        UnknownNameError: if there is no prompt of a template's name.
        UsageError: if a template cannot be read, is not Jinja, uses a name that it does not see, or leaves out the
            document.
    """
    PROMPTS.check(settings)
    if not settings.templates:
        return
    for name, prompts in _ASKING.items():
        for prompt in prompts:
            if _PROBE.document not in " ".join(prompt(_PROBE, settings).split()):
                raise UsageError(
                    f"--taskgraph-templates={settings.templates}: {PROMPTS.name}/{name}.jinja does not show the "
                    "document; add {{ document }}"
                )
    for with_marker in (False, True):
        PROMPTS.render(FEEDBACK_PROMPT, {"feedback": [*_FEEDBACK], "marked": with_marker}, settings)


def check(settings: PagedSettings) -> None:
    """Check methods, rounds and prompts. Raises UsageError."""
    methods = METHODS.select(settings.methods)
    check_prompts(settings)
    if settings.rounds > MOST_ROUNDS:
        raise UsageError(f"{ROUNDS.flag}: {settings.rounds}; expected at most {MOST_ROUNDS}")
    for method in methods:
        method.check(settings)


def references(settings: PagedSettings, instances: int | None = None) -> list[QuestionReference]:
    """Return the questions about the documents of the split, for each method.

    Args:
        settings: The settings; they decide which documents are drawn, and the same ones for every method.
        instances: The number of documents that the suite states.

    Raises:
        UsageError: if there is no such document, or an option cannot be met.
    """
    check(settings)
    documents = _draw_references(replace(settings, instances=settings.instances_of(instances)))
    return [_of_method(method.name, document) for method in METHODS.select(settings.methods) for document in documents]


def notices(settings: PagedSettings, instances: int | None = None) -> Iterator[str]:
    """Yield the problems of the data, the counts of the user's own, and how many examples there are if too few."""
    if settings.shots is not None and settings.shots > settings.examples:
        yield f"PAGED has {settings.examples} worked examples; --taskgraph-shots states {settings.shots}"
    document_set = load(settings)
    yield from document_set.problems
    if document_set.source == "own":
        counts = {name: len(document_set.split(name)) for name in SPLITS}
        yield "PAGED, own documents: " + ", ".join(f"{name} {count}" for name, count in counts.items())


def question(reference: QuestionReference, settings: PagedSettings) -> Question:
    """Return the question that a reference stands for."""
    method, pair = METHODS[reference.group], _pair(reference, settings)
    prompt = method.prompt(pair, settings)
    return Question(
        id=reference.id,
        family="paged",
        group=method.name,
        section=method.section,
        text=f"{pair.title}\n{pair.document.strip()}",
        prompt=prompt,
        form=PROCEDURAL_GRAPH.name,
        reference={"flows": [*pair.graph.to_json()]},
        metric=method.metrics[0],
        pass_threshold=0.0 if settings.pass_threshold is None else settings.pass_threshold,
        place=method.place,
        parsing=settings.parsing,
        episode=method.name if method.episode is not None else "single",
        episode_settings=method.settings(pair, settings),
        labels={name: value for name, value in reference.labels.items() if value is not None},
        cluster=reference.cluster,
        digests={"document": digest_of(pair.document), "prompt": digest_of(prompt)},
    )


def _draw_references(settings: PagedSettings) -> list[QuestionReference]:
    """Return what a reference holds of each document that is drawn, without a method."""
    document_set = load(settings)
    split = document_set.split(settings.split)
    if not split:
        counts = ", ".join(f"{name}: {len(document_set.split(name))}" for name in SPLITS)
        raise UsageError(f"PAGED, {document_set.source} documents: none in the {settings.split} split; {counts}")
    chosen = {pair.id for pair in draw_items(split, settings.instances, settings.seed)}
    return [_reference_of(at, pair, settings) for at, pair in enumerate(split) if pair.id in chosen]


def _reference_of(at: int, pair: DocumentPair, settings: PagedSettings) -> QuestionReference:
    graph = pair.graph
    gateways = sum(len(graph.outgoing(node)) > 1 for node in graph.nodes if node.is_gateway)
    return QuestionReference(
        pair.id,
        "",
        payload={"document": at, "count": settings.instances},
        labels={"actions": len(graph.nodes_of("action")), "gateways": gateways},
        cluster=f"document:{pair.id}",
    )


def _of_method(name: str, stated: QuestionReference) -> QuestionReference:
    return replace(stated, id=f"{name}-{stated.id}", group=name)


def _pair(reference: QuestionReference, settings: PagedSettings) -> DocumentPair:
    # As the references were drawn from it: a file that is changed since then moves no document to another question.
    document_set = load(replace(settings, instances=reference.payload["count"]), renew=False)
    at: int = reference.payload["document"]
    return document_set.split(settings.split)[at]


def procedure_pair(question: Question, score: Score) -> DiagramPair:
    """Return the gold graph and that of an answer.

    An element of the answer is drawn as its counterpart in the gold graph, unless that is a gateway of another sort.
    """
    gold, given = gold_procedure(question.reference), answered_procedure(score.given)
    partners = {node: other for node, other in procedural_counterparts(given, gold).items() if node.sort == other.sort}
    own = {node: f"gold-{at}" for at, node in enumerate(gold.nodes)}
    ids = {node: own[partners[node]] if node in partners else f"given-{at}" for at, node in enumerate(given.nodes)}
    title = question.text.partition("\n")[0]
    return DiagramPair(_diagram(title, gold, own), _diagram(title, given, ids))


def _diagram(title: str, graph: ProceduralGraph, ids: Mapping[ProceduralNode, str]) -> Diagram:
    nodes = [
        DiagramNode(ids[node], node.text or node.sort.upper(), _KINDS[node.sort], note=node.actor or _note(node))
        for node in graph.nodes
    ]
    edges = [DiagramEdge(ids[flow.source], ids[flow.target], flow.condition) for flow in graph.flows]
    return Diagram(title, nodes, edges)


def _note(node: ProceduralNode) -> str:
    return _NOTES.get(node.sort, "")

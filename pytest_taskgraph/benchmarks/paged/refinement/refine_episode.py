"""The episode of self-refinement: a graph, then rounds in which verifiers tell the model what to reconsider."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from ....asking import Transcript, Turns
from ....errors import UnknownNameError, UsageError
from ....scoring.grade import read_answer
from ....scoring.procedural_graphs.answered_graphs import answered_procedure, gold_procedure
from ....scoring.procedural_graphs.element_counts import pooled
from ....scoring.procedural_graphs.graph_scores import score_procedure
from ....trial import Json, Question, Reply, Request
from ....workflow.procedural_graph import GATEWAYS, ProceduralGraph
from ...episodes import opening
from ...settings import Settings
from .condition_verifier import verify_conditions
from .conflict_rules import ConflictRule, LexicalConflictRule
from .parallel_verifier import verify_parallel, verify_sequences
from .verifier_feedback import VerifierFeedback, feedback_message, feedback_template, order_feedback

if TYPE_CHECKING:
    from ..document_sets import DocumentPair
    from ..paged_options import PagedSettings

CONFLICT_RULES: Final[Mapping[str, Callable[[], ConflictRule]]] = {"lexical": LexicalConflictRule}
"""From the name of a condition verifier to what decides about conditions in prose."""


def refine_settings(pair: DocumentPair, settings: PagedSettings) -> dict[str, Json]:
    """Return the settings of the episode: rounds of feedback, condition verifier, template of the message.

    Raises:
        UsageError: if the user's template cannot be read.
        UnknownNameError: if there is no verifier of that name.
    """
    conflict_rule(settings.verifier)
    return {"rounds": settings.rounds, "verifier": settings.verifier, "feedback": feedback_template(settings)}


def conflict_rule(name: str) -> ConflictRule:
    """Return what decides whether conditions in prose conflict.

    Raises:
        UnknownNameError: if there is none of that name.
    """
    if name not in CONFLICT_RULES:
        raise UnknownNameError("condition verifier of PAGED", name, CONFLICT_RULES)
    return CONFLICT_RULES[name]()


def refine(question: Question) -> Turns:
    """Ask for a graph, then for better ones, as long as the verifiers find something and rounds are left.

    `episode_settings` are those of `refine_settings`; without a template it is the built-in one. The reply is the last
    one that can be read. A reply that cannot be read ends the rounds. Parts are the precision and recall of gateways
    of all types after each round; after the end, they stay as they are.
    """
    rounds, rule, template = _rounds(question), conflict_rule(_verifier(question)), _template(question)
    marked = question.place == "marker"
    messages: list[dict[str, Any]] = [*opening(question)]
    (reply,) = yield [Request(messages=[*messages])]
    graph = _graph_of(question, reply)
    best, scored, notes = reply, [graph or ProceduralGraph()], [_note(0, graph, ())]
    hinted: set[tuple[str, ...]] = set()
    while graph is not None and len(scored) <= rounds:
        feedback = find_feedback(graph, rule, hinted)
        if not feedback:
            break
        hinted.update(found.phrases for found in feedback if found.kind == "sequential")
        messages += [
            {"role": "assistant", "content": reply.text},
            {"role": "user", "content": feedback_message(feedback, template, marked)},
        ]
        (reply,) = yield [Request(messages=[*messages])]
        graph = _graph_of(question, reply)
        notes.append(_note(len(scored), graph, feedback))
        if graph is not None:
            best = reply
            scored.append(graph)
    return Transcript(best, parts=_gateway_parts(question, scored, rounds), notes=notes)


def find_feedback(
    graph: ProceduralGraph, rule: ConflictRule, hinted: set[tuple[str, ...]] | frozenset[tuple[str, ...]] = frozenset()
) -> list[VerifierFeedback]:
    """Return what the verifiers have to say of a graph, in the order of the message.

    Args:
        graph: The graph.
        rule: What decides whether conditions in prose conflict.
        hinted: Pairs of sequential actions that need not be told again: the model has kept them in sequence.
    """
    hints = (found for found in verify_sequences(graph) if found.phrases not in hinted)
    return order_feedback([*verify_conditions(graph, rule), *verify_parallel(graph), *hints])


def _graph_of(question: Question, reply: Reply) -> ProceduralGraph | None:
    """Return the graph of a reply as it is scored; None if none can be read, or the token limit cut it."""
    given = None if reply.cut_off else read_answer(question, reply)
    return None if given is None else answered_procedure(given)


def _gateway_parts(question: Question, graphs: list[ProceduralGraph], rounds: int) -> dict[str, list[float]]:
    """Return numerator and count of the precision and the recall of gateways, for each round from 0."""
    gold = gold_procedure(question.reference)
    parts: dict[str, list[float]] = {}
    counts = [pooled(found[sort] for sort in GATEWAYS) for found in (score_procedure(one, gold) for one in graphs)]
    for number in range(rounds + 1):
        count = counts[min(number, len(counts) - 1)]
        parts[f"round_{number}_gateway_precision"] = [*count.extracted]
        parts[f"round_{number}_gateway_recall"] = [*count.gold]
    return parts


def _note(number: int, graph: ProceduralGraph | None, feedback: list[VerifierFeedback] | tuple[()]) -> dict[str, Json]:
    """Return what the record says of a round: the feedback that was sent, and whether a graph came back."""
    told: list[Json] = [{**asdict(found), "phrases": [*found.phrases]} for found in feedback]
    return {"round": number, "read": "unparseable" if graph is None else "graph", "feedback": told}


def _rounds(question: Question) -> int:
    found = question.episode_settings.get("rounds")
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise UsageError(f"question {question.id}: episode_settings['rounds'] is {found!r}; expected a number above 0")
    return found


def _verifier(question: Question) -> str:
    return str(question.episode_settings.get("verifier", "lexical"))


def _template(question: Question) -> str:
    found = question.episode_settings.get("feedback")
    return found if isinstance(found, str) else feedback_template(Settings())

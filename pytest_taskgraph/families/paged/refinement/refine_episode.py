"""The episode of self-refinement: a graph, then rounds in which verifiers state what the model is to reconsider."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from ....asking import Transcript, Turns
from ....benchmarks.episodes import opening
from ....benchmarks.settings import Settings
from ....errors import UnknownNameError, UsageError
from ....scoring.grade import read_answer
from ....scoring.procedural_graphs.answered_graphs import answered_procedure, gold_procedure
from ....scoring.procedural_graphs.graph_scores import pool_counts, score_procedure
from ....trial import Json, Question, Reply, Request
from ....workflow.procedural_graph import GATEWAYS, ProceduralGraph
from ..paged_settings import PagedSettings
from .conflict_rules import ConflictRule, LexicalConflictRule, check_entailment_rule, entailment_rule
from .verifier_feedback import VerifierFeedback, feedback_message, feedback_template, order_feedback
from .verifiers import verify_gateways, verify_parallel, verify_sequences

if TYPE_CHECKING:
    from ..document_sets import DocumentPair


@dataclass(frozen=True, slots=True)
class ConflictRuleMaker:
    """What makes a rule about conditions in prose.

    Args:
        make: From the name of an entailment model to the rule for one question. Raises UsageError.
        check: Checks, before anything is asked, that the rule can be made of a model. Raises UsageError.
        with_model: Whether the rule asks the model.
    """

    make: Callable[[str], ConflictRule]
    check: Callable[[str], None] = lambda model: None
    with_model: bool = False


CONFLICT_RULES: Final[Mapping[str, ConflictRuleMaker]] = {
    "lexical": ConflictRuleMaker(lambda model: LexicalConflictRule()),
    "nli": ConflictRuleMaker(entailment_rule, check_entailment_rule, with_model=True),
}
"""From the name of a condition verifier to what decides about conditions in prose."""


def check_refinement(settings: PagedSettings) -> None:
    """Check that the condition verifier of a run is there, with the model that it needs.

    Raises:
        UsageError: if it is not.
    """
    _rule_maker(settings.verifier).check(settings.nli)


def refine_settings(pair: DocumentPair, settings: PagedSettings) -> dict[str, Json]:
    """Return the settings of the episode: rounds of feedback, condition verifier and its model, template of messages.

    Raises:
        UsageError: if the user's template cannot be read.
        UnknownNameError: if there is no verifier of that name.
    """
    stated: dict[str, Json] = {"rounds": settings.rounds, "verifier": settings.verifier}
    model: dict[str, Json] = {"model": settings.nli} if _rule_maker(settings.verifier).with_model else {}
    return {**stated, **model, "feedback": feedback_template(settings)}


def conflict_rule(name: str, model: str = "") -> ConflictRule:
    """Return what decides whether conditions in prose conflict, for one question.

    Args:
        name: The name of the condition verifier.
        model: The entailment model of the verifier nli.

    Raises:
        UnknownNameError: if there is no verifier of that name.
        UsageError: if its model cannot be loaded.
    """
    return _rule_maker(name).make(model)


def _rule_maker(name: str) -> ConflictRuleMaker:
    if name not in CONFLICT_RULES:
        raise UnknownNameError("condition verifier of PAGED", name, CONFLICT_RULES)
    return CONFLICT_RULES[name]


def refine(question: Question) -> Turns:
    """Ask for a graph, then for better ones, as long as the verifiers find something and rounds are left.

    `episode_settings` are those of `refine_settings`; without a template it is the built-in one. The reply is the last
    one that can be read, as in the paper, which scores the refined graph, whether or not it is better. A reply that
    cannot be read ends the rounds. Parts are the precision and recall of gateways of all types after each round; after
    the end, they stay as they are.
    """
    rounds, rule, template = _rounds(question), _rule(question), _template(question)
    with_marker = question.place == "marker"
    messages: list[dict[str, Any]] = [*opening(question)]
    (reply,) = yield [Request(messages=[*messages])]
    graph = _graph_of(question, reply)
    best, scored, notes = reply, [graph or ProceduralGraph()], [_note(0, graph, ())]
    hinted: set[tuple[str, ...]] = set()
    while graph is not None and len(scored) <= rounds:
        feedback = yield from _find_feedback(graph, rule, hinted)
        if not feedback:
            break
        hinted.update(item.phrases for item in feedback if item.kind == "sequential")
        messages += [
            {"role": "assistant", "content": reply.text},
            {"role": "user", "content": feedback_message(feedback, template, with_marker)},
        ]
        (reply,) = yield [Request(messages=[*messages])]
        graph = _graph_of(question, reply)
        notes.append(_note(len(scored), graph, feedback))
        if graph is not None:
            best = reply
            scored.append(graph)
    return Transcript(best, parts=_gateway_parts(question, scored, rounds), notes=notes)


def _find_feedback(
    graph: ProceduralGraph, rule: ConflictRule, hinted: set[tuple[str, ...]]
) -> Generator[list[Request], list[Reply], list[VerifierFeedback]]:
    """Return what the verifiers have to say of a graph, in the order of the message, and request nothing.

    It yields after each gateway: a model may judge its conditions, and the requests of other questions wait meanwhile.

    Args:
        graph: The graph.
        rule: What decides whether conditions in prose conflict.
        hinted: Pairs of sequential actions that are not reported again: the model has kept them in sequence.
    """
    on_conditions: list[VerifierFeedback] = []
    for feedback in verify_gateways(graph, rule):
        on_conditions += [] if feedback is None else [feedback]
        yield []
    hints = (hint for hint in verify_sequences(graph) if hint.phrases not in hinted)
    return order_feedback([*on_conditions, *verify_parallel(graph), *hints])


def _graph_of(question: Question, reply: Reply) -> ProceduralGraph | None:
    """Return the graph of a reply as it is scored; None if none can be read, or the token limit cut it."""
    given = None if reply.cut_off else read_answer(question, reply)
    return None if given is None else answered_procedure(given)


def _gateway_parts(question: Question, graphs: list[ProceduralGraph], rounds: int) -> dict[str, list[float]]:
    """Return numerator and count of the precision and the recall of gateways, for each round from 0."""
    gold = gold_procedure(question.reference)
    parts: dict[str, list[float]] = {}
    counts = [
        pool_counts(scores[sort] for sort in GATEWAYS) for scores in (score_procedure(graph, gold) for graph in graphs)
    ]
    for number in range(rounds + 1):
        count = counts[min(number, len(counts) - 1)]
        parts[f"round_{number}_gateway_precision"] = [*count.extracted]
        parts[f"round_{number}_gateway_recall"] = [*count.gold]
    return parts


def _note(number: int, graph: ProceduralGraph | None, feedback: list[VerifierFeedback] | tuple[()]) -> dict[str, Json]:
    """Return what the record says of a round: the feedback that was sent, and whether a graph came back."""
    items: list[Json] = [{"verifier": item.verifier, **asdict(item), "phrases": [*item.phrases]} for item in feedback]
    return {"round": number, "read": "unparseable" if graph is None else "graph", "feedback": items}


def _rounds(question: Question) -> int:
    rounds = question.episode_settings.get("rounds")
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise UsageError(f"question {question.id}: episode_settings['rounds'] is {rounds!r}; expected a number above 0")
    return rounds


def _rule(question: Question) -> ConflictRule:
    stated = question.episode_settings
    return conflict_rule(str(stated.get("verifier", "lexical")), str(stated.get("model", "")))


def _template(question: Question) -> str:
    template = question.episode_settings.get("feedback")
    return template if isinstance(template, str) else feedback_template(Settings())

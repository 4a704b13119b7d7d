"""What is wrong with the steps of an answer and the dependencies between them.

Steps are matched as for `graph_f1`: one-to-one, pairs of at least ALIKE. The similarity is that which the answer
carries, if an embedder measured it; else that of words, so that no model is loaded to explain a score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Final

from ...trial import Json
from ..task_graphs.shared_parts import alike_pairs
from ..task_graphs.step_graphs import (
    Edge,
    StepGraph,
    answered_graph,
    gold_graph,
    transitive_closure,
    transitive_reduction,
    unread_pairs,
)
from ..task_graphs.step_matching import similarity_matrix
from .sentence_parts import cut, write_name

MOST_STEPS: Final = 200
"""Largest number of steps of one side, because all pairs are compared."""
_EMBEDDINGS: Final = "embeddings"


def explain_steps(reference: Json, given: Json) -> list[str]:
    """Name the dependencies that are reversed, missing or extra, and the steps without a counterpart.

    Raises:
        UnmeasuredError: if an embedder was to measure the similarity of the steps, and has not.
        UsageError: if the reference is malformed.
    """
    gold, answer = gold_graph(reference), answered_graph(given)
    if not answer.steps or max(len(gold.steps), len(answer.steps)) > MOST_STEPS:
        return []
    counterparts = _counterparts(reference, given, gold, answer)
    unread = len({*unread_pairs(given)})
    return [
        *_dependency_sentences(gold, answer, counterparts),
        *_step_sentences(gold, answer, counterparts),
        *([f"{unread:,} {'pair has' if unread == 1 else 'pairs have'} no parseable answer"] if unread else []),
    ]


def _counterparts(reference: Json, given: Json, gold: StepGraph, answer: StepGraph) -> dict[int, int]:
    """Return the index of the gold step that each given step stands for, if any."""
    if gold.steps == answer.steps:
        return {at: at for at in range(len(gold.steps))}
    has_embeddings = isinstance(reference, dict) and reference.get("similarity") == _EMBEDDINGS
    stated: Json = {
        "steps": [*gold.steps],
        "dependencies": [],
        "similarity": _EMBEDDINGS if has_embeddings else "lexical",
    }
    return dict(alike_pairs(similarity_matrix(given, stated)))


def _dependency_sentences(gold: StepGraph, answer: StepGraph, counterparts: Mapping[int, int]) -> list[str]:
    """Return sentences about the dependencies between steps that both graphs have, in the words of the gold steps."""
    size = len(gold.steps)
    right = transitive_closure(size, gold.dependencies)
    stated = [
        (counterparts[a], counterparts[b]) for a, b in answer.dependencies if a in counterparts and b in counterparts
    ]
    implied = {
        (counterparts[a], counterparts[b])
        for a, b in transitive_closure(len(answer.steps), answer.dependencies)
        if a in counterparts and b in counterparts
    }
    needed = transitive_reduction(size, gold.dependencies)
    steps_of_both = {*counterparts.values()}
    reversed_pairs = _essential([(b, a) for a, b in stated if (b, a) in right and (a, b) not in right], right)
    missing = [
        pair for pair in needed if steps_of_both.issuperset(pair) and pair not in implied and pair not in reversed_pairs
    ]
    extra = [(a, b) for a, b in stated if (a, b) not in right and (b, a) not in right]
    return [
        *_pair_sentences(gold, reversed_pairs, "has to come before {}, and not after it"),
        *_pair_sentences(gold, missing, "has to come before {}, and the answer does not say so"),
        *_pair_sentences(gold, extra, "need not come before {}"),
    ]


def _essential(pairs: Sequence[Edge], right: Set[Edge]) -> list[Edge]:
    """Return the pairs between whose steps no other pair lies, which implies them."""
    after: dict[int, set[int]] = {}
    before: dict[int, set[int]] = {}
    for a, b in pairs:
        after.setdefault(a, set()).add(b)
        before.setdefault(b, set()).add(a)
    essential = [
        (a, b)
        for a, b in pairs
        if not any((between, b) in right for between in after[a] if between != b)
        and not any((a, between) in right for between in before[b] if between != a)
    ]
    return essential or [*pairs]  # none is, where steps of the gold graph depend on each other in a circle


def _pair_sentences(gold: StepGraph, pairs: Sequence[Edge], text: str) -> list[str]:
    return cut(
        [f"{write_name(gold.steps[a])} {text.format(write_name(gold.steps[b]))}" for a, b in dict.fromkeys(pairs)],
        "pair",
    )


def _step_sentences(gold: StepGraph, answer: StepGraph, counterparts: Mapping[int, int]) -> list[str]:
    steps_of_both = {*counterparts.values()}
    missing = [step for at, step in enumerate(gold.steps) if at not in steps_of_both]
    extra = [step for at, step in enumerate(answer.steps) if at not in counterparts]
    return [
        *cut([f"no step of the answer stands for {write_name(step)}" for step in missing], "step"),
        *cut([f"{write_name(step)} stands for no expected step" for step in extra], "step"),
    ]

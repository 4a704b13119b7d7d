"""Metrics of task graphs: steps and the dependencies between them, against a gold graph.

Node and edge metrics of TaskLAMA (Yuan et al. 2024, "Metrics"), chain and subgraph of WorFBench (Qiao et al. 2024).
An answer is `{"steps": [...], "dependencies": [[i, j], ...]}`; one of another shape has no steps. The reference has the
same shape; its "similarity" names the measure of how similar two steps are (`..task_graphs.similarity`). If an embedder
is to measure the similarity and has not, the values that depend on it are undefined.

The overlap of the neighbours of matched steps: of their parents, their children, and both (Yuan et al. 2024).

The texts of a step's neighbours are joined in the order of the graph's own steps, and compared by the F1 of ROUGE. The
paper leaves open the value of two empty neighbourhoods. Here two steps without neighbours agree: 1. A step without a
partner is paired with a dummy that has no neighbours either, and that is 0: else an isolated useless step would raise
the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from math import fsum
from typing import Final

from ...errors import UnmeasuredError
from ...trial import Json
from ..measurement import Measurement, declares
from ..task_graphs.shared_parts import alike_pairs, largest_common_subgraph, longest_chain
from ..task_graphs.step_graphs import (
    StepGraph,
    answered_graph,
    gold_graph,
    independent_pairs,
    pairwise_hits,
    unread_pairs,
)
from ..task_graphs.step_matching import (
    Matrix,
    hungarian_scores,
    match_steps,
    relaxed_scores,
    similarity_matrix,
    unlimited_scores,
    words,
)
from .texts import f_beta, ngram_shares, subsequence_shares, tokens

Words = Sequence[str]
_ROUGE: Final[dict[str, Callable[[Words, Words], tuple[float, float]]]] = {
    "rouge1": lambda given, gold: ngram_shares(given, gold, 1),
    "rouge2": lambda given, gold: ngram_shares(given, gold, 2),
    "rouge_l": subsequence_shares,
}
_AROUND: Final = ("in_degree", "out_degree", "step_proximity")
OVERLAPS: Final = tuple(f"{around}_{rouge}" for around in _AROUND for rouge in _ROUGE)
_MATCHED: Final = (
    "hungarian_precision", "hungarian_recall", "hungarian_f2",
    "relaxed_precision", "relaxed_recall", "relaxed_f1", "relaxed_f2",
    "unlimited_precision", "unlimited_recall", "unlimited_f1",
)  # fmt: skip
_DOCUMENTS: Final = (
    "steps_rouge1_f1", "steps_rouge1_f2", "steps_rouge2_f1", "steps_rouge2_f2", "steps_rouge_l_f1", "steps_rouge_l_f2"
)  # fmt: skip


def neighbourhood_overlaps(
    given: StepGraph, gold: StepGraph, pairs: Iterable[tuple[int, int]]
) -> dict[str, float | None]:
    """Return the mean overlap of the neighbourhoods of matched steps, by the names in OVERLAPS; each 0.0 to 1.0.

    Args:
        given: The generated graph, its dependencies as they are.
        gold: The gold graph, its dependencies as annotated.
        pairs: A matching, one-to-one, of all steps of the smaller graph, as `match_steps` returns it. Every step of
            the larger graph that is in no pair counts 0.

    Returns:
        The means over all pairs, those with a dummy included; None if both graphs are empty.
    """
    matched = list(pairs)
    steps = max(len(given.steps), len(gold.steps))
    if not steps:
        return dict.fromkeys(OVERLAPS)
    means: dict[str, float | None] = {}
    for around, ours, theirs in zip(_AROUND, _surroundings(given), _surroundings(gold), strict=True):
        around_pairs = [(ours[row], theirs[column]) for row, column in matched]
        for rouge, shares in _ROUGE.items():
            values = (
                f_beta(*shares(left, right)) for left, right in around_pairs if left is not None and right is not None
            )
            agreed = sum(left is None and right is None for left, right in around_pairs)
            means[f"{around}_{rouge}"] = (agreed + fsum(values)) / steps
    return means


def _surroundings(graph: StepGraph) -> tuple[list[Words | None], ...]:
    """Return, for the parents, the children and both, the words around every step; None where no step is around."""
    words = [tokens(step) for step in graph.steps]
    parents, children = graph.neighbours()
    both = [sorted({*before, *after}) for before, after in zip(parents, children, strict=True)]
    return tuple(
        [list(chain.from_iterable(words[at] for at in near)) if near else None for near in around]
        for around in (parents, children, both)
    )


@declares(*_MATCHED, *_DOCUMENTS)
def hungarian_f1(given: Json, reference: Json) -> Measurement:
    """Return the F1 of steps matched one-to-one, and the other scores of steps as further values.

    These are precision, recall and F2 (recall weighs twice as much) for matchings that are one-to-one, relaxed
    (one-to-two) and unlimited, and F1 and F2 of ROUGE-1, -2 and -L of the steps joined to one text. All are 0.0 to 1.0.
    """
    documents = _document_scores(given, reference)
    matrix = _matrix(given, reference)
    if matrix is None:
        return Measurement(None, {**dict.fromkeys(_MATCHED), **documents})
    values: dict[str, float | None] = {}
    for name, (precision, recall) in {
        "hungarian": hungarian_scores(matrix),
        "relaxed": relaxed_scores(matrix),
        "unlimited": unlimited_scores(matrix),
    }.items():
        values[f"{name}_precision"], values[f"{name}_recall"] = precision, recall
        values[f"{name}_f1"], values[f"{name}_f2"] = f_beta(precision, recall), f_beta(precision, recall, 2)
    declared = {name: values[name] for name in _MATCHED}
    return Measurement(values["hungarian_f1"], {**declared, **documents})


@declares(*OVERLAPS[1:])
def in_degree_rouge1(given: Json, reference: Json) -> Measurement:
    """Return the mean overlap of the parents of matched steps by ROUGE-1, and the other overlaps of neighbourhoods.

    These are by ROUGE-1, -2 and -L those of the parents (in-degree), of the children (out-degree), and of both
    together (step proximity); all 0.0 to 1.0.
    """
    matrix = _matrix(given, reference)
    if matrix is None:
        return Measurement(None)
    overlaps = neighbourhood_overlaps(answered_graph(given), gold_graph(reference), match_steps(matrix))
    return Measurement(overlaps.pop(OVERLAPS[0]), overlaps)


@declares("chain_f1")
def graph_f1(given: Json, reference: Json) -> Measurement:
    """Return the F1 of the largest common subgraph, and of the longest common chain, of matched steps; 0.0 to 1.0.

    The subgraph is undefined where it cannot be found within bounds (`shared_parts.MOST_STATES`).
    """
    matrix = _matrix(given, reference)
    if matrix is None:
        return Measurement(None)
    answer, gold = answered_graph(given), gold_graph(reference)
    pairs = alike_pairs(matrix)
    chain = longest_chain(pairs, gold)
    common = largest_common_subgraph(pairs, answer, gold)
    steps = len(answer.steps), len(gold.steps)
    return Measurement(None if common is None else _f1_of(common, *steps), {"chain_f1": _f1_of(chain, *steps)})


def _pairwise_of_no_answer(reference: Json) -> Measurement:
    return _pairwise(reference, None)


@declares("majority_class", unparseable=_pairwise_of_no_answer)
def pairwise_accuracy(given: Json, reference: Json) -> Measurement:
    """Return the share of ordered pairs of gold steps that are answered right, 0.0 to 1.0; None if there is no pair.

    The dependencies of the answer count as its answers about single pairs, without their transitive closure; a method
    that states immediate dependencies must return the closure. If its steps are not those of the reference, in that
    order, no pair is right. A pair that the answer lists as `unread` is wrong. `majority_class` is the share that the
    answer "no dependency" for every pair gets right. The parts `pairs` and `majority_pairs` hold the counts, for the
    accuracy over all pairs of all tasks.
    """
    answer, gold = answered_graph(given), gold_graph(reference)
    same = [words(step) for step in answer.steps] == [words(step) for step in gold.steps]
    return _pairwise(reference, answer.dependencies if same else None, unread_pairs(given))


def _pairwise(
    reference: Json, dependencies: tuple[tuple[int, int], ...] | None, unread: Sequence[tuple[int, int]] = ()
) -> Measurement:
    gold = gold_graph(reference)
    free, pairs = independent_pairs(len(gold.steps), gold.dependencies)
    right = 0
    if dependencies is not None:
        right, _ = pairwise_hits(len(gold.steps), dependencies, gold.dependencies, unread)
    return Measurement(
        right / pairs if pairs else None,
        {"majority_class": free / pairs if pairs else None},
        {"pairs": (right, pairs), "majority_pairs": (free, pairs)},
    )


def _matrix(given: Json, reference: Json) -> Matrix | None:
    """Return the similarities of the steps, None if an embedder is to measure them and has not."""
    try:
        return similarity_matrix(given, reference)
    except UnmeasuredError:
        return None


def _document_scores(given: Json, reference: Json) -> dict[str, float]:
    """Return F1 and F2 of ROUGE between the texts that the steps of either side make, joined by a blank."""
    ours, theirs = (tokens(" ".join(graph.steps)) for graph in (answered_graph(given), gold_graph(reference)))
    shares = {
        "rouge1": ngram_shares(ours, theirs, 1),
        "rouge2": ngram_shares(ours, theirs, 2),
        "rouge_l": subsequence_shares(ours, theirs),
    }
    return {f"steps_{name}_f{beta}": f_beta(*pair, beta) for name, pair in shares.items() for beta in (1, 2)}


def _f1_of(common: int, given: int, gold: int) -> float:
    """Return the F1 of a number of common steps over those of either side; 0.0 if both sides are empty."""
    return 2 * common / (given + gold) if given + gold else 0.0

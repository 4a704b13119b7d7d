"""The overlap of the neighbours of matched steps: of their parents, their children, and both (Yuan et al. 2024).

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

from ..rouge import f_beta, ngram_shares, subsequence_shares, tokens
from .step_graphs import StepGraph

Words = Sequence[str]

_ROUGE: Final[dict[str, Callable[[Words, Words], tuple[float, float]]]] = {
    "rouge1": lambda given, gold: ngram_shares(given, gold, 1),
    "rouge2": lambda given, gold: ngram_shares(given, gold, 2),
    "rouge_l": subsequence_shares,
}
_AROUND: Final = ("in_degree", "out_degree", "step_proximity")

OVERLAPS: Final = tuple(f"{around}_{rouge}" for around in _AROUND for rouge in _ROUGE)


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

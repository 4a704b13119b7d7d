"""How many steps a baseline gives: the number that is best on the validation tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import Final

from ....scoring.metrics.texts import f_beta
from ....scoring.task_graphs.step_matching import hungarian_scores, similarity_matrix
from ....trial import Json
from ..complex_task import ComplexTask

MOST_STEPS: Final = 20

RankedSteps = Callable[[str], Sequence[str]]
"""From the title of a task to its possible steps, the best first."""


def tuned_length(ranked: RankedSteps, tasks: Sequence[ComplexTask]) -> int:
    """Return how many of the ranked steps, 1 to 20, give the largest mean F1; the smallest number among equals.

    F1 is that of the Hungarian matching by the lexical similarity of steps (`hungarian_f1`).

    Args:
        ranked: The steps of a task; where they are fewer, all of them count.
        tasks: The validation tasks; 1 is returned where there are none.
    """
    by_task = [_scores_by_length(ranked(task.title), task) for task in tasks]
    # Rounded, so that totals which differ by the order of an addition alone are equal.
    totals = [round(fsum(scores), 9) for scores in zip(*by_task, strict=True)]
    return totals.index(max(totals)) + 1 if totals else 1


def _scores_by_length(steps: Sequence[str], task: ComplexTask) -> list[float]:
    """Return the F1 of the first step, of the first two, ..., of the first 20; with none left, the last F1 again."""
    gold: Json = {"steps": [*task.steps], "dependencies": []}
    matrix = similarity_matrix({"steps": [*steps[:MOST_STEPS]], "dependencies": []}, gold)
    scores = [f_beta(*hungarian_scores(matrix[:length])) for length in range(1, len(matrix) + 1)] or [0.0]
    return scores + scores[-1:] * (MOST_STEPS - len(scores))

"""The next step, chosen by the perplexity that an n-gram model gives to texts."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt

from ....errors import UsageError
from .language_model import KneserNeyModel
from .word_tokens import word_tokens


def lowest_perplexity(model: KneserNeyModel, prefix: str, options: Sequence[str]) -> int | None:
    """Return the place of the option whose query has the lowest perplexity, from 0; None if two have it.

    The query is the prefix and the option, and its perplexity that of all its tokens (Wang et al. 2023, section 3.4,
    "Multi-Choice Question Evaluation Setting").

    Args:
        model: The model.
        prefix: The steps before, as one text.
        options: The steps to choose from.
    """
    before = word_tokens(prefix)
    perplexities = [model.perplexity([*before, *word_tokens(option)]) for option in options]
    values = [inf if value is None else value for value in perplexities]
    lowest = min(values, default=inf)
    return values.index(lowest) if values.count(lowest) == 1 and lowest < inf else None


def step_perplexity(model: KneserNeyModel, prefix: str, candidate: str) -> float:
    """Return the perplexity of a candidate step behind the steps before; infinite if the candidate has no tokens.

    The tokens of the prefix do not count, for it is the same whatever the candidate.

    Args:
        model: The model.
        prefix: The steps before, as one text.
        candidate: The step.
    """
    perplexity = model.perplexity(word_tokens(candidate), word_tokens(prefix))
    return inf if perplexity is None else perplexity


def tuned_threshold(perplexities: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the perplexity up to which a candidate is best taken for the next step.

    It is that of the given perplexities with the largest G-mean, the square root of sensitivity times specificity,
    on development questions; the lowest among equals.

    Args:
        perplexities: Of the candidate of each development question (`step_perplexity`).
        labels: Of each question, whether the candidate is the next step.

    Raises:
        UsageError: if there is no question of one of the labels.
    """
    rows = sorted(zip(perplexities, labels, strict=True))
    positives = sum(labels)
    negatives = len(rows) - positives
    if not (positives and negatives):
        raise UsageError(
            f"a threshold cannot be tuned on {positives} questions with the answer Yes and {negatives} with No; "
            "give at least one of each"
        )
    best, threshold, hits, alarms = -1.0, rows[0][0], 0, 0
    for value, label in rows:  # of equal perplexities No stands first, so some of them are no better than all
        hits, alarms = hits + label, alarms + (not label)
        g_mean = sqrt(hits / positives * (negatives - alarms) / negatives)
        if g_mean > best:
            best, threshold = g_mean, value
    return threshold

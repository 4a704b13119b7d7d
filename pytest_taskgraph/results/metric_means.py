"""The means of metrics over answered trials, and the chance level."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from ..trial import Trial
from .statistics import mean


def chances(answered: Sequence[Trial]) -> tuple[float | None, float | None]:
    """The mean chance, and the score above it, over the answered trials whose chance is known."""
    known = [trial for trial in answered if trial.question.chance is not None]
    chance = mean([trial.question.chance or 0.0 for trial in known])
    score = mean([0.0 if trial.score is None else trial.score.value for trial in known])
    if chance is None or score is None:
        return None, None
    return chance, (score - chance) / (1 - chance) if chance < 1 else None


def metric_means(answered: Sequence[Trial]) -> tuple[dict[str, float], dict[str, int]]:
    """The mean of every metric over the trials where it is defined, and how often it is not."""
    values: dict[str, list[float | None]] = {}
    for trial in answered:
        for name, value in metrics_of(trial).items():
            values.setdefault(name, []).append(value)
    defined = {name: [one for one in values[name] if one is not None] for name in sorted(values)}
    means = {name: fsum(ones) / len(ones) for name, ones in defined.items() if ones}
    missing = {name: len(values[name]) - len(ones) for name, ones in defined.items()}
    return means, {name: count for name, count in missing.items() if count}


def metrics_of(trial: Trial) -> dict[str, float | None]:
    """Every metric of an answered trial by name. A reply without an answer is worth 0 in each that was asked for:
    left out, it would lift the mean.
    """
    zeros = dict.fromkeys(trial.question.further, 0.0) if trial.outcome in ("unparseable", "refused") else {}
    if trial.score is None:
        return {**zeros, trial.question.metric: 0.0}
    return {**zeros, **trial.score.metrics, trial.question.metric: trial.score.value}

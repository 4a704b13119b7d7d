"""Scores entered by a person: they decide in place of the main metric, whose value stays beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..trial import Trial
from .grade import outcome_of

METRIC: Final = "manual"


def annotation(trial: Trial) -> float | None:
    """Return the score that a person gave the answer, None if there is none."""
    return None if trial.score is None else trial.score.metrics.get(METRIC)


def is_decided_by_hand(trial: Trial) -> bool:
    """Return True if the annotation is the score; in records of earlier versions it only stood beside the score."""
    return trial.score is not None and {METRIC, trial.question.metric} <= trial.score.metrics.keys()


def annotated(trial: Trial, score: float | None) -> Trial:
    """Return the trial with a person's score as its score, and the outcome by the pass threshold.

    The value of the main metric stays among the metrics. An answer that could not be parsed may be right: the person
    has read the reply.

    Args:
        trial: A trial with a reply and a score.
        score: The person's score, 0.0 to 1.0. None takes an earlier one away and restores what the metric said.
    """
    bare = without_annotation(trial)
    if score is None or bare.score is None:
        return bare
    metrics = {**bare.score.metrics, trial.question.metric: bare.score.value, METRIC: score}
    by_hand = replace(bare.score, value=score, metrics=metrics)
    return replace(bare, score=by_hand, outcome=outcome_of(trial.question, replace(by_hand, status="read")))


def without_annotation(trial: Trial) -> Trial:
    """Return the trial as the main metric scored it."""
    if trial.score is None or METRIC not in trial.score.metrics:
        return trial
    by_hand = is_decided_by_hand(trial)
    metrics = {name: value for name, value in trial.score.metrics.items() if name != METRIC}
    value = (metrics.pop(trial.question.metric) or 0.0) if by_hand else trial.score.value
    score = replace(trial.score, value=value, metrics=metrics)
    return replace(trial, score=score, outcome=outcome_of(trial.question, score) if by_hand else trial.outcome)

"""From a question and its reply to a trial, whether the reply came just now or was kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..errors import OrderTooWideError, ProviderError
from ..trial import Failure, Outcome, Question, Reply, Score, Trial
from .grade import grade


def score_reply(
    question: Question,
    reply: Reply,
    model: str,
    requests: int = 1,
    measured: Mapping[str, float | None] | None = None,
) -> tuple[Trial, Exception | None]:
    """The trial of a reply that arrived; with an error if it was cut off before an answer could be read, or if it
    cannot be scored exactly within the bounds of its metric. `measured`: the metrics that models measured.
    """
    trial = Trial(question, model, "error", reply, requests=requests)
    try:
        score = grade(question, reply, measured)
    except (ProviderError, OrderTooWideError) as error:
        return replace(trial, failure=Failure(error.kind, error.message)), error
    return replace(trial, score=score, outcome=outcome_of(question, score)), None


def outcome_of(question: Question, score: Score) -> Outcome:
    """Return the outcome of an answer with this score, by the pass threshold of its question."""
    if score.status != "read":
        return score.status
    if question.graded:
        return "graded"
    return "right" if score.value >= question.pass_threshold else "wrong"

"""Effort and scores of a trial, as names and values."""

from __future__ import annotations

from ..results.record.exchanges import sum_trials
from ..trial import Trial
from .spending_line import tokens_texts
from .wording import number


def trial_facts(trial: Trial) -> list[list[str]]:
    """Return the metrics, the cost and the effort of a trial as names and values; what is unknown is left out."""
    usage, question, score, reply = sum_trials([trial]), trial.question, trial.score, trial.reply
    metrics = {} if score is None else score.metrics
    facts = [
        ("main metric", question.metric),
        *((name, "undefined" if value is None else number(value)) for name, value in metrics.items()),
        ("cost", f"${usage.cost:,.6f}" if usage.cost is not None else "unknown" if usage.replies else ""),
        ("tokens", ", ".join(tokens_texts(usage, with_unit=False))),
        ("latency", "" if usage.latency is None else f"{usage.latency:.2f} s"),
        ("requests", str(trial.requests) if trial.requests > 1 else ""),
        (
            "from the store",
            f"{usage.stored:,} replies of earlier runs" if usage.stored > 1 else "yes" if usage.stored else "",
        ),
        ("retries", str(trial.retries) if trial.retries else ""),
        ("finish reason", reply.finish_reason if reply and reply.finish_reason != "stop" else ""),
        ("answered by", reply.source if reply and reply.source != trial.model else ""),
        ("varied", f"{question.relation} of {question.twin}" if question.relation else ""),
        ("repetition", str(question.repetition) if question.repetition > 1 else ""),
    ]
    return [[name, value] for name, value in facts if value]

"""Effort and scores of a trial, as names and values."""

from __future__ import annotations

from ..results.record.exchanges import Spending, sum_replies, sum_spending
from ..trial import Trial
from .spending_line import output_text
from .wording import number


def _tokens(sums: Spending) -> str:
    if not (sums.tokens_in or sums.tokens_out):
        return ""
    return f"{sums.tokens_in:,} in, {output_text(sums.tokens_out, sums.tokens_reasoning)}"


def trial_facts(trial: Trial) -> list[list[str]]:
    """Return the metrics, the cost and the effort of a trial as names and values; what is unknown is left out."""
    sums, question, score, reply = sum_spending([trial]), trial.question, trial.score, trial.reply
    latency = sum_replies(trial).latency
    metrics = {} if score is None else score.metrics
    facts = [
        ("main metric", question.metric),
        *((name, "undefined" if value is None else number(value)) for name, value in metrics.items()),
        ("cost", f"${sums.cost:,.6f}" if sums.priced else "unknown" if sums.unpriced else ""),
        ("tokens", _tokens(sums)),
        ("latency", "" if latency is None else f"{latency:.2f} s"),
        ("requests", str(trial.requests) if trial.requests > 1 else ""),
        (
            "from the store",
            f"{sums.stored:,} replies of earlier runs" if sums.stored > 1 else "yes" if sums.stored else "",
        ),
        ("retries", str(trial.retries) if trial.retries else ""),
        ("finish reason", reply.finish_reason if reply and reply.finish_reason != "stop" else ""),
        ("answered by", reply.source if reply and reply.source != trial.model else ""),
        ("varied", f"{question.relation} of {question.twin}" if question.relation else ""),
        ("repetition", str(question.repetition) if question.repetition > 1 else ""),
    ]
    return [[name, value] for name, value in facts if value]

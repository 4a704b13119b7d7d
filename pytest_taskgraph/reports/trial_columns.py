"""A trial as columns: what reports with a row for each trial state of it.

A column of exports, CSV and JUnit stands here once. Labels, metrics and parts, whose names depend on the trials, are
added by each report.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..results.record.exchanges import sum_trials
from ..scoring.trial_explanation import explain_trial
from ..trial import PROMPT, Failure, Question, Reply, Score, Trial
from ..usage import Usage
from .failure import expected_answer, given_answer
from .spending_line import tokens_texts
from .wording import number

Kind = Literal["text", "whole", "number", "boolean", "texts", "json"]
_PASSED: Final = {"right": True, "wrong": False, "unparseable": False, "refused": False}


@dataclass(frozen=True, slots=True)
class DataColumn:
    """A column: its name, the kind of its values, and what they mean."""

    name: str
    kind: Kind
    meaning: str
    csv: bool = True  # False if its values are long, or data; they are in the record


class TrialRow:
    """A trial whose columns are read; the usage of its replies is summed up once."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.question: Question = trial.question
        self.score: Score | None = trial.score
        self.reply: Reply | None = trial.reply
        self.failure: Failure | None = trial.failure
        self.usage: Usage = sum_trials([trial])

    @property
    def is_parsed(self) -> bool:
        """Return True if an answer was read in the reply."""
        return self.score is not None and self.score.status == "read"

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - of the column's kind
        """Return the value of a column; None if it is unknown."""
        return _GETTERS[name](self)


TRIAL_COLUMNS: Final[dict[DataColumn, Callable[[TrialRow], Any]]] = {
    DataColumn("id", "text", "id of the trial's question, with its repetition"): lambda row: row.question.id,
    DataColumn("question", "text", "id that all repetitions of the question share"): (lambda row: row.question.once),
    DataColumn("repetition", "whole", "repetition, from 1"): lambda row: row.question.repetition,
    DataColumn("model", "text", "model under test"): lambda row: row.trial.model,
    DataColumn("family", "text", "benchmark family"): lambda row: row.question.family,
    DataColumn("section", "text", "section of the group"): lambda row: row.question.section,
    DataColumn("group", "text", "what the question is about, a row of the tables"): (lambda row: row.question.group),
    DataColumn("cluster", "text", "equal for questions that are not independent"): (lambda row: row.question.cluster),
    DataColumn("relation", "text", "kind of variation; leave such rows out of rates"): (
        lambda row: row.question.relation
    ),
    DataColumn("twin", "text", "id of the unvaried question"): lambda row: row.question.twin,
    DataColumn("prompt_template", "text", "name of the prompt template", csv=False): (
        lambda row: row.question.labels.get(PROMPT)
    ),
    DataColumn("form", "text", "form of the answer"): lambda row: row.question.form,
    DataColumn("metric", "text", "main metric"): lambda row: row.question.metric,
    DataColumn("aggregate", "text", "how scores are summed up in tables"): lambda row: row.question.aggregate,
    DataColumn("chance", "number", "score expected from guessing"): lambda row: row.question.chance,
    DataColumn("pass_threshold", "number", "smallest score that passes; 0: graded"): (
        lambda row: row.question.pass_threshold
    ),
    DataColumn("system", "text", "system prompt", csv=False): lambda row: row.question.system,
    DataColumn("prompt", "text", "prompt", csv=False): lambda row: row.question.prompt,
    DataColumn("question_text", "text", "question alone"): lambda row: row.question.text,
    DataColumn("expected", "text", "right answer, as a person writes it"): lambda row: expected_answer(row.trial),
    DataColumn("expected_json", "json", "right answer as data", csv=False): lambda row: row.question.reference,
    DataColumn("outcome", "text", "right, wrong, graded, unparseable, refused, error or skipped"): (
        lambda row: row.trial.outcome
    ),
    DataColumn("passed", "boolean", "true if right; unknown for graded answers, errors and skipped questions"): (
        lambda row: _PASSED.get(row.trial.outcome)
    ),
    DataColumn("score", "number", "score, 0 to 1"): lambda row: row.score and row.score.value,
    DataColumn("reply", "text", "reply; long ones are shortened in the record", csv=False): (
        lambda row: row.reply and row.reply.text
    ),
    DataColumn("reasoning", "text", "reasoning before the reply, where the provider gives it", csv=False): (
        lambda row: row.reply and row.reply.reasoning
    ),
    DataColumn("given", "text", "parsed answer, as a person writes it"): (
        lambda row: given_answer(row.trial) if row.is_parsed else None
    ),
    DataColumn("given_json", "json", "parsed answer as data", csv=False): (
        lambda row: row.score.given if row.score and row.is_parsed else None
    ),
    DataColumn("missing", "texts", "names in the right answer alone"): (
        lambda row: row.score.missing if row.score and row.is_parsed else None
    ),
    DataColumn("extra", "texts", "names in the parsed answer alone"): (
        lambda row: row.score.extra if row.score and row.is_parsed else None
    ),
    DataColumn("why", "texts", "what is wrong with the answer, in words", csv=False): (
        lambda row: explain_trial(row.trial) if row.is_parsed else None
    ),
    DataColumn("remark", "text", "why the answer could not be parsed or measured"): (
        lambda row: row.score and row.score.remark
    ),
    DataColumn("failure_kind", "text", "kind of failure of a trial without a score"): (
        lambda row: row.failure and row.failure.kind
    ),
    DataColumn("failure_message", "text", "that failure in words"): (lambda row: row.failure and row.failure.message),
    DataColumn("finish_reason", "text", "why the reply ended"): (lambda row: row.reply and row.reply.finish_reason),
    DataColumn("source", "text", "what answered: a provider's model, a file, a baseline"): (
        lambda row: row.reply and row.reply.source
    ),
    DataColumn("requests", "whole", "requests of the trial"): lambda row: row.trial.requests,
    DataColumn("retries", "whole", "retries after failures of the provider"): lambda row: row.trial.retries,
    DataColumn("tokens_in", "whole", "tokens of the prompts"): lambda row: row.usage.tokens_in,
    DataColumn("tokens_out", "whole", "tokens of the replies, reasoning included"): lambda row: row.usage.tokens_out,
    DataColumn("tokens_reasoning", "whole", "of them, tokens of the reasoning"): lambda row: row.usage.tokens_reasoning,
    DataColumn("cost_usd", "number", "cost in US dollars"): lambda row: row.usage.cost,
    DataColumn("latency", "number", "seconds, summed over the replies"): lambda row: row.usage.latency,
    DataColumn("stored", "boolean", "true if every reply came from the store"): lambda row: row.usage.from_store,
}
_GETTERS: Final = {column.name: get for column, get in TRIAL_COLUMNS.items()}


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

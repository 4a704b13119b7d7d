"""The trials of a run as rows for data frames: a value for each column, of one kind throughout the column.

The columns of every export come first. The labels, metrics and parts that some trial has follow by name; which these
are is known after the last row, so rows are sparse: a value that is unknown, undefined or empty is left out. Half of a
surrogate pair, which no file of text can hold, becomes a question mark.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ...reports.failure import expected_answer, given_answer
from ...results.record import about_of, tally_of
from ...results.record.exchanges import sum_trials
from ...results.record.facts import About
from ...results.record.provenance import Provenance
from ...scoring.trial_explanation import explain_trial
from ...trial import PROMPT, Trial
from ...usage import Usage

Kind = Literal["text", "whole", "number", "boolean", "texts", "json"]
_PASSED: Final = {"right": True, "wrong": False, "unparseable": False, "refused": False}


@dataclass(frozen=True, slots=True)
class DataColumn:
    """A column: its name, the kind of its values, and what they mean."""

    name: str
    kind: Kind
    meaning: str


@dataclass(frozen=True, slots=True)
class _TrialOfRun:
    """A trial with the run that it is from."""

    run: str
    about: About
    trial: Trial
    usage: Usage

    @property
    def provenance(self) -> Provenance:
        return self.about.provenance or Provenance()


_Getter = Callable[[_TrialOfRun], Any]
_QUESTION: Final[dict[DataColumn, _Getter]] = {
    DataColumn("run", "text", "name of the saved run, or its file"): lambda row: row.run,
    DataColumn("started", "text", "date and time of the run with the offset of its zone"): (
        lambda row: row.provenance.started
    ),
    DataColumn("commit", "text", "git commit of the run"): lambda row: row.provenance.commit,
    DataColumn("plugin_version", "text", "version of pytest-taskgraph-bench"): lambda row: row.about.version,
    DataColumn("seed", "whole", "seed of the questions"): lambda row: row.about.seed,
    DataColumn("model", "text", "model under test"): lambda row: row.trial.model,
    DataColumn("family", "text", "benchmark family"): lambda row: row.trial.question.family,
    DataColumn("question_set", "whole", "version of the questions of the family"): (
        lambda row: row.about.question_sets.get(row.trial.question.family)
    ),
    DataColumn("section", "text", "section of the group"): lambda row: row.trial.question.section,
    DataColumn("group", "text", "what the question is about, a row of the tables"): (
        lambda row: row.trial.question.group
    ),
    DataColumn("id", "text", "id of the trial's question, with its repetition"): lambda row: row.trial.question.id,
    DataColumn("question", "text", "id that all repetitions of the question share"): (
        lambda row: row.trial.question.once
    ),
    DataColumn("repetition", "whole", "repetition, from 1"): lambda row: row.trial.question.repetition,
    DataColumn("cluster", "text", "equal for questions that are not independent"): (
        lambda row: row.trial.question.cluster
    ),
    DataColumn("relation", "text", "kind of variation; leave such rows out of rates"): (
        lambda row: row.trial.question.relation
    ),
    DataColumn("twin", "text", "id of the unvaried question"): lambda row: row.trial.question.twin,
    DataColumn("prompt_template", "text", "name of the prompt template"): (
        lambda row: _text(row.trial.question.labels.get(PROMPT))
    ),
    DataColumn("form", "text", "form of the answer"): lambda row: row.trial.question.form,
    DataColumn("metric", "text", "main metric"): lambda row: row.trial.question.metric,
    DataColumn("aggregate", "text", "how scores are summed up in tables"): lambda row: row.trial.question.aggregate,
    DataColumn("chance", "number", "score expected from guessing"): lambda row: row.trial.question.chance,
    DataColumn("pass_threshold", "number", "smallest score that passes; 0: graded"): (
        lambda row: row.trial.question.pass_threshold
    ),
    DataColumn("system", "text", "system prompt"): lambda row: row.trial.question.system,
    DataColumn("prompt", "text", "prompt"): lambda row: row.trial.question.prompt,
    DataColumn("question_text", "text", "question alone"): lambda row: row.trial.question.text,
    DataColumn("expected", "text", "right answer, as a person writes it"): lambda row: expected_answer(row.trial),
    DataColumn("expected_json", "json", "right answer as data"): lambda row: row.trial.question.reference,
}
_ANSWER: Final[dict[DataColumn, _Getter]] = {
    DataColumn("outcome", "text", "right, wrong, graded, unparseable, refused, error or skipped"): (
        lambda row: row.trial.outcome
    ),
    DataColumn("passed", "boolean", "true if right; unknown for graded answers, errors and skipped questions"): (
        lambda row: _PASSED.get(row.trial.outcome)
    ),
    DataColumn("score", "number", "score, 0 to 1"): lambda row: row.trial.score and row.trial.score.value,
    DataColumn("reply", "text", "reply; long ones are shortened in the record"): (
        lambda row: row.trial.reply and row.trial.reply.text
    ),
    DataColumn("reasoning", "text", "reasoning before the reply, where the provider gives it"): (
        lambda row: row.trial.reply and row.trial.reply.reasoning
    ),
    DataColumn("given", "text", "parsed answer, as a person writes it"): (
        lambda row: given_answer(row.trial) if _is_parsed(row.trial) else None
    ),
    DataColumn("given_json", "json", "parsed answer as data"): (
        lambda row: row.trial.score.given if row.trial.score and _is_parsed(row.trial) else None
    ),
    DataColumn("missing", "texts", "names in the right answer alone"): (
        lambda row: row.trial.score.missing if row.trial.score and _is_parsed(row.trial) else None
    ),
    DataColumn("extra", "texts", "names in the parsed answer alone"): (
        lambda row: row.trial.score.extra if row.trial.score and _is_parsed(row.trial) else None
    ),
    DataColumn("why", "texts", "what is wrong with the answer, in words"): (
        lambda row: explain_trial(row.trial) if _is_parsed(row.trial) else None
    ),
    DataColumn("remark", "text", "why the answer could not be parsed or measured"): (
        lambda row: row.trial.score and row.trial.score.remark
    ),
    DataColumn("failure_kind", "text", "kind of failure of a trial without a score"): (
        lambda row: row.trial.failure and row.trial.failure.kind
    ),
    DataColumn("failure_message", "text", "that failure in words"): (
        lambda row: row.trial.failure and row.trial.failure.message
    ),
    DataColumn("finish_reason", "text", "why the reply ended"): (
        lambda row: row.trial.reply and row.trial.reply.finish_reason
    ),
    DataColumn("source", "text", "what answered: a provider's model, a file, a baseline"): (
        lambda row: row.trial.reply and row.trial.reply.source
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
_COLUMNS: Final = _QUESTION | _ANSWER

Row = dict[str, Any]


class SeenColumns:
    """The columns of the rows seen so far: those of every export, then labels, metrics and parts by name."""

    def __init__(self) -> None:
        self._labels: dict[str, Kind] = {}
        self._metrics: set[str] = set()
        self._parts: set[str] = set()

    def add(self, trial: Trial) -> None:
        """Add what a trial has beyond the columns of every export."""
        for name, value in trial.question.labels.items():
            kind: Kind = "whole" if isinstance(value, int) else "text"
            if name != PROMPT and self._labels.setdefault(name, kind) != kind:
                self._labels[name] = "text"  # a label that is a number in some trials only
        if trial.score is not None:
            self._metrics.update(trial.score.metrics)
            self._parts.update(trial.score.parts)

    def columns(self) -> list[DataColumn]:
        """Return the columns in their order."""
        return [
            *_COLUMNS,
            *(
                DataColumn(_encodable(f"label_{name}"), kind, "label of the question")
                for name, kind in sorted(self._labels.items())
            ),
            *(DataColumn(_encodable(f"metric_{name}"), "number", "further metric") for name in sorted(self._metrics)),
            *(
                DataColumn(
                    _encodable(f"part_{name}_{of}"),
                    "number",
                    f"{of} of a part, to be summed over trials before it is divided",
                )
                for name in sorted(self._parts)
                for of in ("numerator", "denominator")
            ),
        ]


def data_rows(run: str, record: Mapping[str, Any], seen: SeenColumns) -> Iterator[Row]:
    """Yield the row of each trial of a record, by question id, then model, and add its columns to those seen.

    Raises:
        UsageError: if the record is damaged.
    """
    about = about_of(record)
    for trial in tally_of(record):
        seen.add(trial)
        row = _TrialOfRun(run, about, trial, sum_trials([trial]))
        values = ((column.name, get(row)) for column, get in _COLUMNS.items())
        sparse = {name: value for name, value in (*values, *_own_values(trial)) if value is not None and value != ""}
        yield json.loads(_encodable(json.dumps(sparse, ensure_ascii=False)))


def complete_row(row: Row, columns: Iterable[DataColumn]) -> Row:
    """Return a row with a value for each column, None where it has none."""
    return {
        column.name: _text(row.get(column.name)) if column.kind == "text" else row.get(column.name)
        for column in columns
    }


def _own_values(trial: Trial) -> Iterator[tuple[str, Any]]:
    """Yield the labels, metrics and parts of a trial."""
    yield from ((f"label_{name}", value) for name, value in trial.question.labels.items() if name != PROMPT)
    if trial.score is not None:
        yield from ((f"metric_{name}", value) for name, value in trial.score.metrics.items())
        for name, (numerator, denominator) in trial.score.parts.items():
            yield f"part_{name}_numerator", numerator
            yield f"part_{name}_denominator", denominator


def _is_parsed(trial: Trial) -> bool:
    return trial.score is not None and trial.score.status == "read"


def _encodable(text: str) -> str:
    """Return the text with a question mark for each half of a surrogate pair."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _text(value: object) -> str | None:
    return None if value is None else str(value)

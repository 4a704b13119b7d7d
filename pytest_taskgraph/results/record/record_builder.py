"""Builder of the record of a run: it converts trials to JSON one at a time, to save memory."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import cache, cached_property
from itertools import chain
from typing import Any

from ...diagram import unpack
from ...redaction import redact
from ...trial import Question, Trial, digest_of
from ..descriptions import Descriptions
from ..tables import tables_of
from ..tally import Tally
from .exchanges import complete_exchanges
from .facts import About
from .json_values import cut_text, join_surrogates, public_settings, to_json_value

SCHEMA = 1
SHORTEST_SHARED = 200  # characters; shorter common starts of prompts are not shared

_INDENT = 1
_encode = json.JSONEncoder(allow_nan=False, indent=_INDENT).encode


class RecordBuilder:
    """Record of trials as JSON values or as text, sorted by question id, then model.

    Of trials with the same question and model the last is kept; a Tally also has the number of attempts. Methods that
    return parts of the record raise UsageError, with the place, if a number is not finite or JSON cannot represent a
    value.
    """

    def __init__(self, trials: Iterable[Trial], about: About) -> None:
        self._descriptions = Descriptions(about.families)
        self._tally = (
            trials if isinstance(trials, Tally) else build_tally(((trial, 1) for trial in trials), self._descriptions)
        )
        self._about = about
        self._shared = _shared_starts((trial.question for trial in self._tally), self._descriptions)
        self._body: dict[str, Any] = {}

    @property
    def has_asked_questions(self) -> bool:
        """Return True if any of the questions was asked."""
        return any(trial.outcome != "skipped" for trial in self._tally)

    @property
    def has_replies(self) -> bool:
        """Return True if any reply was scored."""
        return any(trial.score is not None for trial in self._tally)

    def set_about(self, about: About) -> None:
        """Replace the facts of the run."""
        self._about = about

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON values; its trials are converted once and shared by all results."""
        if not self._body:
            self._body = {name: dict(parts) for name, parts in self._tables().items()} | {
                "trials": list(self._trials())
            }
        return {**self._head(), **self._body}

    def iterate_text(self) -> Iterator[str]:
        """Yield the text of the record's JSON, equal to that of the whole without its last line end."""
        yield _encode(self._head()).removesuffix("\n}")
        for name, parts in self._tables().items():
            yield from _encode_member(name, "{}", (f"{json.dumps(key)}: {_encode(value)}" for key, value in parts))
        yield from _encode_member("trials", "[]", map(_encode, self._body.get("trials") or self._trials()))
        yield "\n}"

    def _head(self) -> dict[str, Any]:
        tally, about = self._tally, self._about
        usage = None if about.usage is None else about.usage.to_json()
        described = {**asdict(about), "settings": public_settings(about.settings), "usage": usage}
        facts = to_json_value(described, "about", redact)
        totals = [asdict(tally.total(model)) for model in tally.models]
        graded_groups = tally.groups(graded=True)
        graded = [
            {**asdict(tally.row(group)), "interval": to_json_value(group.interval, "graded")} for group in graded_groups
        ]
        parts = {"totals": totals, "graded": graded, "tables": self._table_data}
        return {"schema": SCHEMA, **facts, **parts}

    @cached_property
    def _table_data(self) -> list[Any]:
        """Return the tables of reports as plain JSON values."""
        return [to_json_value(table.to_json(), f"table {table.spec.name}", redact) for table in tables_of(self._tally)]

    def _tables(self) -> dict[str, Iterator[tuple[str, Any]]]:
        return {"texts": self._texts(), "diagrams": self._diagrams()}

    def _texts(self) -> Iterator[tuple[str, str]]:
        """Yield each text of a prompt or of another message once, under its digest; long texts of messages are cut."""
        prompts = ((digest_of(text), text) for trial in self._tally for text in self._split(trial.question))
        messages = (
            (key, to_json_value(text, "texts", cut_text)) for trial in self._tally for key, text in trial.texts.items()
        )
        seen = set()
        for key, text in chain(prompts, messages):  # prompts first: a message with the text of a prompt is not cut
            if key not in seen:
                seen.add(key)
                yield key, text

    def _diagrams(self) -> Iterator[tuple[str, Any]]:
        """Yield the diagrams of the trials, once for each cluster of questions, sorted by key."""
        diagrams = {
            trial.question.cluster: trial.diagram for trial in self._tally if trial.diagram and trial.question.cluster
        }
        redact_once = cache(redact)  # ids and kinds are the same in all diagrams
        for key in sorted(diagrams):
            yield key, to_json_value(unpack(diagrams[key]), f"diagram {key}", redact_once)

    def _trials(self) -> Iterator[dict[str, Any]]:
        for trial in self._tally:
            data = _trial_json(trial)
            data["question"]["prompt"] = [digest_of(text) for text in self._split(trial.question)]
            yield {**data, "attempts": self._tally.attempts(trial)}

    def _split(self, question: Question) -> list[str]:
        """Return the parts of a prompt: the start that it shares with others, and the rest."""
        prompt, shared = join_surrogates(question.prompt), self._shared[_sharing_key(question, self._descriptions)]
        return [text for text in (prompt[:shared], prompt[shared:]) if text]


def build(trials: Iterable[Trial], about: About) -> dict[str, Any]:
    """Return the record of the trials as plain JSON values, as `RecordBuilder.to_json` does."""
    return RecordBuilder(trials, about).to_json()


def build_tally(trials: Iterable[tuple[Trial, int]], descriptions: Descriptions | None = None) -> Tally:
    """Return the tally of trials, each with its attempts."""
    tally = Tally(descriptions)
    for trial, attempts in trials:
        tally.add(trial, attempts)
    return tally


def encode_record(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text of a record's JSON, piece by piece, as `RecordBuilder.iterate_text` does."""
    return json.JSONEncoder(allow_nan=False, indent=_INDENT).iterencode(record)


def _encode_member(name: str, brackets: str, parts: Iterable[str]) -> Iterator[str]:
    """Yield a member of the record's JSON, one part a line."""
    between = f',\n "{name}": {brackets[0]}'
    for part in parts:
        yield between + "\n  " + part.replace("\n", "\n  ")
        between = ","
    yield "\n " + brackets[1] if between == "," else between + brackets[1]


def _trial_json(trial: Trial) -> dict[str, Any]:
    """Return the trial as JSON that reads back equal, with long texts of the model cut."""
    where = f"trial {trial.question.id} of {trial.model}"
    data = trial.to_shared_json() | {"exchanges": complete_exchanges(trial)}
    del data["diagram"], data["texts"]  # stored in `diagrams` and `texts` of the record
    if pair := data.pop("diagram_pair"):
        data["diagram_pair"] = to_json_value(unpack(pair), f"{where}, diagram_pair", _cut_and_redact)
    names_of_replies = ("reply", "score", "exchanges")
    reply_parts = {name: to_json_value(data.pop(name), f"{where}, {name}", cut_text) for name in names_of_replies}
    return {**to_json_value(data, where), **reply_parts}


def _cut_and_redact(text: str) -> str:
    """Return a text of a pair of diagrams, which may come from the suite or the model, cut and redacted."""
    return cut_text(redact(text))


def _sharing_key(question: Question, descriptions: Descriptions) -> tuple[str, ...]:
    """Return the key of questions whose prompts may begin with the same long text."""
    family = descriptions[question.family]
    cluster = question.digests.get(family.cluster) or question.cluster or question.id
    return (question.family, cluster, *(str(question.labels.get(label, "")) for label in family.presented_by))


def _shared_starts(questions: Iterable[Question], descriptions: Descriptions) -> dict[tuple[str, ...], int]:
    """Return the length in characters of the common start of the prompts of each key, 0 if it is short."""
    prompts: dict[tuple[str, ...], set[str]] = {}
    for question in questions:
        prompts.setdefault(_sharing_key(question, descriptions), set()).add(question.prompt)
    starts = {key: _common_start(min(same), max(same)) for key, same in prompts.items()}
    return {key: start if start >= SHORTEST_SHARED else 0 for key, start in starts.items()}


def _common_start(a: str, b: str) -> int:
    """Return the length of the common start of two texts; of the least and greatest of many, that of all."""
    a, b = join_surrogates(a), join_surrogates(b)
    longest = min(len(a), len(b))
    # Whether a start is common is monotone in its length, and comparing slices is faster than comparing characters.
    return bisect_left(range(longest), True, key=lambda at: a[: at + 1] != b[: at + 1])

"""The record of a run in the making: trials become JSON one at a time, so that it need not be in memory as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import cached_property
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

SCHEMA = 4
SHORTEST_SHARED = 200  # characters; a shorter start of prompts is not worth a digest of its own

_INDENT = 1
_encode = json.JSONEncoder(allow_nan=False, indent=_INDENT).encode


class RecordBuilder:
    """The record of trials, as JSON values or as text, trials by question id, then model, errored and skipped ones too.

    Of trials with the same question and model the last is kept; a Tally hands over how often each was asked. All that
    gives parts of the record raises UsageError, with the place, for a number that is not finite and for what JSON has
    no words for.
    """

    def __init__(self, trials: Iterable[Trial], about: About) -> None:
        self._known = Descriptions(about.families)
        self._tally = (
            trials if isinstance(trials, Tally) else build_tally(((trial, 1) for trial in trials), self._known)
        )
        self._about = about
        self._shared = _shared_starts((one.question for one in self._tally), self._known)
        self._body: dict[str, Any] = {}

    @property
    def has_asked_questions(self) -> bool:
        """Whether any of the questions was put."""
        return any(one.outcome != "skipped" for one in self._tally)

    def set_about(self, about: About) -> None:
        """Nothing; more is known of the run by now."""
        self._about = about

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values; its trials are written down once, and shared by all that this gives."""
        if not self._body:
            self._body = {name: dict(parts) for name, parts in self._tables().items()} | {
                "trials": list(self._trials())
            }
        return {**self._head(), **self._body}

    def iterate_text(self) -> Iterator[str]:
        """The text of the record's JSON, piece by piece; as the whole of it would be written, without its last line."""
        yield _encode(self._head()).removesuffix("\n}")
        for name, parts in self._tables().items():
            yield from _listed(name, "{}", (f"{json.dumps(key)}: {_encode(value)}" for key, value in parts))
        yield from _listed("trials", "[]", map(_encode, self._body.get("trials") or self._trials()))
        yield "\n}"

    def _head(self) -> dict[str, Any]:
        tally, about = self._tally, self._about
        facts = to_json_value({**asdict(about), "settings": public_settings(about.settings)}, "about", redact)
        totals = [asdict(tally.total(model)) for model in tally.models]
        apart = tally.groups(graded=True)
        graded = [{**asdict(tally.row(one)), "interval": to_json_value(one.interval, "graded")} for one in apart]
        parts = {"totals": totals, "graded": graded, "tables": self._shown}
        return {"schema": SCHEMA, **facts, **parts}

    @cached_property
    def _shown(self) -> list[Any]:
        """The tables of reports."""
        return [to_json_value(one.to_json(), f"table {one.spec.name}", redact) for one in tables_of(self._tally)]

    def _tables(self) -> dict[str, Iterator[tuple[str, Any]]]:
        return {"texts": self._texts(), "diagrams": self._diagrams()}

    def _texts(self) -> Iterator[tuple[str, str]]:
        """Every text of a prompt or of another message once, under its digest; long ones of the latter are cut."""
        prompts = ((digest_of(text), text) for trial in self._tally for text in self._split(trial.question))
        messages = (
            (key, to_json_value(text, "texts", cut_text)) for trial in self._tally for key, text in trial.texts.items()
        )
        told = set()
        for key, text in chain(prompts, messages):  # all prompts first: a message with such a text is not cut
            if key not in told:
                told.add(key)
                yield key, text

    def _diagrams(self) -> Iterator[tuple[str, Any]]:
        """The diagrams that trials carry, once for each cluster of questions, in the order of their keys."""
        found = {one.question.cluster: one.diagram for one in self._tally if one.diagram and one.question.cluster}
        for key in sorted(found):
            yield key, to_json_value(unpack(found[key]), f"diagram {key}", redact)

    def _trials(self) -> Iterator[dict[str, Any]]:
        for one in self._tally:
            made = _trial(one)
            made["question"]["prompt"] = [digest_of(text) for text in self._split(one.question)]
            yield {**made, "attempts": self._tally.attempts(one)}

    def _split(self, question: Question) -> list[str]:
        """The parts of a prompt: the start that it shares with others, and the rest."""
        prompt, shared = join_surrogates(question.prompt), self._shared[_alike(question, self._known)]
        return [text for text in (prompt[:shared], prompt[shared:]) if text]


def build(trials: Iterable[Trial], about: About) -> dict[str, Any]:
    """The record of the trials as plain JSON values, as Draft gives it."""
    return RecordBuilder(trials, about).to_json()


def build_tally(trials: Iterable[tuple[Trial, int]], descriptions: Descriptions | None = None) -> Tally:
    """Return the tally of trials, each with its attempts."""
    tally = Tally(descriptions)
    for trial, attempts in trials:
        tally.add(trial, attempts)
    return tally


def encode_record(record: Mapping[str, Any]) -> Iterator[str]:
    """The text of a record's JSON, piece by piece, as Draft writes it."""
    return json.JSONEncoder(allow_nan=False, indent=_INDENT).iterencode(record)


def _listed(name: str, brackets: str, parts: Iterable[str]) -> Iterator[str]:
    """A member of the record's JSON, its parts one below the other."""
    between = f',\n "{name}": {brackets[0]}'
    for part in parts:
        yield between + "\n  " + part.replace("\n", "\n  ")
        between = ","
    yield "\n " + brackets[1] if between == "," else between + brackets[1]


def _trial(trial: Trial) -> dict[str, Any]:
    """The trial as JSON that reads back as itself, with long texts of the model cut."""
    where = f"trial {trial.question.id} of {trial.model}"
    data = trial.to_json() | {"exchanges": complete_exchanges(trial)}
    del data["diagram"], data["texts"]  # they stand in `diagrams` and `texts`
    if pair := data.pop("diagram_pair"):
        data["diagram_pair"] = to_json_value(unpack(pair), f"{where}, diagram_pair", _of_both)
    said = ("reply", "score", "exchanges")
    of_the_model = {name: to_json_value(data.pop(name), f"{where}, {name}", cut_text) for name in said}
    return {**to_json_value(data, where), **of_the_model}


def _of_both(text: str) -> str:
    """Return a text of a pair of diagrams, which may be the suite's or the model's."""
    return cut_text(redact(text))


def _alike(question: Question, known: Descriptions) -> tuple[str, ...]:
    """Return what questions have in common whose prompts may begin with the same long text."""
    family = known[question.family]
    shown = question.digests.get(family.cluster) or question.cluster or question.id
    return (question.family, shown, *(str(question.labels.get(label, "")) for label in family.presented_by))


def _shared_starts(questions: Iterable[Question], known: Descriptions) -> dict[tuple[str, ...], int]:
    """Return how many characters the prompts of questions begin with alike, by what these have in common."""
    prompts: dict[tuple[str, ...], set[str]] = {}
    for one in questions:
        prompts.setdefault(_alike(one, known), set()).add(one.prompt)
    starts = {alike: _common_start(min(same), max(same)) for alike, same in prompts.items()}
    return {alike: start if start >= SHORTEST_SHARED else 0 for alike, start in starts.items()}


def _common_start(a: str, b: str) -> int:
    """How many characters both texts begin with; of the least and the greatest of many, how many they all do."""
    a, b = join_surrogates(a), join_surrogates(b)
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))

"""Recorded answers: their kinds, and the reader of a file of them.

The format is in FORMAT, which `score --help` prints, and in docs/how-to/replies.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..source import bounded_lines
from ..trial import Json, Place
from .forms import form


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of recorded answers: its form, its metric if that differs from the form's, and its reference."""

    form: str
    reference: str  # in words
    fits: Callable[[Json], bool]  # True for a valid reference of the kind
    names: Callable[[Json], list[str]] = lambda reference: []  # the known names if the file states none
    answer: Callable[[Json], Json] = lambda reference: reference  # the reference as the metrics of the form take it
    metric: str = ""
    place: Place = "marker"


def is_names(value: object) -> bool:
    """Return True for a list of texts."""
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_verdict(value: Json) -> bool:
    return value in ("yes", "no")


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_number(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_groups(value: Json) -> bool:
    return isinstance(value, list) and all(map(is_names, value))


def _is_reasons(value: Json) -> bool:
    return isinstance(value, dict) and all(isinstance(reason, str) for reason in value.values())


def _is_pair(value: Json) -> bool:
    return isinstance(value, dict) and is_names(value.get("tasks")) and isinstance(value.get("reason"), str)


def _is_explained_verdict(value: Json) -> bool:
    return isinstance(value, dict) and _is_verdict(value.get("answer")) and isinstance(value.get("reason"), str)


def _names_in(reference: Json) -> list[str]:
    """Return the names of a list, those of the lists in it, or the keys of an object."""
    if isinstance(reference, list):
        return [str(name) for part in reference for name in (part if isinstance(part, list) else [part])]
    return list(reference) if isinstance(reference, dict) else [str(reference)]


def _names_of_pair(reference: Json) -> list[str]:
    return _names_in(reference["tasks"]) if isinstance(reference, dict) else []


def _order_reference(reference: Json) -> Json:
    """Return the order as a partial order without freedom (`scoring.partial_order`)."""
    places = len(reference) if isinstance(reference, list) else 0
    return {"tasks": reference, "before": [[place, place + 1] for place in range(places - 1)]}


def _reasons_reference(reference: Json) -> Json:
    reasons = reference if isinstance(reference, dict) else {}
    return {"tasks": [*sorted(reasons)], "reasons": {task: reason for task, reason in reasons.items() if reason}}


def _pair_reference(reference: Json) -> Json:
    reason = reference.get("reason") if isinstance(reference, dict) else ""
    return {"tasks": [*sorted(_names_of_pair(reference))], "reasons": {"": reason} if reason else {}}


_NAMES = "a list of names"
KINDS: dict[str, Kind] = {
    "yesno": Kind("yes-no", '"yes" or "no"', _is_verdict),
    "task": Kind("task", "a text", _is_text, _names_in),
    "set": Kind("task-set", _NAMES, is_names, _names_in),
    "order": Kind("task-order", _NAMES, is_names, _names_in, _order_reference),
    "groups": Kind("groups", "a list of lists of names", _is_groups, _names_in),
    "number": Kind("number", "a whole number", _is_number),
    "condition": Kind("condition", "a text", _is_text),
    "reasons": Kind(
        "task-reasons", "an object: task -> reason", _is_reasons, _names_in, _reasons_reference, "explanation"
    ),
    "pair": Kind(
        "pair-reason", 'an object: "tasks", a list of names, and "reason"', _is_pair, _names_of_pair, _pair_reference
    ),
    "verdict": Kind("yes-no-reason", 'an object: "answer", "yes" or "no", and "reason"', _is_explained_verdict),
    "open": Kind("text", "a text", _is_text, metric="rouge1_recall", place="whole"),
}


FORMAT = (
    """\
FILE has one JSON object a line. Each needs three fields:

  kind         """
    + ", ".join(KINDS)
    + """
  reference    the right answer:
"""
    + "\n".join(f"                 {name:<10} {kind.reference}" for name, kind in KINDS.items())
    + """
  reply        what the model replied, the whole text

and may have:

  question     the question, a text
  id           default: the line, such as "line 3"
  paper_score  the score it was recorded with, 0 to 1, rounded to three decimals or more
  place        where the answer stands: marker (after "Final answer:"; default), first-line, or whole ("""
    + "default of "
    + ", ".join(name for name, kind in KINDS.items() if kind.place == "whole")
    + ")"
    + """
  metric       the metric that scores the row, default: that of the kind ("""
    + "; ".join(f"{name}: {kind.metric}" for name, kind in KINDS.items() if kind.metric)
    + """)
  names        the known names, a list; default: those of the reference
  finish_reason, pattern, run, category, model, style

  {"question": "What runs after Mix?", "kind": "set", "reference": ["Bake"], "reply": "Final answer: Bake"}

The file of --model=recorded:FILE has another form: "question" or "prompt", and "reply" (docs/how-to/replies.md).
"""
)
PLACES: tuple[Place, ...] = ("marker", "first-line", "whole")
LABELS = ("pattern", "run", "category", "model", "style", "kind")  # the fields one can group by


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One recorded answer; `recorded` is the score that it was recorded with, None without one."""

    id: str
    kind: str
    reference: Json
    reply: str
    recorded: float | None
    question: str = ""
    metric: str = ""
    place: Place = "marker"
    names: list[str] = field(default_factory=list)
    finish_reason: str = "stop"
    labels: dict[str, str] = field(default_factory=dict)  # the present fields of LABELS


def read_recorded_answers(path: Path) -> list[RecordedAnswer]:
    """Return the answers of the file, without empty lines.

    Raises:
        UsageError: with file and line, if the file cannot be read, holds no answers, or a line is no recorded answer.
    """
    try:
        with path.open("rb") as file:
            rows = [_parse_row(line, number, f"{path}:{number}") for number, line in bounded_lines(file, str(path))]
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    if not rows:
        raise UsageError(f"{path}: holds no rows, expected one JSON object a line")
    return rows


def _parse_row(line: bytes, number: int, where: str) -> RecordedAnswer:
    try:
        data = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not a line of JSON: {error}") from error
    if not isinstance(data, dict):
        raise UsageError(f"{where}: found {type(data).__name__}, expected a JSON object")
    kind = _parse_text(data, "kind", where)
    if kind not in KINDS:
        raise UsageError(f"{where}: unknown kind {kind!r}, expected one of {', '.join(KINDS)}")
    reference = _parse_reference(data, kind, where)
    labels = {name: _parse_text(data, name, where) for name in LABELS if name in data}
    return RecordedAnswer(
        _parse_text(data, "id", where) if "id" in data else f"line {number}",
        kind,
        KINDS[kind].answer(reference),
        _parse_text(data, "reply", where),
        _parse_score(data, where),
        _parse_text(data, "question", where) if "question" in data else "",
        _parse_metric(data, kind, where),
        _parse_place(data, kind, where),
        _parse_names(data, kind, reference, where),
        _parse_text(data, "finish_reason", where) if "finish_reason" in data else "stop",
        labels,
    )


def _parse_metric(data: Mapping[str, Any], kind: str, where: str) -> str:
    shape = form(KINDS[kind].form)
    metrics = dict.fromkeys([KINDS[kind].metric or shape.metric, shape.metric, *shape.further])
    name = _parse_text(data, "metric", where) if "metric" in data else next(iter(metrics))
    if name not in metrics:
        raise UsageError(f"{where}: field 'metric': unknown metric {name!r:.40}, expected one of {', '.join(metrics)}")
    return name


def _parse_place(data: Mapping[str, Any], kind: str, where: str) -> Place:
    if "place" not in data:
        return KINDS[kind].place
    for place in PLACES:
        if data["place"] == place:
            return place
    raise UsageError(f"{where}: field 'place': found {data['place']!r:.40}, expected one of {', '.join(PLACES)}")


def _parse_text(data: Mapping[str, Any], name: str, where: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        actual = type(value).__name__ if name in data else "nothing"
        raise UsageError(f"{where}: field {name!r}: found {actual}, expected a text")
    return value


def _parse_reference(data: Mapping[str, Any], kind: str, where: str) -> Json:
    value: Json = data.get("reference")
    if not KINDS[kind].fits(value):
        expected = KINDS[kind].reference
        raise UsageError(f"{where}: field 'reference': does not fit kind {kind!r}, expected {expected}")
    return value


def _parse_names(data: Mapping[str, Any], kind: str, reference: Json, where: str) -> list[str]:
    """Return the known names; without any, those of the reference, so that its qualified names stay whole."""
    if "names" in data:
        if not is_names(data["names"]):
            raise UsageError(f"{where}: field 'names': expected a list of texts")
        return list(data["names"])
    return KINDS[kind].names(reference)


def _parse_score(data: Mapping[str, Any], where: str) -> float | None:
    value = data.get("paper_score")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise UsageError(f"{where}: field 'paper_score': found {value!r:.40}, expected a number from 0 to 1")
    return float(value)

"""Recorded answers, read from a file and validated.

The format is in FORMAT, which `score --help` prints, and in `docs/recorded.md`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..trial import Json, Place
from .forms import form
from .recorded_kinds import KINDS, is_names

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

The file of --model=recorded:FILE has another form: "question" or "prompt", and "reply" (docs/recorded.md).
"""
)
PLACES: tuple[Place, ...] = ("marker", "first-line", "whole")
LABELS = ("pattern", "run", "category", "model", "style", "kind")  # the fields one can group by


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One recorded answer. `recorded` is the score it was recorded with, None if there is none."""

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
    labels: dict[str, str] = field(default_factory=dict)  # those of LABELS that it has


def read_recorded_answers(path: Path) -> list[RecordedAnswer]:
    """Return the answers of the file, empty lines passed over.

    Raises:
        UsageError: with file and line, for what cannot be read or is no recorded answer, and for a file without any.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    rows = [_row(line, number, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise UsageError(f"{path}: holds no rows, expected one JSON object a line")
    return rows


def _row(line: bytes, number: int, where: str) -> RecordedAnswer:
    try:
        data = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not a line of JSON: {error}") from error
    if not isinstance(data, dict):
        raise UsageError(f"{where}: found {type(data).__name__}, expected a JSON object")
    kind = _text(data, "kind", where)
    if kind not in KINDS:
        raise UsageError(f"{where}: unknown kind {kind!r}, expected one of {', '.join(KINDS)}")
    reference = _reference(data, kind, where)
    labels = {name: _text(data, name, where) for name in LABELS if name in data}
    return RecordedAnswer(
        _text(data, "id", where) if "id" in data else f"line {number}",
        kind,
        KINDS[kind].answer(reference),
        _text(data, "reply", where),
        _recorded(data, where),
        _text(data, "question", where) if "question" in data else "",
        _metric(data, kind, where),
        _place(data, kind, where),
        _names(data, kind, reference, where),
        _text(data, "finish_reason", where) if "finish_reason" in data else "stop",
        labels,
    )


def _metric(data: Mapping[str, Any], kind: str, where: str) -> str:
    shape = form(KINDS[kind].form)
    known = dict.fromkeys([KINDS[kind].metric or shape.metric, shape.metric, *shape.further])
    name = _text(data, "metric", where) if "metric" in data else next(iter(known))
    if name not in known:
        raise UsageError(f"{where}: field 'metric': unknown metric {name!r:.40}, expected one of {', '.join(known)}")
    return name


def _place(data: Mapping[str, Any], kind: str, where: str) -> Place:
    if "place" not in data:
        return KINDS[kind].place
    for place in PLACES:
        if data["place"] == place:
            return place
    raise UsageError(f"{where}: field 'place': found {data['place']!r:.40}, expected one of {', '.join(PLACES)}")


def _text(data: Mapping[str, Any], name: str, where: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        found = type(value).__name__ if name in data else "nothing"
        raise UsageError(f"{where}: field {name!r}: found {found}, expected a text")
    return value


def _reference(data: Mapping[str, Any], kind: str, where: str) -> Json:
    value: Json = data.get("reference")
    if not KINDS[kind].fits(value):
        expected = KINDS[kind].reference
        raise UsageError(f"{where}: field 'reference': does not fit kind {kind!r}, expected {expected}")
    return value


def _names(data: Mapping[str, Any], kind: str, reference: Json, where: str) -> list[str]:
    """Return the known names; without any, those of the reference, so that its qualified names stay whole."""
    if "names" in data:
        if not is_names(data["names"]):
            raise UsageError(f"{where}: field 'names': expected a list of texts")
        return list(data["names"])
    return KINDS[kind].names(reference)


def _recorded(data: Mapping[str, Any], where: str) -> float | None:
    value = data.get("paper_score")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise UsageError(f"{where}: field 'paper_score': found {value!r:.40}, expected a number from 0 to 1")
    return float(value)

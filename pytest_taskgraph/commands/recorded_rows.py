"""Recorded answers, read from a file and validated.

The file has one JSON object a line: `id`, `kind` (yesno, task, set, groups, or open), `reference`, `reply`, and, where
known, `paper_score`, `run`, `pattern`, `category`, `model`, `style`, `names` (the known names) and `finish_reason`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..trial import Json

KINDS = {"yesno": "yes-no", "task": "task", "set": "task-set", "groups": "groups", "open": "text"}  # kind -> its form
LABELS = ("pattern", "run", "category", "model", "style", "kind")  # the fields one can group by


@dataclass(frozen=True, slots=True)
class Row:
    """One recorded answer. `recorded` is the score it was recorded with, None if there is none."""

    id: str
    kind: str
    reference: Json
    reply: str
    recorded: float | None
    names: list[str] = field(default_factory=list)
    finish_reason: str = "stop"
    labels: dict[str, str] = field(default_factory=dict)  # those of LABELS that it has


def read_rows(path: Path) -> list[Row]:
    """The rows of the file, empty lines passed over. Raises UsageError that tells file, line and what is wrong."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    rows = [_row(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise UsageError(f"{path}: holds no rows, expected one JSON object a line")
    return rows


def _row(line: bytes, where: str) -> Row:
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
    finish_reason = _text(data, "finish_reason", where) if "finish_reason" in data else "stop"
    known_names = _names(data, reference, where)
    recorded = _recorded(data, where)
    return Row(
        _text(data, "id", where),
        kind,
        reference,
        _text(data, "reply", where),
        recorded,
        known_names,
        finish_reason,
        labels,
    )


def _text(data: Mapping[str, Any], name: str, where: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        found = type(value).__name__ if name in data else "nothing"
        raise UsageError(f"{where}: field {name!r}: found {found}, expected a text")
    return value


def _reference(data: Mapping[str, Any], kind: str, where: str) -> Json:
    value: Json = data.get("reference")
    fits = {
        "yesno": value in ("yes", "no"),
        "set": _is_names(value),
        "groups": isinstance(value, list) and all(map(_is_names, value)),
    }.get(kind, isinstance(value, str))
    if not fits:
        expected = {"yesno": '"yes" or "no"', "set": "a list of names", "groups": "a list of lists of names"}
        raise UsageError(
            f"{where}: field 'reference': does not fit kind {kind!r}, expected {expected.get(kind, 'a text')}"
        )
    return value


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _names(data: Mapping[str, Any], reference: Json, where: str) -> list[str]:
    """The known names; where the row tells none, those of the reference, so that its qualified names stay whole."""
    if "names" not in data:
        items = reference if isinstance(reference, list) else [reference]
        return [str(name) for item in items for name in (item if isinstance(item, list) else [item])]
    if not _is_names(data["names"]):
        raise UsageError(f"{where}: field 'names': expected a list of texts")
    return list(data["names"])


def _recorded(data: Mapping[str, Any], where: str) -> float | None:
    value = data.get("paper_score")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise UsageError(f"{where}: field 'paper_score': found {value!r:.40}, expected a number from 0 to 1")
    return float(value)

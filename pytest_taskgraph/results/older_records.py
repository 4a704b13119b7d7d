"""Records of earlier versions, brought to the present schema when they are read.

Schema 1 and 2 called the group of a question its pattern, and the section its category; they list the patterns in the
order of reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KNOWN_SCHEMAS = (1, 2, 3)
_QUESTION = {"pattern": "group", "category": "section"}
_ROW = {"category": "section"}
_HEAD = {"patterns": "groups"}


def upgraded(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record in the present schema; parts that are not of the kind expected stay as they are."""
    if record["schema"] == KNOWN_SCHEMAS[-1]:
        return dict(record)
    found = {**_renamed(record, _HEAD), "schema": KNOWN_SCHEMAS[-1]}
    for name in ("totals", "graded"):
        if isinstance(found.get(name), list):
            found[name] = [_renamed(one, _ROW) for one in found[name]]
    if isinstance(found.get("trials"), list):
        found["trials"] = [_trial(one) for one in found["trials"]]
    return found


def _trial(trial: Any) -> Any:  # noqa: ANN401
    if not isinstance(trial, dict):
        return trial
    return {**trial, **({"question": _renamed(trial["question"], _QUESTION)} if "question" in trial else {})}


def _renamed(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401
    if not isinstance(value, dict):
        return value
    return {names.get(name, name) if names.get(name) not in value else name: one for name, one in value.items()}

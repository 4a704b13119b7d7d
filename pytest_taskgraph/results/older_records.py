"""Records of earlier versions, brought to the present schema when they are read.

Schema 1 and 2 called the group of a question its pattern, and the section its category; they list the patterns in the
order of reports, and describe no family. All that was asked then was about workflows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KNOWN_SCHEMAS = (1, 2, 3)
_QUESTION = {"pattern": "group", "category": "section"}
_ROW = {"category": "section"}
_WORDS = {"group": "pattern", "section": "category", "cluster": "workflow"}
_PRESENTED_BY = ["notation"]
_DIFFICULTY = {"tasks": "number of tasks", "depth": "depth", "width": "width", "guards": "number of guards"}
_SECTIONS = ["structure", "behaviour", "functionality"]


def upgraded(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record in the present schema; parts that are not of the kind expected stay as they are."""
    if record["schema"] == KNOWN_SCHEMAS[-1]:
        return dict(record)
    found = {**record, "schema": KNOWN_SCHEMAS[-1], "families": _families(record)}
    for name in ("patterns", "notations"):
        found.pop(name, None)
    for name in ("totals", "graded"):
        if isinstance(found.get(name), list):
            found[name] = [_renamed(one, _ROW) for one in found[name]]
    if isinstance(found.get("trials"), list):
        found["trials"] = [_trial(one) for one in found["trials"]]
    return found


def _families(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a description for each family that was asked, in the words of the time."""
    trials, notations, patterns = (record.get(name) for name in ("trials", "notations", "patterns"))
    questions = [one.get("question") for one in trials if isinstance(one, dict)] if isinstance(trials, list) else []
    names = sorted({str(one.get("family")) for one in questions if isinstance(one, dict)})
    groups = [*map(str, patterns)] if isinstance(patterns, list) else []
    facts = {"notation": ", ".join(map(str, notations))} if isinstance(notations, list) and notations else {}
    known = {**_WORDS, "presented_by": _PRESENTED_BY, "difficulty": _DIFFICULTY, "sections": _SECTIONS}
    return [{"name": name, **known, "groups": groups, "facts": facts} for name in names]


def _trial(trial: Any) -> Any:  # noqa: ANN401
    if not isinstance(trial, dict):
        return trial
    return {**trial, **({"question": _renamed(trial["question"], _QUESTION)} if "question" in trial else {})}


def _renamed(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401
    if not isinstance(value, dict):
        return value
    return {names.get(name, name) if names.get(name) not in value else name: one for name, one in value.items()}

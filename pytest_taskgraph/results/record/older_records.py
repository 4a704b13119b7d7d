"""Records of earlier versions, brought to the present schema when they are read.

Schema 1 and 2 called the group of a question its pattern, and the section its category; they list the patterns in the
order of reports, and describe no family. All that was asked then was about workflows. Schema 3 has other terms for
several members and values than schema 4, and told kind and message of a failure in one text, `error`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from ...errors import BUDGET_KINDS, OrderTooWideError, PromptNotUnderstoodError, ProviderErrorKind

KNOWN_SCHEMAS = (1, 2, 3, 4)
_QUESTION = {"pattern": "group", "category": "section"}
_ROW = {"category": "section"}
_WORDS = {"group": "pattern", "section": "category", "cluster": "workflow"}
_PRESENTED_BY = ["notation"]
_DIFFICULTY = {"tasks": "number of tasks", "depth": "depth", "width": "width", "guards": "number of guards"}
_SECTIONS = ["structure", "behaviour", "functionality"]
_PROMPTS = {"think-first": "chain-of-thought"}
_VALUES = {"unreadable": "unparseable"}  # outcomes, statuses of a score, and the columns that count them
# What schema 3 put before the message of a failure, to its kind; other texts are a message alone.
_KINDS = {kind: kind for kind in (*get_args(ProviderErrorKind), *BUDGET_KINDS)}
_KINDS["questions::asked"] = PromptNotUnderstoodError.kind
_FAIL_ON = {"questions": ["answers"], "auto": ["answers"], "gates": ["gates"], "none": []}  # was `judge`
_TOO_WIDE = "no exact mark: "
_OLD_SIMULATED = "oracle:"  # how the names of simulated models began
_SIMULATED = "simulated:"


def upgrade_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record in the present schema; parts that are not of the kind expected stay as they are."""
    found = dict(record)
    for schema, upgrade in ((3, _upgrade_to_3), (4, _upgrade_to_4)):
        if found["schema"] < schema:
            found = {**upgrade(found), "schema": schema}
    return found


def _upgrade_to_3(record: Mapping[str, Any]) -> dict[str, Any]:
    found = {**record, "families": _families(record)}
    for name in ("patterns", "notations"):
        found.pop(name, None)
    _change_each(found, "totals", lambda row: _renamed(row, _ROW))
    _change_each(found, "graded", lambda row: _renamed(row, _ROW))
    _change_each(found, "trials", lambda trial: _changed(trial, "question", lambda one: _renamed(one, _QUESTION)))
    return found


def _upgrade_to_4(record: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(_changed(record, "models", lambda models: _of_each(models, _present_model)))
    _change_each(found, "totals", _upgrade_row)
    _change_each(found, "graded", _upgrade_row)
    _change_each(found, "gates", _upgrade_gate)
    _change_each(found, "tables", _upgrade_table)
    _change_each(found, "families", _upgrade_family)
    _change_each(found, "trials", _upgrade_trial)
    if "reading" in found:
        found["parsing"] = found.pop("reading")
    if "frame" in found:
        found["prompts"] = [_present_prompt(found.pop("frame"))]
    if "judge" in found:
        how = found.pop("judge")
        found["fail_on"] = _FAIL_ON.get(how, how) if isinstance(how, str) else how
    return dict(_changed(found, "settings", lambda one: _changed(one, "presentation", _present_presentation)))


def _upgrade_row(row: dict[str, Any]) -> dict[str, Any]:
    return dict(_changed(_renamed(row, _VALUES), "model", _present_model))


def _upgrade_gate(gate: dict[str, Any]) -> dict[str, Any]:
    found = _changed(gate, "model", _present_model)
    found = _changed(found, "reason", lambda reason: _replaced_start(reason, "cannot tell: ", "inconclusive: "))
    return dict(_changed(found, "name", lambda name: _replaced(name, f"[{_OLD_SIMULATED}", f"[{_SIMULATED}")))


def _upgrade_table(table: dict[str, Any]) -> dict[str, Any]:
    found = dict(table)
    _change_each(found, "columns", lambda one: _changed(one, "value", _present_value))
    _change_each(found, "columns", lambda one: _changed(one, "title", _present_value))
    _change_each(found, "rows", lambda one: _changed(one, "cells", lambda cells: _renamed(cells, _VALUES)))
    _change_each(found, "rows", lambda one: _changed(one, "model", _present_model))
    return found


def _upgrade_family(family: dict[str, Any]) -> dict[str, Any]:
    found = dict(family)
    _change_each(found, "tables", _upgrade_spec)
    return found


def _upgrade_spec(spec: dict[str, Any]) -> dict[str, Any]:
    found = dict(spec)
    _change_each(found, "columns", lambda one: _changed(one, "value", _present_value))
    _change_each(found, "references", lambda one: _changed(one, "column", _present_value))
    return found


def _upgrade_trial(trial: dict[str, Any]) -> dict[str, Any]:
    found = dict(_changed(trial, "score", lambda score: _changed(score, "status", _present_value)))
    _change_each(found, "exchanges", lambda one: _changed(one, "source", _present_model))
    found = _changed(found, "reply", lambda reply: _changed(reply, "source", _present_model))
    found = dict(_changed(_changed(found, "model", _present_model), "outcome", _present_value))
    found = dict(_changed(found, "question", _upgrade_question))
    if "error" in found:
        found["failure"] = _failure(found.pop("error"), str(found.get("outcome")))
    return found


def _failure(error: Any, outcome: str) -> Any:  # noqa: ANN401
    """Return the failure that a text of schema 3 tells of: kind and message, of the outcome where it has no kind."""
    if not isinstance(error, str):
        return error
    if not error:
        return None
    kind, _, message = error.partition(": ")
    if kind in _KINDS:
        return {"kind": _KINDS[kind], "message": message}
    return {"kind": OrderTooWideError.kind if error.startswith(_TOO_WIDE) else outcome, "message": error}


def _upgrade_question(question: Any) -> Any:  # noqa: ANN401
    found = _changed(question, "labels", lambda labels: _renamed(labels, {"frame": "prompt"}))
    found = _changed(found, "labels", lambda labels: _changed(labels, "prompt", _present_prompt))
    found = _changed(found, "digests", lambda digests: _renamed(digests, {"frame": "prompt_template"}))
    return _renamed(found, {"reading": "parsing", "pass_mark": "pass_threshold"})


def _families(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a description for each family that was asked, in the words of the time."""
    trials, notations, patterns = (record.get(name) for name in ("trials", "notations", "patterns"))
    questions = [one.get("question") for one in trials if isinstance(one, dict)] if isinstance(trials, list) else []
    names = sorted({str(one.get("family")) for one in questions if isinstance(one, dict)})
    groups = [*map(str, patterns)] if isinstance(patterns, list) else []
    facts = {"notation": ", ".join(map(str, notations))} if isinstance(notations, list) and notations else {}
    known = {**_WORDS, "presented_by": _PRESENTED_BY, "difficulty": _DIFFICULTY, "sections": _SECTIONS}
    return [{"name": name, **known, "groups": groups, "facts": facts} for name in names]


def _present_value(value: Any) -> Any:  # noqa: ANN401
    return _VALUES.get(value, value) if isinstance(value, str) else value


def _present_model(name: Any) -> Any:  # noqa: ANN401
    old = isinstance(name, str) and name.startswith(_OLD_SIMULATED)
    return _SIMULATED + name.removeprefix(_OLD_SIMULATED) if old else name


def _replaced_start(text: Any, old: str, new: str) -> Any:  # noqa: ANN401
    return new + text.removeprefix(old) if isinstance(text, str) and text.startswith(old) else text


def _replaced(text: Any, old: str, new: str) -> Any:  # noqa: ANN401
    return text.replace(old, new, 1) if isinstance(text, str) else text


def _of_each(values: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    return [change(one) for one in values] if isinstance(values, list) else values


def _present_prompt(name: Any) -> Any:  # noqa: ANN401
    return _PROMPTS.get(name, name) if isinstance(name, str) else name


def _present_presentation(value: Any) -> Any:  # noqa: ANN401
    return "inline" if value == "up-front" else value


def _change_each(found: dict[str, Any], name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change the objects of the list under the name, if there is one."""
    if isinstance(found.get(name), list):
        found[name] = [change(one) if isinstance(one, dict) else one for one in found[name]]


def _changed(value: Any, name: str, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """Return the object with the member of the name changed, if it has one."""
    return {**value, name: change(value[name])} if isinstance(value, dict) and name in value else value


def _renamed(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401
    if not isinstance(value, dict):
        return value
    return {names.get(name, name) if names.get(name) not in value else name: one for name, one in value.items()}

"""Upgrades of records of earlier versions to the present schema.

Schemas 1 and 2 named the group of a question its pattern and the section its category; they list the patterns in the
order of reports and describe no family. All questions then were about workflows. Schema 3 has other terms for several
members and values than schema 4, and holds kind and message of a failure in one text, `error`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from ...errors import BUDGET_KINDS, OrderTooWideError, PromptNotUnderstoodError, ProviderErrorKind

KNOWN_SCHEMAS = (1, 2, 3, 4)
_QUESTION = {"pattern": "group", "category": "section"}
_ROW = {"category": "section"}
_FAMILY_TERMS = {"group": "pattern", "section": "category", "cluster": "workflow"}
_PRESENTED_BY = ["notation"]
_DIFFICULTY = {"tasks": "number of tasks", "depth": "depth", "width": "width", "guards": "number of guards"}
_SECTIONS = ["structure", "behaviour", "functionality"]
_PROMPTS = {"think-first": "chain-of-thought"}
_OUTCOME_NAMES = {"unreadable": "unparseable"}  # of outcomes, of statuses of a score, and of their columns
# Prefix of a failure in schema 3 -> kind of the failure; texts without a prefix are messages only.
_FAILURE_KINDS = {kind: kind for kind in (*get_args(ProviderErrorKind), *BUDGET_KINDS)}
_FAILURE_KINDS["questions::asked"] = PromptNotUnderstoodError.kind
_FAIL_ON = {
    "questions": ["answers"],
    "auto": ["answers"],
    "gates": ["gates"],
    "none": [],
}  # values of the former `judge`
_TOO_WIDE = "no exact mark: "
_OLD_SIMULATED = "oracle:"  # former prefix of simulated models
_SIMULATED = "simulated:"


def upgrade_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record in the present schema; parts of an unexpected type stay unchanged."""
    upgraded = dict(record)
    for schema, upgrade in ((3, _upgrade_to_3), (4, _upgrade_to_4)):
        if upgraded["schema"] < schema:
            upgraded = {**upgrade(upgraded), "schema": schema}
    return upgraded


def _upgrade_to_3(record: Mapping[str, Any]) -> dict[str, Any]:
    upgraded = {**record, "families": _describe_families(record)}
    for name in ("patterns", "notations"):
        upgraded.pop(name, None)
    _change_objects(upgraded, "totals", lambda row: _rename_members(row, _ROW))
    _change_objects(upgraded, "graded", lambda row: _rename_members(row, _ROW))
    _change_objects(
        upgraded,
        "trials",
        lambda trial: _change_member(trial, "question", lambda question: _rename_members(question, _QUESTION)),
    )
    return upgraded


def _upgrade_to_4(record: Mapping[str, Any]) -> dict[str, Any]:
    upgraded = dict(_change_member(record, "models", lambda models: _change_values(models, _upgrade_model)))
    _change_objects(upgraded, "totals", _upgrade_row)
    _change_objects(upgraded, "graded", _upgrade_row)
    _change_objects(upgraded, "gates", _upgrade_gate)
    _change_objects(upgraded, "tables", _upgrade_table)
    _change_objects(upgraded, "families", _upgrade_family)
    _change_objects(upgraded, "trials", _upgrade_trial)
    if "reading" in upgraded:
        upgraded["parsing"] = upgraded.pop("reading")
    if "frame" in upgraded:
        upgraded["prompts"] = [_upgrade_prompt(upgraded.pop("frame"))]
    if "judge" in upgraded:
        value = upgraded.pop("judge")
        upgraded["fail_on"] = _FAIL_ON.get(value, value) if isinstance(value, str) else value
    return dict(
        _change_member(
            upgraded, "settings", lambda settings: _change_member(settings, "presentation", _upgrade_presentation)
        )
    )


def _upgrade_row(row: dict[str, Any]) -> dict[str, Any]:
    return dict(_change_member(_rename_members(row, _OUTCOME_NAMES), "model", _upgrade_model))


def _upgrade_gate(gate: dict[str, Any]) -> dict[str, Any]:
    upgraded = _change_member(gate, "model", _upgrade_model)
    upgraded = _change_member(
        upgraded, "reason", lambda reason: _replace_start(reason, "cannot tell: ", "inconclusive: ")
    )
    return dict(
        _change_member(upgraded, "name", lambda name: _replace_first(name, f"[{_OLD_SIMULATED}", f"[{_SIMULATED}"))
    )


def _upgrade_table(table: dict[str, Any]) -> dict[str, Any]:
    upgraded = dict(table)
    _change_objects(upgraded, "columns", lambda member: _change_member(member, "value", _upgrade_value))
    _change_objects(upgraded, "columns", lambda member: _change_member(member, "title", _upgrade_value))
    _change_objects(
        upgraded,
        "rows",
        lambda member: _change_member(member, "cells", lambda cells: _rename_members(cells, _OUTCOME_NAMES)),
    )
    _change_objects(upgraded, "rows", lambda member: _change_member(member, "model", _upgrade_model))
    return upgraded


def _upgrade_family(family: dict[str, Any]) -> dict[str, Any]:
    upgraded = dict(family)
    _change_objects(upgraded, "tables", _upgrade_spec)
    return upgraded


def _upgrade_spec(spec: dict[str, Any]) -> dict[str, Any]:
    upgraded = dict(spec)
    _change_objects(upgraded, "columns", lambda member: _change_member(member, "value", _upgrade_value))
    _change_objects(upgraded, "references", lambda member: _change_member(member, "column", _upgrade_value))
    return upgraded


def _upgrade_trial(trial: dict[str, Any]) -> dict[str, Any]:
    upgraded = dict(_change_member(trial, "score", lambda score: _change_member(score, "status", _upgrade_value)))
    _change_objects(upgraded, "exchanges", lambda exchange: _change_member(exchange, "source", _upgrade_model))
    upgraded = _change_member(upgraded, "reply", lambda reply: _change_member(reply, "source", _upgrade_model))
    upgraded = dict(_change_member(_change_member(upgraded, "model", _upgrade_model), "outcome", _upgrade_value))
    upgraded = dict(_change_member(upgraded, "question", _upgrade_question))
    if "error" in upgraded:
        upgraded["failure"] = _upgrade_failure(upgraded.pop("error"), str(upgraded.get("outcome")))
    return upgraded


def _upgrade_failure(error: Any, outcome: str) -> Any:  # noqa: ANN401
    """Return the failure described by a text of schema 3.

    Args:
        error: The text.
        outcome: Outcome of the trial; the kind of the failure if the text has none.
    """
    if not isinstance(error, str):
        return error
    if not error:
        return None
    kind, _, message = error.partition(": ")
    if kind in _FAILURE_KINDS:
        return {"kind": _FAILURE_KINDS[kind], "message": message}
    return {"kind": OrderTooWideError.kind if error.startswith(_TOO_WIDE) else outcome, "message": error}


def _upgrade_question(question: Any) -> Any:  # noqa: ANN401
    upgraded = _change_member(question, "labels", lambda labels: _rename_members(labels, {"frame": "prompt"}))
    upgraded = _change_member(upgraded, "labels", lambda labels: _change_member(labels, "prompt", _upgrade_prompt))
    upgraded = _change_member(
        upgraded, "digests", lambda digests: _rename_members(digests, {"frame": "prompt_template"})
    )
    return _rename_members(upgraded, {"reading": "parsing", "pass_mark": "pass_threshold"})


def _describe_families(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a description of each family that was asked, in the terms of its time."""
    trials, notations, patterns = (record.get(name) for name in ("trials", "notations", "patterns"))
    questions = (
        [trial.get("question") for trial in trials if isinstance(trial, dict)] if isinstance(trials, list) else []
    )
    names = sorted({str(trial.get("family")) for trial in questions if isinstance(trial, dict)})
    groups = [*map(str, patterns)] if isinstance(patterns, list) else []
    facts = {"notation": ", ".join(map(str, notations))} if isinstance(notations, list) and notations else {}
    terms = {**_FAMILY_TERMS, "presented_by": _PRESENTED_BY, "difficulty": _DIFFICULTY, "sections": _SECTIONS}
    return [{"name": name, **terms, "groups": groups, "facts": facts} for name in names]


def _upgrade_value(value: Any) -> Any:  # noqa: ANN401
    return _OUTCOME_NAMES.get(value, value) if isinstance(value, str) else value


def _upgrade_model(name: Any) -> Any:  # noqa: ANN401
    old = isinstance(name, str) and name.startswith(_OLD_SIMULATED)
    return _SIMULATED + name.removeprefix(_OLD_SIMULATED) if old else name


def _replace_start(text: Any, old: str, new: str) -> Any:  # noqa: ANN401
    return new + text.removeprefix(old) if isinstance(text, str) and text.startswith(old) else text


def _replace_first(text: Any, old: str, new: str) -> Any:  # noqa: ANN401
    return text.replace(old, new, 1) if isinstance(text, str) else text


def _change_values(values: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    return [change(value) for value in values] if isinstance(values, list) else values


def _upgrade_prompt(name: Any) -> Any:  # noqa: ANN401
    return _PROMPTS.get(name, name) if isinstance(name, str) else name


def _upgrade_presentation(value: Any) -> Any:  # noqa: ANN401
    return "inline" if value == "up-front" else value


def _change_objects(parent: dict[str, Any], name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Replace the objects of the list with that name, if there is one."""
    if isinstance(parent.get(name), list):
        parent[name] = [change(member) if isinstance(member, dict) else member for member in parent[name]]


def _change_member(value: Any, name: str, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """Return the object with the named member changed, if it has one."""
    return {**value, name: change(value[name])} if isinstance(value, dict) and name in value else value


def _rename_members(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401
    if not isinstance(value, dict):
        return value
    return {names.get(name, name) if names.get(name) not in value else name: member for name, member in value.items()}

"""Search for the parts of a record that its schema refuses, since anyone may have changed the file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ValidationError

from ...validation_faults import LONGEST, describe_expected, describe_value, shorten_text
from .record_schema import RecordJson
from .trial_schema import DiagramJson, TrialJson


class _Facts(RecordJson):
    """A record without the contents of its trials. To save memory, each diagram is dropped before the next is read."""

    diagrams: dict[str, Annotated[DiagramJson, AfterValidator(lambda _: None)]]
    trials: list[Any]


def find_faults(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the invalid parts of a record: the place ("facts of the run", or "trial 3") and its first fault."""
    if fault := _find_fault(_Facts, record):
        yield "facts of the run", fault
        return
    for at, trial in enumerate(record["trials"], 1):
        if fault := _find_fault(TrialJson, trial):
            yield f"trial {at}", fault


def _find_fault(kind: type[BaseModel], value: object) -> str:
    try:
        kind.model_validate(value)  # only the validation matters
    except ValidationError as error:
        return _describe_fault(error.errors(include_url=False), value)
    return ""


def _describe_fault(errors: Sequence[Mapping[str, Any]], value: object) -> str:
    """Return the first fault of a value in words."""
    first = errors[0]
    path = _fault_path(first, value)
    if first["type"] == "missing":
        return f"{path!r} is missing"
    # A value that matches no member of a union has an error for each member.
    expected = dict.fromkeys(describe_expected(error) for error in errors if _fault_path(error, value) == path)
    return f"{path}: found {describe_value(first['input'])}, expected {' or '.join(expected)}".removeprefix(": ")


def _fault_path(fault: Mapping[str, Any], value: Any) -> str:  # noqa: ANN401
    """Return the path to the fault, such as `score.parts.f1[0]`, without the names of members of a union."""
    path = ""
    for name in fault["loc"]:
        if name == "[key]" or (value is fault["input"] and fault["type"] != "missing"):
            break
        value = value.get(name) if isinstance(value, dict) else value[name] if isinstance(value, list) else None
        step = f"[{name}]" if isinstance(name, int) else _quote_name(name)
        path += step if not path or step.startswith("[") else f".{step}"
    return path


def _quote_name(name: str) -> str:
    return name if name.isidentifier() and len(name) <= LONGEST else f'["{shorten_text(json.dumps(name)[1:-1])}"]'

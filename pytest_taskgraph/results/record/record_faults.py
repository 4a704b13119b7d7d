"""Search for the parts of a record that its schema refuses, since anyone may have changed the file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ValidationError

from .record_schema import RecordJson
from .trial_schema import DiagramJson, TrialJson

LONGEST: Final = 40  # characters of a value or of a name in a path, in a message

# Descriptions of expected values that replace those of pydantic.
_EXPECTED: Final = {
    "bool_type": "true or false",
    "dict_type": "an object",
    "greater_than_equal": "a number of at least {ge:g}",
    "int_type": "a whole number",
    "less_than_equal": "a number of at most {le:g}",
    "list_type": "a list",
    "model_type": "an object",
    "none_required": "null",
    "string_pattern_mismatch": "a SHA-256 in hexadecimal",
    "string_type": "a text",
    "string_unicode": "a text without half surrogate pairs",
    "value_error": "{error}",
}


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
    expected = dict.fromkeys(_describe_expected(error) for error in errors if _fault_path(error, value) == path)
    return f"{path}: found {_describe_value(first['input'])}, expected {' or '.join(expected)}".removeprefix(": ")


def _describe_expected(fault: Mapping[str, Any]) -> str:
    words = _EXPECTED.get(fault["type"], "")
    return words.format(**fault.get("ctx", {})) or fault["msg"].removeprefix("Input should be ")


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
    return name if name.isidentifier() and len(name) <= LONGEST else f'["{_shorten(json.dumps(name)[1:-1])}"]'


def _describe_value(value: object) -> str:
    """Return a short value as JSON; of lists and objects only their type."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    return _shorten(json.dumps(value))


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"

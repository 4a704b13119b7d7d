"""The lines by which labels of Mermaid and documentation of BPMN state the attributes of a node.

    description: boils the soup
    parameter: 'minutes', set to 20

The text behind a key is a phrase (`phrases.py`), or the attribute itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..workflow.model import Data, Task, Workflow
from .phrases import (
    binding_phrase,
    duration_phrase,
    effect_phrase,
    parameter_phrase,
    read_binding,
    read_duration,
    read_effect,
    read_parameter,
)

TASK_KEYS: Final = ("description", "kind", "implementation", "duration", "parameter", "effect", "binding")
DATA_KEYS: Final = ("description", "schema")
LEVEL_KEYS: Final = ("package", "description", "parameter")
_FIELD_OF: Final = {"parameter": "parameters", "effect": "effects", "binding": "bindings"}
_READERS: Final = {
    "parameter": (read_parameter, "'name', set to 1, a whole number from 0 to 9"),
    "effect": (read_effect, "'name' to 'expression'"),
    "binding": (read_binding, "'inner data' stands for 'outer data'"),
}


class LineError(Exception):
    """A line that cannot be parsed; the caller, which knows its place, makes a ReadError of it."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found}, expected {expected}")
        self.found, self.expected = found, expected


def task_lines(task: Task) -> Iterator[tuple[str, str]]:
    """Yield key and text of each line about a task."""
    yield from ((key, text) for key in ("description", "kind", "implementation") if (text := getattr(task, key)))
    if task.duration:
        yield "duration", duration_phrase(task.duration)
    yield from (("parameter", parameter_phrase(parameter)) for parameter in task.parameters)
    yield from (("effect", effect_phrase(effect)) for effect in task.effects)
    yield from (("binding", binding_phrase(binding)) for binding in task.bindings)


def data_lines(data: Data) -> Iterator[tuple[str, str]]:
    """Yield key and text of each line about data."""
    yield from ((key, text) for key in DATA_KEYS if (text := getattr(data, key)))


def level_lines(workflow: Workflow) -> Iterator[tuple[str, str]]:
    """Yield key and text of each line about a workflow itself."""
    yield from ((key, text) for key in ("package", "description") if (text := getattr(workflow, key)))
    yield from (("parameter", parameter_phrase(parameter)) for parameter in workflow.parameters)


def read_lines(lines: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the attributes that lines of key and text state, by the names of the model's fields.

    Raises:
        LineError: if an attribute is malformed or repeated.
    """
    fields: dict[str, Any] = {}
    for key, text in lines:
        if key in _READERS:
            reader, expected = _READERS[key]
            if (parsed := reader(text)) is None:
                raise LineError(f"the {key} {text[:60]!r}", expected)
            fields[_FIELD_OF[key]] = (*fields.get(_FIELD_OF[key], ()), parsed)
        elif key in fields:
            raise LineError(f"a second {key}", "at most one")
        elif key == "duration":
            fields[key] = read_duration(text)
            if fields[key] is None:
                raise LineError(f"the duration {text[:60]!r}", "a whole number and a unit, such as 30 minutes")
        else:
            fields[key] = text
    return fields

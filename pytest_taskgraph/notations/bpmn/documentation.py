"""What the documentation of an element states: `kind: user`, `duration: 30 minutes`.

In files of other tools, only the duration of a task is read; all other documentation is the author's own.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ...source import Source
from ..attribute_lines import LineError, read_lines
from ..phrases import read_duration
from .xml_tree import Element

_DURATION = "duration"


def stated_attributes(element: Element, keys: Collection[str], source: Source, prefix: str = "") -> dict[str, Any]:
    """Return what the documentation of an element states, by the names of the model's fields.

    Args:
        element: The element.
        keys: The keys that are read.
        source: The text, for errors.
        prefix: What stands before each key.

    Raises:
        ReadError: if it is malformed in a file in the style of this package.
    """
    parts = (documentation.text.partition(": ") for documentation in element.of("documentation"))
    lines = [(key.removeprefix(prefix), text) for key, _, text in parts if key.startswith(prefix)]
    lines = [(key, text) for key, text in lines if key in keys]
    if not element.is_own_style:
        durations = (read_duration(text) for key, text in lines if key == _DURATION)
        duration = next(filter(None, durations), None)
        return {_DURATION: duration} if duration else {}
    try:
        return read_lines(lines)
    except LineError as error:
        source.fail(element.offset, error.found, error.expected)

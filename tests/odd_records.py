"""Modified records."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

Place = tuple[str | int, ...]  # names and numbers that lead to a value


def changed(record: dict[str, Any], place: Place, value: object) -> dict[str, Any]:
    """Return the record with another value in a place."""
    record_copy: Any = deepcopy(record)
    part = record_copy
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    return dict(record_copy)

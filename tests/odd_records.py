"""Records that somebody changed."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

Place = tuple[str | int, ...]  # names and numbers that lead to a value


def changed(record: dict[str, Any], place: Place, value: object) -> dict[str, Any]:
    """The record with another value in a place."""
    made: Any = deepcopy(record)
    at = made
    for name in place[:-1]:
        at = at[name]
    at[place[-1]] = value
    return dict(made)

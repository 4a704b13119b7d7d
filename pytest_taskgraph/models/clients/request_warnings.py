"""Warnings that are raised while a client of litellm sends a request."""

from __future__ import annotations

import warnings
from contextvars import ContextVar
from typing import Any, Final, cast

ASKING: Final[ContextVar[bool]] = ContextVar("ASKING", default=False)
"""True while a request is sent, or litellm is imported for one."""


class _WhileAsking:
    """Replacement for the module expression of a warnings filter: matches any warning raised during a request."""

    def match(self, module: str) -> bool:
        return ASKING.get()


_FILTER = ("ignore", None, Warning, _WhileAsking(), 0)


def ignore_warnings_of_requests() -> None:
    """Ignore warnings raised inside a request from now on, and leave all others unchanged.

    Under `-W error`, a warning of pydantic would otherwise replace a reply that is already paid for. The filters of
    `warnings` are global and pytest replaces them for every test, so this is called for every request. `catch_warnings`
    around a request would restore the wrong filters, since tests run meanwhile.
    """
    filters = cast("list[Any]", warnings.filters)
    if filters[:1] != [_FILTER]:
        filters.insert(0, _FILTER)

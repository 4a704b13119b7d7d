"""The time limit of a question, which some waits do not use up.

It has a module of its own, because every question has a limit, and few have a budget with its store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

# The time limit of the current question: waiting for the budget does not count.
TIME_LIMIT: ContextVar[asyncio.Timeout | None] = ContextVar("TIME_LIMIT", default=None)


@contextmanager
def stop_time() -> Iterator[None]:
    """Extend the time limit of the question by the time that passes in the context."""
    limit, clock = TIME_LIMIT.get(), asyncio.get_running_loop().time
    end = None if limit is None or limit.expired() else limit.when()
    if limit is None or end is None:
        yield
        return
    start = clock()
    limit.reschedule(None)
    try:
        yield
    finally:
        with suppress(RuntimeError):  # the question ended meanwhile
            limit.reschedule(end + clock() - start)

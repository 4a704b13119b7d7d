"""One event loop in a daemon thread: models are asynchronous, pytest is not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import TimeoutError as NotYet
from typing import Any, TypeVar

_T = TypeVar("_T")


class Loop:
    """Runs coroutines for whoever waits. The thread starts with the first of them."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """What the coroutine returns; it is cancelled where waiting for it is interrupted."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._started())
        try:
            while True:
                # Never one wait without end: a signal handler runs only between waits on some platforms.
                try:
                    return future.result(timeout=0.5)
                except NotYet:
                    if future.done():
                        raise
        finally:
            future.cancel()

    def stop(self) -> None:
        """Ends the loop, what still runs in it included."""
        if self._loop is None or self._thread is None:
            return
        self.run(_close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)
        self._loop.close()
        self._loop = self._thread = None

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="taskgraph", daemon=True)
            self._thread.start()
        return self._loop


async def _close() -> None:
    from ..models.remote import close

    await close()
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()

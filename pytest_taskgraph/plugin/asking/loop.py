"""One event loop in a daemon thread: models are asynchronous, pytest is not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, TypeVar

from ...errors import NotAskedError

_T = TypeVar("_T")
_BEAT = 0.25  # seconds between two looks around while waiting
_PATIENCE = 2.0  # seconds that what is under way gets to end once the run does


def _nothing() -> bool:
    return False


class EventLoopThread:
    """Runs coroutines for whoever waits. The thread starts with the first of them."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._changing = threading.Lock()  # of the two above and the next
        self._ended = False
        self._wakened = threading.Event()

    @property
    def started(self) -> bool:
        """Whether there is anything to stop."""
        return self._loop is not None

    def submit(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """The future of the coroutine, which runs from now on; cancelled already once the loop was stopped."""
        with self._changing:
            if not self._ended:
                return asyncio.run_coroutine_threadsafe(coroutine, self._started())
        coroutine.close()
        future: Future[_T] = Future()
        future.cancel()
        return future

    def wake_waiter(self) -> None:
        """Has whoever waits look around, from any thread."""
        self._wakened.set()

    def wait(
        self, future: Future[_T], work: Callable[[], bool] = _nothing, tick: Callable[[], object] = _nothing
    ) -> _T:
        """The future's result; the future is cancelled where waiting for it ends before that.

        On Ctrl-C all that the loop runs is cancelled, and at once, or what one gives up the next would take up.
        Meanwhile `work` is called as long as it finds something to do, and `tick` a few times a second.
        """
        try:
            future.add_done_callback(lambda _: self.wake_waiter())
            while not future.done():
                self._wakened.clear()
                if work():
                    tick()
                elif not future.done():
                    tick()
                    # Never one wait without end: a signal handler runs only between waits on some platforms.
                    self._wakened.wait(_BEAT)
                    self._check()
            return future.result()
        except CancelledError:
            raise NotAskedError("the run ended before the question was asked") from None
        except KeyboardInterrupt:
            self.stop()
            # Anew: it may have come where Python 3.11 knows no line, which pytest's report of it does not bear.
            raise KeyboardInterrupt from None
        finally:
            future.cancel()

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """What the coroutine returns."""
        return self.wait(self.submit(coroutine))

    def stop(self) -> None:
        """Ends the loop for good, from any thread; what still runs in it is cancelled, and has 2 seconds to tidy up."""
        with self._changing:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
            self._ended = True
        if loop is None or thread is None:
            return
        if thread.is_alive():
            with suppress(Exception):  # whatever does not end in time is left to the daemon thread
                asyncio.run_coroutine_threadsafe(_close(), loop).result(timeout=_PATIENCE)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout=_PATIENCE)
        if not thread.is_alive():
            loop.close()

    def _check(self) -> None:
        if self._ended:
            raise CancelledError
        if self._thread is not None and not self._thread.is_alive():
            raise NotAskedError("the loop that asks is gone: a request ended it")

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="taskgraph", daemon=True)
            self._thread.start()
        return self._loop


async def _close() -> None:
    from ...models import close

    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=_PATIENCE / 2)
    await close()

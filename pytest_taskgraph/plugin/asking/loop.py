"""The event loop in a daemon thread, for models are asynchronous and pytest is not.

What waits for no other process runs in a loop of the calling thread: passing a coroutine to the other thread and its
result back takes several times as long as a simulated answer.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar

from ...errors import NotAskedError

_T = TypeVar("_T")
_WAIT_INTERVAL = 0.25  # seconds between two checks while waiting
_GRACE_PERIOD = 2.0  # seconds for running coroutines to end once the run does


class UnexpectedWaitError(Exception):
    """A coroutine that was run without an event loop waits."""


def _no_work() -> bool:
    return False


class EventLoopThread:
    """Thread that runs coroutines for synchronous callers. It starts with the first coroutine."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._own_loop: asyncio.AbstractEventLoop | None = None  # of the calling thread
        self._thread: threading.Thread | None = None
        self._state_lock = threading.Lock()  # guards _loop, _thread and _ended
        self._ended = False
        self._wake_up = threading.Event()

    @property
    def started(self) -> bool:
        """Return True if the loop runs and has to be stopped."""
        return self._loop is not None

    def submit(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Start the coroutine, and return its future, which is cancelled already if the loop was stopped."""
        with self._state_lock:
            if not self._ended:
                return asyncio.run_coroutine_threadsafe(coroutine, self._running_loop())
        coroutine.close()
        future: Future[_T] = Future()
        future.cancel()
        return future

    def wake_waiter(self) -> None:
        """Wake the thread in `wait`, from any thread."""
        self._wake_up.set()

    def wait(
        self, future: Future[_T], work: Callable[[], bool] = _no_work, tick: Callable[[], object] = _no_work
    ) -> _T:
        """Wait for a future, and return its result; cancel the future if the wait ends earlier.

        Ctrl-C cancels everything in the loop at once; otherwise, other coroutines would start with the freed slots.

        Args:
            future: The future.
            work: Function that is called while it returns True, for it did something useful.
            tick: Function that is called a few times a second.

        Raises:
            NotAskedError: if the loop ends first.
        """
        try:
            future.add_done_callback(lambda _: self.wake_waiter())
            while not future.done():
                self._wake_up.clear()
                if work():
                    tick()
                elif not future.done():
                    tick()
                    # Not a single endless wait: on some platforms, signal handlers run only between waits.
                    self._wake_up.wait(_WAIT_INTERVAL)
                    self._check()
            return future.result()
        except CancelledError:
            raise NotAskedError("the run ended before the question was asked") from None
        except KeyboardInterrupt:
            self.stop()
            # A new exception: the original may come from a place without a line in Python 3.11, where pytest's
            # report fails.
            raise KeyboardInterrupt from None
        finally:
            future.cancel()

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine, and return its result."""
        return self.wait(self.submit(coroutine))

    def run_here(self, coroutine: Coroutine[Any, Any, _T], waits: bool = True) -> _T:
        """Run a coroutine that waits for no other process in the calling thread, and return its result.

        Where the calling thread runs a loop already, as in a notebook, the daemon thread runs it.

        Args:
            coroutine: The coroutine.
            waits: False if it waits for nothing at all, and so needs no loop, which takes longer than most answers.

        Raises:
            NotAskedError: if the loop was stopped before.
            UnexpectedWaitError: if the coroutine waits though `waits` is False.
        """
        if not (waits or self._ended):
            return self._run_without_loop(coroutine)
        if self._ended or _runs_loop():
            return self.run(coroutine)
        if self._own_loop is None:
            self._own_loop = asyncio.new_event_loop()
        task = self._own_loop.create_task(coroutine)
        try:
            return self._own_loop.run_until_complete(task)
        except KeyboardInterrupt:
            task.cancel()
            with suppress(asyncio.CancelledError):
                self._own_loop.run_until_complete(task)
            self.stop()
            raise

    def _run_without_loop(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        try:
            copy_context().run(coroutine.send, None)  # as in a task of a loop, what it sets does not stay
        except StopIteration as end:
            result: _T = end.value
            return result
        except KeyboardInterrupt:
            self.stop()
            raise
        coroutine.close()
        raise UnexpectedWaitError

    def stop(self) -> None:
        """End the loop permanently, from any thread; running coroutines are cancelled, and have 2 seconds to end."""
        with self._state_lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
            self._ended = True
        if self._own_loop is not None and not self._own_loop.is_running():
            self._own_loop.close()
            self._own_loop = None
        if loop is None or thread is None:
            return
        if thread.is_alive():
            with suppress(Exception):  # a coroutine that does not end in time stays in the daemon thread
                asyncio.run_coroutine_threadsafe(_close(), loop).result(timeout=_GRACE_PERIOD)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout=_GRACE_PERIOD)
        if not thread.is_alive():
            loop.close()

    def _check(self) -> None:
        if self._ended:
            raise CancelledError
        if self._thread is not None and not self._thread.is_alive():
            raise NotAskedError("a request ended the event loop; no further request can be sent")

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="taskgraph", daemon=True)
            self._thread.start()
        return self._loop


def _runs_loop() -> bool:
    """Return True if the calling thread is inside an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _close() -> None:
    from ...models import close

    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=_GRACE_PERIOD / 2)
    await close()

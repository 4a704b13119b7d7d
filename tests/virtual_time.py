"""An event loop whose clock jumps to the next timer: hours of waiting in no time, and the same every run."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


class _Jumping(selectors.DefaultSelector):
    """Waits for nothing: whoever would wait moves the clock instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "everybody waits, and no timer is set"
        self.now += max(0.0, timeout)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose `time()` starts at 0.0 and jumps."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def clock() -> float:
    """The time of the running loop."""
    return asyncio.get_running_loop().time()


def run(main: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """What the coroutine gives, run in a loop of its own with virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main())

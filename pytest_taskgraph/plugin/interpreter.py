"""How Python runs while questions are on their way: what waits for a reply must not wait for Python."""

from __future__ import annotations

import atexit
import gc
import sys

_SWITCH = 0.0002  # seconds; of the usual 0.005 a reply costs several, for the loop gives way with every system call
_THRESHOLDS = (20_000, 20, 50)  # of the garbage collector


class Interpreter:
    """Changes settings of the process for as long as a live run asks."""

    def __init__(self) -> None:
        self._before: tuple[tuple[int, int, int], float] | None = None

    def hurry(self) -> None:
        """Nothing; threads give way to one another sooner, and garbage is looked for less often and among less.

        What is there by now, litellm above all, stays to the end, and no collection need look at it again, nor those
        that Python makes when the process ends: with litellm they take two seconds, and those in between a fifth of
        the run.
        """
        if self._before is not None:
            return
        self._before = gc.get_threshold(), sys.getswitchinterval()
        gc.freeze()
        atexit.register(gc.freeze)
        if self._before[0][0]:
            gc.set_threshold(max(self._before[0][0], _THRESHOLDS[0]), *_THRESHOLDS[1:])
        sys.setswitchinterval(min(_SWITCH, self._before[1]))

    def calm(self) -> None:
        """Nothing; the settings are again as they were.

        What the run made stays to the end too, and pytest looks for garbage five times before it ends: here it is
        looked for once, and what is left is not looked at again.
        """
        if self._before is not None:
            thresholds, interval = self._before
            gc.collect()
            gc.freeze()
            gc.set_threshold(*thresholds)
            sys.setswitchinterval(interval)
            self._before = None

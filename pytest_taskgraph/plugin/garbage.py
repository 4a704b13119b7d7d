"""How Python looks for garbage while questions are on their way: seldom, and not among what stays."""

from __future__ import annotations

import atexit
import gc

_THRESHOLDS = (20_000, 20, 50)


class Garbage:
    """Changes the settings of the collector for as long as a live run asks."""

    def __init__(self) -> None:
        self._before: tuple[int, int, int] | None = None

    def put_off(self) -> None:
        """Nothing; garbage is looked for less often and among less.

        What is there by now, litellm above all, stays to the end, and no collection need look at it again, nor those
        that Python makes when the process ends: with litellm they take two seconds, and those in between a fifth of
        the run.
        """
        if self._before is not None:
            return
        self._before = gc.get_threshold()
        gc.freeze()
        atexit.register(gc.freeze)
        if self._before[0]:
            gc.set_threshold(max(self._before[0], _THRESHOLDS[0]), *_THRESHOLDS[1:])

    def look_again(self) -> None:
        """Nothing; the settings are again as they were.

        What the run made stays to the end too, and pytest looks for garbage five times before it ends: here it is
        looked for once, and what is left is not looked at again.
        """
        if self._before is not None:
            gc.collect()
            gc.freeze()
            gc.set_threshold(*self._before)
            self._before = None

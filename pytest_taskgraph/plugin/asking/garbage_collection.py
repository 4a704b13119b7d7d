"""Python's garbage collector during a run."""

from __future__ import annotations

import atexit
import gc

_THRESHOLDS = (20_000, 20, 50)


class GarbageCollection:
    """Control of Python's garbage collector during a run."""

    def __init__(self) -> None:
        self._before: tuple[int, int, int] | None = None
        self._excludes_existing = False

    def collect_rarely(self) -> None:
        """Collect garbage less often; imports and collected items, which a run begins with, are no garbage."""
        if self._before is not None:
            return
        self._before = gc.get_threshold()
        atexit.register(gc.freeze)
        if self._before[0]:
            gc.set_threshold(max(self._before[0], _THRESHOLDS[0]), *_THRESHOLDS[1:])

    def exclude_existing(self) -> None:
        """Exclude all existing objects from later collections; a second call has no effect.

        They are mainly imported modules and collected items, and stay until the process ends. Each collection would
        examine them again, also at exit. With litellm this takes two seconds at exit, and a fifth of the time of the
        run; without it a tenth of the time of a run that waits for nothing.
        """
        if self._before is not None and not self._excludes_existing:
            self._excludes_existing = True
            gc.freeze()

    def restore(self) -> None:
        """Restore the settings, after one collection that excludes all remaining objects from later ones.

        The objects of the run stay until the process ends, and pytest collects garbage five times before that.
        """
        if self._before is not None:
            gc.collect()
            gc.freeze()
            gc.set_threshold(*self._before)
            self._before = None

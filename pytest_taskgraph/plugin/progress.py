"""How far the run is, told while it waits: a live line on a terminal, a plain line now and then elsewhere.

The live line stands below the one that pytest is writing. It is drawn by going down, writing, and coming back to the
column, and wiped by erasing everything after the cursor; so nothing of it stays, not in the scroll-back either.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import pytest

from . import private

if TYPE_CHECKING:
    from ..models.watch import Watch
    from ..trial import Trial

REDRAWN = 0.2  # seconds between two drawings of the live line, at least
WINDOW = 60.0  # seconds whose answers tell the pace
WIPE = "\x1b[J"

Way = Literal["live", "plain", "none"]


@dataclass(frozen=True, slots=True)
class Counts:
    """Where the asking stands."""

    answered: int = 0  # questions, also ahead of their items
    in_flight: int | None = None  # None: not known
    errors: int = 0
    cost: float = 0.0  # US dollars
    unpriced: int = 0  # replies whose cost is not known
    waiting: Mapping[str, float] = field(default_factory=dict)  # why -> time.monotonic() until which nothing is sent

    def with_trial(self, trial: Trial) -> Counts:
        """The counts with one more question come to an end, as a controller of xdist hears of it.

        What earlier runs paid for is no cost of this one.
        """
        paid = trial.reply if trial.reply is not None and not trial.reply.stored else None
        return replace(
            self,
            answered=self.answered + 1,
            errors=self.errors + (trial.outcome == "error"),
            cost=self.cost + (paid.cost or 0.0 if paid else 0.0),
            unpriced=self.unpriced + (paid is not None and paid.cost is None),
        )


def watched(watch: Watch) -> Counts:
    """The counts of this process, each request taken for a question."""
    return Counts(
        watch.answered + watch.stored,
        watch.in_flight,
        watch.failed,
        watch.cost,
        watch.unpriced,
        watch.waiting.copy(),  # the loop's thread writes it
    )


class Pace:
    """How fast a count grows."""

    def __init__(self, now: float) -> None:
        self._seen = deque([(now, 0)])

    def note(self, now: float, count: int) -> None:
        """Keeps the count, once a second at most, for as long as it tells something."""
        if now - self._seen[-1][0] >= 1:
            self._seen.append((now, count))
        while len(self._seen) > 1 and self._seen[1][0] <= now - WINDOW:
            self._seen.popleft()

    def left(self, now: float, count: int, total: int) -> float | None:
        """The seconds until `total`, as fast as in the last minute; None where nothing came or nothing is left."""
        then, before = self._seen[0]
        if count <= before or now <= then or count >= total:
            return None
        return (total - count) * (now - then) / (count - before)


class Progress:
    """Tells how far a run of `total` questions is; only ever called from the main thread.

    `interval`: seconds between plain lines; 0: nothing is told, live or plain. `counts` takes the place of what the
    watch tells: on the controller of xdist, and where a question is more than one request. `clock` is the one that
    the waiting times refer to.
    """

    def __init__(
        self,
        config: pytest.Config,
        watch: Watch,
        total: int,
        interval: float,
        counts: Callable[[], Counts] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config = config
        self._counts = counts or (lambda: watched(watch))
        self._total = total
        self._interval = interval
        self._clock = clock
        self._start = self._drawn = self._told = clock()
        self._pace = Pace(self._start)
        self._done = 0
        self._call_off: Callable[[], None] | None = None  # set while the live line stands

    def done(self, n: int = 1) -> None:
        """Counts n more items as finished."""
        self._done += n

    def tick(self) -> None:
        """Tells how far the run is, if it is time to. Cheap; to be called often."""
        now, reporter = self._clock(), self._reporter()
        way = _way(self._config, reporter) if self._interval > 0 else "none"
        if reporter is None or way == "none":
            return
        due = now - self._drawn >= REDRAWN if way == "live" else now - self._told >= self._interval
        self._pace.note(now, self._answered(self._counts()))
        if due:
            with private.uncaptured(self._config):
                columns, lines = private.screen(reporter)
                if way == "plain":
                    self._tell(reporter, now)
                elif min(columns, lines) > 1:
                    self._draw(reporter, now, columns)
                elif now - self._told >= self._interval:
                    self._tell(reporter, now)

    def clear(self) -> None:
        """Wipes the live line, if it stands."""
        reporter = self._reporter()
        if self._call_off is None or reporter is None:
            return
        self._call_off()
        self._call_off = None
        with private.uncaptured(self._config):
            private.write_untracked(reporter, WIPE)

    def _reporter(self) -> pytest.TerminalReporter | None:
        """Looked up late, for pytest registers it after everybody else."""
        found: pytest.TerminalReporter | None = self._config.pluginmanager.get_plugin("terminalreporter")
        return found

    def _answered(self, counts: Counts) -> int:
        return min(self._total, max(self._done, counts.answered))

    def _tell(self, reporter: pytest.TerminalReporter, now: float) -> None:
        self._told = now
        private.break_line(reporter)
        reporter.write_line(f"[taskgraph] {self._line(now, 1000)}")
        reporter.flush()

    def _draw(self, reporter: pytest.TerminalReporter, now: float, columns: int) -> None:
        column = private.column(reporter, columns)
        if column is None:
            return
        self._drawn = now
        if self._call_off is not None:
            self._call_off()
        # Erased on the way: what a key that was pressed meanwhile left of the line before.
        back = f"\x1b[A\r\x1b[{column}C" if column else "\x1b[A\r"
        private.write_untracked(reporter, f"\x1b[K\n{self._line(now, columns - 1)}{WIPE}{back}")
        self._call_off = private.before_next_write(reporter, self.clear)

    def _line(self, now: float, width: int) -> str:
        from ..reports.progress import line

        counts = self._counts()
        answered = self._answered(counts)
        waiting = {why: until - now for why, until in counts.waiting.items() if until > now}
        return line(
            answered,
            self._total,
            counts.in_flight,
            counts.errors,
            counts.cost,
            counts.unpriced,
            now - self._start,
            self._pace.left(now, answered, self._total),
            waiting,
            width,
        )


def _way(config: pytest.Config, reporter: pytest.TerminalReporter | None) -> Way:
    """How to tell: live only where pytest alone writes to the terminal, and says where its cursor is."""
    if reporter is None or not hasattr(reporter, "write_line"):
        return "none"
    if config.get_verbosity() < 0 or hasattr(config, "workerinput"):
        return "none"
    if not bool(getattr(reporter, "isatty", False)) or os.environ.get("TERM") == "dumb":
        return "plain"
    alone = config.getoption("capture", "no") == "fd" and not _logs_live(config)
    return "live" if alone and private.tracks_columns(reporter) else "plain"


def _logs_live(config: pytest.Config) -> bool:
    """Whether log messages go to the terminal as they come, from whatever thread."""
    try:
        return config.getoption("log_cli_level", None) is not None or bool(config.getini("log_cli"))
    except ValueError:  # no logging plugin
        return False

"""Show how far a long run is: a live line on a terminal, a plain line at intervals elsewhere.

The live line stands below the one that pytest is writing, and leaves no trace, not in the scroll-back either. It is
drawn while an item waits for its reply, and erased when the wait ends; on a controller of xdist it is drawn after an
item, and erased by the hooks before which pytest and xdist write. No method of pytest is replaced.

Neither tqdm nor rich draws it. Both expect the cursor at the start of a line of their own, but pytest leaves its line
open, `test_it.py ...` or `test_it.py::test_a `. A bar of tqdm or a `Live` display of rich on that line erases it. A bar
at `position=1` returns to the line above in another column, so that the next dot is written in the wrong place.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import pytest

from ..pytest_compat import is_own_reporter, without_capture
from .terminal_lines import start_line

if TYPE_CHECKING:
    from ...models.middleware.request_counters import RequestCounters
    from ...trial import Trial

REDRAWN = 0.2  # seconds between two drawings of the live line, at least
WINDOW = 60.0  # seconds whose answers tell the pace
ERASE = "\x1b[J"  # from the cursor to the end of the screen
BELOW = "\x1bD"  # one line down in the same column; the screen scrolls where there is none
ABOVE = "\x1b[A"
SAVE, RESTORE = "\x1b7", "\x1b8"  # the cursor

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


def watched(counters: RequestCounters) -> Counts:
    """The counts of this process, each request taken for a question."""
    return Counts(
        counters.answered + counters.stored,
        counters.in_flight,
        counters.failed,
        counters.cost,
        counters.unpriced,
        counters.waiting.copy(),  # the loop's thread writes it
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
    counters tells: on the controller of xdist, and where a question is more than one request. `clock` is the one that
    the waiting times refer to.
    """

    def __init__(
        self,
        config: pytest.Config,
        counters: RequestCounters,
        total: int,
        interval: float,
        counts: Callable[[], Counts] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config = config
        self._counts = counts or (lambda: watched(counters))
        self._total = total
        self._interval = interval
        self._clock = clock
        self._start = self._drawn = self._told = clock()
        self._pace = Pace(self._start)
        self._done = 0
        self._shown = False  # whether the live line is on the screen

    def done(self, n: int = 1) -> None:
        """Counts n more items as finished."""
        self._done += n

    def tick(self) -> None:
        """Tells how far the run is, if it is time to. Cheap; to be called often."""
        now, reporter = self._clock(), self._reporter()
        way = _way(self._config, reporter) if self._interval > 0 else "none"
        if reporter is None or way == "none":
            return
        redraw = not self._shown or now - self._drawn >= REDRAWN
        due = redraw if way == "live" else now - self._told >= self._interval
        self._pace.note(now, self._answered(self._counts()))
        if due:
            with without_capture(self._config):
                columns, lines = screen_size()
                if way == "live" and min(columns, lines) > 1:
                    self._draw(now, columns)
                elif now - self._told >= self._interval:
                    self._tell(reporter, now)

    def clear(self) -> None:
        """Erase the live line, if it is on the screen."""
        if self._shown:
            self._shown = False
            with without_capture(self._config):
                write_raw(ERASE)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Erase the live line before pytest names the next item."""
        self.clear()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self) -> None:
        """Erase the live line before pytest writes an outcome."""
        self.clear()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logfinish(self) -> None:
        """Erase the live line before pytest ends a full line."""
        self.clear()

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Erase the live line before the traceback."""
        self.clear()

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self) -> None:
        """Erase the live line before the traceback."""
        self.clear()

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_testnodedown(self) -> None:
        """Erase the live line before xdist tells of a worker that crashed."""
        self.clear()

    def _reporter(self) -> pytest.TerminalReporter | None:
        """Looked up late, for pytest registers it after everybody else."""
        found: pytest.TerminalReporter | None = self._config.pluginmanager.get_plugin("terminalreporter")
        return found

    def _answered(self, counts: Counts) -> int:
        return min(self._total, max(self._done, counts.answered))

    def _tell(self, reporter: pytest.TerminalReporter, now: float) -> None:
        self._told = now
        start_line(reporter)
        reporter.write_line(f"[taskgraph] {self._line(now, 1000)}")
        reporter.flush()

    def _draw(self, now: float, columns: int) -> None:
        """Write the live line below the cursor's, and return to the cursor's column."""
        width = self._config.get_terminal_writer().width_of_current_line
        if width and width % columns == 0:  # the next character wraps, which no terminal restores
            return
        self._drawn, self._shown = now, True
        room = f"{ERASE}{BELOW}{ABOVE}"  # scroll first: what is restored is a place on the screen
        write_raw(f"{room}{SAVE}{BELOW}\r{self._line(now, columns - 1)}{RESTORE}")

    def _line(self, now: float, width: int) -> str:
        from ...reports.terminal.progress_line import line

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
    """Return how to show progress: live only where pytest's own reporter alone writes to a terminal.

    The console of Windows does not know all control sequences that the live line needs.
    """
    if reporter is None or not hasattr(reporter, "write_line"):
        return "none"
    if config.get_verbosity() < 0 or hasattr(config, "workerinput"):
        return "none"
    if not bool(getattr(reporter, "isatty", False)) or os.environ.get("TERM") == "dumb":
        return "plain"
    alone = config.getoption("capture", "no") == "fd" and not _logs_live(config)
    return "live" if alone and is_own_reporter(reporter) and sys.platform != "win32" else "plain"


def _logs_live(config: pytest.Config) -> bool:
    """Whether log messages go to the terminal as they come, from whatever thread."""
    try:
        return config.getoption("log_cli_level", None) is not None or bool(config.getini("log_cli"))
    except ValueError:  # no logging plugin
        return False


def screen_size() -> tuple[int, int]:
    """Return the columns and lines of the terminal, (0, 0) if it does not tell; to be called within `without_capture`.

    COLUMNS does not count: where it is wrong, a line that is meant to fit would not.
    """
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        return 0, 0
    return size.columns, size.lines


def write_raw(text: str) -> None:
    """Write to the terminal at once, past pytest's count of columns; to be called within `without_capture`."""
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        sys.stdout.write(text.encode("ascii", "replace").decode())
    sys.stdout.flush()

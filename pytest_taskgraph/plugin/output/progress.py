"""Progress of a long run: a live line on a terminal, a plain line at intervals elsewhere.

The live line is below the line that pytest is writing, and leaves no trace, also in the scroll-back. It is drawn while
an item waits for its reply, and erased when the wait ends; on a controller of xdist it is drawn after an item, and
erased by the hooks that pytest and xdist call before they write. No method of pytest is replaced.

Neither tqdm nor rich can draw it. Both expect the cursor at the start of a line, but pytest leaves its line open,
`test_it.py ...` or `test_it.py::test_a `. A bar of tqdm or a `Live` display of rich on that line erases it. A bar at
`position=1` returns to the line above in another column, so that the next dot is written in the wrong place.
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
WINDOW = 60.0  # seconds over which the pace is measured, at least
FEWEST = 5  # steps over which it is measured, at least: of a slow server, a minute may hold none
LINE_INTERVAL = 30.0  # seconds between plain lines
ERASE = "\x1b[J"  # from the cursor to the end of the screen
BELOW = "\x1bD"  # one line down in the same column; the screen scrolls at its end
ABOVE = "\x1b[A"
SAVE, RESTORE = "\x1b7", "\x1b8"  # the cursor

ProgressStyle = Literal["live", "plain", "none"]


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of questions and requests at one time."""

    answered: int = 0  # questions, also of items that have not run
    in_flight: int | None = None  # requests; None: unknown
    errors: int = 0
    timeouts: int = 0  # attempts
    retries: int = 0
    cost: float = 0.0  # US dollars
    unpriced: int = 0  # replies whose cost is unknown
    waiting: Mapping[str, float] = field(default_factory=dict)  # reason -> time.monotonic() at which sending resumes

    def with_trial(self, trial: Trial) -> Counts:
        """Return the counts with one more trial, as a controller of xdist receives it.

        A stored reply, which an earlier run paid for, costs nothing.
        """
        paid = trial.reply if trial.reply is not None and not trial.reply.stored else None
        return replace(
            self,
            answered=self.answered + 1,
            errors=self.errors + (trial.outcome == "error"),
            retries=self.retries + trial.retries,
            cost=self.cost + (paid.cost or 0.0 if paid else 0.0),
            unpriced=self.unpriced + (paid is not None and paid.cost is None),
        )


def process_counts(counters: RequestCounters) -> Counts:
    """Return the counts of this process, where each request counts as a question."""
    usage = counters.usage
    return Counts(
        usage.replies + counters.stored,
        counters.in_flight,
        counters.failed,
        counters.timeouts,
        counters.retries,
        usage.cost or 0.0,
        usage.unpriced,
        counters.waiting.copy(),  # the loop's thread writes it
    )


class Pace:
    """Growth rate of a count: over the last minute, or over its last FEWEST steps if these took longer."""

    def __init__(self, now: float) -> None:
        self._seen = deque([(now, 0)])
        self._steps = deque([(now, 0)], FEWEST + 1)

    def note(self, now: float, count: int) -> None:
        """Record the count, at most once a second, and drop records older than WINDOW."""
        if count != self._steps[-1][1]:
            self._steps.append((now, count))
        if now - self._seen[-1][0] >= 1:
            self._seen.append((now, count))
        while len(self._seen) > 1 and self._seen[1][0] <= now - WINDOW:
            self._seen.popleft()

    def left(self, now: float, count: int, total: int) -> float | None:
        """Return the seconds until `total` at this pace; None without progress, or at the total."""
        then, before = min(self._seen[0], self._steps[0])
        if count <= before or now <= then or count >= total:
            return None
        return (total - count) * (now - then) / (count - before)


class Progress:
    """Progress output of a run. Only the main thread calls it.

    Args:
        config: The configuration of the session.
        counters: The counters of the requests of this process.
        total: The number of questions.
        interval: Seconds between plain lines; 0: no output, live or plain.
        counts: Function that returns the counts instead of the counters: on the controller of xdist, and if a question
            needs several requests.
        clock: The clock that waiting times refer to.
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
        self._counts = counts or (lambda: process_counts(counters))
        self._total = total
        self._interval = interval
        self._clock = clock
        self._start = self._last_drawn = self._last_printed = clock()
        self._pace = Pace(self._start)
        self._done = 0
        self._is_visible = False  # True if the live line is on the screen

    def done(self, n: int = 1) -> None:
        """Count n more items as finished."""
        self._done += n

    def tick(self) -> None:
        """Draw the live line or print a plain line if it is due. Cheap, for it is called often."""
        now, reporter = self._clock(), self._reporter()
        style = _style(self._config, reporter) if self._interval > 0 else "none"
        if reporter is None or style == "none":
            return
        redraw = not self._is_visible or now - self._last_drawn >= REDRAWN
        due = redraw if style == "live" else now - self._last_printed >= self._interval
        self._pace.note(now, self._answered(self._counts()))
        if due:
            with without_capture(self._config):
                columns, lines = screen_size()
                if style == "live" and min(columns, lines) > 1:
                    self._draw(now, columns)
                elif now - self._last_printed >= self._interval:
                    self._print_line(reporter, now)

    def clear(self) -> None:
        """Erase the live line, if it is on the screen."""
        if self._is_visible:
            self._is_visible = False
            with without_capture(self._config):
                write_raw(ERASE)

    def end(self) -> None:
        """Erase the live line for good: the cases of gates that follow ask nothing."""
        self.clear()
        self._interval = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Erase the live line before pytest prints the next item."""
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
        """Erase the live line before xdist reports a worker that crashed."""
        self.clear()

    def _reporter(self) -> pytest.TerminalReporter | None:
        """Return the terminal reporter, looked up at use, for pytest registers it last."""
        reporter: pytest.TerminalReporter | None = self._config.pluginmanager.get_plugin("terminalreporter")
        return reporter

    def _answered(self, counts: Counts) -> int:
        return min(self._total, max(self._done, counts.answered))

    def _print_line(self, reporter: pytest.TerminalReporter, now: float) -> None:
        self._last_printed = now
        start_line(reporter)
        reporter.write_line(f"[taskgraph] {self._line(now, 1000)}")
        reporter.flush()

    def _draw(self, now: float, columns: int) -> None:
        """Write the live line below the line of the cursor, and restore the cursor."""
        width = self._config.get_terminal_writer().width_of_current_line
        if width and width % columns == 0:  # the next character wraps, and terminals do not restore that state
            return
        self._last_drawn, self._is_visible = now, True
        scroll = f"{ERASE}{BELOW}{ABOVE}"  # first, for the restored position is relative to the screen
        write_raw(f"{scroll}{SAVE}{BELOW}\r{self._line(now, columns - 1)}{RESTORE}")

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
            counts.timeouts,
            counts.retries,
            counts.cost,
            counts.unpriced,
            now - self._start,
            self._pace.left(now, answered, self._total),
            waiting,
            width,
        )


class RunProgress:
    """The progress of a run, which is shown once it asks a live model under test."""

    def __init__(self, config: pytest.Config, counters: RequestCounters) -> None:
        self._config = config
        self._counters = counters
        self._shown: Progress | None = None
        self._arrived = Counts()

    def begin(self, items: int, finished: Callable[[], int | None]) -> None:
        """Start the output, unless it was started before.

        Args:
            items: The number of items that will ask.
            finished: Function that returns how many questions this process has asked to the end; None on a controller
                of xdist, where the trials that have arrived count.
        """
        if self._shown is not None:
            return

        def counts() -> Counts:
            number = finished()
            return self._arrived if number is None else replace(process_counts(self._counters), answered=number)

        self._shown = Progress(self._config, self._counters, items, LINE_INTERVAL, counts)
        self._config.pluginmanager.register(self._shown, "taskgraph-progress")

    def tick(self) -> None:
        """Update the output; called a few times a second during the wait for a reply."""
        if self._shown is not None:
            self._shown.tick()

    def clear(self) -> None:
        """Erase the live line, for the code that runs next may write to the terminal."""
        if self._shown is not None:
            self._shown.clear()

    def end_item(self) -> None:
        """Update the output after an item."""
        if self._shown is not None:
            self._shown.done()
            self._shown.tick()

    def add(self, trial: Trial) -> None:
        """Count a trial that has arrived."""
        self._arrived = self._arrived.with_trial(trial)

    def end(self) -> None:
        """Erase the live line for good."""
        if self._shown is not None:
            self._shown.end()


def _style(config: pytest.Config, reporter: pytest.TerminalReporter | None) -> ProgressStyle:
    """Return how to show progress: live only if pytest's own reporter is the only writer to a terminal.

    The console of Windows does not support all control sequences of the live line.
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
    """Return True if log messages go directly to the terminal, from any thread."""
    try:
        return config.getoption("log_cli_level", None) is not None or bool(config.getini("log_cli"))
    except ValueError:  # no logging plugin
        return False


def screen_size() -> tuple[int, int]:
    """Return the columns and lines of the terminal, (0, 0) if they are unknown; to be called within `without_capture`.

    The environment variable COLUMNS is ignored: a line that is too long for the terminal breaks the display.
    """
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        return 0, 0
    return size.columns, size.lines


def write_raw(text: str) -> None:
    """Write to the terminal at once, without pytest counting columns; to be called within `without_capture`."""
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        sys.stdout.write(text.encode("ascii", "replace").decode())
    sys.stdout.flush()

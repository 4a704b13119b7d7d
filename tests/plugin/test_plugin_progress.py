"""The progress display, driven by a conftest with counts of its own and a clock that only it moves."""

from __future__ import annotations

import io
import os
import re
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import in_process
import pyte
import pytest
import warm_processes
from loopback import Loopback
from plugin_project import SUITE, Project, right
from posix_tests import posix_only

from pytest_taskgraph.models.middleware.request_counters import RequestCounters
from pytest_taskgraph.plugin.output.progress import Counts, Pace, Progress, process_counts, screen_size, write_raw
from pytest_taskgraph.plugin.output.terminal_lines import width
from pytest_taskgraph.plugin.pytest_compat import without_capture
from pytest_taskgraph.usage import Usage

CONFTEST = """
import os, pytest
from pytest_taskgraph.models.middleware.request_counters import RequestCounters
from pytest_taskgraph.plugin.output.progress import Counts, Progress
from pytest_taskgraph.usage import Usage

counters, now = RequestCounters(in_flight=3, usage=Usage(cost=0.25)), [100.0]
ON = os.environ.get("SHOWN", "yes") == "yes"

def pytest_collection_finish(session):
    interval = float(os.environ.get("INTERVAL", "30"))
    session.config.shown = Progress(session.config, counters, len(session.items), interval, clock=lambda: now[0])

@pytest.fixture
def reply(request):
    print("said in set-up")
    for _ in range(4):
        now[0] += 0.5
        ON and request.config.shown.tick()
    counters.usage += Usage(1)
    request.config.shown.clear()
    os.environ.get("BROKEN") and pytest.fail("no reply", pytrace=False)

class Finishing:
    def __init__(self, shown):
        self.shown = shown

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid):
        self.shown.done(1)
        now[0] += 0.3
        ON and self.shown.tick()

@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop(session):
    if not hasattr(session.config, "shown"):  # the controller of xdist, which collects nothing
        told = lambda: Counts(errors=1, cost=0.5)
        session.config.shown = Progress(session.config, counters, 5, 30.0, told, lambda: now[0])
    session.config.pluginmanager.register(session.config.shown)
    session.config.pluginmanager.register(Finishing(session.config.shown))
    try:
        return (yield)
    finally:
        session.config.shown.clear()
"""
SHORT = "import pytest\n@pytest.mark.parametrize('n', range(5))\ndef test_it(reply, n): pass\n"
LONG = f"""
import pytest
@pytest.mark.parametrize("n", range(3), ids=lambda n: "x" * (70 + n))
def test_{"long" * 12}(reply, n): pass
@pytest.mark.parametrize("n", range(20))
def test_many(reply, n): assert n != 7
"""


@dataclass
class Screenshot:
    """What a terminal showed of a run."""

    final: list[str]  # every line, those that scrolled away first
    raw: str
    below: list[str] = field(default_factory=list)  # the line under the cursor's, each time one was drawn
    current: list[str] = field(default_factory=list)  # the cursor's own line at these times, up to the cursor

    @property
    def timeless(self) -> list[str]:
        return [re.sub(r"=*(.*) in [\d.]+s =*", r"\1", line) for line in self.final]


def on_a_terminal(folder: Path, *args: str, columns: int = 80, lines: int = 24, **environment: str) -> Screenshot:
    """A run of pytest in a process of its own, under a terminal of that size."""
    import fcntl
    import termios

    controller, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    left_out = ("PYTEST_XDIST", "PYTEST_ADDOPTS", "COLUMNS", "LINES", "CI", "BUILD_NUMBER", "NO_COLOR", "FORCE_COLOR")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    settings = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = ["-p", "no:cacheprovider", *args]
    with warm_processes.start(arguments, folder, inherited | settings | environment, [terminal] * 3):
        os.close(terminal)
        raw = b"".join(iter(lambda: _read(controller), b""))
    os.close(controller)
    return emulated(raw.decode(), columns, lines)


def _read(controller: int) -> bytes:
    try:
        return os.read(controller, 65536)
    except OSError:  # Linux says so where the other end is closed
        return b""


def emulated(raw: str, columns: int, lines: int) -> Screenshot:
    """What the terminal shows at the end, and whenever the cursor has just come back up."""
    columns, lines = columns or 80, lines or 24  # a terminal that tells no size
    screen = pyte.HistoryScreen(columns, lines, history=10000, ratio=0.001)
    stream = pyte.Stream(screen)
    seen = Screenshot([], raw)
    for piece in re.split(r"(\x1b8)", raw):
        stream.feed(piece)
        if piece == "\x1b8":
            seen.below.append(screen.display[screen.cursor.y + 1].rstrip())
            seen.current.append(screen.display[screen.cursor.y][: screen.cursor.x])
    scrolled = ["".join(line[at].data for at in range(columns)) for line in screen.history.top]
    seen.final = [line.rstrip() for line in (*scrolled, *screen.display)]
    while seen.final and not seen.final[-1]:
        del seen.final[-1]
    return seen


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("PYTEST_ADDOPTS", "TERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    pytester.makeini("[pytest]\n")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=SHORT)
    return pytester


@posix_only
def test_live_line_stands_below_what_pytest_is_writing(project: pytest.Pytester) -> None:
    screenshot = on_a_terminal(project.path)
    assert screenshot.below[0] == "0/5 answered, 3 in flight, $0.25, 0 s"
    assert screenshot.below[-1] == "5/5 answered, 3 in flight, $0.25, 11 s"
    assert "2/5 answered, 3 in flight, $0.25, 5 s, about 8 s left" in screenshot.below
    assert screenshot.current[0] == "test_it.py "
    assert screenshot.current[-1].startswith("test_it.py .....")


@posix_only
@pytest.mark.parametrize(
    ("args", "lines"),
    [
        ((), 2),
        (("--setup-show", "-rA"), 9),
        pytest.param((), 24, marks=pytest.mark.exhaustive),
        pytest.param(("-v",), 5, marks=pytest.mark.exhaustive),
        pytest.param(("-v", "-rA"), 24, marks=pytest.mark.exhaustive),
    ],
)
def test_live_line_leaves_nothing_behind(project: pytest.Pytester, args: tuple[str, ...], lines: int) -> None:
    with_it = on_a_terminal(project.path, *args, lines=lines)
    without = on_a_terminal(project.path, *args, lines=lines, SHOWN="no")
    assert len(with_it.below) >= 10
    assert with_it.timeless == without.timeless


@posix_only
@pytest.mark.parametrize(
    ("args", "columns"),
    [
        ((), 33),
        (("-v",), 80),
        pytest.param((), 80, marks=pytest.mark.exhaustive),
        pytest.param((), 120, marks=pytest.mark.exhaustive),
        pytest.param(("-v",), 33, marks=pytest.mark.exhaustive),
        pytest.param(("-v",), 120, marks=pytest.mark.exhaustive),
    ],
)
def test_lines_that_wrap_and_screens_that_scroll_are_left_as_they_were(
    project: pytest.Pytester, args: tuple[str, ...], columns: int
) -> None:
    project.makepyfile(test_it=LONG)
    with_it = on_a_terminal(project.path, *args, columns=columns, lines=9)
    without = on_a_terminal(project.path, *args, columns=columns, lines=9, SHOWN="no")
    assert len(with_it.below) > 50
    assert [line for line in with_it.below if not re.match(r"\d+/23 answered", line)] == []
    assert with_it.timeless == without.timeless


@posix_only
def test_errors_and_captured_output_is_reported_as_ever(project: pytest.Pytester) -> None:
    with_it = on_a_terminal(project.path, BROKEN="yes")
    without = on_a_terminal(project.path, SHOWN="no", BROKEN="yes")
    assert sum("said in set-up" in line for line in with_it.final) == 5
    assert with_it.timeless == without.timeless


@posix_only
def test_live_line_before_debugger_starts_is_erased(project: pytest.Pytester) -> None:
    project.makepyfile(
        quiet="""
        import bdb

        class Debugger(bdb.Bdb):
            def __init__(self, **named): super().__init__()
            def setup(self, *args): pass
            def interaction(self, *args):
                self.quitting = False
                print("debugging")
        """
    )
    args = ("--pdb", "--pdbcls=quiet:Debugger")
    with_it = on_a_terminal(project.path, *args, BROKEN="yes")
    without = on_a_terminal(project.path, *args, SHOWN="no", BROKEN="yes")
    assert with_it.final.count("debugging") == 5
    assert len(with_it.below) >= 10
    assert with_it.timeless == without.timeless


@posix_only
@pytest.mark.parametrize(
    ("args", "term"),
    [
        (("-s",), "xterm"),
        pytest.param(("--capture=tee-sys",), "xterm", marks=pytest.mark.exhaustive),
        (("-o", "log_cli=true"), "xterm"),
        (("--log-cli-level=INFO",), "xterm"),
        ((), "dumb"),
    ],
    ids=["s", "tee", "log_cli", "log_cli_level", "dumb"],
)
def test_progress_with_other_writers_is_plain(project: pytest.Pytester, args: tuple[str, ...], term: str) -> None:
    screenshot = on_a_terminal(project.path, *args, INTERVAL="5", TERM=term)
    assert screenshot.below == []
    assert [line for line in screenshot.final if line.startswith("[taskgraph]")] == [
        "[taskgraph] 2/5 answered, 3 in flight, $0.25, 5 s, about 8 s left",
        "[taskgraph] 4/5 answered, 3 in flight, $0.25, 10 s, about 3 s left",
    ]


@posix_only
@pytest.mark.parametrize(("args", "interval"), [(("-q",), "30"), ((), "0")], ids=["q", "0"])
def test_progress_turned_off_prints_nothing(project: pytest.Pytester, args: tuple[str, ...], interval: str) -> None:
    assert "answered" not in on_a_terminal(project.path, *args, INTERVAL=interval).raw


@posix_only
def test_terminal_without_size_gets_plain_lines(project: pytest.Pytester) -> None:
    screenshot = on_a_terminal(project.path, columns=0, lines=0, INTERVAL="5")
    assert "\x1b" not in screenshot.raw.replace("\x1b[", "")
    assert screenshot.raw.count("[taskgraph] ") == 2


@posix_only
def test_controller_of_xdist_shows_live_line_and_leaves_nothing(project: pytest.Pytester) -> None:
    with_it = on_a_terminal(project.path, "-p", "xdist", "-n", "1")
    assert "3/5 answered, 1 error, $0.50, 1 s, about 1 s left" in with_it.below
    without = on_a_terminal(project.path, "-p", "xdist", "-n", "1", SHOWN="no")
    assert with_it.timeless == without.timeless


def test_progress_without_terminal_prints_plain_lines(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERVAL", "5")
    ran = project.runpytest_inprocess("-v", "-p", "no:cacheprovider")
    lines = [line for line in ran.outlines if "[taskgraph]" in line]
    assert lines == [
        "[taskgraph] 2/5 answered, 3 in flight, $0.25, 5 s, about 8 s left",
        "[taskgraph] 4/5 answered, 3 in flight, $0.25, 10 s, about 3 s left",
    ]
    assert "\x1b[" not in str(ran.stdout)
    ran.assert_outcomes(passed=5)


GATED = (
    "--taskgraph-gate=structure>=0.9@95%",
    "--taskgraph-gate=parallel_pair.score>=0.5",
    "--taskgraph-save=A",
    "--taskgraph-max-calls=99",
)
WORKER = ("-p", "xdist", "-n", "1")
FIGURES = (
    r"pass rate 1\.000 of 4 answered \(95% 0\.510-1\.000\), threshold 0\.9; about \d+ questions needed for a decision"
)


AskingRun = Callable[..., Screenshot]


@pytest.fixture(scope="module")
def asking_run(tmp_path_factory: pytest.TempPathFactory) -> AskingRun:
    """Return a function that asks four questions with the options, in one run on a terminal for all who name them."""

    @cache
    def run(*args: str) -> Screenshot:
        folder = tmp_path_factory.mktemp("asking")
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "test_graph.py").write_text(SUITE)
        with Loopback(right) as server:
            return on_a_terminal(folder, "-p", "taskgraph", f"--model={server.url}#any", *args)

    return run


def flat_lines(lines: list[str]) -> list[str]:
    """Return the lines with single spaces, without the equal signs of titles."""
    return [re.sub(r" +", " ", line.strip("= ")) for line in lines]


@pytest.fixture
def asking_project(loaded: None, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """Yield a project whose output is no terminal."""
    with in_process.untouched(pytester, monkeypatch) as project:
        yield project


def plain_lines(project: Project, *args: str) -> list[str]:
    """Return the flat lines of a run in this process that asks the four questions."""
    with Loopback(right) as server:
        return flat_lines(project.run(f"--model={server.url}#any", *GATED, *args).output.splitlines())


@posix_only
@pytest.mark.parametrize(
    "args",
    [(), *(pytest.param(args, marks=pytest.mark.exhaustive) for args in (WORKER, ("-v",)))],
    ids=["plain", "n1", "v"],
)
def test_live_line_of_run_that_asks_leaves_nothing(asking_run: AskingRun, args: tuple[str, ...]) -> None:
    screenshot = asking_run(*GATED, *args)
    assert [line for line in screenshot.below if not re.match(r"\d/4 answered", line)] == []
    assert screenshot.below
    assert not any("answered, " in line for line in screenshot.final)


@posix_only
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((), ["test_graph.py .... [ 57%]", "budget . [ 71%]", "gates F. [100%]"]),
        (WORKER, [".....F. [100%]"]),
        pytest.param((*WORKER, "-q"), [".....F. [100%]"], marks=pytest.mark.exhaustive),
    ],
    ids=["plain", "n1", "n1q"],
)
def test_percentage_ends_with_last_case(asking_run: AskingRun, args: tuple[str, ...], expected: list[str]) -> None:
    lines = flat_lines(asking_run(*GATED, *args).final)
    assert [line for line in lines if line.endswith("%]")] == expected, lines
    assert "gates::structure" in [line.strip("_ ") for line in lines]  # the title of its failure


def check_verbose_lines(lines: list[str]) -> None:
    """Check that each of the seven cases has a line and a percentage."""
    progress_lines = [line for line in lines if "%] " in f"{line} "]
    assert [re.findall(r"\[ *(\d+)%\]", line) for line in progress_lines] == [
        [str(at * 100 // 7)] for at in range(1, 8)
    ]
    assert progress_lines[-3:] == [
        "budget::calls PASSED [ 71%]",
        "gates::structure FAILED [ 85%]",
        "gates::parallel_pair.score PASSED [100%]",
    ]


def test_verbosely_each_case_has_line_and_percentage(asking_project: Project) -> None:
    check_verbose_lines(plain_lines(asking_project, "-v"))


@posix_only
@pytest.mark.exhaustive
@pytest.mark.parametrize("workers", [(), WORKER], ids=["alone", "n1"])
def test_verbose_lines_on_a_terminal(asking_run: AskingRun, workers: tuple[str, ...]) -> None:
    check_verbose_lines(flat_lines(asking_run(*GATED, "-v", *workers).final))


def test_quiet_prints_one_percentage_and_verdicts_of_failed_gates(asking_project: Project) -> None:
    lines = plain_lines(asking_project, "-q")
    assert [line for line in lines if line.endswith("%]")] == [".....F. [100%]"], lines
    assert "gates::structure" in [line.strip("_ ") for line in lines]  # the title of its failure
    text = " ".join(lines)
    assert re.search(rf"failed gates::structure: inconclusive: {FIGURES}", text), text
    assert "passed gates::" not in text
    assert "passed budget::" not in text


@pytest.fixture
def compared(asking_project: Project) -> Project:
    """A project whose run `A` is saved."""
    asking_project.run("--model=simulated:1", *GATED)
    return asking_project


def test_quiet_prints_verdict_of_comparison_and_qq_none(compared: Project) -> None:
    again = compared.run("--model=simulated:1", *GATED, "-q", "--taskgraph-compare=A", "--taskgraph-fail-on=regression")
    assert "passed compare::A: identical replies: 4 paired questions" in " ".join(again.output.split())
    quiet = compared.run("--model=simulated:1", *GATED, "-qq", "--taskgraph-compare=A")
    lines = [line.strip("= ") for line in quiet.output.splitlines()]
    assert not any(line.startswith(("taskgraph", "failed gates", "passed compare")) for line in lines)


def test_comparison_is_reported_once_in_terminal(compared: Project) -> None:
    ran = compared.run("--model=simulated:1", *GATED, "--taskgraph-compare=A")
    output = " ".join(ran.output.split())
    assert output.count("identical replies: 4 paired questions") == 1
    assert "both runs: simulated:1" in output


def test_time_left_follows_last_minute() -> None:
    pace = Pace(0.0)
    assert pace.left(0.0, 0, 100) is None
    for second in range(1, 101):
        pace.note(float(second), 10 if second <= 40 else 10 + (second - 40))
    assert pace.left(100.0, 70, 100) == pytest.approx(30)
    assert pace.left(100.0, 100, 100) is None
    assert pace.left(200.0, 70, 100) == pytest.approx(80)


def test_time_left_of_slow_server_follows_last_answers() -> None:
    pace = Pace(0.0)
    for second in range(1, 1101):
        pace.note(float(second), second // 110)  # an answer in 110 seconds
    assert pace.left(1100.0, 10, 12) == pytest.approx(220, rel=0.1)


def test_pace_is_noted_once_second_and_forgotten_after_minute() -> None:
    pace = Pace(0.0)
    for tick in range(10_000):
        pace.note(tick / 10, tick)
    assert len(pace._seen) <= 62


def test_watch_tells_what_providers_and_store_answered() -> None:
    counters = RequestCounters(
        usage=Usage(3, cost=0.5, unpriced=1), stored=4, failed=1, in_flight=2, timeouts=5, retries=6,
        waiting={"rate limit": 9.0},
    )  # fmt: skip
    assert process_counts(counters) == Counts(7, 2, 1, 5, 6, 0.5, 1, {"rate limit": 9.0})


class Config:
    """A config with a terminal reporter, or none."""

    def __init__(self, reporter: object = None) -> None:
        self.pluginmanager = SimpleNamespace(get_plugin=lambda name: reporter if name == "terminalreporter" else None)

    def get_verbosity(self) -> int:
        return 0


class Reporter:
    """Keeps the lines; stands for one that a plugin put in the place of pytest's."""

    isatty = True

    def __init__(self) -> None:
        self.lines: list[str] = []

    def ensure_newline(self) -> None:
        pass

    def flush(self) -> None:
        pass

    def write_line(self, text: str) -> None:
        self.lines.append(text)


def test_reporter_of_another_plugin_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Config, "getoption", lambda *args: "fd", raising=False)
    monkeypatch.setattr(Config, "getini", lambda *args: False, raising=False)
    monkeypatch.delenv("TERM", raising=False)
    reporter, now = Reporter(), [0.0]
    counters = RequestCounters(waiting={"rate limit": 42.0, "quota": 20.0})
    progress = Progress(cast(pytest.Config, Config(reporter)), counters, 3, 30.0, clock=lambda: now[0])
    progress.tick()
    now[0] = 30.0
    progress.tick()
    progress.clear()
    assert reporter.lines == ["[taskgraph] 0/3 answered, 30 s, waiting on rate limit, 12 s"]


@pytest.mark.parametrize("reporter", [None, SimpleNamespace(isatty=True)], ids=["none", "mute"])
def test_progress_without_reporter_prints_nothing(reporter: object) -> None:
    now = iter(range(0, 1000, 100))
    progress = Progress(
        cast(pytest.Config, Config(reporter)), RequestCounters(), 3, 30.0, clock=lambda: float(next(now))
    )
    progress.tick()
    progress.clear()


def test_screen_size_without_terminal_is_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    with open(os.devnull, "w") as file:
        monkeypatch.setattr(sys, "stdout", file)
        assert screen_size() == (0, 0)
    assert screen_size() == (0, 0), "a closed file"


def test_write_raw_replaces_what_terminal_cannot_encode(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    with io.TextIOWrapper(raw, "ascii") as file:
        monkeypatch.setattr(sys, "stdout", file)
        write_raw("81/3…\x1b[J")
        assert raw.getvalue() == b"81/3?\x1b[J"


def test_width_without_reporter_of_pytest_is_80() -> None:
    assert width(cast(pytest.Config, Config())) == 80
    assert width(cast(pytest.Config, Config(Reporter()))) == 80


def test_without_capture_plugin_disabled_is_null_context() -> None:
    with without_capture(cast(pytest.Config, Config())):
        pass

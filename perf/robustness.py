"""Robustness of a run, in numbers: provider faults, being killed, a spent budget, no network, many questions.

    python perf/robustness.py [--n 1000] [--many 20000] [--client lean|litellm] [--only faults,kill,...]

The provider (perf/provider.py) runs in a process of its own and counts. Each check prints a line, OK or FAIL; the exit
code is 1 if one fails.

    faults     every second attempt ends in 429, 500, a time limit, a reset or malformed JSON: all are answered
    kill       kill -9 of the whole process group at 30, 60, 90 %, then again: only requests in flight are repeated
    workers    the same under -n 2
    budget     --taskgraph-max-calls=N/10 with -n 2: no more requests arrive
    replay     the same table without a network, in under 5 s
    memory     --many questions, right and wrong ones, and -n 2: no process takes 500 MB
    interrupt  Ctrl-C with 50 requests of 60 s in flight ends in under 2 s
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from throughput import ALONE, provider, questions, stats

FLIGHT = 50
REPLAY_SECONDS, INTERRUPT_SECONDS, MEGABYTES = 5.0, 2.0, 500
FAULTS = ("--latency", "0.05", "--fault-rate", "0.5", "--hang", "10")
SPREAD = ("-n", "2", "-p", "xdist")
GUARD = """
import socket, sys

def refuse(*args, **kwargs):
    raise RuntimeError("a replay must not open connections")

socket.socket.connect = socket.getaddrinfo = refuse

def pytest_unconfigure(config):
    assert "litellm" not in sys.modules and "aiohttp" not in sys.modules
"""


@dataclass(frozen=True)
class Project:
    """A folder with a suite of `n` questions, and their right replies."""

    path: Path
    n: int
    client: str

    def command(self, url: str, *more: str) -> list[str]:
        """Return the command that runs the suite."""
        option = "--taskgraph-model-option"
        by_address = [f"--model={url}/v1#fake"]
        litellm = ["--model=litellm:openai/fake", option, f"api_base={url}/v1", option, "api_key=k"]
        return [
            sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "taskgraph", "test_questions.py",
            *(by_address if self.client == "lean" else litellm), f"--taskgraph-concurrency={FLIGHT}", *more,
        ]  # fmt: skip

    def trials(self) -> list[dict[str, Any]]:
        """Return the trials of the record."""
        return json.loads((self.path / "record.json").read_text())["trials"]  # type: ignore[no-any-return]


@dataclass(frozen=True)
class FinishedProcess:
    """A finished run of a command."""

    code: int
    seconds: float
    cpu: float  # seconds, of all its processes
    megabytes: float  # at most, of the largest of its processes
    text: str


class RunningProcess:
    """A running command in a process group of its own."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - it outlives this call
        self._start, self._before = time.time(), os.times()
        self.process = subprocess.Popen(
            command, cwd=folder, env=ALONE, stdout=self._output, stderr=subprocess.STDOUT, start_new_session=True
        )
        self._peak = 0.0
        self._watching = threading.Thread(target=self._watch, daemon=True)
        self._watching.start()

    def send(self, number: signal.Signals) -> None:
        """Send the signal to all of its processes."""
        os.killpg(self.process.pid, number)

    def wait(self) -> FinishedProcess:
        """Wait for the end of the command, and return its outcome."""
        code = self.process.wait()
        seconds, after = time.time() - self._start, os.times()
        cpu = after.children_user + after.children_system - self._before.children_user - self._before.children_system
        self._watching.join()
        with self._output as output:
            output.seek(0)
            return FinishedProcess(code, seconds, cpu, self._peak, output.read().decode("utf-8", "replace"))

    def _watch(self) -> None:
        while self.process.poll() is None:
            self._peak = max([self._peak, *map(_peak, _group(self.process.pid))])
            time.sleep(0.05)


def _group(leader: int) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if os.getpgid(int(entry.name)) == leader:
                    yield int(entry.name)
            except ProcessLookupError:
                continue


def _peak(process: int) -> float:
    """Return the peak memory of the process in MB; 0 if it has ended."""
    try:
        peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return int(peak[1]) / 1024 if peak else 0.0


def prepare_project(folder: Path, n: int, client: str) -> Project:
    """Return a project of n questions or slightly more."""
    suite, answers, prompts = questions(n)
    folder.mkdir()
    (folder / "test_questions.py").write_text(suite)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "answers.json").write_text(json.dumps(answers))
    return Project(folder, len(prompts), client)


def start_provider(project: Project, *options: str, answers: bool = True) -> AbstractContextManager[str]:
    """Return a context with the address of a provider, which knows the right replies or none."""
    return provider(*(["--answers", str(project.path / "answers.json")] if answers else []), *options)


def faults(project: Project) -> Iterator[tuple[bool, str]]:
    """Check a run in which half of all attempts fail."""
    seconds = 1 if project.client == "lean" else 5  # the first request of litellm includes its import
    more = ("-q", f"--taskgraph-timeout={seconds}", "--taskgraph-retries=20", "--taskgraph-report=json=record.json")
    with start_provider(project, *FAULTS) as url:
        store = tempfile.mkdtemp(dir=project.path)
        ended = RunningProcess(project.command(url, *more, f"--taskgraph-store={store}"), project.path).wait()
        seen = stats(url)
    outcomes = Counter(trial["outcome"] for trial in project.trials())
    retries = sum(trial["retries"] for trial in project.trials())
    injected: Counter[str] = Counter(seen["faults"])  # type: ignore[arg-type]
    yield (
        ended.code == 0
        and outcomes == {"right": project.n}
        and (seen["most_of_one"], seen["prompts"]) == (1, project.n)
        and retries == injected.total() == seen["arrived"] - project.n,
        f"{project.n} questions, {dict(outcomes)}; faults {dict(sorted(injected.items()))}, retries in the record "
        f"{retries}; answered twice {seen['served'] - seen['prompts']}; {ended.seconds:.1f} s",
    )


def kill(project: Project, *spread: str) -> Iterator[tuple[bool, str]]:
    """Check a run that is killed and repeated."""
    for share in (0.3, 0.6, 0.9):
        store = tempfile.mkdtemp(dir=project.path)
        more = ("-q", f"--taskgraph-store={store}", "--taskgraph-report=json=record.json", *spread)
        (project.path / "record.json").unlink(missing_ok=True)
        with start_provider(project, "--latency", "0.2") as url:
            running = RunningProcess(project.command(url, *more), project.path)
            while stats(url)["served"] < share * project.n and running.process.poll() is None:
                time.sleep(0.01)
            running.send(signal.SIGKILL)
            killed = running.wait().code == -signal.SIGKILL
            time.sleep(0.5)  # requests in flight end at the provider
            stored, before = _count_stored(Path(store)), stats(url)
            ended = RunningProcess(project.command(url, *more), project.path).wait()
            seen = stats(url)
        outcomes, twice = Counter(trial["outcome"] for trial in project.trials()), seen["served"] - seen["prompts"]
        yield (
            killed
            and ended.code == 0
            and outcomes == {"right": project.n}
            and seen["arrived"] - before["arrived"] == project.n - stored
            and (seen["prompts"], seen["most_of_one"] <= 2, twice <= 2 * FLIGHT) == (project.n, True, True),
            f"at {share:.0%}: {before['arrived']} had been asked, {stored} were stored; the second run asked "
            f"{seen['arrived'] - before['arrived']}, {twice} for the second time; record {dict(outcomes)}",
        )


def _count_stored(store: Path) -> int:
    with closing(sqlite3.connect(store / "replies.sqlite")) as connection:
        return int(connection.execute("SELECT count(*) FROM replies").fetchone()[0])


def workers(project: Project) -> Iterator[tuple[bool, str]]:
    """Check a killed run with two workers."""
    return kill(project, *SPREAD)


def budget(project: Project) -> Iterator[tuple[bool, str]]:
    """Check that two workers share the limit of calls."""
    most = max(1, project.n // 10)
    for faulty in ((), FAULTS):
        more = ("-q", f"--taskgraph-max-calls={most}", "--taskgraph-timeout=1", "--tb=no", *SPREAD)
        with start_provider(project, *(faulty or ("--latency", "0.05"))) as url:
            store = tempfile.mkdtemp(dir=project.path)
            ended = RunningProcess(project.command(url, *more, f"--taskgraph-store={store}"), project.path).wait()
            seen = stats(url)
        yield (
            ended.code == 1 and seen["arrived"] <= most and (bool(faulty) or seen["served"] == most),
            f"--taskgraph-max-calls={most} -n 2{' with faults' if faulty else ''}: {seen['arrived']} arrived, "
            f"{seen['served']} answered; exit code {ended.code}",
        )


def replay(project: Project) -> Iterator[tuple[bool, str]]:
    """Check a live run, then runs from the store."""
    with start_provider(project, "--latency", "0.05") as url:
        live = RunningProcess(project.command(url), project.path).wait()
        (project.path / "conftest.py").write_text(GUARD)
        stats(url, "/reset")
        again = [RunningProcess(project.command(url, "--taskgraph-replay"), project.path).wait() for _ in range(3)]
        (project.path / "conftest.py").unlink()
        sent = stats(url)["arrived"]
    fastest = min(again, key=lambda ended: ended.seconds)  # the run that was disturbed least
    same = all(_table(ended.text) == _table(live.text) for ended in again)
    yield (
        same
        and sent == 0
        and (project.n > 1000 or fastest.seconds < REPLAY_SECONDS)
        and {ended.code for ended in again} == {0},
        f"{project.n} questions from the store: {', '.join(f'{ended.seconds:.2f}' for ended in again)} s, "
        f"{fastest.cpu:.2f} s of CPU (live {live.seconds:.2f}); the same table: {same}; sent {sent}",
    )


def _table(text: str) -> str:
    """Return the text from the section of taskgraph on, without pytest's last line."""
    return text.partition("= taskgraph =")[2].rpartition("\n=")[0] or text


def memory(project: Project) -> Iterator[tuple[bool, str]]:
    """Check the peak memory of the largest process."""
    cases: tuple[tuple[str, bool, tuple[str, ...]], ...] = (
        ("right answers", True, ()),
        ("wrong answers", False, ("--taskgraph-fail-on=nothing",)),
        ("wrong answers, each a failure", False, ("--tb=no",)),
        ("right answers, -n 2", True, SPREAD),
    )
    for name, right, more in cases:
        with start_provider(project, "--latency", "0", answers=right) as url:
            store = tempfile.mkdtemp(dir=project.path)
            options = ("-q", f"--taskgraph-store={store}", "--taskgraph-report=json=record.json", *more)
            ended = RunningProcess(project.command(url, *options), project.path).wait()
            seen = stats(url)
        size = (project.path / "record.json").stat().st_size / 2**20
        yield (
            ended.megabytes < MEGABYTES and seen["served"] == seen["prompts"] == project.n,
            f"{project.n} questions, {name}: {ended.megabytes:.0f} MB, {ended.seconds:.0f} s, "
            f"{ended.cpu:.0f} s of CPU, record {size:.0f} MB, answered {seen['served']}",
        )


def interrupt(project: Project) -> Iterator[tuple[bool, str]]:
    """Check an interrupt as in a terminal, where all processes receive the signal."""
    for spread in ((), SPREAD):
        store = tempfile.mkdtemp(dir=project.path)
        with start_provider(project, "--latency", "60") as url:
            running = RunningProcess(project.command(url, "-q", f"--taskgraph-store={store}", *spread), project.path)
            while stats(url)["arrived"] < FLIGHT and running.process.poll() is None:
                time.sleep(0.01)
            start = time.time()
            running.send(signal.SIGINT)
            ended = running.wait()
            seconds = time.time() - start
            seen = stats(url)
        yield (
            seconds < INTERRUPT_SECONDS and ended.code == 2 and FLIGHT <= seen["arrived"] <= FLIGHT + 1,
            f"{' '.join(spread[:2]) or 'one process'}: {seen['arrived']} in flight, ended after {seconds:.2f} s with "
            f"exit code {ended.code}",
        )


CHECKS: dict[str, Callable[[Project], Iterator[tuple[bool, str]]]] = {
    "faults": faults, "kill": kill, "workers": workers, "budget": budget, "replay": replay, "interrupt": interrupt,
    "memory": memory,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--many", type=int, default=20_000, help="questions of the check of memory")
    parser.add_argument("--client", choices=("lean", "litellm"), default="lean")
    parser.add_argument("--only", default=",".join(CHECKS))
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.only.split(","):
            project = prepare_project(
                Path(temporary, name), options.many if name == "memory" else options.n, options.client
            )
            for well, numbers in CHECKS[name](project):
                failed += not well
                print(f"{'OK  ' if well else 'FAIL'} {name:10}{numbers}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator

import bounded_process
import pytest
import warm_processes
from loopback import HANG, Loopback, Raw
from plugin_project import Project, asking
from posix_tests import posix_only

from pytest_taskgraph.errors import NotAskedError
from pytest_taskgraph.plugin.asking.loop import EventLoopThread, UnexpectedWaitError


@pytest.fixture
def loop() -> Iterator[EventLoopThread]:
    thread = EventLoopThread()
    yield thread
    thread.stop()


def running() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "taskgraph"]


async def fails(error: Exception) -> None:
    raise error


def test_loop_returns_result_of_coroutine(loop: EventLoopThread) -> None:
    async def answer() -> str:
        return threading.current_thread().name

    assert loop.run(answer()) == "taskgraph"


@pytest.mark.parametrize("error", [ValueError("no"), TimeoutError("late")])
def test_loop_raises_error_of_coroutine(loop: EventLoopThread, error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)):
        loop.run(fails(error))


def test_coroutine_that_lasts_longer_than_wait_is_waited_for(loop: EventLoopThread) -> None:
    async def slow() -> int:
        await asyncio.sleep(0.6)
        return 17

    assert loop.run(slow()) == 17


@pytest.mark.parametrize("waits", [True, False])
def test_loop_runs_coroutine_in_calling_thread(loop: EventLoopThread, waits: bool) -> None:
    async def answer() -> str:
        return threading.current_thread().name

    async def loops() -> bool:
        return asyncio._get_running_loop() is not None

    assert loop.run_here(answer(), waits) == threading.current_thread().name
    assert loop.run_here(loops(), waits) is waits
    with pytest.raises(ValueError, match="no"):
        loop.run_here(fails(ValueError("no")), waits)
    loop.stop()
    with pytest.raises(NotAskedError, match="the run ended before the question was asked"):
        loop.run_here(answer(), waits)


def test_coroutine_that_waits_is_refused_without_loop(loop: EventLoopThread) -> None:
    with pytest.raises(UnexpectedWaitError):
        loop.run_here(asyncio.sleep(0), waits=False)


def test_interrupt_of_coroutine_without_loop_ends_run(loop: EventLoopThread) -> None:
    async def interrupts() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop.run_here(interrupts(), waits=False)
    with pytest.raises(NotAskedError):
        loop.run(fails(ValueError("no")))


@posix_only
def test_interrupted_wait_cancels_what_was_waited_for(loop: EventLoopThread) -> None:
    cancelled, waiting = threading.Event(), threading.Event()
    main = threading.main_thread().ident
    assert main is not None

    def work() -> bool:
        waiting.set()
        return False

    async def interrupts() -> None:
        while not waiting.is_set():
            await asyncio.sleep(0)
        signal.pthread_kill(main, signal.SIGINT)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with pytest.raises(KeyboardInterrupt):
        loop.wait(loop.submit(interrupts()), work)
    assert bounded_process.wait_for(cancelled)


def test_stopping_ends_what_still_runs_and_thread() -> None:
    loop = EventLoopThread()
    ended = threading.Event()
    tasks = []

    async def lasts() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def begin() -> None:
        tasks.append(asyncio.ensure_future(lasts()))
        await asyncio.sleep(0)

    loop.run(begin())
    loop.stop()
    assert ended.is_set()
    assert tasks[0].cancelled()
    assert running() == []


def test_loop_stopped_runs_no_submitted_coroutine() -> None:
    loop = EventLoopThread()
    loop.stop()
    with pytest.raises(NotAskedError, match="the run ended before the question was asked"):
        loop.run(fails(ValueError("no")))
    assert running() == []


def test_wait_ends_when_another_thread_stops_loop(loop: EventLoopThread) -> None:
    waiting = threading.Event()

    def work() -> bool:
        waiting.set()
        return False

    async def lasts() -> None:
        await asyncio.Event().wait()

    def stop() -> None:
        waiting.wait()
        loop.stop()

    stops = threading.Thread(target=stop)
    stops.start()
    with pytest.raises(NotAskedError, match="the run ended before the question was asked"):
        loop.wait(loop.submit(lasts()), work)
    stops.join()


def test_loop_that_never_ran_has_nothing_to_stop() -> None:
    EventLoopThread().stop()
    assert running() == []


def test_after_run_no_thread_is_left(project: Project) -> None:
    assert project.run("--model", "simulated:1").counts == {"passed": 4}
    assert running() == []


@posix_only
@pytest.mark.parametrize(
    "workers",
    [1, pytest.param(0, marks=pytest.mark.exhaustive), pytest.param(2, marks=pytest.mark.exhaustive)],
)
def test_interrupt_ends_run_that_waits_for_reply(project: Project, server: Loopback, workers: int) -> None:
    """Also where workers do not get the signal themselves: xdist lets them be for ten seconds."""
    arrived, flight = threading.Event(), max(1, workers)

    def hangs(prompt: str) -> Raw:
        if len(server.requests) == flight:
            arrived.set()
        return HANG

    server.answer = hangs
    more = (*asking(server.url), f"--taskgraph-concurrency={flight}", "-n", str(workers), "-p", "xdist")
    with warm_processes.start_written(["-p", "taskgraph", *more], project.path) as (process, finish):
        assert bounded_process.wait_for(arrived)
        os.kill(process, signal.SIGINT)
        done = finish()
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in done.stdout
    assert "no tests ran" in done.stdout
    assert "INTERNALERROR" not in done.stdout
    assert done.stderr == ""
    assert len(server.requests) == flight


def test_run_here_runs_in_calling_thread_without_starting_another(loop: EventLoopThread) -> None:
    async def answer() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    before = len(running())
    assert [loop.run_here(answer()) for _ in range(2)] == [threading.current_thread().name] * 2
    assert len(running()) == before


def test_run_here_inside_of_running_loop_runs_in_thread(loop: EventLoopThread) -> None:
    async def answer() -> str:
        return threading.current_thread().name

    async def caller() -> str:
        return loop.run_here(answer())

    assert asyncio.run(caller()) == "taskgraph"


def test_run_here_interrupted_cancels_coroutine_and_ends_loop(loop: EventLoopThread) -> None:
    ended: list[str] = []

    async def interrupted() -> None:
        try:
            asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGINT)
            await asyncio.sleep(60)
        finally:
            ended.append("coroutine")

    async def answer() -> int:
        return 17

    with pytest.raises(KeyboardInterrupt):
        loop.run_here(interrupted())
    assert ended == ["coroutine"]
    with pytest.raises(NotAskedError):
        loop.run_here(answer())

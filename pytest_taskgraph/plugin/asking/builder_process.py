"""A second process that builds the questions of a run in their order, while this one asks those before them.

Building takes longer than all else that a question costs, and holds the lock of the interpreter, so a thread would gain
nothing. The process is a fork: it inherits the collected questions and needs neither start-up nor arguments. It writes
to no file and to no output, and questions that it does not deliver are built in this process.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

_PATIENCE: Final = 10.0  # seconds to wait for one question, far more than the largest takes
_ROOM: Final = 1 << 20  # bytes of the pipe: some 500 questions that wait
_PAUSE: Final = 0.02  # seconds, four times what a thread that wants to run waits for the interpreter
_THREADS: Final = Path("/proc/self/task")
_T = TypeVar("_T")


def can_start() -> bool:
    """Return True if a second process helps and is safe: on Linux, with a second core, while other threads wait.

    A fork copies only the thread that calls it: a lock that another thread holds would stay locked. A thread that only
    waits, as a server for its first connection, is taken to hold none.
    """
    if sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
        return False
    try:
        switches = _context_switches()
        if not switches:
            return True
        time.sleep(_PAUSE)
        return _context_switches() == switches
    except OSError:  # without /proc, or a thread has just ended
        return False


def _context_switches() -> list[str]:
    """Return the lines on context switches of all other threads, of libraries as well; they change when a thread runs.

    Raises:
        OSError: if the system does not state them.
    """
    own = str(threading.get_native_id())
    statuses = [(task / "status").read_text() for task in sorted(_THREADS.iterdir()) if task.name != own]
    return [line for status in statuses for line in status.splitlines() if "ctxt_switches" in line]


class BuilderProcess:
    """The process, and the questions that arrived from it before they were needed.

    Args:
        build: Function that returns a built question as bytes, empty if it need not or cannot be built; it runs in the
            other process.
        questions: The questions in the order in which they will be needed; each is identified by its object.
    """

    def __init__(self, build: Callable[[_T], bytes], questions: Sequence[_T]) -> None:
        import fcntl
        import multiprocessing

        context = multiprocessing.get_context("fork")
        self._connection, sender = context.Pipe(duplex=False)
        with suppress(OSError):
            fcntl.fcntl(sender.fileno(), fcntl.F_SETPIPE_SZ, _ROOM)
        self._numbers = {id(question): number for number, question in enumerate(questions)}
        self._questions = questions  # an id stays unique while its object lives
        self._arrived: dict[int, bytes] = {}
        self._next = 0
        self._process: BaseProcess | None = context.Process(
            target=_send_all, args=(sender, self._connection, build, questions), name="taskgraph-builder", daemon=True
        )
        with warnings.catch_warnings():  # since Python 3.12, of a fork beside other threads: see `can_start`
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        sender.close()

    def receive(self, question: object) -> bytes:
        """Return a built question, once; wait for it if it is not built yet. Empty if it has to be built here."""
        number = self._numbers.get(id(question), -1)
        while self._process is not None and self._next <= number:
            try:
                built = self._connection.recv_bytes() if self._connection.poll(_PATIENCE) else None
            except (EOFError, OSError):
                built = None
            if built is None:
                self.close()
                break
            if built:
                self._arrived[self._next] = built
            self._next += 1
        return self._arrived.pop(number, b"")

    def close(self) -> None:
        """End the process; a second call has no effect."""
        process, self._process = self._process, None
        if process is not None:
            self._connection.close()
            process.kill()
            process.join()


def _send_all(sender: Connection, receiver: Connection, build: Callable[[_T], bytes], questions: Sequence[_T]) -> None:
    """Build and send the questions; this is what the other process runs."""
    receiver.close()  # so that writing fails once the first process has ended
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the first process, which ends this one
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - until the process ends
    for stream in (1, 2):
        os.dup2(sys.stdout.fileno(), stream)
    with suppress(OSError):
        for question in questions:
            try:
                built = build(question)
            except Exception:  # building it in the first process reports the error
                built = b""
            sender.send_bytes(built)

"""Runs of pytest in processes of their own, forked from one that has imported everything: a second less each.

They are no place to show what pytest imports, what runs when the interpreter exits, or options of the interpreter.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer

import bounded_process
import pytest
import warm_workers

CAN_FORK = warm_workers.CAN_FORK
# pytest warns of plugins that were imported before it could rewrite their assertions.
_QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
Prepare = Callable[[], None]


def run(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] = os.environ,
    stdin: str = "",
    prepare: Prepare | None = None,
) -> subprocess.CompletedProcess[str]:
    """Do what `python -m pytest` does with the arguments, in a process that first calls `prepare`."""
    with start_written(arguments, folder, environment, stdin, prepare) as (_, finish):
        return finish()


@contextmanager
def start_written(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] = os.environ,
    stdin: str = "",
    prepare: Prepare | None = None,
) -> Iterator[tuple[int, Callable[[], subprocess.CompletedProcess[str]]]]:
    """Start such a process; yield its id, and a function that waits for its end and returns what it wrote."""
    with ExitStack() as stack:
        given, *written = files = [stack.enter_context(TemporaryFile("w+", encoding="utf-8")) for _ in range(3)]
        given.write(stdin)
        given.seek(0)
        streams = [file.fileno() for file in files]
        process = stack.enter_context(start(arguments, folder, environment, streams, prepare))

        def finish() -> subprocess.CompletedProcess[str]:
            process.join()
            for file in written:
                file.seek(0)
            assert process.exitcode is not None
            return subprocess.CompletedProcess(list(arguments), process.exitcode, *(file.read() for file in written))

        assert process.pid is not None
        yield process.pid, finish


@contextmanager
def start(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    streams: Sequence[int],
    prepare: Prepare | None = None,
) -> Iterator[BaseProcess]:
    """Start a process that does what `python -m pytest` does with the arguments.

    It leads a group of processes, which ends with the context or after LIMIT.

    Args:
        arguments: The words after `python -m pytest`.
        folder: The working directory.
        environment: The environment variables.
        streams: The descriptors of its standard input, output and error.
        prepare: What the process calls first.
    """
    ends = [Connection(os.dup(stream)) for stream in streams]
    process = warm_workers.process(_run, list(arguments), str(folder), dict(environment), prepare, *ends)
    process.start()
    for end in ends:
        end.close()
    timer = Timer(bounded_process.LIMIT, _end, (process,))
    timer.daemon = True
    timer.start()
    try:
        yield process
    finally:
        timer.cancel()
        _end(process)
        process.join()


def _end(process: BaseProcess) -> None:
    assert process.pid is not None
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _run(
    arguments: list[str], folder: str, environment: dict[str, str], prepare: Prepare | None, *ends: Connection
) -> None:
    os.setsid()
    warm_workers.take_streams(ends)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.argv = [str(Path(pytest.__file__).with_name("__main__.py")), *_QUIET, *arguments]
    if prepare is not None:
        prepare()
    sys.exit(pytest.console_main())

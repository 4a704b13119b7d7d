"""Workers of pytest-xdist, forked from a process that has imported everything: a fresh one spends a second on that.

Windows cannot fork; there, workers are fresh ones.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import IO, Any

import pytest
from execnet import gateway_base, gateway_io

CAN_FORK = "forkserver" in multiprocessing.get_all_start_methods()
_FORKS = multiprocessing.get_context("forkserver" if CAN_FORK else None)


@contextmanager
def forked() -> Iterator[None]:
    """Let xdist fork the workers that it starts in this process, where processes can be forked."""
    if not CAN_FORK:
        yield
        return
    _ensure_server()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gateway_io, "Popen2IOMaster", _ForkedWorker)
        yield


def process(target: Callable[..., None], *arguments: Any) -> BaseProcess:  # noqa: ANN401 - of the target
    """Return a process, not yet started, that will be forked from one that has imported the package."""
    _ensure_server()
    return _FORKS.Process(target=target, args=arguments)


def _ensure_server() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # where the server, which is started once, finds modules
        _FORKS.set_forkserver_preload(["warm_workers_imports"])
        forkserver.ensure_running()


class _ForkedWorker(gateway_base.Popen2IO):
    """What execnet has of that name for a worker that it starts: pipes and the process at their other end."""

    def __init__(self, _command: Sequence[str], execmodel: gateway_base.ExecModel) -> None:
        worker_in, to_worker = _FORKS.Pipe(duplex=False)
        from_worker, worker_out = _FORKS.Pipe(duplex=False)
        errors = Connection(os.dup(2), readable=False)
        self._process = _FORKS.Process(target=_serve, args=(dict(os.environ), worker_in, worker_out, errors))
        self._process.start()
        for end in (worker_in, worker_out, errors):
            end.close()
        super().__init__(_file(to_worker, "wb"), _file(from_worker, "rb"), execmodel)

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()


def _file(end: Connection, mode: str) -> IO[Any]:
    file = open(os.dup(end.fileno()), mode, 0)  # noqa: SIM115 - closed by execnet
    end.close()
    return file


def _serve(environment: dict[str, str], *ends: Connection) -> None:
    """Do what a fresh worker does: `python -u -c "import sys;exec(eval(sys.stdin.readline()))"`."""
    take_streams(ends)
    os.environ.clear()
    os.environ.update(environment)
    exec(eval(sys.stdin.readline()), {"__name__": "__main__"})  # noqa: S307 - what execnet sends


def take_streams(ends: Sequence[Connection]) -> None:
    """Make the three ends the standard streams of this process."""
    for number, end in enumerate(ends):
        os.dup2(end.fileno(), number)
        end.close()
    sys.stdin, sys.stdout, sys.stderr = (open(at, mode, closefd=False) for at, mode in enumerate("rww"))  # noqa: SIM115

"""Processes that tests start. Each is in a group of its own, and the whole group ends with the test or after LIMIT.

`subprocess.run(timeout=...)` ends the process alone and then waits, without a limit, for grandchildren that hold its
pipes: workers of pytest-xdist, for example.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Timer
from typing import Any

LIMIT = 300.0  # seconds; many times what any takes on a busy machine


@contextmanager
def start(
    command: Sequence[str | Path],
    limit: float = LIMIT,
    **arguments: Any,  # noqa: ANN401 - of Popen
) -> Iterator[subprocess.Popen[str]]:
    """Start the process of a command, with pipes of text unless the arguments of Popen say otherwise.

    Within the context, output and end can be waited for without a limit: after `limit` seconds the group is killed.
    """
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "encoding": "utf-8"}
    process: subprocess.Popen[str] = subprocess.Popen(list(command), start_new_session=True, **pipes | arguments)
    timer = Timer(limit, end, (process,))
    timer.daemon = True
    timer.start()
    try:
        yield process
    finally:
        timer.cancel()
        end(process)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        process.wait()


def end(process: subprocess.Popen[str]) -> None:
    """Kill the process and all that it started in its group."""
    if sys.platform == "win32":  # it has no groups of processes, but knows who started whom
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def run(
    command: Sequence[str | Path],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and return its output. It fails with the code of a killed process after LIMIT."""
    given = subprocess.DEVNULL if stdin is None else subprocess.PIPE
    with start(command, LIMIT, cwd=cwd, env=env, stdin=given, stderr=subprocess.PIPE) as process:
        out, err = process.communicate(stdin)
        return subprocess.CompletedProcess(command, process.returncode, out, err)


def wait_for(event: Event) -> bool:
    """Return True once the event is set, False after LIMIT."""
    return event.wait(LIMIT)

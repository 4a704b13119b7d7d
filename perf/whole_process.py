"""Wall time, CPU time and peak memory of whole processes, for the scripts of this folder."""

from __future__ import annotations

import os
import platform
import subprocess
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

# Other installed plugins are left out: they cost 0.3 s, and pytest-rerunfailures keeps every traceback. Compiled
# modules are kept, so that imports are not compiled in each run.
ALONE = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
ALONE["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"


@dataclass(frozen=True)
class Measured:
    """A process that ended."""

    start: float  # time.time()
    wall: float  # seconds
    cpu: float  # seconds of user and system, of the process and of those that it waited for
    peak: float  # MB of memory of the largest of them
    text: str  # its output


def run(command: list[str], folder: Path) -> Measured:
    """Run a command, whose tests may fail, and return its measures."""
    with tempfile.TemporaryFile("w+") as output:
        start = time.time()
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env=ALONE)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.time() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    assert process.returncode in (0, 1, 5), text
    return Measured(start, wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, text)


def machine_state() -> str:
    """Return the number of cores, the load, and the versions of Python and pytest."""
    cores, load = os.cpu_count(), os.getloadavg()[0]
    return (
        f"{cores} cores, Python {platform.python_version()}, pytest {version('pytest')}, load before the run {load:.2f}"
    )

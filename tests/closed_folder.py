"""A folder that no user may write to, not even root: its permissions bind any command behind `BOUND`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bounded_process
import pytest
from posix_tests import WHY

_BIND = """
import ctypes, os, sys
if hasattr(os, "geteuid") and os.geteuid() == 0:
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP, from the next exec on
os.execv(sys.argv[1], sys.argv[1:])
"""
BOUND = (sys.executable, "-c", _BIND, sys.executable)  # and what that Python is to do


@contextmanager
def closed(folder: Path) -> Iterator[dict[str, bytes]]:
    """Yield the files of a closed folder, and check that they stay unchanged; skip if permissions do not bind."""
    if os.name != "posix":
        pytest.skip(WHY)
    files = [file for file in folder.iterdir() if file.is_file()]
    held = {file.name: file.read_bytes() for file in files}
    for file in files:
        file.chmod(0o444)
    folder.chmod(0o555)
    try:
        command = [*BOUND, "-c", "import os, sys; sys.exit(os.access(sys.argv[1], os.W_OK))", str(folder)]
        if bounded_process.run(command).returncode:
            pytest.skip("whoever runs the tests may write everywhere")
        yield held
        assert {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()} == held
    finally:
        folder.chmod(0o755)
        for file in files:
            file.chmod(0o644)

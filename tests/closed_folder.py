"""A folder that no user may write to, not even root: its permissions bind any command behind `BOUND`."""

from __future__ import annotations

import ctypes
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


def bind() -> None:
    """Let permissions bind this process, and what it does from now on, though it is root's."""
    libc = ctypes.CDLL(None)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    held = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable: of capabilities 0 to 31, then of the others
    if hasattr(os, "geteuid") and os.geteuid() == 0 and libc.capget(header, held) == 0:
        for at in range(3):
            held[at] &= ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.capset(header, held)


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

"""A folder that nobody may write to, not even root: rights bind whoever runs a command behind `BOUND`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bounded_process
import pytest

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
    """The files of the folder, which are the same afterwards; the test is skipped where rights cannot bind."""
    inside = [one for one in folder.iterdir() if one.is_file()]
    held = {one.name: one.read_bytes() for one in inside}
    for one in inside:
        one.chmod(0o444)
    folder.chmod(0o555)
    try:
        asked = [*BOUND, "-c", "import os, sys; sys.exit(os.access(sys.argv[1], os.W_OK))", str(folder)]
        if bounded_process.run(asked).returncode:
            pytest.skip("whoever runs the tests may write everywhere")
        yield held
        assert {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()} == held
    finally:
        folder.chmod(0o755)
        for one in inside:
            one.chmod(0o644)

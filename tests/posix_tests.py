"""The mark of tests that need what only POSIX systems have."""

from __future__ import annotations

import os

import pytest

WHY = "needs POSIX: signals to other processes, shell scripts, permissions, named pipes or devices"
posix_only = pytest.mark.skipif(os.name != "posix", reason=WHY)

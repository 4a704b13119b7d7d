"""Schemes of specifications that other modules refer to, apart from the clients, which take longer to import."""

from __future__ import annotations

from typing import Final

BASELINE: Final = "baseline"
SIMULATED: Final = "simulated"
LOCAL: Final = "local"
PYTHON: Final = "python"
VERSION: Final = "version"
"""The model option of a Python callable under which its replies are stored."""

"""The 10 functionality patterns (docs/reference/patterns.md), one module for each topic."""

from __future__ import annotations

from typing import Final

from . import planted_flaws, task_meaning

TOPICS: Final = (planted_flaws, task_meaning)  # in the order of the catalogue

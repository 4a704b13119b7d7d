"""The 9 functionality patterns (docs/patterns.md), a topic a file."""

from . import planted_flaws, task_meaning

__all__ = ["planted_flaws", "task_meaning"]

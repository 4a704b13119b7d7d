"""The 9 functionality patterns (specs/patterns.md), a topic a file."""

from . import descriptions, inconsistencies, meaning, ordering

__all__ = ["descriptions", "inconsistencies", "meaning", "ordering"]

"""The 24 structure patterns (specs/patterns.md), a topic a file, in the order of the specification."""

from . import operators

__all__ = ["operators"]

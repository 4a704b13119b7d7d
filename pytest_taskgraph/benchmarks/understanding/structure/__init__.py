"""The 24 structure patterns (specs/patterns.md), a topic a file, in the order of the specification."""

from . import tasks, operators, dependencies, hierarchy  # noqa: I001 - the order of the catalogue

__all__ = ["operators"]

"""The 12 behaviour patterns (specs/patterns.md), a topic a file."""

from . import order, traces, conditions, loops  # noqa: I001 - the order of the catalogue

__all__ = ["conditions", "loops", "order", "traces"]

"""The 12 behaviour patterns (specs/patterns.md), a topic a file."""

from . import task_order, conditional_order, conditional_links, loop_ends  # noqa: I001 - the order of the catalogue

__all__ = ["conditional_links", "conditional_order", "loop_ends", "task_order"]

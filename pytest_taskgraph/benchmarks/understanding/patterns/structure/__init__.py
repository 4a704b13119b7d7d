"""The 24 structure patterns (specs/patterns.md), a topic a file, in the order of the specification."""

from . import tasks, links, flow, operators, dependencies, hierarchy  # noqa: I001 - the order of the catalogue

__all__ = ["dependencies", "flow", "hierarchy", "links", "operators", "tasks"]

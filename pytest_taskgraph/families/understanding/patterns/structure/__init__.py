"""The 26 structure patterns (docs/reference/patterns.md), one module for each topic."""

from __future__ import annotations

from typing import Final

from . import dependencies, flow, hierarchy, links, operators, tasks

TOPICS: Final = (tasks, links, flow, operators, dependencies, hierarchy)  # in the order of the catalogue

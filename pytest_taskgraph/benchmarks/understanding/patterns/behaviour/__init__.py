"""The 13 behaviour patterns (docs/reference/patterns.md), one module for each topic."""

from __future__ import annotations

from typing import Final

from . import conditional_links, conditional_order, loop_ends, task_order

TOPICS: Final = (task_order, conditional_order, conditional_links, loop_ends)  # in the order of the catalogue

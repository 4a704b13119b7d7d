"""The 15 behaviour patterns (docs/reference/patterns.md), one module for each topic."""

from __future__ import annotations

from typing import Final

from . import conditional_links, conditional_order, loop_ends, run_beginnings, task_order

# In the order of the catalogue.
TOPICS: Final = (task_order, conditional_order, run_beginnings, conditional_links, loop_ends)

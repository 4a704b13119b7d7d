"""The timing patterns (docs/reference/patterns.md): how long the whole takes, when tasks run, and what may be late.

They ask about levels whose tasks state how long they take. A level with conditions is asked about in a situation.
"""

from __future__ import annotations

from typing import Final

from . import delays, planning, task_times, whole_time

# In the order of the catalogue.
TOPICS: Final = (whole_time, task_times, delays, planning)

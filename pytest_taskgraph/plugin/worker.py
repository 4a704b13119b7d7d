"""What a process of a run knows of its place among the workers of xdist."""

from __future__ import annotations

import pytest

APART = "taskgraph_apart"  # told to workers where some are on other machines, which do not share the store
NUMBER = "taskgraph_number"  # told to workers: which of them it is, from 0; that of the dead one that it stands for
STORE = "taskgraph_store"  # told to workers of this machine: the folder of the store


def workers_of(config: pytest.Config) -> int:
    """How many workers the run will have, 1 without xdist."""
    specs: list[str] = getattr(config.option, "tx", None) or []
    counts = [one.partition("*")[0] for one in specs if "*" in one]
    return max(1, len(specs) - len(counts) + sum(int(count) for count in counts if count.isdecimal()))

"""Keys of the input of xdist workers, and the number of workers of a run."""

from __future__ import annotations

import pytest

REMOTE_WORKERS = "taskgraph_apart"  # True if some workers are on other machines, which do not share the store
NUMBER = "taskgraph_number"  # the number of the worker, from 0; a worker that replaces a crashed one keeps its number
STORE = "taskgraph_store"  # for workers of this machine: the folder of the store


def workers_of(config: pytest.Config) -> int:
    """Return the number of workers of the run; 1 without xdist."""
    specs: list[str] = getattr(config.option, "tx", None) or []
    counts = [spec.partition("*")[0] for spec in specs if "*" in spec]
    return max(1, len(specs) - len(counts) + sum(int(count) for count in counts if count.isdecimal()))

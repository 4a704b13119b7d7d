"""What an xdist controller tells its workers, and what it makes of one that died. Nothing here is private to xdist."""

from __future__ import annotations

from typing import Any

import pytest

from .options import store_folder

APART = "taskgraph_apart"  # told to workers where some are on other machines, which do not share the store
NUMBER = "taskgraph_number"  # told to workers: which of them it is, from 0; that of the dead one that it stands for
STORE = "taskgraph_store"  # told to workers of this machine: the folder of the store


def tell_worker(node: Any) -> None:  # noqa: ANN401 - xdist's WorkerController
    """Nothing; the worker will know which it is, where the store is, and whether other machines take part.

    These share no store, so that each worker gets its share of every budget, and asks ahead only what it was sent.
    """
    own = node.gateway.spec
    specs = getattr(getattr(node, "nodemanager", None), "specs", None) or [own]
    node.workerinput[APART] = not all(map(_here, specs))
    node.workerinput[NUMBER] = next((number for number, spec in enumerate(specs) if spec is own), 0)
    if _here(own):
        node.workerinput[STORE] = str(store_folder(node.config))


def workers_of(config: pytest.Config) -> int:
    """How many workers the run will have, 1 without xdist."""
    specs: list[str] = getattr(config.option, "tx", None) or []
    counts = [one.partition("*")[0] for one in specs if "*" in one]
    return max(1, len(specs) - len(counts) + sum(int(count) for count in counts if count.isdecimal()))


def keep_queues_short(config: pytest.Config) -> None:
    """Nothing; where the first failure may end the run, workers are sent few items at a time, unless the user says."""
    if getattr(config.option, "maxschedchunk", 0) is None:
        config.option.maxschedchunk = 1


def _here(spec: Any) -> bool:  # noqa: ANN401 - execnet's XSpec
    """Whether the worker runs on this machine: not where a proxy on another one starts it."""
    return bool(getattr(spec, "popen", False)) and not getattr(spec, "via", None)

"""The tasks that TaskLAMA asks about: the published ones, those that come with the package, or generated ones."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .task_set import TaskSet

if TYPE_CHECKING:
    from ..complex_task import ComplexTask
    from ..tasklama_options import TaskLamaSettings

__all__ = ["TaskSet", "load", "sample"]


def load(settings: TaskLamaSettings) -> TaskSet:
    """Return the tasks of the source that the settings name. It is kept: published data are read once a process.

    Generated tasks are new for every seed; each split has at least as many as the settings have instances.

    Raises:
        UsageError: if the published data are not stated, or hold no task that can be used.
    """
    if settings.source == "published":
        from .published import read_published

        return read_published(settings.data_path("tasklama"))
    if settings.source == "generated":
        from .generated import generate_tasks

        return generate_tasks(settings.seed, settings.instances)
    from .embedded import read_embedded

    return read_embedded()


def sample(tasks: Sequence[ComplexTask], count: int, seed: int | str) -> tuple[ComplexTask, ...]:
    """Return `count` of the tasks in their order, none twice, chosen by the seed; all if there are no more.

    A larger number keeps the tasks of a smaller one, so that stored replies are used again. The choice depends on the
    ids alone.
    """
    ranks = sorted(hashlib.sha256(f"{seed}|{task.id}".encode()).digest() for task in tasks)
    chosen = set(ranks[: max(count, 0)])
    return tuple(task for task in tasks if hashlib.sha256(f"{seed}|{task.id}".encode()).digest() in chosen)

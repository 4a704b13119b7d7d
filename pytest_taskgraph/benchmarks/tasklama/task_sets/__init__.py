"""The tasks that TaskLAMA asks about: the published ones, those that come with the package, or generated ones."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

from .task_set import TaskSet

if TYPE_CHECKING:
    from ..complex_task import ComplexTask
    from ..tasklama_options import TaskLamaSettings

__all__ = ["TaskSet", "load", "sample"]


def load(settings: TaskLamaSettings) -> TaskSet:
    """Return the tasks of the source that the settings name. It is kept: published data are read once a process.

    Raises:
        UsageError: if the published data are not stated, or hold no task that can be used.
    """
    if settings.source == "published":
        from .published import read_published

        return read_published(settings.data_path("tasklama"))
    from .embedded import read_embedded

    return read_embedded()


def sample(tasks: Sequence[ComplexTask], count: int, seed: int | str) -> tuple[ComplexTask, ...]:
    """Return `count` of the tasks in their order, none twice, chosen by the seed; all if there are no more."""
    if count >= len(tasks):
        return tuple(tasks)
    chosen = Random(f"{seed}|sample of tasks").sample(range(len(tasks)), count)
    return tuple(tasks[at] for at in sorted(chosen))

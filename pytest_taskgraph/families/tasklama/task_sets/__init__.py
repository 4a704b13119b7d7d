"""The tasks that TaskLAMA asks about: the published ones, those that come with the package, or generated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .task_set import TaskSet

if TYPE_CHECKING:
    from ..tasklama_settings import TaskLamaSettings

__all__ = ["TaskSet", "load"]


def load(settings: TaskLamaSettings) -> TaskSet:
    """Return the tasks of the source that the settings name. It is kept: published data are read once a process.

    Generated tasks are new for every seed; each split has at least as many as the settings have instances.

    Raises:
        UsageError: if the published data are not stated, or hold no task that can be used.
    """
    if settings.source == "published":
        from .task_lines import read_published

        return read_published(settings.data_path("tasklama"))
    if settings.source == "generated":
        from .generated import generate_tasks

        return generate_tasks(settings.seed, settings.instances)
    from .embedded import read_embedded

    return read_embedded()

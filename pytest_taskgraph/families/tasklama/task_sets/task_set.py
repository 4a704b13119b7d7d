"""A set of tasks with its splits, and the names by which its tasks are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ....benchmarks.data_sets.items import LONGEST_ID, hyphenate, shorten, unique_ids
from ....benchmarks.data_sets.splits import SplitSet
from ....benchmarks.option import SPLITS, Split
from ..complex_task import ComplexTask
from ..tasklama_options import Source


class TaskSet(SplitSet[Source, ComplexTask]):
    """The tasks of one source: published, embedded or generated."""

    __slots__ = ()

    @classmethod
    def of(cls, source: Source, tasks: Mapping[Split, Iterable[ComplexTask]], problems: Sequence[str] = ()) -> TaskSet:
        """Return the set of these tasks by split; each task gets its id."""
        return cls.of_items(source, with_ids(task for split in SPLITS for task in tasks.get(split, ())), problems)


def with_ids(tasks: Iterable[ComplexTask]) -> list[ComplexTask]:
    """Return the tasks with ids made of title and context; a later task of the same words gets a number.

    An id has letters, digits and hyphens, at most 60 characters, such as "plan-a-wedding-in-italy".
    """
    all_tasks = list(tasks)
    return [
        replace(task, id=task_id)
        for task, task_id in zip(all_tasks, unique_ids(map(_id_words, all_tasks)), strict=True)
    ]


def _id_words(task: ComplexTask) -> str:
    """Return the title and what fits of the context, in the letters of ids; "task" where it has none of these."""
    words = shorten(hyphenate(task.title)) or "task"
    for assumption in map(hyphenate, task.context):
        if not assumption or len(words) + 1 + len(assumption) > LONGEST_ID:
            break
        words += f"-{assumption}"
    return words

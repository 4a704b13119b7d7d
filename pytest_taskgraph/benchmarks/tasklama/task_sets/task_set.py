"""A set of tasks with its splits, and the names by which its tasks are known."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..complex_task import ComplexTask
from ..tasklama_options import Source, Split

SPLITS: Final[tuple[Split, ...]] = ("train", "validation", "test")
LONGEST_ID: Final = 60


@dataclass(frozen=True, slots=True)
class TaskSet:
    """The tasks of one source.

    Args:
        source: Where they come from: published, embedded or generated.
        train: The tasks that examples are drawn from, and that filters are fitted on.
        validation: The tasks that numbers are tuned on.
        test: The tasks that are asked about.
        problems: A line each on what is wrong with the data, for the user.
    """

    source: Source
    train: tuple[ComplexTask, ...]
    validation: tuple[ComplexTask, ...]
    test: tuple[ComplexTask, ...]
    problems: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: Source, tasks: Mapping[Split, Iterable[ComplexTask]], problems: Sequence[str] = ()) -> TaskSet:
        """Return the set of these tasks by split; each task gets its id."""
        named = with_ids(task for split in SPLITS for task in tasks.get(split, ()))
        train, validation, test = (tuple(task for task in named if task.split == split) for split in SPLITS)
        return cls(source, train, validation, test, tuple(problems))

    def split(self, name: Split) -> tuple[ComplexTask, ...]:
        """Return the tasks of a split."""
        return {"train": self.train, "validation": self.validation, "test": self.test}[name]


def with_ids(tasks: Iterable[ComplexTask]) -> list[ComplexTask]:
    """Return the tasks with ids made of title and context; a later task of the same words gets a number.

    An id has letters, digits and hyphens, at most 60 characters, such as "plan-a-wedding-in-italy".
    """
    named: list[ComplexTask] = []
    taken: set[str] = set()
    counts: dict[str, int] = {}
    for task in tasks:
        words = _id_words(task)
        found = words
        while found in taken:
            counts[words] = counts.get(words, 1) + 1
            number = f"-{counts[words]}"
            found = _shorten(words, LONGEST_ID - len(number)) + number
        taken.add(found)
        named.append(replace(task, id=found))
    return named


def _id_words(task: ComplexTask) -> str:
    """Return the title and what fits of the context, in the letters of ids; "task" where it has none of these."""
    words = _shorten(_hyphenated(task.title), LONGEST_ID) or "task"
    for assumption in map(_hyphenated, task.context):
        if not assumption or len(words) + 1 + len(assumption) > LONGEST_ID:
            break
        words += f"-{assumption}"
    return words


def _hyphenated(text: str) -> str:
    """Return the words of a text in lower case, with hyphens between."""
    text = text.replace("'", "").replace("\N{RIGHT SINGLE QUOTATION MARK}", "")
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii").lower()
    return "-".join(re.findall(r"[a-z0-9]+", letters))


def _shorten(words: str, longest: int) -> str:
    """Return as many of the words as fit."""
    if len(words) <= longest:
        return words
    cut = words[: longest + 1].rpartition("-")[0]
    return cut or words[:longest]

"""The items of a data set by split, and the split that a file name states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Generic, Protocol, Self, TypeVar

from ..option import SPLITS, Split

S = TypeVar("S", bound=str)


def split_of(name: str) -> Split | None:
    """Return the split that the name of a file, or else of one of its folders, states; None if none does.

    The split follows from its words: train and training; valid, validation, val and dev; test and testing.
    """
    for part in reversed(PurePosixPath(name).parts):
        words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", part)]
        stated = [split for split in SPLITS if any(_states(word, split) for word in words)]
        if stated:
            return stated[0] if len(stated) == 1 else None
    return None


def _states(word: str, split: Split) -> bool:
    return word.startswith({"train": "train", "validation": "valid", "test": "test"}[split]) or (
        split == "validation" and word in ("val", "dev")
    )


class _InSplit(Protocol):
    @property
    def split(self) -> str: ...


T = TypeVar("T", bound=_InSplit)


@dataclass(frozen=True, slots=True)
class SplitSet(Generic[S, T]):
    """The items of one source, by split.

    Args:
        source: The source of the items.
        train: Items for in-context examples and for training models.
        validation: Items for tuning parameters and choosing models.
        test: Items that are asked about.
        problems: A line for the user on each problem of the data.
    """

    source: S
    train: tuple[T, ...]
    validation: tuple[T, ...]
    test: tuple[T, ...]
    problems: tuple[str, ...] = ()

    @classmethod
    def of_items(cls, source: S, items: Iterable[T], problems: Sequence[str] = ()) -> Self:
        """Return the set of these items, each in its split, in their order."""
        all_items = list(items)
        train, validation, test = (tuple(item for item in all_items if item.split == split) for split in SPLITS)
        return cls(source, train, validation, test, tuple(problems))

    def split(self, name: Split) -> tuple[T, ...]:
        """Return the items of a split."""
        return {"train": self.train, "validation": self.validation, "test": self.test}[name]

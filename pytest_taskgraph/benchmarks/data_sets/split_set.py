"""The items of a data set, split by split."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from .splits import SPLITS, Split


class _InSplit(Protocol):
    @property
    def split(self) -> str: ...


S = TypeVar("S", bound=str)
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

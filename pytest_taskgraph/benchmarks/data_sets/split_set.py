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
    """The items of one source.

    Args:
        source: Where they come from.
        train: The items that examples may be drawn from, and that models are trained on.
        validation: The items that numbers are tuned on, and models chosen by.
        test: The items that are asked about.
        problems: A line each on what is wrong with the data, for the user.
    """

    source: S
    train: tuple[T, ...]
    validation: tuple[T, ...]
    test: tuple[T, ...]
    problems: tuple[str, ...] = ()

    @classmethod
    def of_items(cls, source: S, items: Iterable[T], problems: Sequence[str] = ()) -> Self:
        """Return the set of these items, each in its split, in their order."""
        listed = list(items)
        train, validation, test = (tuple(item for item in listed if item.split == split) for split in SPLITS)
        return cls(source, train, validation, test, tuple(problems))

    def split(self, name: Split) -> tuple[T, ...]:
        """Return the items of a split."""
        return {"train": self.train, "validation": self.validation, "test": self.test}[name]

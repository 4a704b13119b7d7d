"""The splits of a data set, the option that chooses one, and the split that a file name states."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final, Literal, get_args

from ..settings import Option

Split = Literal["train", "validation", "test"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)
SPLIT: Final = Option(
    "split", "NAME", "split of a data set that is asked about: train, validation or test", "test", choices=SPLITS
)
"""The option of all families whose data have splits."""


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

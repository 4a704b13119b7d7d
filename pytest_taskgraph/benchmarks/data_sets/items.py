"""Items of a data set: their ids, and draws of them by the seed and the ids alone."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final, Protocol, TypeVar

LONGEST_ID: Final = 60


class Identified(Protocol):
    """An item with an id that is unique in its set."""

    @property
    def id(self) -> str:
        """Return the id."""


_I = TypeVar("_I", bound=Identified)


def draw_items(items: Sequence[_I], count: int, seed: int | str) -> tuple[_I, ...]:
    """Return `count` of the items in their order, none twice, drawn by the seed; all if there are no more.

    A larger number keeps the items of a smaller one, so that stored replies are used again. The draw depends on the ids
    alone.
    """
    ranks = {item.id: hashlib.sha256(f"{seed}|{item.id}".encode()).digest() for item in items}
    chosen = set(sorted(ranks, key=ranks.__getitem__)[: max(count, 0)])
    return tuple(item for item in items if item.id in chosen)


def unique_ids(names: Iterable[str]) -> list[str]:
    """Return a unique id for each of the names, which are words with hyphens; a duplicate gets a number."""
    ids: list[str] = []
    taken: set[str] = set()
    counts: dict[str, int] = {}
    for words in names:
        id_ = words
        while id_ in taken:
            counts[words] = counts.get(words, 1) + 1
            number = f"-{counts[words]}"
            id_ = shorten(words, LONGEST_ID - len(number)) + number
        taken.add(id_)
        ids.append(id_)
    return ids


def hyphenate(text: str) -> str:
    """Return the words of a text in lower case, joined by hyphens, with only the letters a to z and digits."""
    text = text.replace("'", "").replace("\N{RIGHT SINGLE QUOTATION MARK}", "")
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii").lower()
    return "-".join(re.findall(r"[a-z0-9]+", letters))


def shorten(words: str, longest: int = LONGEST_ID) -> str:
    """Return as many of the words as fit into `longest` characters."""
    if len(words) <= longest:
        return words
    cut = words[: longest + 1].rpartition("-")[0]
    return cut or words[:longest]

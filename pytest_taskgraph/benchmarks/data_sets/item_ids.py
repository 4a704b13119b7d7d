"""Ids of the items of a data set: short words with hyphens, unique in the set."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

LONGEST_ID: Final = 60


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

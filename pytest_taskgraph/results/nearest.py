"""Names that gates are made of, as messages tell them: as they are to be written, the likeliest first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

_SHOWN = 10  # names that a reason of one line tells
_ENDING = re.compile(r"""^["']|[.<>@]""")


def quoted(part: str) -> str:
    """A part of a gate's name as it is written: in quotes what holds a sign that would end it."""
    words = part.split("=", 1)
    bare = [one == one.strip() and not _ENDING.search(one) for one in words]
    return "=".join(
        one if as_is else '"{}"'.format(one.replace('"', '""')) for one, as_is in zip(words, bare, strict=True)
    )


def nearest(word: str, names: Iterable[str], what: str = "known") -> str:
    """The names, the most like first, and no more than fit a line; and whether one of them is likely to be meant."""
    every = list(dict.fromkeys(names))
    every.sort(key=lambda name: (-SequenceMatcher(None, word, name).ratio(), name))
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    meant = get_close_matches(word, every, 1)
    best = next((repr(one) if quoted(one) == one else quoted(one) for one in meant), "")
    asked = f"did you mean {best}? " if meant and not word.isdecimal() else ""
    return f"{asked}{what}: {', '.join(map(quoted, every[:_SHOWN])) or 'none'}{more}"

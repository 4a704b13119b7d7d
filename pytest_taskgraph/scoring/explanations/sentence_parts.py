"""How sentences about an answer write names and numbers, and how a long list of them is cut."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

MOST: Final = 5
"""Sentences of one kind."""
_MOST_NAMES: Final = 4  # of a list within a sentence
_LONGEST: Final = 80  # characters of a name
_LONGEST_QUOTE: Final = 240  # characters of a text
_PLAIN: Final = re.compile(r"\w+(?:[.\-/]\w+)*")
_TIMES: Final = {1: "once", 2: "twice"}
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}


def write_name(name: object) -> str:
    """Return a name in one line, in quotes unless it is one word, and shortened if it is long."""
    text = _shorten(name, _LONGEST)
    return text if _PLAIN.fullmatch(text) else f'"{text}"'


def quote(text: str) -> str:
    """Return a text in quotes and one line, shortened if it is long."""
    return f'"{_shorten(text, _LONGEST_QUOTE)}"'


def _shorten(text: object, longest: int) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def join_names(names: Sequence[object]) -> str:
    """Return names as a list such as "A, B and C"; of many, the first ones and the number of the others."""
    texts = [write_name(name) for name in islice(names, _MOST_NAMES + 1)]
    if len(names) > _MOST_NAMES + 1:
        texts[_MOST_NAMES:] = [f"{len(names) - _MOST_NAMES:,} more"]
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1]))) if texts else "nothing"


def ordinal(number: int) -> str:
    """Return a number such as "1st" or "12th"."""
    ending = "th" if number // 10 % 10 == 1 else _ENDINGS.get(number % 10, "th")
    return f"{number:,}{ending}"


def times(number: int) -> str:
    """Return how often: "once", "twice", "3 times"."""
    return _TIMES.get(number, f"{number:,} times")


def cut(sentences: Sequence[str], noun: str) -> list[str]:
    """Return at most MOST sentences; of more, the last one is the number of the others, such as "and 4 more pairs"."""
    more = len(sentences) - MOST
    return [*sentences] if more <= 0 else [*sentences[:MOST], f"and {more:,} more {noun}{'s' if more > 1 else ''}"]

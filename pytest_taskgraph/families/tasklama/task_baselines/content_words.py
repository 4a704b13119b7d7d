"""The words of tasks and queries that carry meaning: without stop words, singular and plural alike. Overlaps."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from math import sqrt
from typing import Final

LONGEST_TEXT: Final = 500  # characters of a title or a query that are looked at
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_FUNCTION_WORDS = """
    a about above after again against all also am an and any are as at be because been before being below between both
    but by can cannot could did do does doing done down during each else ever few for from further get gets getting had
    has have having he her here hers him his how i if in into is it its just let like may me might more most must my
    need needs no nor not now of off on once one ones only or other our ours out over own per please same shall she
    should so some such than that the their theirs them then there these they this those through to too under until up
    upon us use used using very via want wants was way ways we were what when where which while who whom whose why will
    with within without would you your yours
"""
_SHORT_ENDINGS = (("oe", "o"), ("ss", "ss"), ("us", "us"), ("s", ""))
_ENDINGS = (
    ("ies", "y"), ("ie", "y"), ("oes", "o"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"),
    *_SHORT_ENDINGS,
)  # fmt: skip
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())


def is_stop_word(word: str) -> bool:
    """Return True if the word, in lower case, is among the English function words."""
    return word in _STOP_WORDS


def normal_text(text: str) -> str:
    """Return the text in lower case and compatible letters (NFKC), with single blanks."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the words of a text begin and end: runs of letters and digits, with apostrophes between them."""
    return (match.span() for match in _WORD.finditer(text))


def content_stems(text: str) -> tuple[str, ...]:
    """Return the distinct stems of the words of a text, sorted: without stop words, unless there are no others."""
    words = plain_words(text)
    return tuple(sorted({stem(word) for word in words if word not in _STOP_WORDS} or set(words)))


def has_words(text: str) -> bool:
    """Return True if the text has a letter or digit."""
    return _WORD.search(text) is not None


def plain_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without the ending of the genitive."""
    return [match[0].removesuffix("'s").removesuffix("’s") for match in _WORD.finditer(normal_text(text))]


def stem(word: str) -> str:
    """Return what a lower-case English noun shares with its plural: "cookie" and "cookies" give "cooky".

    The stems are to be compared, not to be read. A word of three letters or fewer is its own stem.
    """
    endings = _ENDINGS if len(word) > 4 else _SHORT_ENDINGS if len(word) == 4 else ()
    return next((word.removesuffix(ending) + rest for ending, rest in endings if word.endswith(ending)), word)


def association(joint: int, first: int, second: int) -> float:
    """Return the discounted Ochiai coefficient, 0.0 to 1.0.

    It is `joint / sqrt(first * second)`, the cosine of the two sets of places, times `joint / (joint + 1)`, the
    discount of Pantel and Lin (2002) for small counts: one place that two rare things share says little.

    Args:
        joint: The number of places where both occur.
        first: The number of places where the first occurs, at least `joint`.
        second: That of the second.
    """
    return joint / sqrt(first * second) * joint / (joint + 1) if joint else 0.0


def jaccard_index(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the number of words that two sets share over that of all their words; 0.0 for two empty sets."""
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared) if shared else 0.0

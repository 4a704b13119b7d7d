"""BLEU-1: the share of a text's words that another text holds, with a penalty for brevity.

Du et al. (2024) call nltk's `sentence_bleu` with one reference and the weights (1, 0, 0, 0), rounded to four places,
over lower-cased tokens without punctuation and articles. The same is computed here; their tokens are those of spaCy.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from math import exp
from typing import Final

MATCHED: Final = 0.5
"""The least BLEU at which two texts stand for the same thing (Du et al. 2024, appendix C.3)."""

_PLACES = 4
_TOKEN = re.compile(r"\w+|[^\w\s]")
_DROPPED = frozenset([*",.?;:!()[]{}'\"-_", "a", "an", "the"])


def bleu_tokens(text: str) -> list[str]:
    """Return the words and signs of a text in lower case, without articles and the usual punctuation."""
    return [token for token in _TOKEN.findall(text.lower()) if token not in _DROPPED]


def bleu1(candidate: str, reference: str) -> float:
    """Return the BLEU-1 of a candidate against one reference, 0.0 to 1.0, rounded to four places.

    It is the share of the candidate's tokens that the reference holds, each at most as often as there, times the
    brevity penalty: exp(1 - r / c) for a candidate of c tokens that is shorter than a reference of r. A text without
    tokens scores 0.0, but for texts that are equal up to case and white space: these score 1.0.
    """
    if candidate == reference or _plain(candidate) == _plain(reference):
        return 1.0
    ours, theirs = _count_tokens(candidate), _count_tokens(reference)
    length, reference_length = ours.total(), theirs.total()
    if not length or not reference_length:
        return 0.0
    shared = sum(min(count, theirs[token]) for token, count in ours.items())
    penalty = 1.0 if length > reference_length else exp(1 - reference_length / length)
    return round(penalty * shared / length, _PLACES)


@lru_cache(maxsize=4096)
def _count_tokens(text: str) -> Counter[str]:
    return Counter(bleu_tokens(text))


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    return " ".join(text.lower().split())

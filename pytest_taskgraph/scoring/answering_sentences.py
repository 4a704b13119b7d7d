"""Sentences that answer a question: whether one restates it, and which names one adds to those of the question.

A sentence answers if its predicate is that of the question. It does not if it asks, supposes or announces something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from .extraction import LEFT, MASK, RIGHT, mask_names

_MASK = re.compile(MASK)
_IDENTIFIER = re.compile(r"(?<![\w.])(?=[^\W\d])\w*(?:\d|_|[a-z][A-Z])\w*+")
_QUOTED = re.compile(r"['\"`“‘]([^'\"`“”‘’\n]{1,120})['\"`”’]")
_SENTENCE_END = re.compile(r"(?<=[.!?])[*_`\"'”’)]*\s+|\n+")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_REASON = re.compile(
    r"(?<![\s,;(–—-])[\s,;(–—-]++(?:because|since|as it|as they|as there|given that|due to|so that)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_THAT_IS = re.compile(r",? that is\b|\(|, with no\b", re.IGNORECASE)
_OPENERS = re.compile(
    r"\A\W*(?:(?:so|thus|therefore|hence|consequently|overall|in (?:short|summary|conclusion)|finally|sure|certainly"
    r"|of course|based on [^,]{1,60}|as a result|to (?:summarize|conclude)|according to [^,]{1,60}|okay|ok|well)\b"
    r"[\s,:!.]*)+",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"\b(?:if|whether|unless|suppose|assume|assuming|it depends|depending|would|could|might|may|perhaps"
    r"|possibly|probably|maybe|after that|afterwards|later"
    r"|first (?:check|compare|look)|need to|let me|let's|i will|i'll|or)\b|\?",
    re.IGNORECASE,
)
OTHERWISE: Final = re.compile(
    r"\b(?:wait|actually|correction|scratch|sorry|oops|instead|except|excluding|unless|however|mistake|rather|forgot)\b|"
    r"(?:^|[.!?]\s)\W{0,9}+(?:but|not|only|or|no|also|additionally|plus|furthermore|moreover|besides|finally|then|and)\b",
    re.IGNORECASE,
)
NEGATION: Final = re.compile(r"\b(?:not|no|never|none|neither|nor|cannot|without)\b|n['’]t\b", re.IGNORECASE)
_PLAIN_WORDS = """
a an the this that these those it its they them their there here is are was were be been being am has have had do
does did can will shall in on at to from of by for with as and both each all any only just directly immediately
exactly which who what where when one ones two three four five six seven eight nine ten other others another namely
following then also indeed very right task tasks workflow name names step steps called named contain contains
containing include includes included consist consists comprise comprises list lists listed set correct answer
answers final i we you question given specification finally lastly
"""
_PLAIN = frozenset(_PLAIN_WORDS.split())


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, without empty ones."""
    return [sentence.strip() for sentence in _SENTENCE_END.split(text) if re.search(r"\w", sentence)]


def names_of(text: str, names: Sequence[str]) -> list[str]:
    """Return the names in a text in their order, each once: known names, quoted texts, and words like identifiers."""
    masked, known = mask_names(text, names, LEFT, RIGHT)
    found: dict[str, None] = {}
    for match in re.finditer(rf"{_MASK.pattern}|{_QUOTED.pattern}|{_IDENTIFIER.pattern}", masked):
        name = match[0]
        if name.startswith(LEFT):
            name = known[int(name[1:-1])]
        elif match[1] is not None:
            inner = _MASK.findall(match[1])
            name = known[int(inner[0][1:-1])] if len(inner) == 1 and match[1].strip() == inner[0] else match[1]
        found.setdefault(name.strip())
    return [name for name in found if name]


def without_reason(text: str) -> str:
    """Return the text up to "because" or the like; the whole text if there are several reasons."""
    head = _REASON.sub("", text)
    return head if not _REASON.search(text[len(head) + 1 :].lstrip(" ,;(–—-")[8:]) else text


def is_negated(text: str) -> bool:
    """Return True if the first sentence of a text, without its explanation, is negated."""
    first = _THAT_IS.split(_REASON.sub("", text), maxsplit=1)[0]
    return len(NEGATION.findall(split_sentences(first)[0] if split_sentences(first) else "")) % 2 == 1


def restates(sentence: str, question: str, names: Sequence[str]) -> bool:
    """Return True if all that a sentence says beside names stands in the question, and it states it as a fact."""
    bare = _REASON.sub("", _OPENERS.sub("", sentence, count=1))
    if _SUPPOSES.search(bare):
        return False
    words = content_words(bare, names)
    return bool(words) and words <= content_words(question, names)


def may_change(sentence: str) -> bool:
    """Return True if a sentence may change the answer before it: it corrects, adds, asks or supposes something."""
    return (OTHERWISE.search(sentence) or _SUPPOSES.search(sentence)) is not None


def new_names(sentence: str, question: str, names: Sequence[str]) -> list[str]:
    """Return the names of a sentence that the question does not hold, without those in a reason behind "because"."""
    asked = {name.lower() for name in names_of(question, names)}
    return [name for name in names_of(_REASON.sub("", sentence), names) if name.lower() not in asked]


def content_words(text: str, names: Iterable[str]) -> set[str]:
    """Return the stems of the words that carry the meaning of a text: no names, no function words."""
    masked, _ = mask_names(text, [name for name in names if name], LEFT, RIGHT)
    bare = _IDENTIFIER.sub(" ", _QUOTED.sub(" ", _MASK.sub(" ", masked)))
    words = (word.lower().replace("’", "'") for word in _WORD.findall(bare))
    return {_stem(word) for word in words if word not in _PLAIN and not NEGATION.search(word)}


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    """Return a word without the endings of number, tense and agent; equal for the forms of one verb."""
    for ending in ("'s", "ing", "edly", "ed", "ies", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    word = word[:-1] if len(word) > 3 and word[-1] in "ey" else word
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word

"""Finding the word "yes" or "no" that is the verdict of an answer, among the "no" of "no doubt"."""

from __future__ import annotations

import re

_WORD = re.compile(r"\b_*+(yes|no)_*\b", re.IGNORECASE)
_CHOICE = re.compile(r"\byes\W{0,4}(?:/|\bor\b|\|)\W{0,4}no\b|\bno\W{0,4}(?:/|\bor\b|\|)\W{0,4}yes\b", re.IGNORECASE)
_BOTH = re.compile(r"\b(?:yes\W{1,4}and\W{1,4}no|no\W{1,4}and\W{1,4}yes)\b", re.IGNORECASE)
_SUBJECT = re.compile(
    r"[\s*_`]*+(?:$|[^\w\s*_`]|\n|(?:it|its|they|there|this|that|these|the|because|since|as|for|in|if|and|but|not|we|i|a|an"
    r"|every|all|each|you)\b)",
    re.IGNORECASE,
)
_ALONE_BEFORE = re.compile(r"(?:^|[^\w\s*_`\"'“‘({$]|\n)[\s*_`\"'“‘({$]*$")
_ALONE_AFTER = re.compile(r"[*_`\"'”’)}$]*+\s*+(?:$|[.,:;!\n–—-])")
_NEGATED = re.compile(r"\bnot(?: an?)?[\s*_`\"'“‘]*$", re.IGNORECASE)
_NEAR = 40  # characters before a word that tell how it stands


def verdict(text: str, reason: bool = False) -> re.Match[str] | None:
    """Return the match of the word that is the verdict, its group 1; None where there is none, or it is contradicted.

    A "no" before a noun ("no doubt", "no task") is no verdict, nor is the choice "yes or no". The first verdict
    counts, unless the other word stands alone between punctuation behind it; `reason` says that a reason follows, in
    which it may.
    """
    if _BOTH.search(text):
        return None
    text = _CHOICE.sub(lambda choice: " " * len(choice[0]), text)
    verdicts = [word for word in _WORD.finditer(text) if word[1].lower() == "yes" or _SUBJECT.match(text, word.end())]
    if not verdicts or _NEGATED.search(text[max(0, verdicts[0].start() - _NEAR) : verdicts[0].start()]):
        return None
    first = verdicts[0]
    others = [word for word in verdicts if not reason and word[1].lower() != first[1].lower()]
    return None if any(_stands_alone(text, word) for word in others) else first


def _stands_alone(text: str, word: re.Match[str]) -> bool:
    before = text[max(0, word.start() - _NEAR) : word.start()]
    return bool(_ALONE_BEFORE.search(before) and _ALONE_AFTER.match(text, word.end()))

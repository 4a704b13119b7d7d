"""Which conditions exclude each other, by their words: one denies the other, or says something else of its subject."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from .verb_lexicon import word_overlap, word_set

LONGEST_CONDITION: Final = 300  # characters that are compared
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[<>=≤≥≠]+")
_NEGATIONS = word_set("not no never cannot without none nor neither nothing nobody fails fail failed lacks lack")
_FILLERS = word_set(
    "the a an do does did will would shall can could may might must should then still yet already really actually also "
    "just only any there it this that"
)
_COPULAS = word_set("is are was were be been being gets becomes become remains remain seems equals = ≠ < > <= >=")
_CHOOSING = word_set(
    "choose chooses select selects pay pays decide decides opt opts prefer prefers come comes arrive arrives reach "
    "reaches exceed exceeds rise rises fall falls"
)
_ADDITIVE = word_set(
    "need needs want wants require requires like likes wish wishes have has order orders contain contains include "
    "includes ask asks request requests enjoy enjoys needed wanted required desired requested ordered liked"
)
_ANTONYMS: Final = """\
    accepted approved granted confirmed agrees accepts approves \
        / rejected declined denied refused disagrees rejects declines refuses denies
    valid / invalid
    available / unavailable
    correct right / incorrect wrong
    complete / incomplete
    enough sufficient adequate / insufficient inadequate few little
    high higher more above over large larger big greater long longer most many \
        / low lower less below under small smaller short shorter fewer least few
    new / existing old known
    successful succeeds passed passes succeeded / unsuccessful fails failed
    yes true / no false
    present / absent missing
    open / closed
    early before / late after
    domestic / international foreign
    online / offline
    free / taken booked busy occupied
    full / empty
    in / out
    with / without
    cash / card credit
    hot warm / cold
    clean / dirty
    known / unknown
    satisfied / dissatisfied unsatisfied
    paid / unpaid
    urgent / normal regular routine
    first / second third
    male / female
    positive / negative
    critical / minor
    always / never
    at / beyond
    working functional / broken defective faulty damaged
    possible / impossible
    safe / unsafe dangerous
    eligible / ineligible
    able / unable
    fresh / stale spoiled
    light / heavy
    dry / wet
    ready / unready
    on / off
"""
_OPPOSITES: Final = {
    word: (number, side)
    for number, pair in enumerate(_ANTONYMS.strip().splitlines())
    for side, words in enumerate(pair.split("/"))
    for word in words.split()
}


def exclude_each_other(first: str, second: str) -> bool:
    """Return True if by their words two conditions cannot both hold.

    They cannot if they are opposites, or if they say different things of the same subject: by "is", or by a verb that
    has one object at a time, such as "chooses", and unlike "needs".
    """
    return are_opposites(first, second) or _differ(first, second)


@lru_cache(maxsize=16384)
def are_opposites(first: str, second: str) -> bool:
    """Return True if one condition denies the other, or opposites alone differ, such as "valid" and "invalid"."""
    words, other_words = _words(first), _words(second)
    if not words or not other_words or words == other_words:
        return False
    plain, plain_other = _plain(words), _plain(other_words)
    if _denies(words) != _denies(other_words):
        return word_overlap(plain, plain_other) >= 0.6 or plain <= plain_other or plain_other <= plain
    return _have_opposites(words, other_words)


@lru_cache(maxsize=16384)
def _differ(first: str, second: str) -> bool:
    words, other_words = _words(first), _words(second)
    return words != other_words and _another_value(words, other_words)


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    lower = text[:LONGEST_CONDITION].lower().replace("’", "'")
    words: list[str] = []
    for word in _WORD.findall(lower):
        if word.endswith("n't"):
            words += [word[:-3], "not"]
        elif word not in ("the", "a", "an"):
            words.append(word)
    return tuple(words)


def _denies(words: tuple[str, ...]) -> bool:
    return sum(word in _NEGATIONS for word in words) % 2 == 1


@lru_cache(maxsize=4096)
def _plain(words: tuple[str, ...]) -> frozenset[str]:
    """Return the stems of the words that carry meaning; all the stems if there are none."""
    content = [word for word in words if word not in _NEGATIONS and word not in _FILLERS and word not in _COPULAS]
    return frozenset(map(_stem, content or words))


def _stem(word: str) -> str:
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word.removesuffix("e") if len(word) > 4 else word


def _have_opposites(first: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return True if opposites stand in two conditions that are else about the same."""
    for word in first:
        place = _OPPOSITES.get(word)
        if place is None:
            continue
        for opposite in other:
            against = _OPPOSITES.get(opposite)
            if against is None or against[0] != place[0] or against[1] == place[1]:
                continue
            rest = _plain(first) - {_stem(word)}
            rest_other = _plain(other) - {_stem(opposite)}
            if not rest or not rest_other or word_overlap(rest, rest_other) >= 0.5:
                return True
    return False


def _another_value(first: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return True if both speak of one subject with one verb, and say something else of it."""
    if any(word in _ADDITIVE for word in (*first, *other)):
        return False
    subject, verb, value = _parts(first)
    subject_other, verb_other, value_other = _parts(other)
    if verb and verb_other:
        copulas = verb in _COPULAS and verb_other in _COPULAS
        same_verb = copulas or _stem(verb) == _stem(verb_other)
        return same_verb and subject == subject_other and bool(subject) and value != value_other
    shared = 0
    while shared < min(len(first), len(other)) and first[shared] == other[shared]:
        shared += 1
    return shared >= 2


def _parts(words: tuple[str, ...]) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Return the subject, the verb and the rest of a condition; no verb if it has none of those that decide."""
    for at, word in enumerate(words):
        if word in _COPULAS or word in _CHOOSING:
            return words[:at], word, words[at + 1 :]
    return words, "", ()

"""What an action acts on: the noun phrase behind its verb, found by a simple rule.

"carefully check the signed form with a lamp" acts on "signed form", "wash and peel the carrots and the apples" on
"carrot" and "apple".
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ..extraction_rules.verb_lexicon import is_base, names_things, verb_of, word_set

LONGEST_ACTION: Final = 300  # characters that are read
_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|,")
_DETERMINERS: Final = word_set(
    "the a an this that these those its their his her your my our each every all any some both no another such more "
    "one two three four five six seven eight nine ten several many enough"
)
_PRONOUNS: Final = word_set(
    "it them him her this that these those everything something anything nothing all both us me"
)
_TAIL: Final = word_set(
    "of for in on at to from with by into onto about after before under over as per via through without until against "
    "between within during than that which who whose if when while where because so using based according out up off "
    "down back away together again once twice first next finally now then or but immediately"
)
_JOINING: Final = word_set("and ,")
_NO_PLURAL: Final = ("ss", "us", "is")


@lru_cache(maxsize=4096)
def find_objects(action: str) -> frozenset[str]:
    """Return the things that an action acts on, in lower case, without determiners, in the singular.

    Nothing is known of a pronoun or of an action without an object: the set is then empty.
    """
    words = _WORD.findall(action[:LONGEST_ACTION].lower())
    objects: set[str] = set()
    phrase: list[str] = []
    for word in [*words[_behind_verbs(words) :], ","]:
        ends = word in _TAIL or _is_adverb(word)
        if (word in _JOINING or ends) and phrase:
            objects.add(_singular(phrase))
            phrase = []
        if ends:
            break
        if word not in _JOINING and word not in _DETERMINERS:
            phrase.append(word)
    return frozenset(objects - _PRONOUNS)


def _behind_verbs(words: list[str]) -> int:
    """Return where the object begins: behind adverbs, the verb or verbs, and a particle or preposition."""
    at = 0
    while at < len(words) - 1 and _is_adverb(words[at]):
        at += 1
    at += 1
    while at + 1 < len(words) and words[at] in _JOINING and _is_verb(words[at + 1]):
        at += 2
    return at + 1 if at < len(words) and words[at] in _TAIL else at


def _is_verb(word: str) -> bool:
    return is_base(word) and not names_things(word)


def _is_adverb(word: str) -> bool:
    return len(word) > 4 and word.endswith("ly") and verb_of(word) is None


def _singular(phrase: list[str]) -> str:
    """Return a noun phrase with its last word in the singular."""
    *before, last = phrase
    if last.endswith("ies") and len(last) > 4:
        last = f"{last[:-3]}y"
    elif last.endswith(("ches", "shes", "sses", "xes", "zes")):
        last = last[:-2]
    elif last.endswith("s") and not last.endswith(_NO_PLURAL) and len(last) > 3:
        last = last[:-1]
    return " ".join([*before, last])

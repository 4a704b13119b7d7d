"""The opposite of a condition in words."""

from __future__ import annotations

import re
from typing import Final

from .verb_lexicon import verb_of

OTHERWISE: Final = "otherwise"
_DENIAL = re.compile(r"\b(?P<verb>is|are|was|were|has|have|can|will|must|should) not\b")
_DOES_NOT = re.compile(r"\b(?:does|do|did) not ")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has been|have been|can|will|must|should)\b")


def negate_condition(condition: str) -> str:
    """Return the opposite of a condition: without its "not", or with one behind its verb.

    A condition without a verb that is known gets "not" in front.
    """
    match = _DENIAL.search(condition)
    if match is not None:
        return f"{condition[: match.start()]}{match['verb']}{condition[match.end() :]}"
    match = _DOES_NOT.search(condition)
    if match is not None:
        return condition[: match.start()] + condition[match.end() :]
    match = _AUXILIARY.search(condition)
    if match is not None:
        return f"{condition[: match.end()]} not{condition[match.end() :]}"
    words = condition.split()
    for at, word in enumerate(words):
        verb = verb_of(word)
        if at and verb is not None and verb[1] == "third":
            return " ".join([*words[:at], "does not", verb[0], *words[at + 1 :]])
    return f"not {condition}"

"""How texts of a graph are put into sentences: as clauses with their actor, as conditions, as names of things.

Texts stand as they are, but for the case of their first letter. An action is an infinitive ("check the order", behind
"must") or a third person ("checks the order"). What would be misread, such as a text with a full stop or a cue word of
the document in it, stands in quotation marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ....workflow.procedural_graph import ProceduralNode

_NO_ARTICLE: Final = {
    *("a", "an", "the", "this", "that", "these", "those", "my", "our", "your", "his", "her", "its", "their", "each"),
    *("every", "all", "any", "some", "both", "no", "one", "two", "three", "several", "many", "at", "either"),
}
_MISREAD = re.compile(
    r"[.!?;:](?=\s|$)|[\r\n\"“”]|^\W|^$"
    r"|\b(?:if|otherwise|then|meanwhile|unless|at the same time|the procedure ends|in the beginning|in addition"
    r"|requires access to|produces|note that|pay attention|after that|on the one hand|in this (?:case|part))\b",
    re.IGNORECASE,
)
_CONDITIONAL = re.compile(r"(?:if|when|whenever|unless|in case|once|as soon as|as long as)\b", re.IGNORECASE)
_OTHERWISE = re.compile(r"(?:otherwise|else|in all other cases)\Z", re.IGNORECASE)
_CLAUSE = re.compile(
    r"\S+\s(?:.*\s)?(?:is|are|was|were|has|have|must|may|might|can|cannot|could|should|will|shall|would|needs?|does|do)"
    r"(?:n't)?\b",
    re.IGNORECASE,
)
_THIRD_PERSON = re.compile(r"[a-z]{2,}(?<![sui])s\b")


def lower_first(text: str) -> str:
    """Return a text for the middle of a sentence: a capital at its start becomes small, unless it is a name or letters.

    A word of capitals, such as "PDF" or "X-ray", stays.
    """
    if text[:1].isupper() and (text[1:2].islower() or (text[:1] == "A" and text[1:2] == " ")):
        return text[0].lower() + text[1:]
    return text


def upper_first(text: str) -> str:
    """Return a text for the start of a sentence."""
    return text[:1].upper() + text[1:]


def quote_text(text: str) -> str:
    """Return a text in quotation marks."""
    return f"“{text}”"


def unmistakable(text: str) -> str:
    """Return a text for the middle of a sentence, in quotation marks if its end or its role would be misread."""
    return quote_text(text) if _MISREAD.search(text) else lower_first(text)


def with_article(text: str) -> str:
    """Return the name of a thing with its article."""
    if _MISREAD.search(text):
        return quote_text(text)
    first = text.split(maxsplit=1)[0]
    if first.casefold() in _NO_ARTICLE or first[0].isdigit():
        return lower_first(text)
    return text if first[0].isupper() and first.endswith(("'s", "’s")) else f"the {lower_first(text)}"


def subject(actor: str) -> str:
    """Return an actor as the subject of a sentence: with an article, unless it may be a name such as "Anna"."""
    words = actor.split()
    if not _MISREAD.search(actor) and all(word[0].isupper() for word in words) and not words[0].isupper():
        return actor
    return with_article(actor)


def is_infinitive(text: str) -> bool:
    """Return True if an action reads like "check the order", and not like "checks the order"."""
    return not _THIRD_PERSON.match(lower_first(text))


def clause(action: ProceduralNode) -> str:
    """Return who does what; an action without an actor is an instruction to the reader."""
    if not action.actor:
        return unmistakable(action.text)
    return f"{subject(action.actor)} {predicate(action)}"


def predicate(action: ProceduralNode) -> str:
    """Return what an actor does, to stand behind the subject."""
    return f"must {unmistakable(action.text)}" if is_infinitive(action.text) else unmistakable(action.text)


def purpose(action: ProceduralNode, with_actor: bool = False) -> str:
    """Return an action as what something is said for: "to check the order".

    Args:
        action: The action.
        with_actor: Name its actor: "for the clerk to check the order".
    """
    text = f"to {unmistakable(action.text)}" if is_infinitive(action.text) else quote_text(action.text)
    return f"for {subject(action.actor)} {text}" if with_actor and action.actor else text


def mention(action: ProceduralNode) -> str:
    """Return a mention of an action that is described elsewhere."""
    return f"{quote_text(action.text)} by {subject(action.actor)}" if action.actor else quote_text(action.text)


def is_otherwise(condition: str) -> bool:
    """Return True for a condition that means all other cases."""
    return not condition or bool(_OTHERWISE.match(condition))


def condition_words(condition: str) -> str:
    """Return the words of a condition that a clause follows: "if the stock is low, then "."""
    if _OTHERWISE.match(condition):
        return f"{lower_first(condition)}, "
    if match := _CONDITIONAL.match(condition):
        rest = condition[match.end() :].strip()
        return f"{lower_first(condition)}, then " if not _MISREAD.search(rest) else f"if {quote_text(condition)}, then "
    return f"if {unmistakable(condition)}, then "


def constraint_clauses(
    action: ProceduralNode,
    required: Iterable[ProceduralNode],
    produced: Iterable[ProceduralNode],
    with_actor: bool = False,
) -> str:
    """Return what an action requires and produces, without a full stop; either may be nothing, but not both."""
    verbs = [
        f"{verb} {f' and {again}'.join(with_article(node.text) for node in nodes)}"
        for verb, again, nodes in (("requires access to", "to ", [*required]), ("produces", "", [*produced]))
        if nodes
    ]
    by = f" by {subject(action.actor)}" if with_actor and action.actor else ""
    return f"{quote_text(upper_first(action.text))}{by} {' and '.join(verbs)}"


def notice_clause(action: ProceduralNode, notice: ProceduralNode, with_actor: bool = False) -> str:
    """Return what is to be noted about an action, without a full stop."""
    start = purpose(action, with_actor) if is_infinitive(action.text) else f"for {mention(action)}"
    text = notice.text
    if _CLAUSE.match(text) and not _MISREAD.search(text):
        return f"{start}, note that {lower_first(text)}"
    first = text.split(maxsplit=1)[0].casefold() if text.strip() else ""
    return f"{start}, pay attention to {with_article(text) if first in _NO_ARTICLE else quote_text(text)}"

"""Names that a statement answers with: those of a list, or of the sentence that restates the question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import UnparseableError
from .answering_sentences import (
    content_words,
    is_negated,
    may_change,
    new_names,
    restates,
    split_sentences,
    without_reason,
)
from .extraction import LEFT, MASK, RIGHT, mask_names
from .name_lists import parse_names, states_none
from .statements import is_exclusion

_EXAMPLE = re.compile(r"\be\.g\.|\bfor (?:example|instance)\b", re.IGNORECASE)
_FOUND = re.compile(
    r"\b(?:none|nothing|empty|found|exists?|apply|applies|match(?:es)?|such|single|qualif\w+|n/a)\b", re.IGNORECASE
)
_BREAK = re.compile(r"[;:(–—]|\s-\s")
_LONGEST_SENTENCE = 1_000  # characters
_MOST_SENTENCES = 30  # at the end of a statement that are looked at
_STATED = re.compile(r"\b(?:the|my) (?:\w{1,12} )?answer(?: is|:)\s*+:?", re.IGNORECASE)
_NODE = re.compile(
    rf"(?<!\w)(?:{MASK}|[A-Za-z]\w{{0,20}})[\[({{]++\s*+[\"']?({MASK})[\"']?\s*+[\])}}]++"
)  # `D[Pay, then ship]`


def reduce_names(statement: str, question: str, names: Sequence[str], single: bool = False) -> str:
    """Return the names with which a sentence answers the question, one a line; the statement if it is a list itself.

    A sentence answers if its predicate is that of the question. Its names without those of the question are the answer.
    With `single`, one name is asked for, so that sentences behind it may name others.
    """
    text = _without_node_ids(statement, names) if names else statement
    if states_none(text, names):
        return "" if names_others(text, question, names) or _is_about_other(text, question, names) else text
    if _EXAMPLE.search(text):
        return ""
    if _is_list(text, names, single):
        return text
    if found := names_of_sentences(text, question, names, single):
        return "\n".join(found)
    head = without_reason(text)
    return head if head != text and _is_list(head, names, single) else text


def _is_about_other(text: str, question: str, names: Sequence[str]) -> bool:
    """Return True if a sentence that there are none denies something else than the question asks for."""
    first = (split_sentences(without_reason(_BREAK.split(text[:_LONGEST_SENTENCE], maxsplit=1)[0])) or [""])[0]
    return not content_words(_FOUND.sub(" ", first), names) <= content_words(question, names)


def names_others(text: str, question: str, names: Sequence[str]) -> bool:
    """Return True if a sentence that there are none is about other names than the question."""
    return len(text) < _LONGEST_SENTENCE and bool(new_names(text, question, names))


def _is_list(text: str, names: Sequence[str], single: bool) -> bool:
    try:
        listed_names = parse_names(text, names)
        return bool(listed_names) and not (single and len(set(listed_names)) > 1)
    except UnparseableError:
        return False


def _without_node_ids(text: str, names: Sequence[str]) -> str:
    """Return the text with the names alone where they stand behind the id of a node: `D[Pay, then ship]`."""
    masked, known = mask_names(text, names, LEFT, RIGHT)
    bare = _NODE.sub(r"\1", masked)
    return re.sub(MASK, lambda match: known[int(match[0][1:-1])], bare)


def names_of_sentences(text: str, question: str, names: Sequence[str], single: bool = False) -> list[str]:
    """Return the names of the last sentence that restates the question; none if no sentence certainly answers."""
    stated = [text[match.end() :] for match in _STATED.finditer(text)]
    for candidate in stated[-1:]:
        try:
            return parse_names(split_sentences(candidate)[0], names)
        except (UnparseableError, IndexError):
            pass
    sentences = [
        sentence for sentence in split_sentences(text)[-_MOST_SENTENCES:] if not is_exclusion(sentence, explicit=True)
    ]
    if single:
        sentences = [part for sentence in sentences for part in sentence.split("; ")]
        while len(sentences) > 1 and not (restates(sentences[-1], question, names) or may_change(sentences[-1])):
            sentences.pop()
    answers = [frozenset(new_names(each, question, names)) for each in sentences if restates(each, question, names)]
    if len({each for each in answers if each}) > 1:
        return []
    if sentences and restates(sentences[-1], question, names) and is_negated(sentences[-1]) == is_negated(question):
        return new_names(sentences[-1], question, names)
    return []

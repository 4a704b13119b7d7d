"""The sentences of a document, with the actor that a heading above them names. The work is bounded, whatever the text.

A heading is "For the clerk:" or "Clerk:", alone on its line or before a sentence. Line breaks inside of a sentence,
bullets, numbers and Markdown emphasis do not count.

What a sentence says are mentions, in the order of the text: actions, conditions, cues and constraints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

MOST_READ_CHARACTERS: Final = 100_000  # characters that are read
LONGEST_SENTENCE: Final = 1_500  # characters; what follows is the next sentence
MOST_SENTENCES: Final = 1_000
_MARKUP = re.compile(r"[*_`#>]{1,6}(?=[\w\s\"“])|(?<=[\w.:!?\"”])[*_`]{1,3}")
_BULLET = re.compile(
    r"\s{0,20}(?:[-*•–‣◦]\s+|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]\s+|step\s+\d{1,3}\s*[.:)]\s*)", re.I
)
_ACTOR = r"(?:the\s+|an?\s+)?(?P<actor>[^\W\d_][\w'’&/-]*(?:\s+[\w'’&/-]+){0,4}?)"
_FOR = re.compile(rf"(?:for|actor|role)\s*:?\s+{_ACTOR}\s*:(?=\s|$)", re.I)
_NAME = re.compile(rf"{_ACTOR}\s*:(?=\s|$)")
_NO_ACTOR = re.compile(
    r"\b(?:notes?|notice|nb|warning|caution|important|attention|hint|tips?|example|steps?|first|then|next|finally|"
    r"procedure|process|following|options?|otherwise|else|and|if|when|prerequisites?|title|goal|purpose|summary|"
    r"introduction|overview|result|document|input|output|both|either|in|at|after|before|data|requires?|needs?)\b",
    re.I,
)
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|approx|no|dr|mr|mrs|ms|vs|min|max|fig|cf|incl|st|[a-z]))\.$", re.I)
_BOUNDARY = re.compile(r"(?:[.!?]+[\"”')\]]{0,2}|…|<SEP>|\|)(?=\s|$)|[。！？]")
Lead = Literal["", "start", "next", "split", "parallel", "within", "also", "join", "done", "exclusive"]
"""How a statement begins: "split" as the first of several that run in parallel, "parallel" beside what stands before,
"within" in the same branch, "also" as a further branch, "join" behind the branches of a choice, "done" behind several
that all are done, "exclusive" as the first of several of which one is chosen."""


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence without its full stop, and where it stands.

    Args:
        text: The sentence, with single blanks.
        actor: What the last heading names; empty before the first.
        opens_section: Whether a heading stands directly above it.
        is_item: Whether it begins an item of a list.
        introduces_list: Whether a colon ends it.
    """

    text: str
    actor: str = ""
    opens_section: bool = False
    is_item: bool = False
    introduces_list: bool = False


def read_sentences(document: str) -> list[ReadSentence]:
    """Return the sentences of a document; of a longer one those of its first 100,000 characters, 1,000 at most."""
    sentences: list[ReadSentence] = []
    actor, opens = "", False
    for is_item, block in _blocks(document[:MOST_READ_CHARACTERS]):
        heading, text = _heading(block)
        if heading:
            actor, opens = heading, True
        own = list(_sentences(text))
        for at, sentence in enumerate(own):
            introduces = at == len(own) - 1 and text.endswith(":")
            sentences.append(ReadSentence(sentence, actor, opens, is_item and at == 0, introduces))
            opens = False
            if len(sentences) == MOST_SENTENCES:
                return sentences
    return sentences


def _blocks(document: str) -> Iterator[tuple[bool, str]]:
    """Yield the runs of lines that may hold a sentence together, on one line each; a title is left out.

    With each comes whether a bullet or a number stands before it.
    """
    lines = [_MARKUP.sub("", line).rstrip() for line in document.splitlines()]
    lines = _without_title(lines)
    block: list[str] = []
    is_item = False
    for line in lines:
        bullet = _BULLET.match(line)
        text = (line[bullet.end() :] if bullet else line).strip().replace("**", "")
        if block and (not text or bullet or not _continues(block[-1], text)):
            yield is_item, " ".join(block)
            block = []
        if text:
            is_item = bool(bullet) if not block else is_item
            block.append(text)
    if block:
        yield is_item, " ".join(block)


def _without_title(lines: list[str]) -> list[str]:
    """Drop the first line if it is a title: short, no sentence and no heading, with sentences below it."""
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    if first is None or first + 1 >= len(lines) or len(lines[first]) > 120:
        return lines
    line, below = lines[first].strip(), lines[first + 1].strip()
    apart = not below or (len(line) <= 60 and (below[0].isupper() or _BULLET.match(below) is not None))
    titled = not _BULLET.match(line) and not line.endswith((".", "!", "?", ":", ";", ",")) and "," not in line
    rest = any("." in other for other in lines[first + 1 :])
    cue = re.match(r"(?:if|when|for|first|then)\b", line, re.I)
    return lines[first + 1 :] if apart and titled and rest and not cue else lines


def _continues(previous: str, line: str) -> bool:
    """Return True if a line goes on with the sentence of the line above it."""
    return not previous.endswith((".", "!", "?", ":", ";", "。")) and (
        not line[0].isupper() or previous.endswith(",") or len(previous) >= 60
    )


def _heading(block: str) -> tuple[str, str]:
    """Return the actor that a heading names, if there is one, and the text behind it."""
    match = _FOR.match(block[:120])
    if match is None:
        match = _NAME.match(block[:120])
        if match is not None and (_NO_ACTOR.search(match["actor"]) or not block[0].isupper()):
            match = None
    if match is None:
        return "", block
    return " ".join(match["actor"].split()), block[match.end() :].strip()


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for match in _BOUNDARY.finditer(text):
        if _ABBREVIATION.search(text[max(start, match.start() - 12) : match.start() + 1]) and match.end() < len(text):
            following = text[match.end() : match.end() + 2].strip()
            if not following[:1].isupper():
                continue
        yield from _pieces(text[start : match.start()])
        start = match.end()
    yield from _pieces(text[start:])


def _pieces(text: str) -> Iterator[str]:
    """Yield a sentence with single blanks, cut where it is too long to be one."""
    text = " ".join(text.split()).strip(" ,;:")
    for start in range(0, len(text), LONGEST_SENTENCE):
        piece = text[start : start + LONGEST_SENTENCE].strip()
        if any(map(str.isalnum, piece)):
            yield piece


@dataclass(frozen=True, slots=True)
class ActionMention:
    """An action.

    Args:
        text: The action as an imperative, without its actor.
        actor: Who does it; empty if that is not stated.
        recalled: Whether it is only recalled, as in "after packing the order".
        by_heading: Whether the actor is that of the heading above, so that no words of the clause name it.
    """

    text: str
    actor: str = ""
    recalled: bool = False
    by_heading: bool = False


@dataclass(frozen=True, slots=True)
class EndMention:
    """The statement that the procedure ends."""


@dataclass(frozen=True, slots=True)
class NothingMention:
    """The statement that nothing is to be done."""


@dataclass(frozen=True, slots=True)
class ReturnMention:
    """The statement that the procedure goes on at an action that was done before.

    Args:
        text: That action.
        action: The words as an action, for a text that names no action before.
    """

    text: str
    action: ActionMention


@dataclass(frozen=True, slots=True)
class ParallelMention:
    """Actions that are done at the same time: the steps of each branch."""

    branches: tuple[tuple[StepMention, ...], ...]


@dataclass(frozen=True, slots=True)
class ChoiceMention:
    """Alternatives without a condition of their own, such as "either sign or reject the form"."""

    sort: Literal["exclusive", "inclusive"]
    branches: tuple[tuple[StepMention, ...], ...]


StepMention = ActionMention | EndMention | NothingMention | ReturnMention | ParallelMention | ChoiceMention


@dataclass(frozen=True, slots=True)
class ConditionMention:
    """A condition.

    Args:
        text: The condition without its cue word; "otherwise" for an alternative to the conditions before.
        otherwise: Whether it is that alternative.
        occasion: What its words are as an action, if its cue is "when": it may be one that was done, not a condition.
        completed: Whether "when" and the verb state what happens before in any case, as in "when the meal is ready".
    """

    text: str
    otherwise: bool = False
    occasion: ActionMention | None = None
    completed: bool = False


@dataclass(frozen=True, slots=True)
class StatementMention:
    """A statement: what is done, in sequence, under which conditions, the outermost first.

    Args:
        steps: What is done; none where a condition stands alone, and the next statement says what follows from it.
        conditions: The conditions.
        lead: How it begins.
        opens_section: Whether a heading stands above it.
    """

    steps: tuple[StepMention, ...] = ()
    conditions: tuple[ConditionMention, ...] = ()
    lead: Lead = ""
    opens_section: bool = False


@dataclass(frozen=True, slots=True)
class ConstraintMention:
    """The data that an action needs or produces, or what is to be noted about it.

    Args:
        sort: "data" or "notice".
        text: The data or the notice.
        about: The action in words; empty for the last one that was mentioned.
        produced: Whether the action produces the data.
        actor: Who does the action, where that is stated.
    """

    sort: Literal["data", "notice"]
    text: str
    about: str = ""
    produced: bool = False
    actor: str = ""


Mention = StatementMention | ConstraintMention

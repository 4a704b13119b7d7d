"""Echoes in replies: sentences that only repeat the question or the instruction."""

from __future__ import annotations

import re
from typing import Final

# A question before an answer behind "A:".
QUESTION: Final = re.compile(r"^[^\w\n]*+q(?:uestion)?[ \t]*+:", re.IGNORECASE | re.MULTILINE)
_FEWEST_BLANKS, _LONG_ECHO = 4, 60  # blanks of a sentence that is taken for an echo; characters of a part of one


def without_echo(reply: str, *sources: str) -> str:
    """Return the reply without sentences that only repeat those of the question or of the instruction."""
    known = "|".join(["", *(_bare(part) for source in sources for part in re.split(r"(?<=[.!?])\s+", source)), ""])
    known = f"{known}{' '.join(' '.join(sources).split()).lower()}"
    lines = [(line, _without_repeated(line, known)) for line in reply.split("\n")]
    return "\n".join(rest for line, rest in lines if rest == line or re.search(r"\w", rest))


def _without_repeated(line: str, known: str) -> str:
    """Return a line without its sentences that stand in the known text."""
    if QUESTION.match(line):  # the answer behind it has a mark of its own
        return line
    sentences = re.split(r"(?<=[.!?])\s+", line)
    kept = [
        sentence
        for sentence in sentences
        if sentence.count(" ") < _FEWEST_BLANKS or not _is_repeated(_bare(sentence), known)
    ]
    return line if len(kept) == len(sentences) else " ".join(kept)


def _is_repeated(sentence: str, known: str) -> bool:
    return f"|{sentence}|" in known or (len(sentence) >= _LONG_ECHO and sentence in known)


def _bare(sentence: str) -> str:
    return " ".join(sentence.split()).lower().strip("*_>`# ")

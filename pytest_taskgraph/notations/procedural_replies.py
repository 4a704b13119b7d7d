"""The lines of a model's reply that state a procedural graph, without the decoration around them.

A reply may contain thoughts, reasoning before the first line with an arrow and explanations after the last one. If
arrows stand in code fences, lines outside of fences are ignored, except headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .procedural_lines import LENIENT_ARROW, MARKS, THOUGHTS_END, split_at_arrows

LONGEST_REPLY: Final = 200_000  # characters; the rest is ignored
LONGEST_LINE: Final = 2_000  # a longer line states no flow
LONGEST_ACTOR: Final = 100
DECORATION: Final = " \t*_“”"

_FENCE: Final = re.compile(r"\s*+(?:`{3,}+|~{3,}+)[\w-]*+\s*+")
_BULLET: Final = re.compile(
    r"[\s>|]*+(?:(?:[-*+•–—◦]|(?:step\s++)?+\(?[0-9]{1,4}+[.):]|\(?[a-z][.)])\s++)?+", re.IGNORECASE
)
_INVISIBLE: Final = dict.fromkeys(map(ord, "\ufeff\u200b\u200e\u200f\u2060"))
_HEADING: Final = re.compile(r"for\s++(?!(?:example|instance)\b)(.++)", re.IGNORECASE)


def stated_lines(text: str) -> Iterator[tuple[str, str | None, bool]]:
    """Yield the lines of a reply that are to be parsed, in order.

    Yields:
        The line without decoration; the actor, if it is a heading; and True if it holds an arrow.
    """
    lines = list(_unfence_lines(_behind_thoughts(text)[:LONGEST_REPLY].translate(_INVISIBLE).splitlines()))
    arrows = [position for position, (_, actor, arrow) in enumerate(lines) if arrow and actor is None]
    if not arrows:
        yield from lines
        return
    first, end = arrows[0], arrows[-1] + 1
    while first and lines[first - 1][1] is not None:
        first -= 1
    while end < len(lines) and lines[end][1] is not None:
        end += 1
    yield from lines[first:end]


def is_without_decoration(text: str) -> bool:
    """Return True if no part of a text is taken for decoration where a line begins or ends with it."""
    line = f"{text} -> {text}"
    return _strip_decoration(line) == (line, None, True) and text == text.strip(DECORATION) and THOUGHTS_END not in text


def _behind_thoughts(text: str) -> str:
    """Return the text after a model's marked thoughts, if that holds an arrow; else the whole text."""
    answer = text.rpartition(THOUGHTS_END)[2]
    return answer if LENIENT_ARROW.search(answer) else text


def _unfence_lines(lines: list[str]) -> Iterator[tuple[str, str | None, bool]]:
    """Yield the lines that are not blank, without decoration; those in fences and headings, if arrows are in fences."""
    fenced, classified = False, []
    for line in lines:
        if len(line) <= LONGEST_LINE and _FENCE.fullmatch(line):
            fenced = not fenced
        elif line.strip():
            classified.append((fenced, *_strip_decoration(line)))
    in_fences = any(fenced and arrow for fenced, _, _, arrow in classified)
    yield from (
        (line, actor, arrow)
        for fenced, line, actor, arrow in classified
        if fenced or not in_fences or actor is not None
    )


def _strip_decoration(line: str) -> tuple[str, str | None, bool]:
    """Return the line without decoration, its actor if it is a heading, and True if it holds an arrow."""
    if len(line) > LONGEST_LINE:
        return line[:LONGEST_LINE], None, False
    bullet = _BULLET.match(line)
    stripped = line[bullet.end() if bullet else 0 :].strip()
    if bullet and "|" in bullet[0]:  # a row of a table
        stripped = stripped.rstrip(" \t|")
    bare = MARKS.sub("", stripped.replace("-&gt;", "->")).strip()
    arrow = len(split_at_arrows(bare, LENIENT_ARROW)) > 1
    titled = stripped.startswith(("#", "**", "__"))
    plain = bare.lstrip("#").strip(" \t*_")
    heading = None if arrow else _HEADING.fullmatch(plain)
    if heading and (titled or plain.endswith(":")):
        actor = heading[1].rstrip(": \t").strip(" \t*_")
        if 0 < len(actor) <= LONGEST_ACTOR:
            return plain, actor, False
    return bare.rstrip(" \t;,.") if arrow else bare, None, arrow

"""The lines of a procedural graph's text, cut at arrows; quoted texts and brackets stay whole.

An arrow inside balanced brackets is part of the text: `press (A -> B) -> send` has two ends. If every arrow stands
inside brackets, as behind an unclosed one, all of them count.

Conditions of a reply that stand where other languages have them instead of in brackets after the arrow.

They are read after gateways; a label of DOT, anywhere:

    XOR1 -> order more [label="the stock is low"]      DOT
    XOR1 -- the stock is low --> order more            Mermaid
    XOR1 -> |the stock is low| order more              Mermaid
    XOR1 -[the stock is low]-> order more
    XOR1 -> [the stock is low] order more

The lines of a model's reply that state a procedural graph, without the decoration around them.

A reply may contain thoughts, reasoning before the first line with an arrow and explanations after the last one. If
arrows stand in code fences, lines outside of fences are ignored, except headings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

ARROW: Final = re.compile(r"(?<![-=<])->(?!>)")
LENIENT_ARROW: Final = re.compile(r"(?<![-=<–—])[-=–—]{1,5}+>(?!>)|[→⟶⇒⟹➔➜➡]\ufe0f?")
MARKS: Final = re.compile(r"\*\*|__|`|<br ?/?>")  # markup that a reply may hold around words
THOUGHTS_END: Final = "</think>"
_CHANGED: Final = re.compile(rf"{MARKS.pattern}|-&gt;|{THOUGHTS_END}")
_QUOTED: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_PLAIN: Final = re.compile(r"[^\s()\":=<>\-–—→⟶⇒⟹➔➜➡]++|\s++")
GATEWAY: Final = r"(?:(XOR|OR|AND)(?:[ _-]?gateway)?|(exclusive|inclusive|parallel)[ _-]?gateway)[ _-]?([0-9]{0,9})"
"""The name of a gateway in a reply: its abbreviation or its type, and its number."""
_ATTRIBUTE: Final = re.compile(r"\s*+\w++\s*+=")
_LABEL: Final = re.compile(r"""(?<!\w)label\s*+=\s*+(?:"((?:[^"\\]++|\\.)*+)"|([^,;"\s][^,;"]*+))""", re.IGNORECASE)
_BEFORE_ARROW: Final = re.compile(rf"(?P<gateway>{GATEWAY})\s*+(?P<line>--?)\s*+(?P<label>[^\s-].*+)", re.IGNORECASE)
_FRAMES: Final = {"[": "]", "(": ")", "|": "|"}
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


def split_at_arrows(line: str, arrow: re.Pattern[str]) -> list[str]:
    """Return the texts between the arrows of a line; one text if there is no arrow."""
    cuts: list[tuple[int, int, int]] = []
    depth, position, at_word_start = 0, 0, True
    while position < len(line):
        character = line[position]
        if match := arrow.match(line, position):
            cuts.append((depth, match.start(), match.end()))
            position, at_word_start = match.end(), True
        elif at_word_start and character == '"' and (match := _QUOTED.match(line, position)):
            position, at_word_start = match.end(), False
        elif match := _PLAIN.match(line, position):
            position, at_word_start = match.end(), at_word_start and character.isspace()
        else:
            depth = depth + 1 if character == "(" else max(0, depth - 1) if character == ")" else depth
            position, at_word_start = position + 1, character in "():"
    outside = [cut for cut in cuts if cut[0] == 0] or cuts
    starts, ends = [0, *(end for _, _, end in outside)], [*(start for _, start, _ in outside), len(line)]
    return [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]


def cut_condition(text: str) -> tuple[str, str]:
    """Return the condition in brackets at the beginning of a text, and the text behind it; "" if there is none."""
    if not text.startswith("("):
        return "", text
    if quoted := _QUOTED.match(text, 1):
        end = quoted.end() if text.startswith(")", quoted.end()) else -1
    else:
        end = _closing(text)
    node = text[end + 1 :].strip()
    return (text[1:end].strip(), node) if end > 0 and node else ("", text)


def _closing(text: str) -> int:
    depth = 0
    for match in re.finditer(r"[()]", text):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return match.start()
    return -1


def is_balanced(text: str) -> bool:
    """Return True if every bracket of a text is closed, and none before it is opened."""
    depth = 0
    for match in re.finditer(r"[()]", text):
        depth += 1 if match[0] == "(" else -1
        if depth < 0:
            return False
    return depth == 0


def quote_text(text: str, ascii_only: bool = False) -> str:
    """Return a text in double quotes, with the escapes of JSON; non-ASCII characters stay if all are printable.

    Characters that the parsing of a reply changes are escaped, too.
    """
    quoted = json.dumps(text, ensure_ascii=ascii_only or not text.isprintable())
    return _CHANGED.sub(lambda match: "".join(f"\\u{ord(character):04x}" for character in match[0]), quoted)


def unquote_text(text: str) -> str | None:
    """Return the words of a text that is one quoted text; None for any other."""
    if not _QUOTED.fullmatch(text):
        return None
    try:
        words: str = json.loads(text, strict=False)
    except ValueError:
        return None
    return words


def cut_quoted(text: str) -> tuple[str, str] | None:
    """Return the quoted text that a text begins with, still in quotes, and the rest; None if it begins with none."""
    match = _QUOTED.match(text)
    return (match[0], text[match.end() :].lstrip()) if match else None


def can_stand_bare(text: str) -> bool:
    """Return True for a text that needs no quotes to be kept whole: no arrow, quote, or bracket that is not closed."""
    return (
        text.isprintable()
        and text == text.strip()
        and '"' not in text
        and not ARROW.search(text)
        and not LENIENT_ARROW.search(text)
        and is_balanced(text)
    )


def cut_attributes(line: str) -> tuple[str, str]:
    """Return a line without the attributes in square brackets at its end, and the label among these; "" for none."""
    start = line.rfind("[")
    inner = line[start + 1 : -1]
    if start < 1 or not line.endswith("]") or not _ATTRIBUTE.match(inner):
        return line, ""
    label = _LABEL.search(inner)
    return line[:start].rstrip(), (label[1] or label[2] or "").strip() if label else ""


def cut_label_before(source: str) -> tuple[str, str]:
    """Return the text before an arrow without the label that follows a gateway's name, and the label.

    The label is "" if there is none.
    """
    match = _BEFORE_ARROW.fullmatch(source)
    if not match:
        return source, ""
    label, framed = match["label"].strip(), _in_frame(match["label"].strip())
    if framed and not framed[1]:
        return match["gateway"].strip(), framed[0]
    return (match["gateway"].strip(), label) if match["line"] == "--" else (source, "")


def cut_label_behind(target: str) -> tuple[str, str]:
    """Return the text after an arrow without a label in square brackets or bars before it, and the label."""
    framed = None if target.startswith("(") else _in_frame(target)
    return (framed[1], framed[0]) if framed and framed[1] else (target, "")


def _in_frame(text: str) -> tuple[str, str] | None:
    """Return the text inside the brackets or bars that a text begins with, and the rest; None without them."""
    end = text.find(_FRAMES[text[0]], 1) if text[:1] in _FRAMES else -1
    label = text[1:end].strip()
    return (label, text[end + 1 :].strip()) if end > 0 and label else None


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

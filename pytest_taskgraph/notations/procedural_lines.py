"""The lines of a procedural graph's text, cut at arrows; quoted texts and brackets stay whole.

An arrow inside balanced brackets is part of the text: `press (A -> B) -> send` has two ends. If every arrow stands
inside brackets, as behind an unclosed one, all of them count.
"""

from __future__ import annotations

import json
import re
from typing import Final

ARROW: Final = re.compile(r"(?<![-=<])->(?!>)")
LENIENT_ARROW: Final = re.compile(r"(?<![-=<–—])[-=–—]{1,5}+>(?!>)|[→⟶⇒⟹➔➜➡]\ufe0f?")

MARKS: Final = re.compile(r"\*\*|__|`|<br ?/?>")  # markup that a reply may hold around words
THOUGHTS_END: Final = "</think>"
_CHANGED: Final = re.compile(rf"{MARKS.pattern}|-&gt;|{THOUGHTS_END}")
_QUOTED: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_PLAIN: Final = re.compile(r"[^\s()\":=<>\-–—→⟶⇒⟹➔➜➡]++|\s++")


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

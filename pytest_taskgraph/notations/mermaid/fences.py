"""Mermaid flowcharts in Markdown: what stands in code fences of the language mermaid."""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPENING = re.compile(r"[ \t>]*(`{3,}|~{3,}|:{3})[ \t]*\{?\.?mermaid\b", re.IGNORECASE)
_FLOWCHART = re.compile(
    r"(?>\s+|%%\{[\s\S]{0,5000}?\}%%|%%[^\n]*\n"
    r"|---[ \t\r]*\n(?:(?![ \t]*---[ \t\r]*\n)[^\n]*\n)*+[ \t]*---[ \t\r]*\n)*+"
    r"(?:flowchart|graph)\b"
)
_LANGUAGE = re.compile(r"[`~:]{3}[ \t{.]*mermaid", re.IGNORECASE)
_QUOTE = re.compile(r"^[ \t]*>", re.MULTILINE)


def holds_charts(text: str) -> bool:
    """Return True if a fence of the text holds a flowchart."""
    return any(_FLOWCHART.match(_inner(text, *span)) for span in _fenced(text))


def without_markdown(text: str) -> str:
    """Return the text with blanks for all that stands outside of the fences with flowcharts, so that places stay.

    A text without fences stays as it is; of one whose fences hold other diagrams alone, these stay.
    """
    fenced = list(_fenced(text))
    charts = [span for span in fenced if _FLOWCHART.match(_inner(text, *span))] or fenced
    if not charts:
        return text
    parts, at = list[str](), 0
    for start, end in charts:
        parts += [_blank(text[at:start]), _inner(text, start, end)]
        at = end
    return "".join(parts) + _blank(text[at:])


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the texts between fences begin and end; one without a closing fence ends with the text."""
    if not _LANGUAGE.search(text):  # most texts hold no such fence, and are told fast
        return
    fence, start, at = "", 0, 0
    for line in text.splitlines(keepends=True):
        if not fence:
            opening = _OPENING.match(line)
            fence, start = (opening[1], at + len(line)) if opening else ("", 0)
        elif (bare := line.strip(" \t>\r\n")).startswith(fence) and not bare.strip(fence[0]):
            yield start, at
            fence = ""
        at += len(line)
    if fence:
        yield start, at


def _inner(text: str, start: int, end: int) -> str:
    """Return a chart with blanks for the signs of a block quote around it."""
    inner = text[start:end]
    quoted = inner.lstrip(" \t").startswith(">")
    return _QUOTE.sub(lambda mark: " " * len(mark[0]), inner) if quoted else inner


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)

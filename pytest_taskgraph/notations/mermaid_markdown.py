"""Mermaid flowcharts in Markdown: what stands in code fences of the language mermaid."""

from __future__ import annotations

import re

_FENCED = re.compile(
    r"^(?P<before>[ \t>]*)(?P<fence>`{3,}|~{3,}|:{3})[ \t]*\{?\.?mermaid\b[^\n]*\n(?P<chart>.*?)^[ \t>]*(?P=fence)[`~:]*[ \t\r]*$",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_FLOWCHART = re.compile(r"(?:\s|%%\{[\s\S]*?\}%%|%%[^\n]*\n|---[ \t\r]*\n[\s\S]*?\n[ \t]*---[ \t\r]*\n)*(?:flowchart|graph)\b")


def holds_charts(text: str) -> bool:
    """Return True if a fence of the text holds a flowchart."""
    return any(_FLOWCHART.match(found["chart"]) for found in _FENCED.finditer(text))


def without_markdown(text: str) -> str:
    """Return the text with blanks for all that stands outside of the fences with flowcharts, so that places stay.

    A text without fences stays as it is; of one whose fences hold other diagrams alone, these stay.
    """
    fenced = list(_FENCED.finditer(text))
    charts = [found for found in fenced if _FLOWCHART.match(found["chart"])] or fenced
    if not charts:
        return text
    parts, at = list[str](), 0
    for found in charts:
        inner = found["chart"]
        if quoted := found["before"].strip():
            inner = re.sub(rf"^[ \t]*{quoted[0]}", lambda mark: " " * len(mark[0]), inner, flags=re.MULTILINE)
        parts += [_blank(text[at : found.start("chart")]), inner]
        at = found.end("chart")
    return "".join(parts) + _blank(text[at:])


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)

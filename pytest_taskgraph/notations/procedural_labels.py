"""Conditions of a reply that stand where other languages have them instead of in brackets after the arrow.

They are read after gateways; a label of DOT, anywhere:

    XOR1 -> order more [label="the stock is low"]      DOT
    XOR1 -- the stock is low --> order more            Mermaid
    XOR1 -> |the stock is low| order more              Mermaid
    XOR1 -[the stock is low]-> order more
    XOR1 -> [the stock is low] order more
"""

from __future__ import annotations

import re
from typing import Final

GATEWAY: Final = r"(?:(XOR|OR|AND)(?:[ _-]?gateway)?|(exclusive|inclusive|parallel)[ _-]?gateway)[ _-]?([0-9]{0,9})"
"""The name of a gateway in a reply: its abbreviation or its type, and its number."""

_ATTRIBUTE: Final = re.compile(r"\s*+\w++\s*+=")
_LABEL: Final = re.compile(r"""(?<!\w)label\s*+=\s*+(?:"((?:[^"\\]++|\\.)*+)"|([^,;"\s][^,;"]*+))""", re.IGNORECASE)
_BEFORE_ARROW: Final = re.compile(rf"(?P<gateway>{GATEWAY})\s*+(?P<line>--?)\s*+(?P<label>[^\s-].*+)", re.IGNORECASE)
_FRAMES: Final = {"[": "]", "(": ")", "|": "|"}


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

"""Nodes and arrows of Mermaid flowcharts, scanned once from left to right.

No search looks further than the end of the line, but for the closing quote of a label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .source import Source

SPACE = re.compile(r"[ \t\r\ufeff]*")
ID = re.compile(r"\w(?:[\w.]|-(?=\w))*")
_CLASS = re.compile(r":::[\w-]+")
_ARROW = re.compile(r"--+>|==+>|-\.+->|~~~+")
_TEXT_OPENING = re.compile(r"--(?![->])|==(?![=>])|-\.(?![.-])")
_HEADLESS = re.compile(r"---+|===+|-\.+-|--|==|[<xo](?:--|==|-\.)")
_PIPED = re.compile(r'[ \t]*\|[ \t]*(?:"([^"]*)"|([^|"\n]*))[ \t]*\|')
_CLOSING = {"--": ("-->", "-"), "==": ("==>", "="), "-.": (".->", ".")}
SHAPES = {  # opening -> what may close it; the longest openings first
    "(((": (")))",),
    "((": ("))",),
    "([": ("])",),
    "(": (")",),
    "[[": ("]]",),
    "[(": (")]",),
    "[/": ("/]", "\\]"),
    "[\\": ("\\]", "/]"),
    "[": ("]",),
    "{{": ("}}",),
    "{": ("}",),
    ">": ("]",),
}


@dataclass(slots=True)
class Vertex:
    """A node: the opening of its shape, and its label as written; "[" and None where it is only mentioned."""

    id: str
    offset: int
    shape: str = "["
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow: the text on it as written, None without one; `seen` is false for a link that only serves the layout."""

    text: str | None
    offset: int
    seen: bool = True


class Cursor:
    """A place in the text that moves over what is read."""

    def __init__(self, source: Source, offset: int) -> None:
        self.source, self.text, self.offset = source, source.text, offset

    def separator(self) -> None:
        """Move to where a statement ends. Raises ReadError if something else stands there."""
        self._skip_space()
        at = self.offset
        if at == len(self.text) or self.text[at] in "\n;" or self.text.startswith("%%", at):
            return
        if headless := _HEADLESS.match(self.text, at):
            self.source.fail(at, repr(headless[0]), "an arrow with one head, at its end, such as '-->'")
        self.source.fail(at, self.source.seen(at), "an arrow such as '-->', '&', or the end of the statement")

    def nodes(self) -> list[Vertex]:
        """The nodes that stand here, joined by &. Raises ReadError."""
        found = [self._node()]
        self._skip_space()
        while self.text.startswith("&", self.offset):
            self.offset += 1
            found.append(self._node())
            self._skip_space()
        return found

    def _node(self) -> Vertex:
        self._skip_space()
        own = ID.match(self.text, self.offset)
        if own is None:
            self.source.fail(self.offset, self.source.seen(self.offset), "a node")
        vertex = Vertex(own[0], self.offset)
        self.offset = own.end()
        for opening, closings in SHAPES.items():
            if self.text.startswith(opening, self.offset):
                vertex.shape, vertex.label = opening, self._label(opening, closings)
                break
        if styled := _CLASS.match(self.text, self.offset):
            self.offset = styled.end()
        return vertex

    def _skip_space(self) -> None:
        space = SPACE.match(self.text, self.offset)
        self.offset = space.end() if space else self.offset

    def _label(self, opening: str, closings: tuple[str, ...]) -> str:
        """The label between the brackets, as written, without its quotes."""
        start = self.offset
        self.offset += len(opening)
        self._skip_space()
        if self.text.startswith('"', self.offset):
            label = self._quoted(start)
            self._skip_space()
            ends = [self.offset for closing in closings if self.text.startswith(closing, self.offset)]
        else:
            found = [self.text.find(closing, self.offset, self._line_end()) for closing in closings]
            ends = [end for end in found if end >= 0]
            label = self.text[self.offset : min(ends, default=self.offset)].strip()
        if not ends:
            self.source.fail(self.offset, self.source.seen(self.offset), f"{closings[0]!r} after {opening!r}")
        self.offset = min(ends) + len(closings[0])
        return label

    def _line_end(self) -> int:
        end = self.text.find("\n", self.offset)
        return len(self.text) if end < 0 else end

    def _quoted(self, start: int) -> str:
        end = self.text.find('"', self.offset + 1)
        if end < 0:
            self.source.fail(start, "a label without a second quote", "'\"'")
        label = self.text[self.offset + 1 : end]
        self.offset = end + 1
        return label

    def arrow(self) -> Arrow | None:
        """The arrow that stands here; None if there is none. Raises ReadError."""
        at = self.offset
        if arrow := _ARROW.match(self.text, at):
            self.offset = arrow.end()
            piped = _PIPED.match(self.text, self.offset)
            if piped is None:
                return Arrow(None, at, arrow[0][0] != "~")
            self.offset = piped.end()
            return Arrow(piped[1] if piped[1] is not None else piped[2].strip(), at)
        opening = _TEXT_OPENING.match(self.text, at)
        return Arrow(self._inner_text(opening), at) if opening else None

    def _inner_text(self, opening: re.Match[str]) -> str:
        """The text inside an arrow: -- text -->, == text ==>, -. text .->."""
        closing, fill = _CLOSING[opening[0]]
        self.offset = opening.end()
        self._skip_space()
        begin = self.offset
        if self.text.startswith('"', begin):
            self._quoted(opening.start())
        end = self.text.find(closing, self.offset, self._line_end())
        text = self.text[begin:end].rstrip(fill).strip()
        quoted = len(text) > 1 and text[0] == text[-1] == '"'
        if end < 0 or ("---" in text and not quoted):
            self.source.fail(opening.start(), f"{opening[0]!r} without an arrow head", f"a text and {closing!r}")
        self.offset = end + len(closing)
        return text[1:-1] if quoted else text

"""Marks in drawings: what of an answer a node, group or link is, as colour, line, sign and words.

No mark differs from others in its colour alone: each has a line and a sign of its own, and its words stand in titles,
keys and descriptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple
from xml.sax.saxutils import escape

from ...diagram import Diagram, DiagramEdge
from ..escape import columns, one_line
from ..wording import count

MarkKind = Literal["right", "missing", "extra", "misplaced", "broken", "asked"]


@dataclass(frozen=True, slots=True)
class MarkLook:
    """The look of a kind of mark.

    Attributes:
        code: The CSS class, and the kind in the data of the page.
        sign: The sign in texts.
        path: The sign as path data, within 4 pixels of the origin.
        words: What the mark says.
    """

    code: str
    sign: str
    path: str
    words: str


MARK_LOOKS: Final[dict[MarkKind, MarkLook]] = {
    "right": MarkLook("y", "✓", "M-3.3.2l2.2 2.6l4.4-5.4", "expected and given"),
    "missing": MarkLook("u", "−", "M-3.5 0h7", "missing from the answer"),
    "extra": MarkLook("v", "+", "M-3.5 0h7M0-3.5v7", "not expected"),
    "misplaced": MarkLook("x", "↕", "M0-3.8v7.6M-2.4-1.6L0-3.9l2.4 2.3M-2.4 1.6L0 3.9l2.4-2.3", "against the order"),
    "broken": MarkLook("z", "!", "M0-3.8v4.4M0 2.8v1", "breaks a constraint"),
    "asked": MarkLook(
        "q", "?", "M-1.9-1.7c0-2.8 4-2.6 3.8-.3c-.2 1.5-1.9 1.4-1.9 2.9M0 3v1.1", "named in the question"
    ),
}
BADGE: Final = 6.0  # radius
LONGEST_TAG: Final = 12  # columns
_TAG_COLUMN: Final = 6.5  # pixels


class Mark(NamedTuple):
    """A mark of a node, group or link; the tag is a short text beside its sign, such as its place in an order."""

    kind: MarkKind
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of the nodes and groups (by id) and of the links of a diagram."""

    parts: Mapping[str, Sequence[Mark]] = field(default_factory=dict)
    edges: Mapping[DiagramEdge, Mark] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.parts or self.edges)


NO_MARKS = Marks()


def mark_class(marks: Sequence[Mark]) -> str:
    """Return the attribute `class` of a marked element, with a space before it; empty without a mark."""
    return f' class="{MARK_LOOKS[marks[0].kind].code}"' if marks else ""


def marked_title(text: str, marks: Sequence[Mark]) -> str:
    """Return the title of an element with what its marks say."""
    return ": ".join(filter(None, (text, "; ".join(map(mark_text, marks)))))


def mark_text(mark: Mark) -> str:
    """Return what a mark says, with its tag, as printable text."""
    words = MARK_LOOKS[mark.kind].words
    return f"{words} ({_tag(mark)})" if mark.tag else words


def _tag(mark: Mark) -> str:
    return one_line(mark.tag, LONGEST_TAG)


def badges(marks: Sequence[Mark], x: float, y: float) -> str:
    """Return the signs of the marks in discs side by side, the first around the point; a tag makes a disc a pill."""
    elements = []
    for mark in marks:
        tag = _tag(mark)
        width = 2 * BADGE + (_TAG_COLUMN * columns(tag) + 3 if tag else 0)
        back = (
            f'<rect class="o" x="-{BADGE:.0f}" y="-{BADGE:.0f}" width="{width:.0f}" height="{2 * BADGE:.0f}" '
            f'rx="{BADGE:.0f}"/>'
            if tag
            else f'<circle class="o" r="{BADGE:.0f}"/>'
        )
        text = f'<text class="t" x="{BADGE + 1:.0f}" y="3.5">{escape(tag)}</text>' if tag else ""
        elements.append(
            f'<g transform="translate({x:.0f} {y:.0f})">{back}<path class="p" d="{MARK_LOOKS[mark.kind].path}"/>'
            f"{text}</g>"
        )
        x += width + 2
    return "".join(elements)


def mark_counts(diagram: Diagram, marks: Marks) -> dict[MarkKind, str]:
    """Return how many nodes and links have each kind of mark, in words; kinds without any are left out."""
    return {kind: text for kind in MARK_LOOKS if (text := ", ".join(_counts(kind, diagram, marks)))}


def _counts(kind: MarkKind, diagram: Diagram, marks: Marks) -> Iterator[str]:
    nodes = sum(any(mark.kind == kind for mark in marks.parts.get(part.id, ())) for part in diagram.parts)
    links = sum(edge in marks.edges and marks.edges[edge].kind == kind for edge in diagram.edges)
    yield from [count(nodes, "node")] * bool(nodes)
    yield from [count(links, "link")] * bool(links)

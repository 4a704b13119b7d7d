"""The nodes, arrows and attributes of Mermaid flowcharts, scanned once from left to right.

Only quoted texts, labels without quotes and attributes in braces may extend over the end of a line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...source import Source

BAR, BEGIN, STOP = "fork", "sm-circ", "fr-circ"
_NAMES = {  # opening of the brackets of a shape -> its names in attributes
    "[(": "cyl cylinder database db das h-cyl horizontal-cylinder lin-cyl disk lined-cylinder datastore data-store",
    "{": "diam decision diamond question",
    "{{": "hex hexagon prepare",
    BAR: "fork join",
    BEGIN: "sm-circ small-circle start",
    STOP: "fr-circ framed-circle stop",
}
SHAPE_OF = {name: opening for opening, names in _NAMES.items() for name in names.split()}
_ITEM = re.compile(r"""\s*([\w-]+)\s*:\s*(?:"([^"]*)"|'([^'\n]*)'|([^,}\n]*))\s*,?""")
_END = re.compile(r"\s*\}")


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of a node that matter here; the others are about the drawing."""

    shape: str = ""  # in lower case
    label: str | None = None

    @property
    def opening(self) -> str:
        """Return the opening of the brackets that draw the same shape; "[" if the shape has no meaning here."""
        return SHAPE_OF.get(self.shape, "[")


def attributes_at(source: Source, offset: int) -> tuple[Attributes, int]:
    """Return the attributes that stand at the offset of their `@{`, and the offset after them.

    Raises:
        ReadError: for a malformed attribute.
    """
    values: dict[str, str] = {}
    at = offset + len("@{")
    while not (end := _END.match(source.text, at)):
        match = _ITEM.match(source.text, at)
        if match is None:
            source.fail(at, source.seen(at), "an attribute such as 'shape: rect', or '}'")
        values[match[1]] = next(value for value in (match[2], match[3], (match[4] or "").strip()) if value is not None)
        at = match.end()
    return Attributes(values.get("shape", "").lower(), values.get("label")), end.end()


SPACE = re.compile(r"[ \t\r\ufeff\xa0]*")
ID = re.compile(r"(?:[\w./]|-(?=[\w/])|(?<=\w)\+)+")
_CLASS = re.compile(r":::\w+(?:-\w+)*")
_LINK = re.compile(
    r"(?P<left>[xo<])?(?:(?P<line>--+)(?P<plain>[-xo>])|(?P<thick>==+)(?P<wide>[=xo>])|(?P<dots>-?\.+-)(?P<right>[xo>])?)"
)
_INVISIBLE = re.compile(r"~~~+")
_OPENING = re.compile(r"([xo<])?(--|==|-\.)")
_CLOSING = {"--": re.compile(r"--+([-xo>])"), "==": re.compile(r"==+([=xo>])"), "-.": re.compile(r"-?\.+-([xo>])?")}
_STOP = {"--": re.compile(r"--"), "==": re.compile(r"=="), "-.": re.compile(r"\.+-")}
# Between the ends of an arrow on different lines: blank lines, and comments that state no attribute.
_BREAK = (
    r"[ \t\r\ufeff\xa0]*"
    r"(?:\n(?:[ \t]*%%(?!\{|[ \t]*(?:file|workflow|package|description|parameter):)[^\n]*)?[ \t\r]*)+"
)
_BREAK_BEFORE_ARROW = re.compile(_BREAK + r"(?=<?(?:--|==|-\.)|~~~)(?!---[ \t\r]*(?:\n|$))")
_BREAK_BEFORE_NODE = re.compile(
    _BREAK + r"(?=[\w|])(?!(?:end|subgraph|direction|classDef|class|style|linkStyle|click|flowchart|graph)(?![\w-]))"
)
_EDGE_ID = re.compile(r"([\w-]+)@(?=[xo<]?(?:--|==|-\.|~~~))")
_PIPED = re.compile(r'[ \t]*\|[ \t]*(?:"([^"]*)"[ \t]*\||([^|]*)\|)')
_UNQUOTED = re.compile(r'[^\[\](){}|"]+')
SHAPES = {  # opening -> possible closings; the longest openings first
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
    """A node: the opening of its shape, and its label as written; "[" and None where it is only mentioned.

    `shape_name` is the shape that attributes name (`@{ shape: db }`), as written.
    """

    id: str
    offset: int
    shape: str = "["
    label: str | None = None
    shape_name: str = ""
    attributes: Attributes | None = None


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow: its text as written, None without one; `backward` is True if it has a head at its left end, too.

    `visible` is False for a link that only affects the layout; `id` is the id of the edge, if it has one.
    """

    text: str | None
    offset: int
    visible: bool = True
    backward: bool = False
    id: str = ""
    sign: str = ""  # its heads, such as ">", "<>" or "o"


class Cursor:
    """A position in the text that advances over what is read."""

    def __init__(self, source: Source, offset: int) -> None:
        self.source, self.text, self.offset = source, source.text, offset

    def separator(self) -> None:
        """Move to the end of the statement.

        Raises:
            ReadError: if something else stands there.
        """
        self._skip_space()
        at = self.offset
        if at == len(self.text) or self.text[at] in "\n;" or self.text.startswith("%%", at):
            return
        self.source.fail(at, self.source.seen(at), "an arrow such as '-->', '&', or the end of the statement")

    def nodes(self) -> list[Vertex]:
        """Return the nodes at this position, joined by &.

        Raises:
            ReadError: if there is no node.
        """
        vertices = [self._node()]
        self._skip_space()
        while self.text.startswith("&", self.offset):
            self.offset += 1
            vertices.append(self._node())
            self._skip_space()
        return vertices

    def _node(self) -> Vertex:
        self._skip_space()
        id_match = ID.match(self.text, self.offset)
        if id_match is None:
            self.source.fail(self.offset, self.source.seen(self.offset), "a node")
        vertex = Vertex(id_match[0], self.offset)
        self.offset = id_match.end()
        if self.text.startswith("@{", self.offset):
            self._attributes(vertex)
        for opening, closings in SHAPES.items():
            if self.text.startswith(opening, self.offset):
                vertex.shape, vertex.label = opening, self._label(opening, closings)
                break
        while styled := _CLASS.match(self.text, self.offset):
            self.offset = styled.end()
            if self.text.startswith("@{", self.offset):
                self._attributes(vertex)
        return vertex

    def _attributes(self, vertex: Vertex) -> None:
        attributes, self.offset = attributes_at(self.source, self.offset)
        vertex.attributes = attributes
        if attributes.shape:
            vertex.shape, vertex.shape_name = attributes.opening, attributes.shape
        vertex.label = attributes.label

    def _skip_space(self) -> None:
        self._skip(SPACE)

    def _skip(self, passed: re.Pattern[str]) -> None:
        match = passed.match(self.text, self.offset)
        self.offset = match.end() if match else self.offset

    def _label(self, opening: str, closings: tuple[str, ...]) -> str:
        """Return the label between the brackets, as written, without its quotes."""
        start = self.offset
        self.offset += len(opening)
        inner = SPACE.match(self.text, self.offset)
        label_start = inner.end() if inner else self.offset
        if self.text.startswith('"', label_start):
            self.offset = label_start
            label = self._quoted(start)
            at = self.offset
            while at < len(self.text) and self.text[at] in " \t\r\n":
                at += 1
            ends = [at for closing in closings if self.text.startswith(closing, at)]
        else:
            ends = self._unquoted_ends(closings)
            label = self.text[self.offset : min(ends, default=self.offset)].strip()
            label = label[1:-1] if opening == "(" and re.fullmatch(r"-.+-", label, re.DOTALL) else label  # an ellipse
        if not ends:
            self.offset = label_start if not label else self.offset
            self.source.fail(self.offset, self.source.seen(self.offset), f"{closings[0]!r} after {opening!r}")
        self.offset = min(ends) + len(closings[0])
        return label

    def _unquoted_ends(self, closings: tuple[str, ...]) -> list[int]:
        """Return the offsets where a label without quotes may end: on its line, or after words over lines."""
        line_end = self._line_end()
        ends = [self.text.find(closing, self.offset, line_end) for closing in closings]
        if any(end >= 0 for end in ends):
            return [end for end in ends if end >= 0]
        words = _UNQUOTED.match(self.text, self.offset)
        at = words.end() if words else self.offset
        return [at for closing in closings if self.text.startswith(closing, at)]

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
        """Return the arrow at this position, None if there is none.

        Raises:
            ReadError: for a malformed arrow.
        """
        self._skip(_BREAK_BEFORE_ARROW)
        edge_id = _EDGE_ID.match(self.text, self.offset)
        at = self.offset
        if edge_id:
            self.offset = edge_id.end()
        if invisible := _INVISIBLE.match(self.text, self.offset):
            self.offset = invisible.end()
            self._piped()
            return Arrow(None, at, visible=False)
        arrow_id = edge_id[1] if edge_id else ""
        if link := _LINK.match(self.text, self.offset):
            self.offset = link.end()
            return self._headed(
                self._piped(), at, (link["left"], link["plain"] or link["wide"] or link["right"]), arrow_id
            )
        opening = _OPENING.match(self.text, self.offset)
        if opening is None:
            return None
        text, head = self._inner_text(opening)
        return self._headed(text, at, (opening[1], head), arrow_id)

    def _headed(self, text: str | None, offset: int, heads: tuple[str | None, str | None], arrow_id: str) -> Arrow:
        """Return the arrow with these signs at its left and right end.

        Raises:
            ReadError: for an arrow with a head at its left end alone.
        """
        left, right = heads[0], None if heads[1] in ("-", "=") else heads[1]
        if left and not right:  # Mermaid draws a line without a head
            self.source.fail(offset, "an arrow with a head at its left end alone, which is not supported", "'-->'")
        return Arrow(text, offset, True, left is not None, arrow_id, f"{left or ''}{right or ''}")

    def _piped(self) -> str | None:
        """Return the text between bars after an arrow, None without one; either may stand on a later line."""
        self._skip(_BREAK_BEFORE_NODE)
        piped = _PIPED.match(self.text, self.offset)
        if piped is None:
            return None
        self.offset = piped.end()
        return piped[1] if piped[1] is not None else piped[2].strip()

    def _inner_text(self, opening: re.Match[str]) -> tuple[str, str | None]:
        """Return the text inside an arrow, such as -- text -->, and the sign of its head."""
        kind = opening[2]
        self.offset = opening.end()
        self._skip_space()
        start = self.offset
        if self.text.startswith('"', start):
            self._quoted(opening.start())
        stop = _STOP[kind].search(self.text, self.offset, self._line_end())
        closing = _CLOSING[kind].match(self.text, stop.start()) if stop else None
        if stop is None or closing is None:
            expected = f"a text and {'.->' if kind == '-.' else f'{kind}>'!r}"
            self.source.fail(opening.start(), f"{opening[0]!r} without an end", expected)
        text = self.text[start : stop.start()].strip()
        if kind == "-.":
            text = text.removesuffix("-").rstrip()
        self.offset = closing.end()
        self._skip(_BREAK_BEFORE_NODE)
        quoted = len(text) > 1 and text[0] == text[-1] == '"'
        return text[1:-1] if quoted else text, closing[1]

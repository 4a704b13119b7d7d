"""XML parser that keeps the position of every element, within bounds; a document type is refused, and so are entities.

Only elements and attributes of BPMN's own namespace are kept: neither the diagram nor what vendors add.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, Final, NoReturn
from xml.sax import SAXParseException, handler, xmlreader

from defusedxml import DefusedXmlException
from defusedxml.expatreader import create_parser

from ...source import Source
from .written_style import EXPORTER
from .written_style import decode as decode_escapes

MODEL: Final = "http://www.omg.org/spec/BPMN/20100524/MODEL"
MAX_DEPTH: Final = 100  # of elements inside one another
MAX_FILES: Final = 100  # in one text
MAX_ELEMENTS: Final = 60_000  # of a file, those of its diagram included
_DECLARATION: Final = re.compile(r"<\?xml\b[^?>]*\?>")
_ROOT: Final = re.compile(r"\ufeff?(?>\s+|<\?.*?\?>|<!--.*?-->)*+<(?:([\w.-]+):)?definitions\b([^>]*)>", re.DOTALL)
_MORE: Final = "junk after document element"  # in expat's words
_IGNORED: Final = frozenset({"extensionElements", "incoming", "outgoing", "relationship", "extension", "import"})
_DECLARED_ENCODING: Final = re.compile(rb"<\?xml[^>]*?\bencoding\s*=\s*[\"']([\w.:-]{1,40})[\"']")


@dataclass(slots=True)
class Element:
    """An element of BPMN's namespace: its local name, attributes without a namespace, children and own text.

    `is_own_style` is True in files in the style of this package (`written_style.py`).
    """

    tag: str
    attributes: dict[str, str]
    line: int
    offset: int
    is_own_style: bool = False
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    def of(self, *tags: str) -> Iterator[Element]:
        """Yield the children with one of the tags."""
        return (child for child in self.children if child.tag in tags)

    def get(self, attribute: str) -> str:
        """Return the value of an attribute, "" if it is absent."""
        return self.attributes.get(attribute, "")

    @property
    def text(self) -> str:
        """Return the text of the element itself, with single spaces."""
        return self._spaced("".join(self.pieces))

    @property
    def name(self) -> str:
        """Return the name with single spaces, "" if there is none."""
        return self._spaced(self.get("name"))

    def _spaced(self, text: str) -> str:
        text = " ".join(text.split())
        return decode_escapes(text) if self.is_own_style else text

    def descendants(self) -> Iterator[Element]:
        """Yield the element and all that is inside it."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))


def decode(data: bytes) -> str:
    """Return the text of an XML file, by its byte-order mark, else by the encoding that it declares, else as UTF-8.

    Raises:
        UnicodeDecodeError: if the bytes are not of that encoding.
        LookupError: if the encoding is not known.
    """
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding)
    declared = _DECLARED_ENCODING.match(data[:200])
    return data.decode(declared[1].decode("ascii") if declared else "utf-8")


def is_bpmn(text: str) -> bool:
    """Return True if the root element of a text is `definitions` in BPMN's namespace."""
    root = _ROOT.match(text[:20_000])
    return root is not None and _declares(root[2], root[1] or "")


def _declares(attributes: str, prefix: str) -> bool:
    name = f"xmlns:{prefix}" if prefix else "xmlns"
    return re.search(rf"(?<![\w:.-]){re.escape(name)}\s*=\s*[\"']{re.escape(MODEL)}[\"']", attributes) is not None


def parse_xml(source: Source) -> tuple[Element, ...]:
    """Return the `definitions` element of a BPMN file, or of each file of a text in the style of this package.

    Raises:
        ReadError: for XML that is not well-formed, a document type, another root, nesting deeper than MAX_DEPTH, and
            more than MAX_ELEMENTS elements.
    """
    if source.text.count("<") > 2 * MAX_ELEMENTS:  # before anything is copied
        source.fail(0, f"more than {MAX_ELEMENTS:,} elements", "a smaller file")
    # The text is decoded already, and a heading may stand before the declaration.
    text = _DECLARATION.sub(lambda found: " " * len(found[0]), source.text, count=1)
    starts = [0, *(end.end() for end in re.finditer(r"\r\n|\r|\n", text))]
    roots, end = list[Element](), 0
    while not roots or end < len(text):
        if len(roots) == MAX_FILES:
            source.fail(end, f"more than {MAX_FILES} files", "fewer files in one text")
        root, end = _parse_one(Source(text, source.where), end, starts)
        roots.append(root)
    return tuple(roots)


def _parse_one(source: Source, begin: int, starts: list[int]) -> tuple[Element, int]:
    """Return the element that begins at an offset, and the offset behind it: of the next file, or of the end.

    Args:
        source: The text, without a declaration.
        begin: The offset.
        starts: The offsets at which the lines of the text begin.
    """
    builder = _Builder(source, begin, starts)
    parser = create_parser(forbid_dtd=True)
    parser.setFeature(handler.feature_namespaces, True)
    parser.setContentHandler(builder)
    stream: Any = xmlreader.InputSource()
    stream.setCharacterStream(StringIO(source.text[begin:].removeprefix("\ufeff")))
    try:
        parser.parse(stream)
    except SAXParseException as error:
        if error.getMessage() == _MORE and builder.root is not None and builder.root.is_own_style:
            return builder.root, builder.offset(error)
        builder.fail(f"XML that is not well-formed: {error.getMessage()}", "well-formed XML", error)
    except DefusedXmlException:
        builder.fail("a document type", "XML without a document type (<!DOCTYPE …>)")
    except UnicodeEncodeError as error:
        source.fail(begin + error.start, "half of a surrogate pair", "characters of Unicode")
    assert builder.root is not None
    return builder.root, len(source.text)


class _Builder(handler.ContentHandler):
    """Elements that have been read, and those that are open; `skipped` is the depth inside a foreign element."""

    def __init__(self, source: Source, begin: int, starts: list[int]) -> None:
        super().__init__()
        self.source, self.begin, self.starts = source, begin, starts
        self.lines_before = bisect_right(starts, begin) - 1
        self.root: Element | None = None
        self.open: list[Element] = []
        self.depth = self.skipped = self.elements = 0
        self.locator = xmlreader.Locator()

    def setDocumentLocator(self, locator: xmlreader.Locator) -> None:  # noqa: N802 – a name of xml.sax
        """Keep the parser's position."""
        self.locator = locator

    def fail(self, found: str, expected: str, place: SAXParseException | None = None) -> NoReturn:
        """Raise a ReadError about what the parser has reached."""
        self.source.fail(self.offset(place or self.locator), found, expected)

    def offset(self, place: xmlreader.Locator | SAXParseException) -> int:
        """Return the offset of a position in the text."""
        line, column = place.getLineNumber() or 1, place.getColumnNumber() or 0
        start = self.begin if line == 1 else self.starts[min(self.lines_before + line, len(self.starts)) - 1]
        return min(start + column, len(self.source.text))

    def startElementNS(  # noqa: N802 – a name of xml.sax
        self, name: tuple[str | None, str], qname: str | None, attrs: xmlreader.AttributesNSImpl
    ) -> None:
        """Open an element."""
        namespace, tag = name
        self.depth += 1
        self.elements += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"an element <{tag}> nested too deeply", f"at most {MAX_DEPTH} elements inside one another")
        if self.elements > MAX_ELEMENTS:
            self.fail(f"more than {MAX_ELEMENTS:,} elements", "a smaller file")
        if self.root is None and (namespace, tag) != (MODEL, "definitions"):
            self.fail(f"the root element <{tag}>", f"<definitions> in the namespace {MODEL}")
        if self.skipped or namespace != MODEL or tag in _IGNORED:
            self.skipped += 1
            return
        attributes = {key: value for (space, key), value in attrs.items() if space is None}
        line = self.lines_before + (self.locator.getLineNumber() or 1)
        own = self.root.is_own_style if self.root else attributes.get("exporter") == EXPORTER
        element = Element(tag, attributes, line, self.offset(self.locator), own)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def endElementNS(self, name: tuple[str | None, str], qname: str | None) -> None:  # noqa: N802 – as above
        """Close an element."""
        self.depth -= 1
        if self.skipped:
            self.skipped -= 1
        else:
            self.open.pop()

    def characters(self, content: str) -> None:
        """Add text to the element that is open."""
        if self.open and not self.skipped:
            self.open[-1].pieces.append(content)

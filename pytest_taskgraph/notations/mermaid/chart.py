"""Mermaid flowcharts as they are written, alone or in code fences of Markdown: vertices, edges and subgraphs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from ...source import Source
from .scanner import ID, Arrow, Cursor, Vertex

DEEPEST = 64  # subgraphs inside one another
LARGEST = 100_000  # arrows: a short A & B & … --> C & D & … may mean very many
_HEADER = re.compile(r"(?:flowchart(?:-elk)?|graph)(?:[ \t]+(?:TB|TD|BT|RL|LR|[<>^v]))?(?=[ \t\r;\n]|$)")
_OTHER_DIAGRAM = re.compile(
    r"(?:sequenceDiagram|classDiagram|stateDiagram|erDiagram|journey|gantt|pie|quadrantChart|requirementDiagram|gitGraph"
    r"|mindmap|timeline|zenuml|sankey|xychart|block|packet|kanban|architecture|radar|treemap|C4\w+)(?:-\w+)?\b"
)
_COMMENT = re.compile(
    r"%%(?:\{[\s\S]{0,5000}?\}%%|[ \t]*(?:(file|workflow|package|description|parameter):[ \t]*([^\n]*)|[^\n]*))"
)
_PASSED_OVER = re.compile(
    r"accDescr[ \t]*\{[^}]*\}|(?:direction|classDef|class|style|linkStyle|click|accTitle|accDescr)(?=[ \t:])[^\n]*"
)
_END = re.compile(r"end(?=[ \t\r]*(?:[;\n]|%%|$))")
_SUBGRAPH = re.compile(r"subgraph(?=[ \t\r;\n]|$)[ \t]*")
_TITLE = re.compile(r'[ \t]*\[[ \t]*(?:"([^"]*)"|([^"\n]*?))[ \t]*\](?::::[\w-]+)?(?=[ \t\r]*(?:[;\n]|%%|$))')
_LONE_TITLE = re.compile(r'"([^"\n]*)"|([^;\n]*)')


@dataclass(frozen=True, slots=True)
class ChartEdge:
    """An arrow between two ids."""

    source: str
    target: str
    text: str | None
    offset: int
    sign: str = ">"  # what stands for the head of the arrow, or for both: ">", "<>", "" without any


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A box with a title, as written, inside another or inside none."""

    id: str
    offset: int
    title: str | None
    parent: str | None
    depth: int


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment line that says something of a workflow, and the subgraph in which it stands."""

    key: str
    text: str
    inside: str | None
    offset: int


@dataclass(slots=True)
class Chart:
    """One flowchart. `owner` tells the subgraph of a vertex that is in one: the first that ends and mentions it.

    `title` is what a comment before the chart says, or its front matter; empty without either. `file` is the path in
    the heading before the chart. `begin` and `end` are the offsets of its text, from its front matter or header on.
    """

    title: str
    file: str = ""
    begin: int = 0
    end: int = 0
    vertices: dict[str, Vertex] = field(default_factory=dict)
    edges: list[ChartEdge] = field(default_factory=list)
    subgraphs: dict[str, Subgraph] = field(default_factory=dict)
    owner: dict[str, str] = field(default_factory=dict)
    comments: list[Comment] = field(default_factory=list)
    invisible: bool = False  # a link that only serves the layout


def charts(source: Source) -> list[Chart]:
    """Return the flowcharts of a text, in its order. Raises ReadError."""
    found: list[Chart] = []
    offset, file = 0, ""
    while True:
        offset, said = _skip_to_statement(source, offset)
        file = said.get("file", file)
        if offset == len(source.text):
            return found
        begin = offset
        offset, title = _front_matter(source, offset)
        offset, more = _skip_to_statement(source, offset)
        header = _HEADER.match(source.text, offset)
        if header is None:
            _refuse(source, offset)
        chart = Chart((said | more).get("workflow", "") or title, file, begin)
        offset = chart.end = _Scan(source, chart, header.end()).statements()
        found.append(chart)


def _refuse(source: Source, offset: int) -> NoReturn:
    """Raise the ReadError of a text that is no flowchart."""
    expected = "'flowchart TD', or 'graph' in its place"
    other = _OTHER_DIAGRAM.match(source.text, offset)
    source.fail(offset, f"{other[0]!r}, which is not supported" if other else source.seen(offset), expected)


def _skip_to_statement(source: Source, offset: int) -> tuple[int, dict[str, str]]:
    """Return where the next chart begins, and what the comments before it say, by their first words."""
    said: dict[str, str] = {}
    while offset < len(source.text):
        comment = _COMMENT.match(source.text, offset)
        if comment:
            said |= {comment[1]: comment[2].strip()} if comment[1] else {}
            offset = comment.end()
        elif source.text[offset] in " \t\r\n;\ufeff":
            offset += 1
        else:
            break
    return offset, said


def _lines(source: Source, offset: int) -> Iterator[tuple[int, str]]:
    """Every line from the offset on, with the offset behind it."""
    while offset < len(source.text):
        end = source.text.find("\n", offset)
        end = len(source.text) if end < 0 else end
        yield min(end + 1, len(source.text)), source.text[offset:end]
        offset = end + 1


def _front_matter(source: Source, offset: int) -> tuple[int, str]:
    """The offset behind the lines between two lines ---, and the title they give; there may be none."""
    title = ""
    for number, (behind, line) in enumerate(_lines(source, offset)):
        if number == 0 and line.rstrip() != "---":
            return offset, ""
        if number and line.strip() == "---":
            return behind, title
        if line.strip().startswith("title:") and not (title and line[:1].isspace()):
            title = _yaml_text(line.strip()[len("title:") :].strip())
    if offset < len(source.text):
        source.fail(offset, "front matter without an end", "a second line ---")
    return offset, ""


def _yaml_text(written: str) -> str:
    """The text of a YAML scalar on one line: plain, or in quotes of either kind."""
    if len(written) > 1 and written[0] == written[-1] == "'":
        return written[1:-1].replace("''", "'")
    if written.startswith('"'):
        try:
            text = str(json.loads(written))
            text.encode()
        except ValueError:  # an escape of YAML that JSON lacks, or half a surrogate pair
            return written.strip('"')
        return text
    return written


class _Scan:
    """One chart being read, from behind its header on."""

    def __init__(self, source: Source, chart: Chart, offset: int) -> None:
        self.source, self.text, self.chart = source, source.text, chart
        self.cursor = Cursor(source, offset)
        self.open: list[tuple[str, dict[str, None]]] = []  # subgraphs, and what their statements mention
        self.edge_ids: set[str] = set()
        self.looked_to = 0  # where the statement behind the last comments begins

    def statements(self) -> int:
        """The offset at which this chart ends and another may begin. Raises ReadError."""
        self.cursor.separator()
        while self._next_statement():
            if found := _PASSED_OVER.match(self.text, self.cursor.offset):
                self.cursor.offset = found.end()
            elif found := _END.match(self.text, self.cursor.offset):
                self._close(found.end())
            elif found := _SUBGRAPH.match(self.text, self.cursor.offset):
                self._subgraph(found.end())
            else:
                self._chain()
            self.cursor.separator()
        if self.open:
            unclosed = self.chart.subgraphs[self.open[-1][0]]
            self.source.fail(unclosed.offset, f"the subgraph {unclosed.id!r} without an end", "'end'")
        return self.cursor.offset

    def _next_statement(self) -> bool:
        """Whether there is one more; blanks are passed over, comments taken in."""
        while self.cursor.offset < len(self.text):
            comment = _COMMENT.match(self.text, self.cursor.offset)
            if comment and not (comment[1] == "file" and self._ends_at(comment)):
                self._comment(comment)
            elif not comment and self.text[self.cursor.offset] in " \t\r\n;\ufeff":
                self.cursor.offset += 1
            else:
                next_chart = comment or self.text.startswith("---", self.cursor.offset)
                return not (next_chart or _HEADER.match(self.text, self.cursor.offset))
        return False

    def _ends_at(self, heading: re.Match[str]) -> bool:
        """Return True if a heading with a path stands before another chart, or at the end: not a remark in this one."""
        if heading.end() > self.looked_to:  # one look for all comments that stand together
            self.looked_to, _ = _skip_to_statement(self.source, heading.end())
        behind = self.looked_to
        following = self.text.startswith("---", behind) or _HEADER.match(self.text, behind)
        return not self.open and (behind == len(self.text) or bool(following))

    def _comment(self, comment: re.Match[str]) -> None:
        if comment[1] and comment[1] != "file":
            inside = self.open[-1][0] if self.open else None
            self.chart.comments.append(Comment(comment[1], comment[2].strip(), inside, self.cursor.offset))
        self.cursor.offset = comment.end()

    def _subgraph(self, offset: int) -> None:
        name, title, behind = self._box(offset)
        if name in self.chart.subgraphs:
            self.source.fail(offset, f"the subgraph {name!r} a second time", "an id of its own")
        if len(self.open) >= DEEPEST:
            self.source.fail(offset, "a subgraph nested too deeply", f"at most {DEEPEST} inside one another")
        parent = self.open[-1][0] if self.open else None
        self.chart.subgraphs[name] = Subgraph(name, offset, title, parent, len(self.open))
        self.open.append((name, {}))
        self.cursor.offset = behind

    def _box(self, offset: int) -> tuple[str, str | None, int]:
        """Id and title of a subgraph, and the offset behind them."""
        own = ID.match(self.text, offset)
        title = _TITLE.match(self.text, own.end()) if own else None
        if own and title:
            return own[0], title[1] if title[1] is not None else title[2].strip(), title.end()
        lone = _LONE_TITLE.match(self.text, offset)
        text = ((lone[1] or lone[2] or "") if lone else "").strip()
        behind = lone.end() if lone else offset
        if lone and lone[1] is None and "[" in text:
            self.source.fail(offset, repr(text[:40]), 'an id and a title: id [title] or id ["title"]')
        # A title of several words is no id: Mermaid numbers such subgraphs, and nothing can refer to them.
        return (text, None, behind) if ID.fullmatch(text) else (f"box {offset}", text or None, behind)

    def _close(self, offset: int) -> None:
        if not self.open:
            self.source.fail(self.cursor.offset, "'end' outside of a subgraph", "a statement")
        name, mentioned = self.open.pop()
        for vertex in mentioned:
            self.chart.owner.setdefault(vertex, name)
        self.cursor.offset = offset

    def _chain(self) -> None:
        """Read nodes and arrows: A & B --> C -->|"text"| D."""
        sources = self._nodes()
        while arrow := self.cursor.arrow():
            targets = self._nodes()
            if len(self.chart.edges) + 2 * len(sources) * len(targets) > LARGEST:
                self.source.fail(arrow.offset, "too many links", f"at most {LARGEST}")
            self.edge_ids.add(arrow.id)
            self.chart.invisible |= not arrow.seen
            if arrow.seen:
                self.chart.edges.extend(
                    edge for one in sources for other in targets for edge in _edges(one, other, arrow)
                )
            sources = targets

    def _nodes(self) -> list[str]:
        """Return the ids of the nodes that stand here; a shape and a label given later replace those before."""
        found = self.cursor.nodes()
        for vertex in found:
            if vertex.attributes and vertex.id in self.edge_ids and vertex.id not in self.chart.vertices:
                continue  # attributes of an edge
            known = self.chart.vertices.setdefault(vertex.id, vertex)
            if vertex.attributes:
                known.label = known.label if vertex.label is None else vertex.label
                if vertex.attributes.shape:
                    known.shape, known.named = vertex.shape, vertex.named
            elif vertex.label is not None:
                known.shape, known.label = vertex.shape, vertex.label
            if self.open:
                self.open[-1][1][vertex.id] = None
        return [vertex.id for vertex in found]


def _edges(one: str, other: str, arrow: Arrow) -> Iterator[ChartEdge]:
    """Yield the edges of an arrow between two nodes: one for each of its heads; to the second where it has none."""
    yield ChartEdge(one, other, arrow.text, arrow.offset, arrow.sign)
    if arrow.backward:
        yield ChartEdge(other, one, arrow.text, arrow.offset, arrow.sign)


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

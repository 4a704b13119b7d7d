"""Mermaid flowcharts as written, alone or in code fences of Markdown: vertices, edges and subgraphs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NoReturn

from ...source import Source
from .scanner import ID, Arrow, Cursor, Vertex

DEEPEST = 64  # subgraphs inside one another
LARGEST = 100_000  # arrows: a short A & B & … --> C & D & … stands for many
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
_SUBGRAPH_ID = re.compile(r'(?:(?!%%)[^\[\](){}|";\n])*(?<!\s)')  # may be several words
_TITLE = re.compile(r'[ \t]*\[[ \t]*(?:"([^"]*)"|([^"\n]*?))[ \t]*\](?::::[\w-]+)?(?=[ \t\r]*(?:[;\n]|%%|$))')
_LONE_TITLE = re.compile(r'"([^"\n]*)"|([^;\n]*)')


@dataclass(frozen=True, slots=True)
class ChartEdge:
    """An arrow between two ids."""

    source: str
    target: str
    text: str | None
    offset: int
    sign: str = ">"  # the head of the arrow, or both: ">", "<>", "" without any


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A subgraph with its title as written, inside another subgraph or none."""

    id: str
    offset: int
    title: str | None
    parent: str | None
    depth: int


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment line that states an attribute of a workflow, and the subgraph in which it stands."""

    key: str
    text: str
    inside: str | None
    offset: int


@dataclass(slots=True)
class Chart:
    """One flowchart.

    `owner` maps each vertex inside a subgraph to the subgraph: the first to end of those that mention it.
    `title` is stated by a comment before the chart, or by its front matter; empty without either. `file` is the path in
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
    own_ids: set[str] = field(default_factory=set)  # ids of subgraphs that are also ids of nodes inside them
    invisible: bool = False  # a link that only serves the layout


def read_charts(source: Source) -> list[Chart]:
    """Return the flowcharts of a text, in its order.

    Raises:
        ReadError: for a text that is no flowchart.
    """
    flowcharts: list[Chart] = []
    offset, file = 0, ""
    while True:
        offset, comments = _skip_to_statement(source, offset)
        file = comments.get("file", file)
        if offset == len(source.text):
            return flowcharts
        begin = offset
        offset, title = _front_matter(source, offset)
        offset, later_comments = _skip_to_statement(source, offset)
        header = _HEADER.match(source.text, offset)
        if header is None:
            _raise_no_chart(source, offset)
        chart = Chart((comments | later_comments).get("workflow", "") or title, file, begin)
        offset = chart.end = _Scan(source, chart, header.end()).statements()
        flowcharts.append(chart)


def _raise_no_chart(source: Source, offset: int) -> NoReturn:
    """Raise the ReadError of a text that is no flowchart."""
    expected = "'flowchart TD', or 'graph' in its place"
    other = _OTHER_DIAGRAM.match(source.text, offset)
    source.fail(offset, f"{other[0]!r}, which is not supported" if other else source.seen(offset), expected)


def _skip_to_statement(source: Source, offset: int) -> tuple[int, dict[str, str]]:
    """Return the offset of the next statement, and the texts of the comments before it by their keys."""
    comments: dict[str, str] = {}
    while offset < len(source.text):
        comment = _COMMENT.match(source.text, offset)
        if comment:
            comments |= {comment[1]: comment[2].strip()} if comment[1] else {}
            offset = comment.end()
        elif source.text[offset] in " \t\r\n;\ufeff":
            offset += 1
        else:
            break
    return offset, comments


def _lines(source: Source, offset: int) -> Iterator[tuple[int, str]]:
    """Yield every line from the offset on, with the offset after it."""
    while offset < len(source.text):
        end = source.text.find("\n", offset)
        end = len(source.text) if end < 0 else end
        yield min(end + 1, len(source.text)), source.text[offset:end]
        offset = end + 1


def _front_matter(source: Source, offset: int) -> tuple[int, str]:
    """Return the offset after the lines between two lines ---, and the title that they state, "" for none."""
    title = ""
    for number, (next_offset, line) in enumerate(_lines(source, offset)):
        if number == 0 and line.rstrip() != "---":
            return offset, ""
        if number and line.strip() == "---":
            return next_offset, title
        if line.strip().startswith("title:") and not (title and line[:1].isspace()):
            title = _parse_yaml_text(line.strip()[len("title:") :].strip())
    if offset < len(source.text):
        source.fail(offset, "front matter without an end", "a second line ---")
    return offset, ""


def _parse_yaml_text(scalar: str) -> str:
    """Return the text of a YAML scalar on one line: plain, or in quotes of either kind."""
    if len(scalar) > 1 and scalar[0] == scalar[-1] == "'":
        return scalar[1:-1].replace("''", "'")
    if scalar.startswith('"'):
        try:
            text = str(json.loads(scalar))
            text.encode()
        except ValueError:  # an escape of YAML that JSON lacks, or half a surrogate pair
            return scalar.strip('"')
        return text
    return scalar


class _Scan:
    """The scan of one chart, which starts after its header."""

    def __init__(self, source: Source, chart: Chart, offset: int) -> None:
        self.source, self.text, self.chart = source, source.text, chart
        self.cursor = Cursor(source, offset)
        self.open: list[tuple[str, dict[str, None]]] = []  # subgraphs and the vertices that their statements mention
        self.edge_ids: set[str] = set()
        self.next_statement_offset = 0  # offset of the statement after the last comments

    def statements(self) -> int:
        """Read the statements and return the offset at which the chart ends and another may begin.

        Raises:
            ReadError: for a malformed statement.
        """
        self.cursor.separator()
        while self._next_statement():
            if match := _PASSED_OVER.match(self.text, self.cursor.offset):
                self.cursor.offset = match.end()
            elif match := _END.match(self.text, self.cursor.offset):
                self._close(match.end())
            elif match := _SUBGRAPH.match(self.text, self.cursor.offset):
                self._subgraph(match.end())
            else:
                self._chain()
            self.cursor.separator()
        if self.open:
            open_subgraph = self.chart.subgraphs[self.open[-1][0]]
            self.source.fail(open_subgraph.offset, f"the subgraph {open_subgraph.id!r} without an end", "'end'")
        return self.cursor.offset

    def _next_statement(self) -> bool:
        """Move to the next statement, collecting comments; return False at the end of the chart."""
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
        """Return True if a heading with a path stands before another chart, or at the end of the text."""
        if heading.end() > self.next_statement_offset:  # one search for all consecutive comments
            self.next_statement_offset, _ = _skip_to_statement(self.source, heading.end())
        next_statement = self.next_statement_offset
        following = self.text.startswith("---", next_statement) or _HEADER.match(self.text, next_statement)
        return not self.open and (next_statement == len(self.text) or bool(following))

    def _comment(self, comment: re.Match[str]) -> None:
        if comment[1] and comment[1] != "file":
            inside = self.open[-1][0] if self.open else None
            self.chart.comments.append(Comment(comment[1], comment[2].strip(), inside, self.cursor.offset))
        self.cursor.offset = comment.end()

    def _subgraph(self, offset: int) -> None:
        name, title, next_offset = self._box(offset)
        if name in self.chart.subgraphs:
            self.source.fail(offset, f"the subgraph {name!r} a second time", "an id of its own")
        if len(self.open) >= DEEPEST:
            self.source.fail(offset, "a subgraph nested too deeply", f"at most {DEEPEST} inside one another")
        parent = self.open[-1][0] if self.open else None
        self.chart.subgraphs[name] = Subgraph(name, offset, title, parent, len(self.open))
        self.open.append((name, {}))
        self.cursor.offset = next_offset

    def _box(self, offset: int) -> tuple[str, str | None, int]:
        """Return id and title of a subgraph, and the offset after them."""
        id_match = _SUBGRAPH_ID.match(self.text, offset)
        title = _TITLE.match(self.text, id_match.end()) if id_match and id_match[0] else None
        if id_match and title:
            return id_match[0], title[1] if title[1] is not None else title[2].strip(), title.end()
        title_match = _LONE_TITLE.match(self.text, offset)
        text = ((title_match[1] or title_match[2] or "") if title_match else "").strip()
        next_offset = title_match.end() if title_match else offset
        if title_match and title_match[1] is None and "[" in text:
            self.source.fail(offset, repr(text[:40]), 'an id and a title: id [title] or id ["title"]')
        # A title of several words is no id: Mermaid numbers such subgraphs, and nothing can refer to them.
        return (text, None, next_offset) if ID.fullmatch(text) else (_numbered(offset), text or None, next_offset)

    def _close(self, offset: int) -> None:
        if not self.open:
            self.source.fail(self.cursor.offset, "'end' outside of a subgraph", "a statement")
        name, mentioned = self.open.pop()
        if name in mentioned:
            name = self._number(name)
        for vertex in mentioned:
            self.chart.owner.setdefault(vertex, name)
        self.cursor.offset = offset

    def _number(self, name: str) -> str:
        """Give a subgraph a generated id, because its own id is that of a node inside it, and return the new id."""
        chart, number = self.chart, _numbered(self.chart.subgraphs[name].offset)
        chart.own_ids.add(name)
        renamed = {number if box == name else box: subgraph for box, subgraph in chart.subgraphs.items()}
        chart.subgraphs = {
            box: replace(subgraph, id=box, parent=number if subgraph.parent == name else subgraph.parent)
            for box, subgraph in renamed.items()
        }
        chart.subgraphs[number] = replace(chart.subgraphs[number], title=chart.subgraphs[number].title or name)
        chart.comments = [
            replace(comment, inside=number) if comment.inside == name else comment for comment in chart.comments
        ]
        return number

    def _chain(self) -> None:
        """Read nodes and arrows: A & B --> C -->|"text"| D."""
        sources = self._nodes()
        while arrow := self.cursor.arrow():
            targets = self._nodes()
            if len(self.chart.edges) + 2 * len(sources) * len(targets) > LARGEST:
                self.source.fail(arrow.offset, "too many links", f"at most {LARGEST}")
            self.edge_ids.add(arrow.id)
            self.chart.invisible |= not arrow.visible
            if arrow.visible:
                self.chart.edges.extend(
                    edge for source in sources for target in targets for edge in _edges(source, target, arrow)
                )
            sources = targets

    def _nodes(self) -> list[str]:
        """Return the ids of the nodes at this place; a later shape or label replaces an earlier one."""
        vertices = self.cursor.nodes()
        for vertex in vertices:
            if vertex.attributes and vertex.id in self.edge_ids and vertex.id not in self.chart.vertices:
                continue  # attributes of an edge
            registered = self.chart.vertices.setdefault(vertex.id, vertex)
            if vertex.attributes:
                registered.label = registered.label if vertex.label is None else vertex.label
                if vertex.attributes.shape:
                    registered.shape, registered.shape_name = vertex.shape, vertex.shape_name
            elif vertex.label is not None:
                registered.shape, registered.label = vertex.shape, vertex.label
            if self.open:
                self.open[-1][1][vertex.id] = None
        return [vertex.id for vertex in vertices]


def _numbered(offset: int) -> str:
    """Return the generated id of the subgraph at an offset, which no written id equals."""
    return f" {offset}"


def is_numbered(name: str) -> bool:
    """Return True if the id of a subgraph is generated."""
    return name.startswith(" ")


def _edges(source: str, target: str, arrow: Arrow) -> Iterator[ChartEdge]:
    """Yield the edges of an arrow between two nodes: one for each head, and one to the target if it has none."""
    yield ChartEdge(source, target, arrow.text, arrow.offset, arrow.sign)
    if arrow.backward:
        yield ChartEdge(target, source, arrow.text, arrow.offset, arrow.sign)


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
    return any(_FLOWCHART.match(_fence_text(text, *span)) for span in _fenced(text))


def without_markdown(text: str) -> str:
    """Return the text with blanks for all text outside of fences with flowcharts, so that offsets stay.

    A text without fences is returned unchanged; if its fences hold only other diagrams, these stay.
    """
    fenced = list(_fenced(text))
    chart_spans = [span for span in fenced if _FLOWCHART.match(_fence_text(text, *span))] or fenced
    if not chart_spans:
        return text
    parts, position = list[str](), 0
    for start, end in chart_spans:
        parts += [_blank(text[position:start]), _fence_text(text, start, end)]
        position = end
    return "".join(parts) + _blank(text[position:])


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets where the texts between fences begin and end; an unclosed fence ends with the text."""
    if not _LANGUAGE.search(text):  # fast path: most texts hold no such fence
        return
    fence, start, position = "", 0, 0
    for line in text.splitlines(keepends=True):
        if not fence:
            opening = _OPENING.match(line)
            fence, start = (opening[1], position + len(line)) if opening else ("", 0)
        elif (closing := line.strip(" \t>\r\n")).startswith(fence) and not closing.strip(fence[0]):
            yield start, position
            fence = ""
        position += len(line)
    if fence:
        yield start, position


def _fence_text(text: str, start: int, end: int) -> str:
    """Return the text of a fence, with blanks for the signs of a block quote around it."""
    inner = text[start:end]
    quoted = inner.lstrip(" \t").startswith(">")
    return _QUOTE.sub(lambda mark: " " * len(mark[0]), inner) if quoted else inner


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)

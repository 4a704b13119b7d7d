"""A reader of Mermaid charts that takes the syntax from Mermaid, and all meaning from the sentences of a guide alone.

It shares no code with the package. A sentence that it does not know, and a thing in a chart that no sentence covers,
are errors.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_Q = r'"(?:[^"\\]|\\.)*"'
_LIST = rf"({_Q}(?:, {_Q})*(?: (?:or|and) {_Q})?)"
_GROUP = "is only a group and no task: what is inside it belongs to the level around it"
_WAITS = "is no task: it waits for all arrows that lead to it, then all arrows that leave it are taken"
_CHOICE = "is no task but a choice: any arrow may lead to it, and exactly one of the arrows that leave it is taken"
_TASK = "Each node is a task unless the following says otherwise; its name is its"
SENTENCES = {
    "chart": r"The workflow is a Mermaid flowchart",
    "labels": rf"{_TASK} label, or its id where it has no label",
    "ids": rf"{_TASK} id, such as A for A\[Cook\], since labels are not unique",
    "by id": rf"Nodes that share a label have their ids as names: {_LIST}",
    "markup": r"In a name, line breaks of the label are blanks, and other markup is left out",
    "described": r'Lines of a label that begin with a word such as "kind:" or "description:" are no part of the name',
    "plain": rf"A node labelled {_LIST} is a task like any other",
    "plain shape": rf"A node of the shape {_LIST} is a task like any other, unless its label says START or END",
    "ends": rf"A node labelled {_LIST} is no task, but stands for START or END",
    "end shape": rf"A node of the shape {_LIST} is no task, but stands for (START|END)",
    "shape": rf"The shape {_LIST} is a (cylinder|diamond|hexagon)",
    "cylinder tasks": r"A cylinder is a task like any other",
    "data": r"A cylinder is no task, but data; an arrow that begins or ends at a cylinder is data flow, from data to a "
    r"task that reads it or from a task to data that it writes, and a text on it means nothing",
    "control": r"Every (?:other )?arrow, whether solid, dotted or thick, is control flow",
    "conditions": r"An arrow of the control flow with a text is taken only under the condition that the text states",
    "otherwise": r'The condition "otherwise" means that no other condition at that node holds',
    "branches": r"All ways out of a task that have no condition, or whose condition holds, are taken; a task at which "
    r"these ways meet again without a join is executed once, after all of them",
    "headless": r"A line without an arrow head leads from the node that is written first to the other",
    "two heads": r"An arrow with heads at both ends stands for two arrows, one in each direction",
    "marks": r"A circle or a cross at the end of a line is an arrow head",
    "invisible": r"An invisible link \(~~~\) means nothing",
    "ours": rf"A node labelled {_LIST} is no task: a split starts all branches \(parallel\), exactly one \(exclusive\) "
    r"or one or more \(inclusive\), a join brings them together",
    "parallel": rf"A diamond or hexagon labelled {_LIST} {_WAITS}",
    "bars": rf"A node of the shape {_LIST} {_WAITS}",
    "inclusive": rf"A diamond or hexagon labelled {_LIST} is no task: "
    r"one or more of the arrows that leave it are taken",
    "choice": rf"(?:A|Every other) diamond {_CHOICE}",
    "choice hexagon": rf"A hexagon labelled {_LIST} {_CHOICE}",
    "crossed groups": rf"A subgraph {_GROUP}, if an arrow leads from a node inside it to a node outside of it, or back",
    "groups": rf"A subgraph {_GROUP}",
    "group links": r"An arrow to or from such a subgraph stands for one to or from each node inside it",
    "composites": r"(?:A|Any other) subgraph is a composite task, whose name is its (?:id|title, or its id "
    r"without one); "
    r"it contains what is inside it, and an arrow to or from the subgraph is one to or from that task",
    "own ids": rf"The id {_LIST} means the node inside the subgraph of this id, never the subgraph",
    "inside": r"A node is inside a subgraph if a line there mentions the node; if several do, inside the one that ends "
    r"first",
    "open start": r"If the chart(?: or a composite task)? draws no START, it begins with each node in it that "
    r"no control "
    r"flow leads to",
    "open end": r"If the chart(?: or a composite task)? draws no END, it ends after each node in it that no "
    r"control flow "
    r"leaves",
    "unordered": r"If the chart(?: or a composite task)? holds several nodes and no control flow between "
    r"them, they have "
    r"no order, START and END",
}
Rules = dict[str, list[str]]
Path = tuple[str, ...]
Link = tuple[Path, str, str, str | None]


def rules_of(guide: str) -> Rules:
    """Return the rules that a guide states, with the labels, ids or shapes of each."""
    rules: Rules = {}
    at = 0
    while at < len(guide):
        matches = ((name, re.compile(rf"{pattern}\.(?: |$)").match(guide, at)) for name, pattern in SENTENCES.items())
        name, match = next(((name, match) for name, match in matches if match), ("", None))
        assert match, f"unknown sentence: {guide[at : at + 150]}"
        groups = [group for group in match.groups() if group]
        quoted = [json.loads(text) for text in re.findall(_Q, groups[0])] if groups else []
        rules.setdefault(name, []).extend([f"{text}={groups[1]}" for text in quoted] if len(groups) > 1 else quoted)
        at = match.end()
    return rules


@dataclass
class ChartContent:
    """Nodes, arrows and subgraphs of a chart, without any meaning."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    arrows: list[tuple[str, str, str | None, str]] = field(default_factory=list)
    boxes: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    owner: dict[str, str] = field(default_factory=dict)
    own_ids: set[str] = field(default_factory=set)
    invisible: bool = False

    def number(self, box: str) -> str:
        """Give a subgraph another id, because a node inside it has its id, and return the new one."""
        self.own_ids.add(box)
        new = f"#{box}"
        self.boxes = {
            (new if name == box else name): (title, new if parent == box else parent)
            for name, (title, parent) in self.boxes.items()
        }
        return new


_DROPPED = re.compile(
    r"\A\s*---\n.*?\n---\n|%%\{.*?\}%%|\s*accDescr "
    r"\{.*?\}|%%[^\n]*|^\s*(?:classDef|class|style|linkStyle|click|direction"
    r"|accTitle|accDescr)\b[^\n]*|\A\s*(?:graph|flowchart)\s*(?:TD|TB|LR|RL|BT)?;?",
    re.DOTALL | re.MULTILINE,
)
_ID = re.compile(r"\s*([\w./]+\+?(?:-\w[\w./]*)*)")
_BRACKETS = {"(((": ")))", "((": "))", "([": "])", "[[": "]]", "[(": ")]", "[/": "/]", "[\\": "\\]", "{{": "}}"}
_BRACKETS |= {"[": "]", "(": ")", "{": "}", ">": "]"}
_SLANTED = {"[/": r"(?:/\]|\\\])", "[\\": r"(?:/\]|\\\])"}
_LABEL = r'\s*(?:"(?P<quoted>[^"]*)"\s*|(?P<bare>[^\n]*?)|(?P<long>[^\[\](){}|"]*?))\s*'
_BODIES = [
    re.compile(re.escape(opening) + _LABEL + _SLANTED.get(opening, re.escape(closing)) + r"(?=[\s:=;&<~-]|$)")
    for opening, closing in _BRACKETS.items()
]
_ATTRIBUTES = re.compile(r'@\{(?P<attributes>(?:[^{}"]|"[^"]*")*)\}')
_CLASS = re.compile(r":::\w+(?:-\w+)*")
_ARROW = re.compile(
    r"\s*(?:(?P<name>\w+)@)?(?:(?P<invisible>~~~+)|(?P<left>[<xo])?(?:"
    r"(?:--+|==+)(?P<head>[->xo=])|-?\.+-(?P<dotted>[>xo])?"
    r"|--\s*(?P<text1>[^\n]+?)\s*--+(?P<head1>[->xo])|==\s*(?P<text2>[^\n]+?)\s*==+(?P<head2>[=>xo])"
    r"|-\.\s*(?P<text3>[^\n]+?)\s*-?\.+-(?P<head3>[>xo])?))(?:\s*\|\s*(?P<piped>\"[^\"]*\"|[^|]*?)\s*\|)?"
)
SHAPES = {"[(": "cylinder", "{": "diamond", "{{": "hexagon"}


def parse_chart(chart: str) -> ChartContent:
    """Return the nodes, arrows and subgraphs of a chart."""
    chart_content, stack, names = ChartContent(), list[tuple[str, list[str]]](), set[str]()
    text = chart.replace("\r\n", "\n")
    while (shorter := _DROPPED.sub("", text, count=1)) != text:
        text = shorter
    at, number = 0, 0
    while match := re.compile(r"[\s;]*(subgraph\b[ \t]*([^\n]*)|end\b[ \t]*(?=\n|$)|)").match(text, at):
        at = match.end()
        if at >= len(text) and not match[1]:
            break
        if match[1].startswith("subgraph"):
            number += 1
            titled = re.fullmatch(
                r"([\w.-]+(?: [\w.-]+)*)\s*\[\s*\"?(.*?)\"?\s*\]|([\w.-]+)|(.*)", match[2].strip().strip('"')
            )
            assert titled
            box = titled[1] or titled[3] or f"#{number}"
            chart_content.boxes[box] = (titled[2] or titled[4] or box, stack[-1][0] if stack else None)
            stack.append((box, []))
        elif match[1]:
            box, mentioned = stack.pop()
            if box in mentioned:
                box = chart_content.number(box)
            for node_id in mentioned:
                chart_content.owner.setdefault(node_id, box)
        else:
            at = _statement(text, at, chart_content, list(stack[-1:]), names)
    for box in chart_content.boxes:
        chart_content.nodes.pop(box, None)
    return chart_content


def _statement(text: str, at: int, content: ChartContent, stack: list[tuple[str, list[str]]], names: set[str]) -> int:
    sources: list[str] = []
    sign: tuple[str | None, str] | None = None
    while True:
        group, at = _nodes(text, at, content, stack, names)
        if sign is not None and sign[1] != "~":
            label, heads = sign
            for source in sources:
                content.arrows += [(source, other, label, heads) for other in group]
        content.invisible |= sign is not None and sign[1] == "~"
        arrow = _ARROW.match(text, at)
        if arrow is None:
            return at
        parts = arrow.groupdict()
        names.add(parts["name"] or "")
        head = next((parts[k] for k in ("head", "dotted", "head1", "head2", "head3") if parts[k]), "")
        label = next((parts[k] for k in ("piped", "text1", "text2", "text3") if parts[k] is not None), None)
        heads = "~" if parts["invisible"] else (parts["left"] or "") + "|" + (head if head in ">xo" else "")
        sources, sign, at = group, (label, heads), arrow.end()


def _nodes(
    text: str, at: int, content: ChartContent, stack: list[tuple[str, list[str]]], names: set[str]
) -> tuple[list[str], int]:
    group: list[str] = []
    while True:
        own = _ID.match(text, at)
        assert own, text[at : at + 40]
        node_id, at = own[1], own.end()
        attributes = _ATTRIBUTES.match(text, at)
        if node_id in names and attributes:
            return group, attributes.end()
        node = content.nodes.setdefault(node_id, {"shape": "rectangle"})
        if attributes:
            at = attributes.end()
            found_items = re.findall(r'(\w+):\s*(?:"([^"]*)"|([^",}\n]+))', attributes["attributes"])
            items = {key: quoted or bare.strip() for key, quoted, bare in found_items}
            node |= {"named": items.get("shape", ""), "shape": "?"}
            node |= {"label": items["label"]} if "label" in items else {}
        for opening, body in zip(_BRACKETS, _BODIES, strict=True):
            if not attributes and (label := body.match(text, at)):
                at = label.end()
                label_text = next(part for part in (label["quoted"], label["bare"], label["long"]) if part is not None)
                node |= {"shape": SHAPES.get(opening, "rectangle"), "label": label_text, "named": ""}
                break
        if styled := _CLASS.match(text, at):
            at = styled.end()
        group.append(node_id)
        for _, mentioned in stack:
            mentioned.append(node_id)
        more = re.compile(r"[ \t]*&").match(text, at)
        if not more:
            return group, at
        at = more.end()


def seen(label: str) -> str:
    """Return a label as it is seen in the drawing."""
    text = label.strip()
    if text.startswith("`") and text.endswith("`"):
        text = re.sub(r"(\*\*|__|\*|_)(?=\S)(.+?)\1", r"\2", text[1:-1])
    text = re.sub(r"\bfa[bsrl]?:fa-[\w-]+\s*", "", re.sub(r"</?(?:i|b|small|em|strong|code)>", "", text))
    lines = re.split(r"</?br\s*/?>|\n|\\n", text)
    return " ".join(html.unescape(line.strip().replace("#", "&", line.count("#"))) for line in lines if line.strip())


class Reading:
    """The graph of a chart, by the rules of a guide."""

    def __init__(self, guide: str, chart: str) -> None:
        self.rules, self.chart = rules_of(guide), parse_chart(chart)
        self.shapes = dict(rule.rsplit("=", 1) for rule in self.rules.get("shape", []))
        self.end_shapes = dict(rule.rsplit("=", 1) for rule in self.rules.get("end shape", []))
        arrows = list(self._directed())
        self.groups = self._groups(arrows)
        self.arrows = [
            (a, b, text) for first, second, text in arrows for a in self._ends(first) for b in self._ends(second)
        ]
        assert ("group links" in self.rules) == (len(self.arrows) > len(arrows) or self._linked_groups(arrows))
        assert not self.chart.invisible or "invisible" in self.rules
        assert self.chart.own_ids == set(self.rules.get("own ids", []))
        self.kinds = {node_id: self._kind(node_id) for node_id in self.chart.nodes}

    def _directed(self) -> Iterator[tuple[str, str, str | None]]:
        for source, target, text, sign in self.chart.arrows:
            left, right = sign.split("|")
            assert not (set(sign) & set("xo")) or "marks" in self.rules
            assert not (left and right) or "two heads" in self.rules
            assert left or right or "headless" in self.rules
            if right or not left:
                yield source, target, text
            if left:
                yield target, source, text

    def around(self, node_id: str) -> list[str]:
        """Return the subgraphs around a node or subgraph, the innermost first."""
        box = self.chart.boxes[node_id][1] if node_id in self.chart.boxes else self.chart.owner.get(node_id)
        return [] if box is None else [box, *self.around(box)]

    def _groups(self, arrows: list[tuple[str, str, str | None]]) -> set[str]:
        if "crossed groups" in self.rules:
            return {
                box
                for box in self.chart.boxes
                for first, second, _ in arrows
                if (box in self.around(first)) != (box in self.around(second))
            }
        assert not self.chart.boxes or {"groups", "composites"} & self.rules.keys()
        return set(self.chart.boxes) if "groups" in self.rules else set()

    def _linked_groups(self, arrows: list[tuple[str, str, str | None]]) -> bool:
        return any({first, second} & self.groups for first, second, _ in arrows)

    def _ends(self, node_id: str) -> list[str]:
        if node_id not in self.groups:
            return [node_id]
        candidates = [*self.chart.nodes, *(box for box in self.chart.boxes if box not in self.groups)]
        return [
            candidate
            for candidate in candidates
            if node_id in self.around(candidate) and self.home(candidate) == self.home(node_id)
        ]

    def home(self, node_id: str) -> str | None:
        """Return the composite task around a node or subgraph."""
        return next((box for box in self.around(node_id) if box not in self.groups), None)

    def _kind(self, node_id: str) -> str:
        node = self.chart.nodes[node_id]
        label, shape_name = seen(node.get("label") or node_id), node.get("named", "")
        shape = self.shapes.get(shape_name, "rectangle") if node["shape"] == "?" else node["shape"]
        if label in self.rules.get("plain", []):
            return "task"
        if label in self.rules.get("ends", []):
            return "START" if label.lower() == "start" else "END"
        if shape_name and shape_name in self.end_shapes:
            return self.end_shapes[shape_name]
        if shape_name and shape_name in self.rules.get("plain shape", []):
            return "task"
        if shape_name and shape_name in self.rules.get("bars", []):
            return "parallel"
        if shape == "cylinder":
            assert {"data", "cylinder tasks"} & self.rules.keys()
            return "data" if "data" in self.rules else "task"
        if shape in ("diamond", "hexagon"):
            return self._gateway(shape, label)
        return "task"

    def _gateway(self, shape: str, label: str) -> str:
        if label in self.rules.get("ours", []):
            return label.split()[0].lower()
        for kind in ("parallel", "inclusive"):
            if label in self.rules.get(kind, []):
                return kind
        if shape == "hexagon":
            return "exclusive" if label in self.rules.get("choice hexagon", []) else "task"
        assert "choice" in self.rules
        return "exclusive"

    def name(self, node_id: str) -> str:
        """Return what a node or subgraph is called."""
        if "ids" in self.rules or node_id in self.rules.get("by id", []):
            return node_id
        text = (
            self.chart.boxes[node_id][0]
            if node_id in self.chart.boxes
            else self.chart.nodes[node_id].get("label") or node_id
        )
        if "described" in self.rules:
            text = re.split(r"<br/?>(?:kind|description|implementation|schema):", text)[0]
        if seen(text) != text.strip():
            assert "markup" in self.rules
        return seen(text) or node_id

    def level(self, node_id: str | None) -> Path:
        """Return the names of the composite tasks from the outermost to the given one."""
        return () if node_id is None else (*self.level(self.home(node_id)), self.name(node_id))

    def graph(self) -> tuple[set[tuple[Path, str, str]], set[Link], set[tuple[Path, str, str]]]:
        """Return nodes (level, kind, name), links (level, source, target, condition) and data links, by level."""
        members: dict[str | None, dict[str, str]] = {None: {}}
        for box in self.chart.boxes:
            if box not in self.groups:
                members.setdefault(box, {})
                members.setdefault(self.home(box), {})[box] = "task"
        for node_id, kind in self.kinds.items():
            members.setdefault(self.home(node_id), {})[node_id] = kind
        nodes = {
            (self.level(home), kind, self._called(node_id, kind))
            for home, some in members.items()
            for node_id, kind in some.items()
        }
        links: set[Link] = set()
        data: set[tuple[Path, str, str]] = set()
        for home, some in members.items():
            self._link(home, some, links, data)
        return {node for node in nodes if node[1] not in ("START", "END")}, links, data

    def _called(self, node_id: str, kind: str) -> str:
        return kind if kind in ("START", "END") else self.name(node_id) if kind in ("task", "data") else f"<{node_id}>"

    def _link(self, home: str | None, some: dict[str, str], links: set[Link], data: set[tuple[Path, str, str]]) -> None:
        path, control = self.level(home), list[tuple[str, str]]()
        for first, second, text in self.arrows:
            if first not in some:
                continue
            source, target = self._called(first, some[first]), self._called(second, some[second])
            if "data" in (some[first], some[second]):
                data.add((path, source, target))
            else:
                assert "control" in self.rules
                condition = seen((text or "").strip('"')) or None
                assert not condition or "conditions" in self.rules
                control.append((first, second))
                links.add((path, source, target, condition))
        inner = [node_id for node_id, kind in some.items() if kind not in ("START", "END", "data")]
        if not control and len(inner) > 1:
            assert "unordered" in self.rules
            return
        for edge, rule, ends in (("START", "open start", 1), ("END", "open end", 0)):
            if edge in some.values():
                continue
            assert rule in self.rules
            for node_id in inner:
                if not any(link[ends] == node_id for link in control):
                    called = self._called(node_id, some[node_id])
                    links.add((path, "START", called, None) if edge == "START" else (path, called, "END", None))

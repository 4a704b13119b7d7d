r"""Procedural graphs as text: `Node -> Node`, one flow per line, after the prompts of Du et al. (2024).

    Start -> check the order
    check the order -> XOR1
    XOR1 -> (the stock is low) order more
    DataConstraint(price list) -> order more

    For customer:
    order more -> supplier: deliver

Nodes are `Start`, `End`, gateways `XOR1`, `OR1`, `AND1` (the number is optional), `DataConstraint(text)`,
`ActionConstraint(text)`; anything else is an action. A condition stands in brackets directly behind the arrow. `For X:`
sets the actor of the actions until the next heading; an action of another actor who has a heading starts with that name
and a colon. A text that would be taken for something else stands in double quotes, with the escapes of JSON; a node in
quotes is an action.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ..workflow.procedural_graph import (
    GATEWAY_NAMES,
    GATEWAYS,
    NodeSort,
    ProceduralFlow,
    ProceduralGraph,
    ProceduralNode,
    gateway_sort,
    name_gateways,
)
from .procedural_lines import (
    ARROW,
    DECORATION,
    GATEWAY,
    LENIENT_ARROW,
    can_stand_bare,
    cut_attributes,
    cut_condition,
    cut_label_before,
    cut_label_behind,
    cut_quoted,
    is_without_decoration,
    quote_text,
    split_at_arrows,
    stated_lines,
    unquote_text,
)

MOST_READ_FLOWS: Final = 2_000  # of a reply; the lines after them count as unread

_HEADING: Final = re.compile(r"For (.+):")
_CONSTRAINT: Final = re.compile(r"(DataConstraint|DataObject|ActionConstraint|TextAnnotation)\((.*)\)", re.DOTALL)
_ENDS: Final[Mapping[str, NodeSort]] = {"Start": "start", "End": "end"}
_LENIENT_END: Final = re.compile(r"\(?(start|end)(?: (?:node|event))?\)?", re.IGNORECASE)
_LENIENT_CONSTRAINT: Final = re.compile(
    r"(data|action|text)[ _-]?(constraint|object|annotation) {0,3}[(:] {0,3}(.*)", re.IGNORECASE | re.DOTALL
)
_LENIENT_GATEWAY: Final = re.compile(GATEWAY, re.IGNORECASE)
_ARTICLE: Final = re.compile(r"(?:the|a|an)\s++", re.IGNORECASE)
_NO_ACTOR: Final = re.compile(r"(?:example|instance)\b", re.IGNORECASE)  # what follows "For" outside of a heading


@dataclass(frozen=True, slots=True)
class ReadGraph:
    """Result of parsing a text: the graph, and the lines that could not be parsed, in order."""

    graph: ProceduralGraph
    unread: tuple[str, ...] = ()


def write_procedural_graph(graph: ProceduralGraph) -> str:
    """Return the text of a graph: first the flows of actions without an actor, then those of each actor.

    Gateways get names of the form (see `name_gateways`); everything else is read back as it is.
    """
    renamed = name_gateways(graph)
    actors_by_node = _actors_by_node(renamed)
    sections: dict[str, list[str]] = {"": [], **{actor: [] for actor in renamed.actors}}
    for flow in renamed.flows:
        actor = _actor_of_section(flow, actors_by_node)
        sections[actor].append(_flow_line(flow, actor, frozenset(renamed.actors)))
    parts = [*(["\n".join(sections[""])] if sections[""] else [])]
    parts += ["\n".join([f"For {_actor_text(actor)}:", *lines]) for actor, lines in sections.items() if actor]
    return "\n\n".join(parts)


def read_procedural_graph(text: str, lenient: bool = False) -> ReadGraph:
    """Return the graph that a text states, and the lines that state nothing.

    Args:
        text: The text, as `write_procedural_graph` writes it.
        lenient: True to parse a model's reply. Other arrows, chains of arrows, numbers, bullets, bold text and fences
            are accepted, and so are other spellings of gateways and constraints, and conditions in the places where
            other languages have them (`procedural_labels`). Thoughts and explanations around the graph are ignored. An
            action that no flow leaves under one heading, and that occurs under exactly one other heading, belongs to
            that actor: models write handovers this way.
    """
    lines = list(stated_lines(text)) if lenient else list(_strict_lines(text))
    reader = _Reader(lenient, _actors((actor for _, actor, _ in lines if actor), lenient))
    for line, actor, arrow in lines:
        reader.read(line, actor, arrow)
    graph = ProceduralGraph.of(reader.flows)
    return ReadGraph(_resolve_handovers(graph) if lenient else graph, tuple(reader.unread))


def _resolve_handovers(graph: ProceduralGraph) -> ProceduralGraph:
    """Return the graph with each action that leads nowhere replaced by its only namesake that leads on."""
    actions = graph.nodes_of("action")
    leading = {node for node in actions if any(flow.sort != "constraint" for flow in graph.outgoing(node))}
    by_text: dict[str, list[ProceduralNode]] = {}
    for node in actions:
        if node in leading:
            by_text.setdefault(node.text, []).append(node)
    owners = {node: by_text.get(node.text, ()) for node in actions if node not in leading}
    return graph.with_nodes({node: candidates[0] for node, candidates in owners.items() if len(candidates) == 1})


def _strict_lines(text: str) -> Iterable[tuple[str, str | None, bool]]:
    for line in filter(None, map(str.strip, text.splitlines())):
        arrow = len(split_at_arrows(line, ARROW)) > 1
        heading = None if arrow else _HEADING.fullmatch(line)
        actor = heading[1].strip() if heading else None
        yield line, actor or None, arrow


def _actors(headings: Iterable[str], lenient: bool) -> dict[str, str]:
    """Return the actors by the key of their names; of several with one key the first."""
    actors: dict[str, str] = {}
    for heading in headings:
        actors.setdefault(_actor_key(heading, lenient), unquote_text(heading) or heading)
    return actors


def _actor_key(name: str, lenient: bool) -> str:
    return _ARTICLE.sub("", name, count=1).casefold() if lenient else name


@dataclass(slots=True)
class _Reader:
    """The flows and unread lines of the lines read so far."""

    lenient: bool
    actors: Mapping[str, str]
    actor: str = ""
    flows: dict[ProceduralFlow, None] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)

    def read(self, line: str, actor: str | None, arrow: bool) -> None:
        """Add the flows of a line, or its actor if it is a heading."""
        if actor is not None:
            self.actor = self.actors[_actor_key(actor, self.lenient)]
            return
        flows = self._flows_of(line) if arrow and not (self.lenient and len(self.flows) >= MOST_READ_FLOWS) else []
        self.flows.update(dict.fromkeys(flows))
        if not flows:
            self.unread.append(line)

    def _flows_of(self, line: str) -> list[ProceduralFlow]:
        """Return the flow of a line, of a reply all flows of a chain; none if an end cannot be parsed."""
        line, label = cut_attributes(line) if self.lenient else (line, "")
        source_text, *rest = split_at_arrows(line, LENIENT_ARROW if self.lenient else ARROW)
        if len(rest) > 1 and not self.lenient:
            return []
        if self.lenient and not label:
            source_text, label = cut_label_before(source_text.strip(DECORATION))
        source, flows = self._node(source_text), []
        for text in rest:
            condition, node_text = self._condition_and_node(source, text)
            target = self._node(node_text)
            if source is None or target is None:
                return []
            condition = condition or label
            flows.append(ProceduralFlow(source, target, unquote_text(condition) or condition))
            source, label = target, ""
        return flows

    def _condition_and_node(self, source: ProceduralNode | None, text: str) -> tuple[str, str]:
        """Return the condition that stands behind an arrow, "" for none, and the node behind it."""
        condition, node_text = cut_condition(text)
        if not self.lenient:
            return condition, node_text
        if not condition and source is not None and source.is_gateway:
            node_text, condition = cut_label_behind(node_text)
        node_text = node_text.removeprefix("()")
        return condition, node_text.lstrip(": ") if condition else node_text

    def _node(self, text: str) -> ProceduralNode | None:
        if self.lenient:
            text = text.strip(DECORATION)
        actor, text = self._actor_of(text)
        quoted = unquote_text(text)
        if self.lenient:
            return _lenient_node(" ".join((text if quoted is None else quoted).split()), actor)
        if quoted is not None:
            return ProceduralNode("action", quoted, actor) if quoted.strip() else None
        return _strict_node(text, actor)

    def _actor_of(self, text: str) -> tuple[str, str]:
        """Return the actor of a node if it is an action, and its text without the actor's name."""
        if cut := cut_quoted(text):
            name, rest = cut[0], cut[1].removeprefix(":") if cut[1].startswith(":") else ""
        else:
            name, _, rest = text.partition(":")
        actor = self.actors.get(_actor_key(name.strip(), self.lenient)) if rest.strip() else None
        return (self.actor, text) if actor is None else (actor, rest.strip())


def _strict_node(text: str, actor: str = "") -> ProceduralNode | None:
    """Return the node of a text without quotes; None if it has no words."""
    if text in _ENDS:
        return ProceduralNode(_ENDS[text])
    if sort := gateway_sort(text):
        return ProceduralNode(sort, text)
    if constraint := _CONSTRAINT.fullmatch(text):
        return _constraint(constraint[1].startswith("Data"), constraint[2])
    return ProceduralNode("action", text, actor) if text else None


def _constraint(data: bool, text: str) -> ProceduralNode | None:
    words = unquote_text(text.strip()) or text.strip()
    return ProceduralNode("data" if data else "notice", words) if words.strip() else None


def _lenient_node(text: str, actor: str) -> ProceduralNode | None:
    if end := _LENIENT_END.fullmatch(text):
        return ProceduralNode(_ENDS[end[1].capitalize()])
    if gateway := _LENIENT_GATEWAY.fullmatch(text):
        return _lenient_gateway(gateway)
    if constraint := _LENIENT_CONSTRAINT.fullmatch(text):
        words = constraint[3][:-1] if text.endswith(")") and "(" in text[: constraint.start(3)] else constraint[3]
        return _constraint(constraint[1].lower() == "data", words)
    return ProceduralNode("action", text, actor) if re.search(r"\w", text) else None


def _lenient_gateway(match: re.Match[str]) -> ProceduralNode:
    name = match[1].upper() if match[1] else ""
    sort = next(sort for sort in GATEWAYS if GATEWAY_NAMES[sort] == name or sort == (match[2] or "").lower())
    return ProceduralNode(sort, GATEWAY_NAMES[sort] + match[3])


def _actors_by_node(graph: ProceduralGraph) -> dict[ProceduralNode, str]:
    """Return, for nodes without an actor, the actor of the first flow with an action at the other end."""
    actors: dict[ProceduralNode, str] = {}
    for flow in graph.flows:
        if (actor := _actor_of_flow(flow)) is not None:
            for node in (flow.source, flow.target):
                if node.is_gateway or node.is_constraint:
                    actors.setdefault(node, actor)
    return actors


def _actor_of_flow(flow: ProceduralFlow) -> str | None:
    """Return the actor under whose heading a flow must stand: none if an action has none."""
    actors = [node.actor for node in (flow.source, flow.target) if node.sort == "action"]
    return "" if "" in actors else actors[0] if actors else None


def _actor_of_section(flow: ProceduralFlow, actors_by_node: Mapping[ProceduralNode, str]) -> str:
    actor = _actor_of_flow(flow)
    return actors_by_node.get(flow.source, actors_by_node.get(flow.target, "")) if actor is None else actor


def _flow_line(flow: ProceduralFlow, actor: str, actors: frozenset[str]) -> str:
    condition = ""
    if flow.condition:
        can_be_bare = flow.condition.strip() and _needs_no_quotes(flow.condition)
        condition = f"({flow.condition if can_be_bare else quote_text(flow.condition)}) "
    return f"{_node_text(flow.source, actor, actors)} -> {condition}{_node_text(flow.target, actor, actors)}"


def _node_text(node: ProceduralNode, actor: str, actors: frozenset[str]) -> str:
    if node.sort in ("start", "end"):
        return node.sort.capitalize()
    if node.is_gateway:
        return node.text
    can_be_bare = _needs_no_quotes(node.text)
    if node.is_constraint:
        name = "DataConstraint" if node.sort == "data" else "ActionConstraint"
        return f"{name}({node.text if can_be_bare else quote_text(node.text)})"
    prefix = "" if node.actor == actor else f"{_actor_text(node.actor)}: "
    before, colon, _ = node.text.partition(":")
    names_actor = bool(colon) and _actor_key(before.strip(), True) in {_actor_key(name, True) for name in actors}
    can_be_bare = can_be_bare and not node.text.startswith(("(", ":", "[")) and not names_actor
    can_be_bare = can_be_bare and _strict_node(node.text) == _action(node.text) and _has_no_label(node.text)
    return prefix + (node.text if can_be_bare else quote_text(node.text))


def _action(text: str) -> ProceduralNode:
    return ProceduralNode("action", text)


def _has_no_label(text: str) -> bool:
    """Return True if no part of a text is taken for a condition in a reply."""
    return cut_attributes(text)[0] == cut_label_before(text)[0] == text


def _needs_no_quotes(text: str) -> bool:
    """Return True if a text is kept as it is where it stands in a text form, or in a reply."""
    return can_stand_bare(text) and is_without_decoration(text)


def _actor_text(actor: str) -> str:
    """Return the name of an actor; no arrow is left in it, for a heading with one would be a flow."""
    plain = _needs_no_quotes(actor) and ":" not in actor and not _NO_ACTOR.match(actor)
    if plain and not actor.startswith(("(", "[")) and _has_no_label(actor):
        return actor
    ascii_only = bool(LENIENT_ARROW.search(actor))
    return quote_text(actor, ascii_only).replace(">", r"\u003e")

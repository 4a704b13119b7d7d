"""Procedural graphs to write documents of: from lines, nested ones by Hypothesis, and untidy ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from hypothesis import strategies as st

from pytest_taskgraph.workflow.procedural_graph import (
    GATEWAY_NAMES,
    GATEWAYS,
    ProceduralFlow,
    ProceduralGraph,
    ProceduralNode,
)

START: Final = ProceduralNode("start")
END: Final = ProceduralNode("end")
ACTORS: Final = ("clerk", "the store manager", "IT support", "")
VERBS: Final = ("check", "sign", "Send", "archive", "weigh", "count", "label")
NOUNS: Final = ("order", "parcel", "form", "invoice", "X-ray")
_SORTS: Final = {name: sort for sort, name in GATEWAY_NAMES.items()}


def graph_of(text: str, **actors: str) -> ProceduralGraph:
    """Return the graph of lines "a -> b" or "XOR1 -> (condition) b".

    Args:
        text: Nodes are Start, End, XOR1 and the like, data(...) and notice(...); anything else is an action.
        actors: The actor of an action, by its first word.
    """
    flows = []
    for line in filter(str.strip, text.splitlines()):
        source, _, rest = line.strip().partition(" -> ")
        condition, _, target = rest[1:].partition(") ") if rest.startswith("(") else ("", "", rest)
        flows.append(ProceduralFlow(_node(source, actors), _node(target, actors), condition))
    return ProceduralGraph.of(flows)


def _node(text: str, actors: dict[str, str]) -> ProceduralNode:
    if text in ("Start", "End"):
        return START if text == "Start" else END
    if text.startswith(("data(", "notice(")):
        sort, _, inner = text.partition("(")
        return ProceduralNode("data" if sort == "data" else "notice", inner.removesuffix(")"))
    letters = text.rstrip("0123456789")
    if letters in _SORTS:
        return ProceduralNode(_SORTS[letters], text)
    return ProceduralNode("action", text, actors.get(text.split()[0].lower(), ""))


@dataclass
class _Sketch:
    """The flows of a graph that is being drawn, and where it goes on."""

    draw: st.DrawFn
    flows: list[ProceduralFlow] = field(default_factory=list)
    count: int = 0

    def number(self) -> int:
        self.count += 1
        return self.count

    def link(self, ends: list[tuple[ProceduralNode, str]], target: ProceduralNode) -> None:
        self.flows += [ProceduralFlow(source, target, condition) for source, condition in ends]

    def action(self) -> ProceduralNode:
        verb, noun = self.draw(st.sampled_from(VERBS)), self.draw(st.sampled_from(NOUNS))
        actor = self.draw(st.sampled_from(ACTORS))
        action = ProceduralNode("action", f"{verb} the {noun} {self.number()}", actor)
        if self.draw(st.integers(0, 3)) == 0:
            needed = ProceduralNode("data", f"list {self.number()}")
            self.flows.append(ProceduralFlow(needed, action))
        if self.draw(st.integers(0, 3)) == 0:
            self.flows.append(ProceduralFlow(action, ProceduralNode("data", f"the record {self.number()}")))
        if self.draw(st.integers(0, 3)) == 0:
            notice = ProceduralNode("notice", f"the limit is {self.number()} days")
            self.flows.append(ProceduralFlow(action, notice))
        return action

    def chain(self, ends: list[tuple[ProceduralNode, str]], depth: int) -> list[tuple[ProceduralNode, str]]:
        """Draw some steps behind the open ends; return the ends that are open then."""
        for _ in range(self.draw(st.integers(1, 3))):
            if not ends:
                break
            if depth and self.draw(st.integers(0, 2)) == 0:
                ends = self.gateway(ends, depth - 1)
            else:
                action = self.action()
                self.link(ends, action)
                ends = [(action, "")]
        return ends

    def gateway(self, ends: list[tuple[ProceduralNode, str]], depth: int) -> list[tuple[ProceduralNode, str]]:
        """Draw a gateway with its join; a choice may have branches without an action and branches that end."""
        sort = self.draw(st.sampled_from(GATEWAYS))
        split = ProceduralNode(sort, f"{GATEWAY_NAMES[sort]}{self.number()}")
        self.link(ends, split)
        exits: list[tuple[ProceduralNode, str]] = []
        empty = 0
        branches = self.draw(st.integers(2, 5))
        for branch in range(branches):
            way = [(split, "" if sort == "parallel" else f"the state is {self.number()}")]
            last = branch == branches - 1
            kind = "chain" if sort == "parallel" else self.draw(st.sampled_from(["chain", "chain", "end", "empty"]))
            if kind == "chain" or (last and not exits) or (kind == "empty" and empty):
                exits += self.chain(way, depth)
            elif kind == "empty":
                exits += way
                empty += 1
            else:
                self.link(self.chain(way, 0) if self.draw(st.booleans()) else way, END)
        if len(exits) == 1 and exits[0][0] != split and self.draw(st.booleans()):
            return exits  # unpaired: every other branch ended
        join = ProceduralNode(sort, f"{GATEWAY_NAMES[sort]}{self.number()}")
        self.link(exits, join)
        return [(join, "")] if exits else []


@st.composite
def nested_graphs(draw: st.DrawFn, depth: int = 2) -> ProceduralGraph:
    """Graphs with nested gateways in pairs, branches that end or are empty, constraints and several actors."""
    sketch = _Sketch(draw)
    sketch.link(sketch.chain([(START, "")], depth), END)
    return ProceduralGraph.of(sketch.flows)


@st.composite
def untidy_graphs(draw: st.DrawFn) -> ProceduralGraph:
    """Graphs of any flows between a few nodes: cycles, gateways without pairs, several starts of a walk."""
    texts = ("check it", "send it", "If asked, then reply. Stop!", "a", "checks")
    nodes = [
        START,
        END,
        *(ProceduralNode("action", text, actor) for text in texts for actor in ("clerk", "")),
        *(ProceduralNode(sort, f"{GATEWAY_NAMES[sort]}{number}") for sort in GATEWAYS for number in range(2)),
        *(ProceduralNode(sort, "the list") for sort in ("data", "notice")),
    ]
    conditions = st.sampled_from(("", "", "it is late", "otherwise", "ok?"))
    flows = st.builds(ProceduralFlow, st.sampled_from(nodes), st.sampled_from(nodes), conditions)
    return ProceduralGraph.of(draw(st.lists(flows, max_size=25)))

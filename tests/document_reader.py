"""A reader of documents as the pipeline writes them, of graphs in pairs: what a careful reader can recover.

It takes the words as they are meant, knows nothing of the graph, and fails on what it cannot place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import networkx
from document_graphs import END, START

from pytest_taskgraph.workflow.procedural_graph import NodeSort, ProceduralGraph, ProceduralNode

_CONSTRAINT = re.compile(r"“(.+?)”(?: requires access to (.+?))?(?: and)?(?: produces (.+))?")
_NOTICE = re.compile(r"To (.+), note that (.+)")
_WORDS_BEFORE = re.compile(
    r"(?P<start>in the beginning, )"
    r"|(?:then|next), (?:in this (?:case|part), )?"
    r"|after that, (?:in (?:either|each) case, )?(?:whether or not (?P<exclusive_of>[^,]+), )?"
    r"(?:unless the procedure has ended, )?(?P<exclusive>)"
    r"|once all that applies is done, (?:whether or not (?P<inclusive_of>[^,]+), )?"
    r"(?:unless the procedure has ended, )?(?P<inclusive>)"
    r"|when (?:both|all of these) are done, (?P<parallel>)"
    r"|otherwise, (?:that is, unless (?P<unless>[^,]+), )?if (?P<otherwise>[^,]+), then "
    r"|in addition, (?:whether or not (?P<whether>[^,]+), )?if (?P<addition>[^,]+), then "
    r"|(?:at the same time|meanwhile), (?:beside the part that was told first, )?(?P<beside>)"
    r"|if (?P<condition>[^,]+), then "
    r"|(?:\w+ things are done together: )?(?P<one_hand>on the one hand, )"
    r"|(?P<together>\w+ things are done together: )"
)


@dataclass
class _OpenChoice:
    """A split with the ends of its branches so far."""

    split: ProceduralNode
    first_condition: str
    exits: list[tuple[ProceduralNode, str]] = field(default_factory=list)


class DocumentReader:
    """Reads sentences one after the other and draws the graph that they tell."""

    def __init__(self) -> None:
        self._flows: list[tuple[ProceduralNode, ProceduralNode, str]] = []
        self._sorts: dict[str, NodeSort] = {}
        self._ends: list[tuple[ProceduralNode, str]] = []
        self._open: list[_OpenChoice] = []
        self._actions: dict[str, ProceduralNode] = {}

    def read(self, sentences: list[str]) -> networkx.DiGraph[str]:
        """Return the graph, with the sort, the text and the actor of each node."""
        for sentence in sentences:
            text = sentence.removesuffix(".")
            if match := _NOTICE.fullmatch(text):
                self._constrain(match[1], ProceduralNode("notice", match[2]), source=True)
            elif match := _CONSTRAINT.fullmatch(text):
                action = match[1][0].lower() + match[1][1:]
                if match[2]:
                    self._constrain(action, ProceduralNode("data", match[2]), source=False)
                if match[3]:
                    self._constrain(action, ProceduralNode("data", match[3]), source=True)
            else:
                self._read_steps(text[0].lower() + text[1:])
        return comparable((source, target, condition) for source, target, condition in self._flows_with_sorts())

    def _flows_with_sorts(self) -> list[tuple[ProceduralNode, ProceduralNode, str]]:
        return [(self._with_sort(source), self._with_sort(target), words) for source, target, words in self._flows]

    def _with_sort(self, node: ProceduralNode) -> ProceduralNode:
        return ProceduralNode(self._sorts[node.text], node.text) if node.text in self._sorts else node

    def _constrain(self, text: str, constraint: ProceduralNode, source: bool) -> None:
        action = self._actions[text]
        self._flows.append((action, constraint, "") if source else (constraint, action, ""))

    def _read_steps(self, text: str) -> None:
        aside = False
        while (match := _WORDS_BEFORE.match(text)) and match.end():
            text = text[match.end() :]
            aside = bool(match["one_hand"])
            self._enter(match)
        beside = re.split(r"; (?:at the same time|meanwhile), ", text)
        if len(beside) > 1 and not aside:
            self._open_split("parallel", "")
        for number, words in enumerate(beside):
            if number:
                self._begin_branch(self._choice("parallel", None), "")
            self._read_chain(words)

    def _enter(self, match: re.Match[str]) -> None:
        """Take the words in front of a step."""
        if match["start"]:
            self._ends = [(START, "")]
        elif match["condition"]:
            self._open_split(None, match["condition"])
        elif match["one_hand"]:
            self._open_split("parallel", "")
        elif match["otherwise"]:
            self._begin_branch(self._choice("exclusive", match["unless"]), match["otherwise"])
        elif match["addition"]:
            self._begin_branch(self._choice("inclusive", match["whether"]), match["addition"])
        elif match["beside"] is not None:
            self._begin_branch(self._choice("parallel", None), "")
        elif match["exclusive"] is not None:
            self._close("exclusive", match["exclusive_of"])
        elif match["inclusive"] is not None:
            self._close("inclusive", match["inclusive_of"])
        elif match["parallel"] is not None:
            self._close("parallel", None)

    def _open_split(self, sort: NodeSort | None, condition: str) -> None:
        split = ProceduralNode("exclusive", f"G{len(self._flows)}")
        if sort:
            self._sorts[split.text] = sort
        self._link(split)
        self._open.append(_OpenChoice(split, condition))
        self._ends = [(split, condition)]

    def _choice(self, sort: NodeSort, recalled: str | None) -> _OpenChoice:
        """Return the choice that words are about: the innermost, unless they recall another or are of parallel parts.

        Choices inside it are over; what left them goes where its branch goes.
        """
        while self._open:
            choice = self._open[-1]
            if sort == "parallel":
                fits = self._sorts.get(choice.split.text) == "parallel"
            else:
                fits = recalled in (None, choice.first_condition)
            if fits:
                assert self._sorts.setdefault(choice.split.text, sort) == sort
                return choice
            self._ends += self._open.pop().exits
        raise AssertionError(f"no open part for {sort}, {recalled}")

    def _begin_branch(self, choice: _OpenChoice, condition: str) -> None:
        choice.exits += self._ends
        self._ends = [(choice.split, condition)]

    def _close(self, sort: NodeSort, recalled: str | None) -> None:
        choice = self._choice(sort, recalled)
        self._open.pop()
        self._ends += choice.exits
        join = ProceduralNode(sort, f"J{len(self._flows)}")
        self._link(join)
        self._ends = [(join, "")]

    def _read_chain(self, text: str) -> None:
        actor = ""
        for step in re.split(r", (?:and )?(?:then (?=\w)|(?=the procedure ends))", text):
            if step == "the procedure ends":
                self._link(END)
                self._ends = []
            elif step not in ("nothing has to be done", "this part is done"):
                subject, must, words = step.rpartition(" must ")
                actor = subject if must else actor
                action = ProceduralNode("action", words, actor)
                self._actions[words] = action
                self._link(action)
                self._ends = [(action, "")]

    def _link(self, target: ProceduralNode) -> None:
        assert self._ends, f"nothing leads to {target}"
        self._flows += [(source, target, condition) for source, condition in self._ends]


def comparable(flows: object) -> networkx.DiGraph[str]:
    """Return a graph of nodes with labels that do not depend on articles, capitals and the names of gateways."""
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    for source, target, condition in flows:  # type: ignore[attr-defined]
        for node in (source, target):
            text = "" if node.is_gateway else node.text.removeprefix("the ").lower()
            graph.add_node(node, label=(node.sort, text, node.actor.removeprefix("the ")))
        graph.add_edge(source, target, condition=condition)
    return graph


def comparable_graph(graph: ProceduralGraph) -> networkx.DiGraph[str]:
    """Return a procedural graph with such labels."""
    return comparable((flow.source, flow.target, flow.condition) for flow in graph.flows)


def same(first: networkx.DiGraph[str], second: networkx.DiGraph[str]) -> bool:
    """Return True if two graphs differ in the names of gateways at most."""
    return networkx.is_isomorphic(
        first,
        second,
        node_match=lambda one, other: one["label"] == other["label"],
        edge_match=lambda one, other: one["condition"] == other["condition"],
    )

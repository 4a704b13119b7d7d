"""BPMN 2.0's token semantics, played on the text of a file: independent of the reader and of `execution.py`.

Every flow that the text states counts, those out of boundary events included: a join that would wait for one is stuck.
An inclusive join goes on when no other token can come to a flow of it that holds none, unless it can also come to one
that does (BPMN 2.0.2, table 13.3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from random import Random
from typing import Final
from xml.etree import ElementTree

from pytest_taskgraph.notations.phrases import read_effect
from pytest_taskgraph.workflow.guards.cells import Constant
from pytest_taskgraph.workflow.guards.solver import holds, parse_guard
from pytest_taskgraph.workflow.semantics.variables import evaluate, parse_expression

SPACE: Final = "{http://www.omg.org/spec/BPMN/20100524/MODEL}"
TASKS: Final = ("task", "subProcess")


class TokenGame:
    """The nodes and flows of one process or sub-process of a text."""

    def __init__(self, scope: ElementTree.Element) -> None:
        children = [(child.tag.removeprefix(SPACE), child) for child in scope]
        self.tags = {child.get("id", ""): tag for tag, child in children if tag != "sequenceFlow"}
        self.elements = {child.get("id", ""): child for _, child in children}
        self.flows = [child for tag, child in children if tag == "sequenceFlow"]
        self.source = [flow.get("sourceRef", "") for flow in self.flows]
        self.target = [flow.get("targetRef", "") for flow in self.flows]
        self.into = {node: [i for i, to in enumerate(self.target) if to == node] for node in self.tags}
        self.out = {node: [i for i, at in enumerate(self.source) if at == node] for node in self.tags}

    def play(self, situation: Mapping[str, Constant], rng: Random, longest: int) -> list[str] | None:
        """Return the names of the tasks in the order of one run; None if it is stuck or longer than that."""
        values = {name: value if isinstance(value, str) else Fraction(value) for name, value in situation.items()}
        tokens = [i for node, tag in self.tags.items() if tag == "startEvent" for i in self.out[node]]
        trace = list[str]()
        while tokens:
            moves = [*self._moves(tokens)]
            if not moves or len(trace) > longest:
                return None
            node, taken = rng.choice(moves)
            for i in taken:
                tokens.remove(i)
            if self.tags[node] in TASKS:
                trace.append(self.elements[node].get("name", ""))
                values |= self._effects(node, values)
            left = self._left(node, values)
            if left is None:
                return None
            tokens += left
        return trace

    def _moves(self, tokens: list[int]) -> Iterator[tuple[str, list[int]]]:
        """Yield each node that can take tokens, and those that it takes."""
        for node in dict.fromkeys(self.target[i] for i in tokens):
            held = [i for i in self.into[node] if i in tokens]
            tag = self.tags[node]
            if tag == "parallelGateway":
                if len(held) == len(self.into[node]):
                    yield node, held
            elif tag == "inclusiveGateway":
                if self._nothing_to_come(node, held, tokens):
                    yield node, held
            else:
                yield from ((node, [i]) for i in held)

    def _nothing_to_come(self, join: str, held: list[int], tokens: list[int]) -> bool:
        for i in tokens:
            if self.target[i] != join:
                ahead = self._ahead(self.target[i], join)
                if ahead - set(held) and not ahead & set(held):
                    return False
        return True

    def _ahead(self, node: str, join: str) -> set[int]:
        """Return the flows into a join to which paths lead from a node without passing the join."""
        seen, waiting = {node}, [node]
        for each in waiting:
            after = [self.target[i] for i in self.out[each] if self.target[i] != join]
            waiting += [target for target in dict.fromkeys(after) if target not in seen]
            seen.update(after)
        return {i for i in self.into[join] if self.source[i] in seen}

    def _effects(self, node: str, values: Mapping[str, Constant]) -> dict[str, Constant]:
        texts = [child.text or "" for child in self.elements[node] if child.tag == f"{SPACE}documentation"]
        effects = [read_effect(text.removeprefix("effect: ")) for text in texts if text.startswith("effect: ")]
        changes = {each.parameter: parse_expression(each.expression) for each in effects if each}
        known = defaultdict(Fraction, values)  # what no condition depends on has no value
        return {name: evaluate(each, known) for name, each in changes.items() if each}

    def _left(self, node: str, values: Mapping[str, Constant]) -> list[int] | None:
        """Return the flows that get a token; None if a choice has no way open, or an exclusive one several."""
        out, default = self.out[node], self.elements[node].get("default")
        conditions = {i: self.flows[i].findtext(f"{SPACE}conditionExpression") for i in out}
        last = [i for i in out if self.flows[i].get("id") == default or conditions[i] == "otherwise"]
        plain = [i for i in out if conditions[i] is None and i not in last]
        guarded = [i for i in out if conditions[i] is not None and i not in last]
        parsed = {i: parse_guard(conditions[i] or "") for i in guarded}
        held = [i for i, guard in parsed.items() if guard is not None and holds(guard, dict(values))]
        taken = [*plain, *(held or last)]
        splits = self.tags[node] in ("exclusiveGateway", "inclusiveGateway") and len(out) > 1
        if (splits and not taken) or (self.tags[node] == "exclusiveGateway" and len(taken) > 1):
            return None
        return taken


def games(text: str) -> dict[str, TokenGame]:
    """Return the game of each process and sub-process of a text, by its name."""
    root = ElementTree.fromstring(text)
    scopes = [element for element in root.iter() if element.tag in (f"{SPACE}process", f"{SPACE}subProcess")]
    return {scope.get("name", ""): TokenGame(scope) for scope in scopes}

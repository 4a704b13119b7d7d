"""Conditions of procedural graphs, which are prose, as guards that can be computed with, and back.

At an exclusive gateway the condition "the stock is low" becomes `choice_1 = "the stock is low"`, with a parameter of
the workflow that has a word for each branch, so that exactly one is taken. At an inclusive gateway there is a word for
every combination of branches. A branch without a condition beside others of an exclusive gateway has the word
"otherwise".

The conditions of a gateway are kept where guards would state too much or cannot express them: where a condition is
formal already, where two are the same, where the gateway lies on a cycle (it is unknown what changes in the loop), and
beside an unconditional branch of an inclusive gateway, or several of an exclusive one. The name of a gateway does not
count, because not every notation keeps it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from typing import Final

from .graph import reachable
from .guards.syntax import MAX_LENGTH, Comparison, Or, Otherwise, comparisons, parse_guard, write_guard
from .model import OTHERWISE, Domain, Link, Parameter, Workflow
from .procedural_graph import ProceduralFlow, ProceduralGraph, ProceduralNode

_CHOICE: Final = re.compile(r"choice_[1-9][0-9]*+")
MOST_INCLUSIVE: Final = 4  # conditions of an inclusive gateway that get words; there is a word for every set of them


@dataclass(frozen=True, slots=True)
class FormalGuards:
    """Guards of a graph's flows, where they differ from the conditions, and the parameters of these guards."""

    guards: Mapping[ProceduralFlow, str]
    parameters: tuple[Parameter, ...]


def formal_guards(graph: ProceduralGraph) -> FormalGuards:
    """Return guards for the conditions of a graph's exclusive and inclusive gateways, where guards can express them."""
    ways = {node: [flow.target for flow in graph.outgoing(node) if flow.sort != "constraint"] for node in graph.nodes}
    taken = _names_in_conditions(graph)
    guards: dict[ProceduralFlow, str] = {}
    parameters: list[Parameter] = []
    for gateway in graph.nodes_of("exclusive", "inclusive"):
        flows = [flow for flow in graph.outgoing(gateway) if flow.sort != "constraint"]
        if len(flows) < 2 or gateway in reachable(ways, gateway):
            continue
        name = next(name for number in count(1) if (name := f"choice_{number}") not in taken)
        if guards_and_words := _guards_of(gateway, flows, name):
            guards |= guards_and_words[0]
            parameters.append(Parameter(name, domain=Domain("words", words=guards_and_words[1])))
            taken.add(name)
    return FormalGuards(guards, tuple(parameters))


def condition_of(link: Link, workflow: Workflow) -> str:
    """Return the condition that the guard of a link stands for; "" if it has no guard."""
    guard = parse_guard(link.guard or "")
    first = guard.parts[0] if isinstance(guard, Or) else guard
    if isinstance(first, Comparison) and _CHOICE.fullmatch(first.parameter):
        words = [
            parameter.domain.words
            for parameter in workflow.parameters
            if parameter.name == first.parameter and parameter.domain
        ]
        if first.operator == "=" and not first.bare and any(first.value in some for some in words):
            return "" if first.value == OTHERWISE else str(first.value)
    return link.guard or ""


def _names_in_conditions(graph: ProceduralGraph) -> set[str]:
    """Return the parameters of the conditions that are formal already, and words that may be parameters."""
    formal = [guard for flow in graph.flows if (guard := parse_guard(flow.condition))]
    all_comparisons = [comparison for guard in formal for comparison in comparisons(guard)]
    return {
        name
        for comparison in all_comparisons
        for name in (comparison.parameter, comparison.value)
        if isinstance(name, str)
    }


def _guards_of(
    gateway: ProceduralNode, flows: Sequence[ProceduralFlow], name: str
) -> tuple[dict[ProceduralFlow, str], tuple[str, ...]] | None:
    """Return the guards of a gateway's flows and the words of its parameter; None if the conditions have to stay."""
    formal = [parse_guard(flow.condition) for flow in flows]
    in_prose = [flow for flow, guard in zip(flows, formal, strict=True) if flow.condition and guard is None]
    rest = sum(isinstance(guard, Otherwise) for guard in formal)
    free = [flow for flow in flows if not flow.condition]
    conditions = [flow.condition for flow in in_prose]
    if len(in_prose) + len(free) + rest < len(flows) or len(free) + rest > 1 or len({*conditions}) < len(conditions):
        return None
    if not in_prose or (gateway.sort == "inclusive" and (free or not 2 <= len(in_prose) <= MOST_INCLUSIVE)):
        return None
    last = [OTHERWISE] if free or rest else []
    sets: list[tuple[str, ...]] = [(condition,) for condition in conditions]
    if gateway.sort == "inclusive":
        sets = [some for size in range(1, len(in_prose) + 1) for some in combinations(conditions, size)]
    words = [*map(" and ".join, sets), *last]
    if len({*words}) < len(words):
        return None
    holding = [[word for word, some in zip(words, sets, strict=False) if condition in some] for condition in conditions]
    texts = [_guard_text(name, some) for some in holding] + [_guard_text(name, last) for _ in free]
    guards = {flow: text for flow, text in zip([*in_prose, *free], texts, strict=True) if text}
    return (guards, tuple(words)) if len(guards) == len(texts) else None


def _guard_text(name: str, words: Sequence[str]) -> str:
    """Return the guard that the parameter is one of the words; "" if the language of guards cannot express it."""
    parts = tuple(Comparison(name, "=", word) for word in words)
    guard = Or(parts) if len(parts) > 1 else parts[0]
    try:
        text = write_guard(guard)
    except ValueError:
        return ""
    return text if len(text) <= MAX_LENGTH and parse_guard(text) == guard else ""

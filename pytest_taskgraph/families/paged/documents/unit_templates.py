"""What a unit says by itself: the templates of Du et al. (2024), Table 3, with the actors named.

Units of gateways alone say nothing. A branch without an action, more than three parallel branches, and flows that the
table does not know have templates of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ....workflow.procedural_graph import ProceduralGraph, ProceduralNode
from .document_phrases import (
    clause,
    condition_words,
    constraint_clauses,
    mention,
    notice_clause,
    quote_text,
    upper_first,
)
from .units import CONSTRAINING, PARALLEL, Unit

ENDS: Final = "the procedure ends"
NOTHING: Final = "nothing has to be done"
_SILENT: Final = frozenset({"action-split", "action-join", "join-join", "join-split"})


@dataclass(frozen=True, slots=True)
class Fragment:
    """The words of one unit by itself: the paper's procedural fragment.

    Args:
        unit: The unit.
        text: A sentence, or the beginning of one where a gateway follows, such as "If it rains,".
    """

    unit: Unit
    text: str


def fragments_of(graph: ProceduralGraph, units: Sequence[Unit]) -> tuple[Fragment, ...]:
    """Return the fragments of the units that say something, in their order.

    An action that stands in silent units only, as in graphs that are not tidy, is said by the first of them.
    """
    stated = {node for unit in units if unit.kind not in (*_SILENT, *CONSTRAINING) for node in unit.nodes}
    fragments = []
    for unit in units:
        text = fragment_text(graph, unit)
        first = unit.nodes[0]
        if not text and first.sort == "action" and first not in stated:
            stated.add(first)
            text = _sentence(clause(first))
        fragments += [Fragment(unit, text)] if text else []
    return tuple(fragments)


def fragment_text(graph: ProceduralGraph, unit: Unit) -> str:
    """Return what a unit says by itself; empty if that is nothing.

    Args:
        graph: The graph of the unit, to describe a gateway among parallel branches by what follows it.
        unit: The unit.
    """
    if unit.kind in _SILENT:
        return ""
    if unit.kind in PARALLEL:
        return _sentence(_parallel_words(graph, unit.nodes[1:]))
    if unit.kind in CONSTRAINING:
        return _sentence(_constraint_words(graph, unit))
    return _sentence(_words(unit))


def _words(unit: Unit) -> str:
    first, last = unit.nodes[0], unit.nodes[-1]
    match unit.kind:
        case "start-action":
            return f"in the beginning, {clause(last)}"
        case "start-split":
            return "in the beginning,"
        case "action-action":
            return f"{clause(first)}, then {clause(last)}"
        case "action-end":
            return f"{clause(first)}, and {ENDS}"
        case "join-action":
            return clause(last)
        case "join-end":
            return ENDS
        case "other-flow":
            return _other_words(unit, first, last)
    condition = condition_words(unit.condition) if unit.condition else "in the remaining case, "
    if last.is_gateway and unit.kind.endswith("-split"):
        return f"{condition.removesuffix(', then ').removesuffix(', ')},"
    return f"{condition}{statement(last)}"


def _constraint_words(graph: ProceduralGraph, unit: Unit) -> str:
    first, last = unit.nodes
    if unit.kind == "data-action":
        return constraint_clauses(last, (first,), (), needs_actor(graph, last))
    if unit.kind == "action-data":
        return constraint_clauses(first, (), (last,), needs_actor(graph, first))
    return notice_clause(first, last, needs_actor(graph, first))


def needs_actor(graph: ProceduralGraph, action: ProceduralNode) -> bool:
    """Return True if the actor has to be named with an action: another has the same text, or nothing else names it."""
    if sum(node.text == action.text for node in graph.nodes_of("action")) > 1:
        return True
    return all(flow.sort == "constraint" for flow in (*graph.incoming(action), *graph.outgoing(action)))


def statement(node: ProceduralNode) -> str:
    """Return what happens at the end of a flow: an action, the end, or nothing where branches only come together."""
    return {"action": clause(node), "end": ENDS}.get(node.sort, NOTHING)


def _other_words(unit: Unit, first: ProceduralNode, last: ProceduralNode) -> str:
    condition = condition_words(unit.condition) if unit.condition else ""
    if first.is_constraint or last.is_constraint:
        return f"{condition}{named_node(first)} belongs to {named_node(last)}"
    source = "in the beginning" if first.sort == "start" else f"after {named_node(first)}"
    return f"{source}, {condition}{f'comes {named_node(last)}' if last.is_gateway else statement(last)}"


def named_node(node: ProceduralNode) -> str:
    """Return a node's name within a sentence."""
    if node.sort == "action":
        return mention(node)
    return (
        quote_text(node.text)
        if node.is_constraint
        else {"start": "the start", "end": "the end"}.get(node.sort, f"the gateway {node.text}")
    )


def _parallel_words(graph: ProceduralGraph, targets: Sequence[ProceduralNode]) -> str:
    first, *others = (_branch_words(graph, target) for target in targets)
    ties = ("at the same time, ", *("meanwhile, " for _ in others[1:]))
    return ", ".join((first, *(f"{tie}{words}" for tie, words in zip(ties, others, strict=False))))


def _branch_words(graph: ProceduralGraph, target: ProceduralNode) -> str:
    """Return what a parallel branch begins with; a gateway is described by its conditions."""
    conditions = [flow.condition for flow in graph.outgoing(target) if flow.condition]
    if target.is_gateway and conditions:
        words = (condition_words(text).removesuffix(", then ").removesuffix(", ") for text in conditions)
        return f"what comes {' or '.join(words)} is done"
    if target.sort == "parallel" and len(graph.outgoing(target)) > 1:
        return "several other things are done"
    return statement(target)


def _sentence(words: str) -> str:
    return upper_first(words) + ("" if words.endswith(",") else ".")

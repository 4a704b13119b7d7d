"""How a document says where it is: that a part ends, which branch goes on, and what is referred to again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from ....workflow.procedural_graph import ProceduralFlow, ProceduralGraph, ProceduralNode
from .document_phrases import mention, unmistakable
from .procedure_parts import ProcedurePart, ProcedureParts
from .unit_templates import named_node, statement
from .units import is_split

PART_DONE: Final = "this part is done"
FIRST_HAND: Final = "on the one hand, "
FURTHER_CASES: Final = "further cases are told apart: "
_NUMBERS: Final = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def closing_words(part: ProcedurePart, first_condition: str, strayed: bool) -> str:
    """Return the words that end a part, in front of what follows it.

    Args:
        part: The part.
        first_condition: The condition of the branch that was stated first.
        strayed: Another part that no words have ended has been stated since, so that the split needs to be recalled.
    """
    count = len(part.ways)
    unless = "unless the procedure has ended, " if part.leading_on < count else ""
    recalled = f"whether or not {unmistakable(first_condition)}, " if strayed and first_condition else ""
    match part.split.sort:
        case "parallel":
            done = {1: "this is", 2: "both are"}.get(count, "all of these are")
            return f"when {done} done, {unless}"
        case "inclusive":
            return f"once all that applies is done, {recalled}{unless}"
    if recalled or unless:
        return f"after that, {recalled}{unless}"
    return "after that, in either case, " if count == 2 else "after that, in each case, "


def branch_marker(parts: ProcedureParts, flow: ProceduralFlow) -> str:
    """Return the words that a new sentence needs to show that it is still in a branch; empty outside of branches."""
    for branch in reversed(parts.walked.get(flow, ())):
        if (
            branch.split.is_gateway
            and branch.split != flow.source
            and not parts.parts[branch.split].is_main_line(branch)
        ):
            return "in this part, " if branch.split.sort == "parallel" else "in this case, "
    return ""


def further_branch(split: ProceduralNode, number: int, first_condition: str, strayed: bool) -> str:
    """Return the words that open a branch behind the first.

    Args:
        split: The split.
        number: The number of the branch, from 1.
        first_condition: The condition of the branch that was stated first.
        strayed: Another part that no words have ended has been stated since, so that the split needs to be recalled.
    """
    if split.sort == "parallel":
        tie = "at the same time, " if number == 1 else "meanwhile, "
        return f"{tie}{'beside the part that was told first, ' if strayed else ''}"
    recalled = f" {unmistakable(first_condition)}, " if strayed and first_condition else ""
    if split.sort == "inclusive":
        return f"in addition, {recalled and f'whether or not{recalled}'}"
    return f"otherwise, {recalled and f'that is, unless{recalled}'}"


def together(count: int) -> str:
    """Return the words that open parallel branches right behind "at the same time"."""
    return f"{_NUMBERS.get(count, str(count))} things are done together: "


def destination(graph: ProceduralGraph, target: ProceduralNode, is_stated: bool) -> str:
    """Return what happens at the end of a flow.

    Args:
        graph: The graph.
        target: The node that the flow leads to.
        is_stated: Whether it has been stated before, and is referred to.
    """
    if target.sort == "start":
        return "the procedure starts again"
    if not is_stated or target.sort == "end":
        return statement(target)
    return f"the procedure goes on {'at' if target.is_gateway else 'with'} {_place(graph, target)}"


def origin(graph: ProceduralGraph, source: ProceduralNode) -> str:
    """Return the words for a flow that does not go on from what has just been stated."""
    if source.sort in ("action", "end"):
        return f"after {named_node(source)}, "
    before = _nearest(source, lambda node: [flow.source for flow in graph.incoming(node)])
    if before is None:
        return f"from the gateway {source.text} on, "
    return f"after {mention(before)}, " if before.sort == "action" else "in the beginning, "


def _place(graph: ProceduralGraph, node: ProceduralNode) -> str:
    """Return the words for a place that has been stated before."""
    if not node.is_gateway:
        return named_node(node)
    conditions = [unmistakable(flow.condition) for flow in graph.outgoing(node) if flow.condition]
    if is_split(graph, node) and conditions:
        return f"the question whether {' or '.join(conditions)}"
    behind = _nearest(node, lambda at: [flow.target for flow in graph.outgoing(at)])
    return f"the point before {named_node(behind)}" if behind else f"the gateway {node.text}"


def _nearest(
    node: ProceduralNode, neighbours: Callable[[ProceduralNode], list[ProceduralNode]]
) -> ProceduralNode | None:
    """Return the nearest action, start or end in one direction; None if there is none."""
    met = {node}
    waiting = deque(neighbours(node))
    while waiting:
        at = waiting.popleft()
        if at.sort in ("action", "start", "end"):
            return at
        if at not in met:
            met.add(at)
            waiting.extend(neighbours(at))
    return None

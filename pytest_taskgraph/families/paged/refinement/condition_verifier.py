"""The condition verifier of Du et al. (2024), section 4.3: exclusive gateways have conflicting conditions.

If the conditions of a gateway conflict, at most one can be met, and the gateway should be exclusive; if they do not,
it should be inclusive.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from ....workflow.procedural_graph import ProceduralGraph
from .conflict_rules import ConflictRule, ConflictVerdict, find_guard_conflict, means_other_cases
from .verifier_feedback import Slab, VerifierFeedback, find_slabs, gateway_feedback

MOST_CONDITIONS: Final = 8  # of a gateway that are compared with each other
MOST_SPLITS: Final = 100  # gateways whose conditions are compared, the smallest first


def verify_gateways(graph: ProceduralGraph, rule: ConflictRule) -> Iterator[VerifierFeedback | None]:
    """Yield feedback on each gateway with conditions, the smallest first; None if it is of the right type.

    Args:
        graph: The graph.
        rule: What decides whether conditions in prose conflict.
    """
    slabs = [slab for slab in find_slabs(graph) if slab.part.split.sort in ("exclusive", "inclusive")]
    yield from (_feedback(slab, rule) for slab in slabs[:MOST_SPLITS])


def find_gateway_conflict(conditions: list[str], rule: ConflictRule) -> tuple[ConflictVerdict, tuple[str, ...]]:
    """Return whether the conditions of a gateway conflict, and those that decide it.

    They conflict if every two do, and do not if some two do not. Beside several others, "otherwise" decides nothing,
    for both types of gateways may have it; beside one, it conflicts with that. A branch without a condition says less:
    nothing is known of it.

    Args:
        conditions: The condition of each branch; empty for none.
        rule: What decides about conditions in prose.
    """
    stated = [condition for condition in conditions if not means_other_cases(condition)][:MOST_CONDITIONS]
    others = [condition for condition in conditions if condition and means_other_cases(condition)]
    if len(stated) == 1 and others:
        return "conflict", (stated[0], others[0])
    if len(stated) < 2:
        return "unknown", ()
    verdicts: set[ConflictVerdict] = set()
    for first, second in combinations(stated, 2):
        verdict = find_guard_conflict(first, second) or rule.find_conflict(first, second)
        if verdict == "no conflict":
            return verdict, (first, second)
        verdicts.add(verdict)
    return ("conflict", tuple(stated)) if verdicts == {"conflict"} else ("unknown", ())


def _feedback(slab: Slab, rule: ConflictRule) -> VerifierFeedback | None:
    """Return feedback on a gateway if it is not of the type that its conditions show."""
    verdict, deciding = find_gateway_conflict([flow.condition for flow in slab.part.ways], rule)
    sort = slab.part.split.sort
    if sort == "exclusive" and verdict == "no conflict":
        return gateway_feedback("exclusive", slab, deciding)
    if sort == "inclusive" and verdict == "conflict":
        return gateway_feedback("inclusive", slab, deciding)
    return None

"""What leads to what in a draft, ways back left out; and further links that break its blocks."""

from __future__ import annotations

from random import Random

from .draft import Arc, Draft, Node, Step
from .layout import deciders


def ancestors(draft: Draft) -> list[int]:
    """For each step, in order, the steps from which a path leads to it, as bits: bit i is step i.

    The nodes of a draft stand in topological order, and `placement` computes with bits: no graph of networkx is built.
    """
    incoming: dict[Node, list[Node]] = {}
    for arc in draft.arcs:
        if not arc.back:
            incoming.setdefault(arc.target, []).append(arc.source)
    reached: dict[Node, int] = {}  # for each node, what leads to it, and itself if it is a step
    found: list[int] = []
    for node in draft.nodes:
        before = 0
        for source in incoming.get(node, ()):
            before |= reached.get(source, 0)
        reached[node] = before
        if isinstance(node, Step):
            reached[node] |= 1 << len(found)
            found.append(before)
    return found


def add_cross_links(draft: Draft, count: int, rng: Random) -> None:
    """Adds `count` forward links between tasks, unguarded, each new.

    They skip tasks of a sequence or lead from one branch of a fork to another; never in or out of a branch of a choice
    or the body of a loop, and never out of a task that has guarded links. There must be room for them
    (`recipe.run_length`).
    """
    guarded = {id(step) for step in deciders(draft)}
    after = _directly_after(draft)
    pairs = [
        (early, late)
        for index, early in enumerate(draft.steps)
        if id(early) not in guarded
        for late in draft.steps[index + 1 :]
        if late.region == early.region and late not in after[id(early)]
    ]
    draft.arcs.extend(Arc(early, late) for early, late in rng.sample(pairs, count))


def _directly_after(draft: Draft) -> dict[int, list[Step]]:
    """For each step, by identity, the steps that a path through gateways alone leads to."""
    targets: dict[Node, list[Node]] = {}
    for arc in draft.arcs:
        targets.setdefault(arc.source, []).append(arc.target)
    after: dict[int, list[Step]] = {}
    for step in draft.steps:
        found = list(targets.get(step, ()))
        for node in found:
            found.extend(targets.get(node, ()) if isinstance(node, str) else ())
        after[id(step)] = [node for node in found if isinstance(node, Step)]
    return after

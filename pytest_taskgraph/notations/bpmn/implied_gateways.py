"""Removal of the gateways that the writer adds (`explicit_flow.py`): the flows through them become links."""

from __future__ import annotations

from collections.abc import Iterator

from ..notation import IMPLIED
from .explicit_flow import SPLIT_OF_JOIN
from .level_wires import LevelDraft
from .token_flow import Wire


def without_implied(draft: LevelDraft) -> LevelDraft:
    """Return the level without implied gateways."""
    implied = {key for key in draft.gateways if _name(draft, key).startswith(IMPLIED)}
    behind: dict[str, list[Wire]] = {}
    for wire in draft.wires:
        if wire.source in implied:
            behind.setdefault(wire.source, []).append(wire)
    wires = [each for wire in draft.wires if wire.source not in implied for each in _followed(wire, implied, behind)]
    exceptional = [
        (source, each.target)
        for source, target in draft.exceptional
        for each in _followed(Wire(source, target), implied, behind)
    ]
    joins = {
        wire.source for wire in draft.wires if wire.target in implied and _name(draft, wire.target) == SPLIT_OF_JOIN
    }
    gateways = {
        key: each._replace(role="join") if key in joins else each
        for key, each in draft.gateways.items()
        if key not in implied
    }
    return LevelDraft(draft.activities, gateways, [*dict.fromkeys(wires)], [*dict.fromkeys(exceptional)])


def _name(draft: LevelDraft, gateway: str) -> str:
    node = draft.gateways[gateway].node
    return node.element.name if node is not None else ""


def _followed(wire: Wire, implied: set[str], behind: dict[str, list[Wire]]) -> Iterator[Wire]:
    """Yield the wires to the nodes that a wire leads to, through implied gateways alone."""
    waiting = [wire]
    seen = {(wire.target, wire.guard)}
    for each in waiting:
        if each.target not in implied:
            yield each
            continue
        for further in behind.get(each.target, ()):
            guard = further.guard if each.guard is None else each.guard
            if (further.target, guard) not in seen:
                seen.add((further.target, guard))
                waiting.append(Wire(wire.source, further.target, guard))

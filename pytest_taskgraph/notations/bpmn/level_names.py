"""The names of the activities, data and gateways of a level: unique, stable, and written in the text that is shown.

An activity or data whose name is missing, shared, or START or END, is called by its id. Names of gateways are not asked
for; a gateway without a name of its own is called by its kind and the activity before it, whichever tool wrote the id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from ...workflow.model import END, START
from ..notation import IMPLIED
from .level_wires import GatewayDraft, LevelDraft

_RESERVED: Final = (START, END)


def unique_names(names: Mapping[str, str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return names by id: the given one, or the id where that is missing, reserved, taken, or not unique."""
    reserved = {*_RESERVED, *taken}
    by_id: set[str] = set()
    while True:
        chosen = {each: each if each in by_id else name for each, name in names.items()}
        times = Counter(chosen.values())
        unfit = {
            each
            for each, name in chosen.items()
            if each not in by_id and (not name or name in reserved or times[name] > 1)
        }
        if not unfit:
            return chosen
        by_id |= unfit


def gateway_names(draft: LevelDraft, names: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the gateways by key.

    Args:
        draft: The level.
        names: The names of its activities and data, by id.
    """
    into: dict[str, list[str]] = {}
    out: dict[str, list[str]] = {}
    for wire in draft.wires:
        into.setdefault(wire.target, []).append(wire.source)
        out.setdefault(wire.source, []).append(wire.target)
    own = Counter(_own_name(gateway) for key, gateway in draft.gateways.items() if "#join" not in key)
    taken, chosen = {*names.values(), *_RESERVED}, dict[str, str]()
    described: dict[str, list[tuple[str, str, str]]] = {}
    before, after = _nearest(out, names), _nearest(into, names)
    for key, gateway in draft.gateways.items():
        name = _own_name(gateway)
        if name and own[name] == 1 and name not in taken:
            chosen[key] = f"{name} (join)" if key.endswith("#join") else name
        else:
            what = f"{gateway.kind} {gateway.role}" if gateway.node else f"{IMPLIED}one way"
            text = f"{what} after {before.get(key, START)}"
            described.setdefault(text, []).append((before.get(key, START), after.get(key, END), key))
    taken |= set(chosen.values())
    for text, gateways in sorted(described.items()):
        for *_, key in sorted(gateways):
            number, name = 1, text
            while name in taken:
                number += 1
                name = f"{text} {number}"
            taken.add(name)
            chosen[key] = name
    return chosen


def _own_name(gateway: GatewayDraft) -> str:
    return gateway.node.element.name if gateway.node is not None else ""


def _nearest(links: Mapping[str, Iterable[str]], names: Mapping[str, str]) -> dict[str, str]:
    """Return, for each node, the first by name of the activities and ends that are the fewest links before it."""
    nearest = {**names, START: START, END: END}
    distance, waiting = dict.fromkeys(nearest, 0), [*nearest]
    for node in waiting:
        for target in links.get(node, ()):
            if target not in distance:
                distance[target], nearest[target] = distance[node] + 1, nearest[node]
                waiting.append(target)
            elif distance[target] == distance[node] + 1:
                nearest[target] = min(nearest[target], nearest[node])
    return nearest

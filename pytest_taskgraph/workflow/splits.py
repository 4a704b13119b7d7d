"""Which links are taken where a node has run, judged by their guards."""

from __future__ import annotations

from collections.abc import Sequence

from .guards import Otherwise
from .memory import Memory, UndecidedError
from .model import Link
from .variables import Variables, Way


def taken(known: Variables, node: str, memory: Memory, place: int, before: int) -> list[Link]:
    """The links out of a node that are taken; its execution has the number `place`, all of `before` has come before.

    Raises UndecidedError where a guard cannot be computed, the links contradict the gateway, no way is open, or more
    than one is and the choice is not known to be inclusive.
    """
    ways, kind = known.ways[node], known.flow.split(node)
    guarded = [way for way in ways if way.link.guard is not None]
    if kind == "unclear" or (not guarded and kind not in ("", "parallel")):
        raise UndecidedError(f"nothing tells which way is taken at {node}")
    for way in guarded:
        if way.vague:
            raise UndecidedError(f"the guard {way.link.guard!r} cannot be computed")
    free = [way.link for way in ways if way.link.guard is None]
    held = _open(guarded, memory, place, before)
    if guarded and kind != "mixed" and not held:
        raise UndecidedError(f"no way is open at {node}", stuck=True)
    if len(held) > 1 and kind not in ("inclusive", "mixed"):
        raise UndecidedError(f"several ways are open at {node}, and may exclude each other")
    return free + held


def _open(ways: Sequence[Way], memory: Memory, place: int, before: int) -> list[Link]:
    plain = [way for way in ways if way.guard is not None and not isinstance(way.guard, Otherwise)]
    held = [way.link for way in plain if way.guard is not None and memory.holds(way.guard, place, before)]
    others = [way.link for way in ways if isinstance(way.guard, Otherwise)]
    return held or others

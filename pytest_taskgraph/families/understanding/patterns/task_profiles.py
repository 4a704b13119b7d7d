"""What the links of tasks and levels show at a glance, so that cases with different answers can be alike in it."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Final

from ....workflow.model import END, OTHERWISE, START, Flow, Workflow

SEVERAL: Final = 2  # larger numbers of links of one kind count as this


@lru_cache(maxsize=256)
def node_profiles(level: Workflow, flow: Flow = "control") -> dict[str, str]:
    """Return, for each task and data of a level, how many links of which kind lead in and out of it in a flow.

    A link of the control flow is conditional, "otherwise" or neither, and its other end is START or END, a gateway, or
    a task.
    """
    gateways = {gateway.name for gateway in level.gateways}
    names = level.task_names if flow == "control" else (*level.task_names, *(data.name for data in level.data))
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for link in level.links if flow == "control" else ():
        condition = "" if link.guard is None else "otherwise" if link.guard.strip() == OTHERWISE else "if"
        for node, other, way in ((link.source, link.target, "to"), (link.target, link.source, "from")):
            if node in counts:
                kind = "gateway" if other in gateways else "end" if other in (START, END) else "task"
                counts[node][f"{way} {kind} {condition}"] += 1
    for data_link in level.data_links if flow == "data" else ():
        for node, way in ((data_link.source, "to"), (data_link.target, "from")):
            if node in counts:
                counts[node][way] += 1
    return {
        node: ", ".join(f"{min(number, SEVERAL)} {kind}" for kind, number in sorted(found.items()))
        for node, found in counts.items()
    }


def pair_profile(level: Workflow, a: str, b: str, flow: Flow = "control") -> str:
    """Return the profiles of two nodes of a level in a flow, and whether a link joins them, in either direction."""
    profiles, pairs = node_profiles(level, flow), joined_pairs(level, flow)
    return f"{profiles[a]} | {profiles[b]} | {'joined' if (a, b) in pairs or (b, a) in pairs else 'apart'}"


def link_profile(level: Workflow, a: str, b: str) -> str:
    """Return what leaves the first task and what enters the second, and which links of the control flow join them."""
    profiles, pairs = node_profiles(level), joined_pairs(level, "control")
    out = [part for part in profiles[a].split(", ") if " to " in part]
    into = [part for part in profiles[b].split(", ") if " from " in part]
    return f"{', '.join(out)} | {', '.join(into)} | {(a, b) in pairs} {(b, a) in pairs}"


@lru_cache(maxsize=256)
def joined_pairs(level: Workflow, flow: Flow) -> frozenset[tuple[str, str]]:
    """Return the source and the target of each link of a flow, which one line of the text names."""
    links = level.links if flow == "control" else level.data_links
    return frozenset((link.source, link.target) for link in links)


@lru_cache(maxsize=256)
def level_profile(level: Workflow) -> str:
    """Return how many gateways, conditions, and places where ways part, meet, begin and end a level has."""
    guards = [link.guard.strip() for link in level.links if link.guard is not None]
    into, out = Counter(link.target for link in level.links), Counter(link.source for link in level.links)
    nodes = (*level.task_names, *(gateway.name for gateway in level.gateways))
    parts = {
        "gateways": min(len(level.gateways), 3),
        "pairs of conditions": min((len(guards) + 1) // 2, 3),
        "otherwise": min(guards.count(OTHERWISE), 1),
        "ways parting": min(sum(out[task] > 1 for task in level.task_names), 2),
        "ends": min(sum(not into[node] or not out[node] for node in nodes), 2),
    }
    return ", ".join(f"{number} {what}" for what, number in parts.items())

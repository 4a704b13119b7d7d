"""How the gateways of a level are called in the workflow DSL: PARALLEL_1 and PARALLEL_END_1, and the like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..workflow.graph import distances, reached
from ..workflow.model import Gateway, Workflow
from .wadl_words import marker, marker_name


def markers(level: Workflow) -> dict[str, str]:
    """Gateway to marker; a split and the join that gathers its branches have the same number.

    Names that are such markers already stay. A gateway without a link has none, for no line names it; nor has it a
    place in the canonical form.
    """
    ends = {end for link in level.links for end in (link.source, link.target)}
    linked = [gateway for gateway in level.gateways if gateway.name in ends]
    taken = {*level.task_names, *(data.name for data in level.data)}
    if all(marker(gateway.name) == gateway and gateway.name not in taken for gateway in linked):
        return {gateway.name: gateway.name for gateway in linked}
    return _numbered(linked, _following(level), taken)


def _numbered(gateways: Sequence[Gateway], following: Mapping[str, list[str]], taken: set[str]) -> dict[str, str]:
    joins = {one.name: one for one in gateways if one.role == "join"}
    named: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for gateway in sorted(gateways, key=lambda one: one.role == "join"):  # splits first, in their order
        if gateway.name in named:
            continue
        pair = [gateway]
        if gateway.role == "split":
            pair += _partner(gateway, {name: one for name, one in joins.items() if name not in named}, following)
        number = numbers.get(gateway.kind, 0) + 1
        while any(marker_name(one, number) in taken for one in pair):
            number += 1
        numbers[gateway.kind] = number
        named.update({one.name: marker_name(one, number) for one in pair})
    return named


def _following(level: Workflow) -> dict[str, list[str]]:
    following: dict[str, list[str]] = {}
    for link in level.links:
        following.setdefault(link.source, []).append(link.target)
    return following


def _partner(split: Gateway, joins: Mapping[str, Gateway], following: Mapping[str, list[str]]) -> list[Gateway]:
    """The nearest join of the split's kind that every way from it to an end passes; none if there is none."""
    ahead = following.get(split.name, ())
    for node in distances(following, ahead):  # nearest first
        join = joins.get(node)
        if join and join.kind == split.kind:
            around = reached(following, ahead, without=node)
            if all(following.get(other) for other in around):
                return [join]
    return []

"""Shuffle what a project declares, so that the order of the text tells nothing about the order of the flow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from ..workflow.model import Configuration, Link, Task, Workflow

CANDIDATES = 12  # orders of the links of a level to choose from
_T = TypeVar("_T")


def shuffle_declarations(project: Workflow, rng: Random) -> Workflow:
    """Return the project with everything declared in a drawn order, at any depth; the first workflow stays first."""

    def shuffle_level(level: Workflow) -> Workflow:
        return replace(
            level,
            tasks=_shuffled(map(shuffle_task, level.tasks), rng),
            data=_shuffled(level.data, rng),
            gateways=_shuffled(level.gateways, rng),
            links=shuffle_links(level.links, rng),
            data_links=_shuffled(level.data_links, rng),
            parameters=_shuffled(level.parameters, rng),
            configurations=_shuffled(map(shuffle_configuration, level.configurations), rng),
            others=_shuffled(map(shuffle_level, level.others), rng),
        )

    def shuffle_task(task: Task) -> Task:
        below = task.subworkflow and shuffle_level(task.subworkflow)
        parameters, effects = _shuffled(task.parameters, rng), _shuffled(task.effects, rng)
        return replace(task, parameters=parameters, effects=effects, subworkflow=below)

    def shuffle_configuration(one: Configuration) -> Configuration:
        inside = _shuffled(map(shuffle_configuration, one.configurations), rng)
        return replace(one, parameters=_shuffled(one.parameters, rng), configurations=inside)

    return shuffle_level(project)


def shuffle_links(links: Sequence[Link], rng: Random) -> tuple[Link, ...]:
    """Return the links in a drawn order in which being mentioned first does not mean running first.

    A link mentions its source before its target. In a plain shuffle the source of a link is therefore the first of the
    two to be mentioned in two of three links of a chain. Of several shuffles the one is taken in which that holds
    for as close to half of the links as can be had.
    """
    if len(links) < 2:
        return tuple(links)
    shuffles = [_shuffled(links, rng) for _ in range(CANDIDATES)]
    return min(shuffles, key=lambda candidate: abs(0.5 - _share_mentioned_in_order(candidate)))


def _share_mentioned_in_order(links: Sequence[Link]) -> float:
    """Return the share of the links whose source is mentioned before their target, reading from the first link on."""
    place: dict[str, int] = {}
    for link in links:
        for node in (link.source, link.target):
            place.setdefault(node, len(place))
    return sum(place[link.source] < place[link.target] for link in links) / len(links)


def _shuffled(items: Iterable[_T], rng: Random) -> tuple[_T, ...]:
    listed = list(items)
    rng.shuffle(listed)
    return tuple(listed)

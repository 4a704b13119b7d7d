"""Choices that no parameter decides, given a parameter of their own.

A gateway without any condition leaves open which way is taken, and so does one whose conditions are prose. With a
parameter whose value says which ways are taken, such a choice is one like any other.

Two conditions in prose may depend on each other, or prose on a parameter. So prose is allowed only if one choice of the
level has conditions at all, and that choice is exclusive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Final

from ....errors import NoCaseError
from ....workflow.model import Domain, Link, Parameter, Workflow
from ....workflow.semantics.variables import Variables, variables_of

MOST_INCLUSIVE_WAYS: Final = 5  # of an open inclusive choice: it can take 31 sets of these


def with_deciding_parameters(level: Workflow) -> Workflow:
    """Return the level with guards on a parameter of its own at every open choice.

    Raises:
        NoCaseError: if a condition in prose may depend on others, or an inclusive choice has too many ways.
    """
    variables = variables_of(level)
    nodes = [node for node in variables.flow.nodes if _is_open(variables, node)]
    guards: dict[str, Iterator[str]] = {}
    parameters: list[Parameter] = []
    for number, node in enumerate(nodes):
        name = _free_name(variables, number)
        count = len(variables.flow.out[node])
        taken = _ways_taken(variables, node, count)
        words = tuple(_word(ways) for ways in taken)
        parameters.append(Parameter(name, domain=Domain("words", words=words)))
        guards[node] = iter([_guard(name, way, taken) for way in range(count)])
    if not nodes:
        return level
    links = tuple(
        replace(link, guard=next(guards[link.source])) if link.source in guards and _declared(variables, link) else link
        for link in level.links
    )
    return replace(level, links=links, parameters=(*level.parameters, *parameters))


def _is_open(variables: Variables, node: str) -> bool:
    """Return True if nothing that can be computed says which way a choice takes."""
    ways = variables.ways[node]
    if variables.flow.split(node) not in ("exclusive", "inclusive"):
        return False
    return all(way.link.guard is None for way in ways) or any(way.vague for way in ways)


def _ways_taken(variables: Variables, node: str, count: int) -> list[tuple[int, ...]]:
    """Return the sets of ways that a choice can take."""
    exclusive = variables.flow.split(node) == "exclusive"
    guarded = [split for split, ways in variables.ways.items() if any(way.link.guard is not None for way in ways)]
    if node in guarded and not (exclusive and guarded == [node]):
        raise NoCaseError(f"the conditions at {node!r} are prose, and may depend on each other or on other conditions")
    if exclusive:
        return [(way,) for way in range(count)]
    if count > MOST_INCLUSIVE_WAYS:
        raise NoCaseError(f"the inclusive choice at {node!r} has {count} ways; at most {MOST_INCLUSIVE_WAYS} are tried")
    return list(chain.from_iterable(combinations(range(count), size) for size in range(1, count + 1)))


def _guard(name: str, way: int, taken: Sequence[tuple[int, ...]]) -> str:
    """Return the condition under which a way is taken."""
    return " or ".join(f"{name} = {_word(ways)}" for ways in taken if way in ways)


def _word(ways: Sequence[int]) -> str:
    return "way_" + "_".join(map(str, ways))


def _free_name(variables: Variables, number: int) -> str:
    """Return a name that no parameter bears, and no guard reads."""
    taken = {*variables.domains, *variables.read(variables.flow.nodes)}
    taken |= {parameter.name for task in variables.level.tasks for parameter in task.parameters}
    name = f"choice_{number}"
    while name in taken:
        name += "_"
    return name


def _declared(variables: Variables, link: Link) -> bool:
    return link.target in variables.flow.out

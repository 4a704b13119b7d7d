"""Names for the gateways of a level that tell their place in the graph, whatever they were named and in what order.

The place is told by refining labels over the neighbourhood (Weisfeiler and Leman 1968). Where labels tie, one of the
gateways is told apart and the rest refined again, part by part of the graph. The refinement is hand-written:
`nx.weisfeiler_lehman_subgraph_hashes` does not tell ties apart.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from .model import Gateway, Link, Workflow

Labels = dict[str, str]
Around = Mapping[str, tuple[Sequence[Link], Sequence[Link]]]


def new_names(level: Workflow, gateways: Mapping[str, Gateway], links: Sequence[Link]) -> dict[str, str]:
    """For every gateway that has a link a name of its kind, role and place in the graph, in the order of these names.

    Independent of the old names and of the order of `gateways` and `links`, unless two gateways that differ tie even
    after one of them is told apart; that takes strongly regular graphs of dozens of gateways.
    """
    around = _around(gateways, links)
    labels = {name: _digest(gateways[name].kind, gateways[name].role) for name in around}
    labels = _refined(labels, around)
    while tied := _tied(labels):
        told_apart = [_told_apart(part, labels, around) for part in _parts(tied, around)]
        labels = _refined(labels | _numbered(told_apart), around)
    prefix = _unused_prefix(level)
    names: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for name in sorted(labels, key=lambda name: (gateways[name].kind, gateways[name].role, labels[name])):
        stem = f"{prefix}{gateways[name].kind}-{gateways[name].role}"
        numbers[stem] = numbers.get(stem, 0) + 1
        names[name] = f"{stem}-{numbers[stem]}"
    return names


def _around(gateways: Iterable[str], links: Iterable[Link]) -> Around:
    """The links into and out of every gateway that has one."""
    found: dict[str, tuple[list[Link], list[Link]]] = {name: ([], []) for name in gateways}
    for link in links:
        if link.target in found:
            found[link.target][0].append(link)
        if link.source in found:
            found[link.source][1].append(link)
    return {name: ways for name, ways in found.items() if any(ways)}


def _tied(labels: Labels) -> dict[str, None]:
    """The gateways that share their label with another."""
    counts = Counter(labels.values())
    return {name: None for name, label in labels.items() if counts[label] > 1}


def _parts(names: Mapping[str, None], around: Around) -> list[list[str]]:
    """The gateways by connected part of the graph that they make: what happens in one does not count in another."""
    parts: list[list[str]] = []
    seen: set[str] = set()
    for first in names:
        part = [] if first in seen else [first]
        seen.add(first)
        for name in part:
            ins, outs = around[name]
            near = dict.fromkeys([link.source for link in ins] + [link.target for link in outs])
            part += (new := [other for other in near if other in names and other not in seen])
            seen.update(new)
        parts += [part] if part else []
    return parts


def _told_apart(part: Sequence[str], labels: Labels, around: Around) -> Labels:
    """The labels of a part after one gateway of its rarest tied label is told apart: after which they come first."""
    counts = Counter(labels[name] for name in part)
    several = [(count, label) for label, count in counts.items() if count > 1]
    if not several:
        return {name: labels[name] for name in part}
    rarest = min(several)[1]
    near = {name: around[name] for name in part}
    tries = (labels | {name: _digest(rarest, "first")} for name in part if labels[name] == rarest)
    return min((_refined(one, near) for one in tries), key=lambda one: sorted(one.values()))


def _numbered(parts: Iterable[Labels]) -> Labels:
    """The labels of all parts, numbered where each stands once in its part: parts of the same labels are then alike."""
    found: Labels = {}
    for number, part in enumerate(sorted(parts, key=lambda one: sorted(one.values()))):
        alone = len(set(part.values())) == len(part)
        found |= {name: _digest(label, str(number)) if alone else label for name, label in part.items()}
    return found


def _refined(labels: Labels, around: Around) -> Labels:
    """The labels of the gateways in `around` after as many rounds of neighbourhood labels as still tell more apart."""
    while True:
        finer = {name: _neighbourhood(name, labels, around) for name in around}
        if len(set(finer.values())) == len({labels[name] for name in around}):
            return finer
        labels = labels | finer


def _neighbourhood(name: str, labels: Labels, around: Around) -> str:
    """A label made of a gateway's own and of what is linked to it; names of tasks count, names of gateways do not."""

    def end(other: str) -> str:
        return "itself" if other == name else labels.get(other, f"task {other}")

    ins, outs = around[name]
    before = sorted(_digest("from", end(link.source), link.guard) for link in ins)
    after = sorted(_digest("to", end(link.target), link.guard) for link in outs)
    return _digest(labels[name], *before, *after)


def _digest(*parts: str | None) -> str:
    return blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def _unused_prefix(level: Workflow) -> str:
    """A text with which no task's name begins where it is followed by the name of a gateway's kind; mostly empty."""
    prefix = ""
    while any(
        name.startswith((f"{prefix}parallel-", f"{prefix}exclusive-", f"{prefix}inclusive-"))
        for name in level.task_names
    ):
        prefix += "-"
    return prefix

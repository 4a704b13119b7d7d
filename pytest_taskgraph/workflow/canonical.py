"""The form of a workflow in which the order of declaration, spelling and the names of gateways tell nothing.

The place is told by refining labels over the neighbourhood (Weisfeiler and Leman 1968). Where labels tie, one of the
gateways is told apart and the rest refined again, part by part of the graph. The refinement is hand-written:
`nx.weisfeiler_lehman_subgraph_hashes` does not tell ties apart.

Two workflows say the same if their canonical forms are equal. What the form leaves out: where derivation and references
stood, packages, the names of inline sub-workflows and of gateways, gateways that decide nothing, planted flaws.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from .model import OTHERWISE, Domain, Gateway, Link, Parameter, QualifiedName, Task, Workflow
from .references import expand, override_parameters

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


Packages = Mapping[QualifiedName, str]
Gateways = Mapping[str, Gateway]


def canonical(workflow: Workflow) -> Workflow:
    """The canonical form: assembled, expanded, gateways reduced and renamed, everything sorted. It is its own form.

    An inline sub-workflow bears its task's name, has no package, and takes the task's parameters; the task takes its
    description unless it has one. For the text of an expanded task does not tell what is the task's and what the
    sub-workflow's (wadl-grammar.md, "Parameters"); where both say something, the task's stands, as an override does.
    So whether a task has a parameter *of its own* (S2) is to be asked of the workflow as it is, not of this form.
    `others` are those to which recursive references lead; packages stay only where two of them have the same name.
    Raises WorkflowError, as `expand` does.
    """
    whole = expand(workflow)
    names = [one.name for one in (whole, *whole.others)]
    packages = {one.qualified: one.package if names.count(one.name) > 1 else "" for one in (whole, *whole.others)}
    first, *others = (replace(_level(one, packages), package=packages[one.qualified]) for one in (whole, *whole.others))
    return replace(first, others=tuple(sorted(others, key=lambda one: (one.name, one.package))))


def _level(level: Workflow, packages: Packages) -> Workflow:
    links = _reduced(level)
    gateways = {gateway.name: gateway for gateway in level.gateways}
    names = new_names(level, gateways, links)
    renamed = (Link(names.get(one.source, one.source), names.get(one.target, one.target), one.guard) for one in links)
    return Workflow(
        name=level.name,
        description=level.description,
        tasks=tuple(sorted((_task(task, packages) for task in level.tasks), key=lambda task: task.name)),
        data=tuple(sorted(level.data, key=lambda data: data.name)),
        gateways=tuple(replace(gateways[old], name=new) for old, new in names.items()),
        links=tuple(sorted(renamed, key=lambda link: (link.source, link.target, link.guard or ""))),
        data_links=tuple(sorted(set(level.data_links), key=lambda link: (link.source, link.target))),
        parameters=_parameters(level.parameters),
    )


def _task(task: Task, packages: Packages) -> Task:
    refers = task.reference
    task = replace(
        task,
        parameters=_parameters(task.parameters),
        effects=tuple(sorted(task.effects, key=lambda effect: effect.parameter)),
        bindings=tuple(sorted(task.bindings)),
        reference=refers and QualifiedName(refers.name, packages.get(refers, refers.package)),
    )
    below = task.subworkflow
    if below is None:
        return task
    inside = replace(
        below, name=task.name, description="", parameters=override_parameters(below.parameters, task.parameters)
    )
    description = task.description or below.description
    return replace(task, description=description, parameters=(), subworkflow=_level(inside, packages))


def _parameters(parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    ordered = sorted(parameters, key=lambda one: one.name)
    return tuple(replace(one, domain=one.domain and _domain(one.domain)) for one in ordered)


def _domain(domain: Domain) -> Domain:
    return replace(domain, words=tuple(sorted(set(domain.words))))


def _reduced(level: Workflow) -> list[Link]:
    """The links once each, without the gateways that need not stand; the order of declaration does not count.

    Every time the first step that changes anything is taken, and a step takes all the gateways it can: no removal
    within a step is in the way of another of that step, so it leads to the same in whatever order it goes. Across the
    steps the order counts: a removed choice's join leaves its several ways in to what comes after it, which is
    therefore to be gone already if it has but one way in. So no split comes to have several ways in and one out.
    Gateways on a circle of gateways stay, and a guard moves over a gateway only where no other guard is in its way.
    """
    gateways = {gateway.name: gateway for gateway in level.gateways}
    links = _once(
        replace(link, guard=None if link.guard is None else " ".join(link.guard.split())) for link in level.links
    )
    circling = _circling(gateways, links)
    removable = {name: gateway for name, gateway in gateways.items() if name not in circling}
    steps: tuple[Callable[[list[Link]], list[Link]], ...] = (
        lambda links: _without(links, removable, _is_straight),
        lambda links: _without(links, removable, _is_join_of_choice),
        lambda links: _without(links, removable, _is_guarded_way),
        lambda links: _with_otherwise(links, gateways),
        lambda links: _choices_at_tasks(links, level.task_names, removable),
    )
    while (changed := next((new for step in steps if (new := step(links)) != links), None)) is not None:
        links = changed
    return links


def _without(
    links: list[Link], gateways: Gateways, goes: Callable[[Gateway, list[Link], list[Link]], bool]
) -> list[Link]:
    """The links after every gateway that goes is removed, and its ways in joined to its way out."""
    changed = True
    while changed:
        changed = False
        for gateway in gateways.values():
            ins, outs = _ways(links, gateway.name)
            if len(outs) == 1 and ins and goes(gateway, ins, outs):
                target, guard = outs[0].target, outs[0].guard
                joined = [Link(one.source, target, guard if one.guard is None else one.guard) for one in ins]
                links = _once(joined + [link for link in links if gateway.name not in (link.source, link.target)])
                changed = True
    return links


def _is_straight(gateway: Gateway, ins: list[Link], outs: list[Link]) -> bool:
    """Whether it has but one way in, and no guard behind it."""
    return len(ins) == 1 and outs[0].guard is None


def _is_join_of_choice(gateway: Gateway, ins: list[Link], outs: list[Link]) -> bool:
    """Whether it is a choice's join, and has no guard behind it."""
    return gateway.role == "join" and gateway.kind != "parallel" and outs[0].guard is None


def _is_guarded_way(gateway: Gateway, ins: list[Link], outs: list[Link]) -> bool:
    """Whether it has but one way in, without a guard."""
    return len(ins) == 1 and ins[0].guard is None


def _with_otherwise(links: list[Link], gateways: Gateways) -> list[Link]:
    """The links with the guard "otherwise" on the only unguarded way out of an exclusive split beside guarded ones."""
    defaults = set()
    for gateway in gateways.values():
        if gateway.role == "split" and gateway.kind == "exclusive":
            guards = [link.guard for link in _ways(links, gateway.name)[1]]
            if guards.count(None) == 1 and len(guards) > 1 and OTHERWISE not in guards:
                defaults.add(gateway.name)
    return _once(
        replace(link, guard=OTHERWISE) if link.source in defaults and link.guard is None else link for link in links
    )


def _choices_at_tasks(links: list[Link], tasks: Sequence[str], gateways: Gateways) -> list[Link]:
    """The links with the ways out of a choice at the tasks directly before it; the split goes where nothing else is.

    A task has them only if it leads to one such split and has no guarded link: then the guards cannot mix.
    """
    splits = {name for name, gateway in gateways.items() if _choice(gateway, _ways(links, name)[1])}
    passed: list[Link] = []
    for task in tasks:
        outs = _ways(links, task)[1]
        chosen = [link for link in outs if link.target in splits]
        if len(chosen) == 1 and all(link.guard is None for link in outs):
            passed.append(chosen[0])
    if not passed:
        return links
    copies = [Link(one.source, out.target, out.guard) for one in passed for out in _ways(links, one.target)[1]]
    left = [link for link in links if link not in passed]
    idle = {one.target for one in passed} - {link.target for link in left}
    return _once([link for link in left if link.source not in idle] + copies)


def _choice(gateway: Gateway, outs: list[Link]) -> bool:
    """Whether it is a choice that guards decide."""
    guarded = [link.guard is not None for link in outs]
    if gateway.role == "join" or gateway.kind == "parallel":
        return False
    return any(guarded) and (gateway.kind == "inclusive" or all(guarded))


def _ways(links: Iterable[Link], name: str) -> tuple[list[Link], list[Link]]:
    """The links into a node and out of it."""
    return [link for link in links if link.target == name], [link for link in links if link.source == name]


def _once(links: Iterable[Link]) -> list[Link]:
    return list(dict.fromkeys(links))


def _circling(gateways: Gateways, links: Sequence[Link]) -> set[str]:
    """The gateways on, or between, circles that pass gateways only.

    Hand-written: mostly there is none, which one round tells without a graph of networkx.
    """
    left = set(gateways)
    while True:
        among = [link for link in links if link.source in left and link.target in left]
        still = left & {link.source for link in among} & {link.target for link in among}
        if still == left:
            return left
        left = still

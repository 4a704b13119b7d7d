"""The canonical form of a workflow, in which declaration order, spelling and names of gateways do not count.

Gateways are named by their place in the graph, which is found by refining labels over the neighbourhood (Weisfeiler and
Leman, 1968). Where labels tie, one of the gateways gets a label of its own and the rest is refined again, part by part
of the graph. The refinement is hand-written: `nx.weisfeiler_lehman_subgraph_hashes` does not break ties.

Two workflows are equal in meaning if their canonical forms are equal. The form leaves out where derivation and
references stood, packages, the names of inline sub-workflows and of gateways, gateways that decide nothing, and planted
flaws.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from pytest_taskgraph.workflow.model import OTHERWISE, Domain, Gateway, Link, Parameter, QualifiedName, Task, Workflow
from pytest_taskgraph.workflow.references import expand, override_parameters

Labels = dict[str, str]
Neighbours = Mapping[str, tuple[Sequence[Link], Sequence[Link]]]


def new_names(level: Workflow, gateways: Mapping[str, Gateway], links: Sequence[Link]) -> dict[str, str]:
    """Return a new name for every gateway that has a link: its kind, its role and a number by its place in the graph.

    The result is in the order of the new names. It is independent of the old names and of the order of `gateways` and
    `links`, unless two gateways that differ tie even after one of them got a label of its own; that takes strongly
    regular graphs of dozens of gateways.
    """
    neighbours = _neighbours_of(gateways, links)
    labels = {name: _digest(gateways[name].kind, gateways[name].role) for name in neighbours}
    labels = _refine_labels(labels, neighbours)
    while tied_names := _tied_gateways(labels):
        labelled_parts = [_break_tie(part, labels, neighbours) for part in _connected_parts(tied_names, neighbours)]
        labels = _refine_labels(labels | _number_parts(labelled_parts), neighbours)
    prefix = _unused_prefix(level)
    names: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for name in sorted(labels, key=lambda name: (gateways[name].kind, gateways[name].role, labels[name])):
        stem = f"{prefix}{gateways[name].kind}-{gateways[name].role}"
        numbers[stem] = numbers.get(stem, 0) + 1
        names[name] = f"{stem}-{numbers[stem]}"
    return names


def _neighbours_of(gateways: Iterable[str], links: Iterable[Link]) -> Neighbours:
    """Return the links into and out of every gateway that has one."""
    neighbours: dict[str, tuple[list[Link], list[Link]]] = {name: ([], []) for name in gateways}
    for link in links:
        if link.target in neighbours:
            neighbours[link.target][0].append(link)
        if link.source in neighbours:
            neighbours[link.source][1].append(link)
    return {name: ways for name, ways in neighbours.items() if any(ways)}


def _tied_gateways(labels: Labels) -> dict[str, None]:
    """Return the gateways that share their label with another."""
    counts = Counter(labels.values())
    return {name: None for name, label in labels.items() if counts[label] > 1}


def _connected_parts(names: Mapping[str, None], neighbours: Neighbours) -> list[list[str]]:
    """Group the gateways by connected part of the graph that they make; the parts do not influence each other."""
    parts: list[list[str]] = []
    seen: set[str] = set()
    for first in names:
        part = [] if first in seen else [first]
        seen.add(first)
        for name in part:
            ins, outs = neighbours[name]
            near = dict.fromkeys([link.source for link in ins] + [link.target for link in outs])
            part += (new := [other for other in near if other in names and other not in seen])
            seen.update(new)
        parts += [part] if part else []
    return parts


def _break_tie(part: Sequence[str], labels: Labels, neighbours: Neighbours) -> Labels:
    """Give one gateway of the part's rarest tied label a label of its own and refine again.

    Of all such gateways, the choice is the gateway whose refined labels come first when sorted.
    """
    counts = Counter(labels[name] for name in part)
    several = [(count, label) for label, count in counts.items() if count > 1]
    if not several:
        return {name: labels[name] for name in part}
    rarest = min(several)[1]
    part_neighbours = {name: neighbours[name] for name in part}
    tries = (labels | {name: _digest(rarest, "first")} for name in part if labels[name] == rarest)
    candidates = (_refine_labels(labels_to_try, part_neighbours) for labels_to_try in tries)
    return min(candidates, key=lambda candidate: sorted(candidate.values()))


def _number_parts(parts: Iterable[Labels]) -> Labels:
    """Return the labels of all parts, with the part's number where every label of the part is unique.

    Without the number, parts of the same labels would be alike.
    """
    labels: Labels = {}
    for number, part in enumerate(sorted(parts, key=lambda part_labels: sorted(part_labels.values()))):
        alone = len(set(part.values())) == len(part)
        labels |= {name: _digest(label, str(number)) if alone else label for name, label in part.items()}
    return labels


def _refine_labels(labels: Labels, neighbours: Neighbours) -> Labels:
    """Refine the labels of the gateways in `neighbours` until a further round distinguishes no more of them."""
    while True:
        finer = {name: _neighbourhood_label(name, labels, neighbours) for name in neighbours}
        if len(set(finer.values())) == len({labels[name] for name in neighbours}):
            return finer
        labels = labels | finer


def _neighbourhood_label(name: str, labels: Labels, neighbours: Neighbours) -> str:
    """Return a label made of a gateway's own label and of what is linked to it.

    Names of tasks count, names of gateways do not.
    """

    def end(other: str) -> str:
        return "itself" if other == name else labels.get(other, f"task {other}")

    ins, outs = neighbours[name]
    before = sorted(_digest("from", end(link.source), link.guard) for link in ins)
    after = sorted(_digest("to", end(link.target), link.guard) for link in outs)
    return _digest(labels[name], *before, *after)


def _digest(*parts: str | None) -> str:
    return blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def _unused_prefix(level: Workflow) -> str:
    """Return a prefix that makes a gateway's new name differ from every task's name; mostly empty."""
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
    """Return the canonical form: assembled, expanded, gateways reduced and renamed, everything sorted.

    The canonical form of a canonical form is the form itself. An inline sub-workflow bears its task's name, has no
    package, and takes the task's parameters; the task takes its description unless it has one. The text of an expanded
    task does not show what is the task's and what the sub-workflow's (docs/reference/workflow-language.md); where both
    state something, the task's counts, as an override does. So whether a task has a parameter of its own is decided on
    the workflow as it is, not on this form. `others` are those to which recursive references lead; packages are kept
    only where two of them have the same name.

    Raises:
        WorkflowError: as `expand` does.
    """
    expanded = expand(workflow)
    names = [level.name for level in (expanded, *expanded.others)]
    roots = (expanded, *expanded.others)
    packages = {level.qualified: level.package if names.count(level.name) > 1 else "" for level in roots}
    first, *others = (replace(_level(level, packages), package=packages[level.qualified]) for level in roots)
    return replace(first, others=tuple(sorted(others, key=lambda level: (level.name, level.package))))


def _level(level: Workflow, packages: Packages) -> Workflow:
    links = _reduce_links(level)
    gateways = {gateway.name: gateway for gateway in level.gateways}
    names = new_names(level, gateways, links)
    renamed = (
        Link(names.get(link.source, link.source), names.get(link.target, link.target), link.guard) for link in links
    )
    return Workflow(
        name=level.name,
        description=level.description,
        tasks=tuple(sorted((_task(task, packages) for task in level.tasks), key=lambda task: task.name)),
        data=tuple(sorted(level.data, key=lambda data: data.name)),
        gateways=tuple(replace(gateways[old], name=new) for old, new in names.items()),
        links=tuple(sorted(renamed, key=lambda link: (link.source, link.target, link.guard or ""))),
        exceptional_links=tuple(
            sorted(
                {Link(link.source, names.get(link.target, link.target)) for link in level.exceptional_links},
                key=lambda link: (link.source, link.target),
            )
        ),
        data_links=tuple(sorted(set(level.data_links), key=lambda link: (link.source, link.target))),
        parameters=_parameters(level.parameters),
    )


def _task(task: Task, packages: Packages) -> Task:
    reference = task.reference
    task = replace(
        task,
        parameters=_parameters(task.parameters),
        effects=tuple(sorted(task.effects, key=lambda effect: effect.parameter)),
        bindings=tuple(sorted(task.bindings)),
        reference=reference and QualifiedName(reference.name, packages.get(reference, reference.package)),
    )
    subworkflow = task.subworkflow
    if subworkflow is None:
        return task
    inside = replace(
        subworkflow,
        name=task.name,
        description="",
        parameters=override_parameters(subworkflow.parameters, task.parameters),
    )
    description = task.description or subworkflow.description
    return replace(task, description=description, parameters=(), subworkflow=_level(inside, packages))


def _parameters(parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    ordered = sorted(parameters, key=lambda parameter: parameter.name)
    return tuple(replace(parameter, domain=parameter.domain and _domain(parameter.domain)) for parameter in ordered)


def _domain(domain: Domain) -> Domain:
    return replace(domain, words=tuple(sorted(set(domain.words))))


def _reduce_links(level: Workflow) -> list[Link]:
    """Return the links, each once, without the gateways that decide nothing; the order of declaration does not count.

    The first step that changes anything is applied, again and again, to all the gateways that it fits: no removal
    within a step prevents another of that step, so the order within a step does not matter. The order of the steps
    does: a removed choice's join leaves its several links in to what comes after it, so a successor with a single link
    in has to be removed before. So no split gets several links in and one out. Gateways on a cycle of gateways stay,
    and a guard moves over a gateway only where no other guard prevents it.
    """
    gateways = {gateway.name: gateway for gateway in level.gateways}
    links = _unique(
        replace(link, guard=None if link.guard is None else " ".join(link.guard.split())) for link in level.links
    )
    on_cycles = _gateways_on_cycles(gateways, links)
    removable = {name: gateway for name, gateway in gateways.items() if name not in on_cycles}
    steps: tuple[Callable[[list[Link]], list[Link]], ...] = (
        lambda links: _remove_gateways(links, removable, _is_straight),
        lambda links: _remove_gateways(links, removable, _is_join_of_choice),
        lambda links: _remove_gateways(links, removable, _is_guarded_way),
        lambda links: _add_otherwise(links, gateways),
        lambda links: _move_choices_to_tasks(links, level.task_names, removable),
    )
    while (changed := next((new for step in steps if (new := step(links)) != links), None)) is not None:
        links = changed
    return links


def _remove_gateways(
    links: list[Link], gateways: Gateways, is_removable: Callable[[Gateway, list[Link], list[Link]], bool]
) -> list[Link]:
    """Remove every removable gateway and link its sources to its target."""
    changed = True
    while changed:
        changed = False
        for gateway in gateways.values():
            ins, outs = _links_of(links, gateway.name)
            if len(outs) == 1 and ins and is_removable(gateway, ins, outs):
                target, guard = outs[0].target, outs[0].guard
                joined = [
                    Link(link_in.source, target, guard if link_in.guard is None else link_in.guard) for link_in in ins
                ]
                links = _unique(joined + [link for link in links if gateway.name not in (link.source, link.target)])
                changed = True
    return links


def _is_straight(gateway: Gateway, ins: list[Link], outs: list[Link]) -> bool:
    """Return True if the gateway has a single link in, and its link out has no guard."""
    return len(ins) == 1 and outs[0].guard is None


def _is_join_of_choice(gateway: Gateway, ins: list[Link], outs: list[Link]) -> bool:
    """Return True if the gateway joins a choice, and its link out has no guard."""
    return gateway.role == "join" and gateway.kind != "parallel" and outs[0].guard is None


def _is_guarded_way(gateway: Gateway, ins: list[Link], outs: list[Link]) -> bool:
    """Return True if the gateway has a single link in, and that has no guard."""
    return len(ins) == 1 and ins[0].guard is None


def _add_otherwise(links: list[Link], gateways: Gateways) -> list[Link]:
    """Put the guard "otherwise" on the only unguarded link out of an exclusive split whose other links are guarded."""
    defaults = set()
    for gateway in gateways.values():
        if gateway.role == "split" and gateway.kind == "exclusive":
            guards = [link.guard for link in _links_of(links, gateway.name)[1]]
            if guards.count(None) == 1 and len(guards) > 1 and OTHERWISE not in guards:
                defaults.add(gateway.name)
    return _unique(
        replace(link, guard=OTHERWISE) if link.source in defaults and link.guard is None else link for link in links
    )


def _move_choices_to_tasks(links: list[Link], tasks: Sequence[str], gateways: Gateways) -> list[Link]:
    """Move the links out of a choice to the tasks directly before it, and drop the splits that nothing else needs.

    A task gets them only if it leads to one such split and has no guarded link: then the guards cannot mix.
    """
    splits = {name for name, gateway in gateways.items() if _is_guarded_choice(gateway, _links_of(links, name)[1])}
    choice_links: list[Link] = []
    for task in tasks:
        outs = _links_of(links, task)[1]
        to_splits = [link for link in outs if link.target in splits]
        if len(to_splits) == 1 and all(link.guard is None for link in outs):
            choice_links.append(to_splits[0])
    if not choice_links:
        return links
    copies = [
        Link(to_split.source, way_out.target, way_out.guard)
        for to_split in choice_links
        for way_out in _links_of(links, to_split.target)[1]
    ]
    left = [link for link in links if link not in choice_links]
    idle = {to_split.target for to_split in choice_links} - {link.target for link in left}
    return _unique([link for link in left if link.source not in idle] + copies)


def _is_guarded_choice(gateway: Gateway, outs: list[Link]) -> bool:
    """Return True if the gateway is a choice that guards decide."""
    guarded = [link.guard is not None for link in outs]
    if gateway.role == "join" or gateway.kind == "parallel":
        return False
    return any(guarded) and (gateway.kind == "inclusive" or all(guarded))


def _links_of(links: Iterable[Link], name: str) -> tuple[list[Link], list[Link]]:
    """Return the links into a node and out of it."""
    return [link for link in links if link.target == name], [link for link in links if link.source == name]


def _unique(links: Iterable[Link]) -> list[Link]:
    return list(dict.fromkeys(links))


def _gateways_on_cycles(gateways: Gateways, links: Sequence[Link]) -> set[str]:
    """Return the gateways on, or between, cycles that pass gateways only.

    Hand-written: mostly there is none, which one round shows without a graph of networkx.
    """
    left = set(gateways)
    while True:
        among = [link for link in links if link.source in left and link.target in left]
        remaining = left & {link.source for link in among} & {link.target for link in among}
        if remaining == left:
            return left
        left = remaining

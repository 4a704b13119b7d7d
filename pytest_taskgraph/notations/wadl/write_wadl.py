"""Write workflows in the workflow DSL, each in the variant's own style."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ...workflow.graph import distances, reachable_from
from ...workflow.model import (
    END,
    START,
    Configuration,
    Data,
    DataLink,
    Domain,
    Gateway,
    Link,
    Parameter,
    QualifiedName,
    Task,
    Workflow,
)
from .files import configurable, lifted, split
from .words import marker, marker_name, quoted, spelled, spelled_node, spelled_package, spelled_qualified, spelled_value


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
            around = reachable_from(following, ahead, without=node)
            if all(following.get(other) for other in around):
                return [join]
    return []


Lines = list[str]
Reference = Callable[[QualifiedName], str]


def render_assembled(workflow: Workflow) -> str:
    """The text with each task in one block; every sub-workflow is a workflow of its own, referred to by name.

    Raises UsageError for a name or a number that the DSL cannot say.
    """
    return _files(lifted((workflow, *workflow.others)), _described)


def render_separate(workflow: Workflow) -> str:
    """The text of abstract workflows and of those derived from them, which only `configure`. Raises UsageError."""
    return _files(split(lifted((workflow, *workflow.others))), _defined)


def render_expanded(workflow: Workflow) -> str:
    """The text with each composite task around its sub-workflow; `others` are left out. Raises UsageError."""
    return _files((workflow,), _described)


def heading(path: str) -> str:
    """A comment with the path of a file."""
    return "// " + " ".join(path.split())


def _files(project: Sequence[Workflow], style: _Style) -> str:
    return "\n".join(_file(workflow, _references(project, workflow), style) for workflow in project)


def _references(project: Iterable[Workflow], workflow: Workflow) -> Reference:
    """How this file names other workflows: simply where its own package or the only one of that name is meant."""
    packages: dict[str, list[str]] = {}
    for other in project:
        packages.setdefault(other.name, []).append(other.package)

    def written(name: QualifiedName) -> str:
        simple = name.package == workflow.package or packages.get(name.name) == [name.package]
        return spelled(name.name) if simple else spelled_qualified(name)

    return written


def _file(workflow: Workflow, written: Reference, style: _Style) -> str:
    derived = f" from {spelled_qualified(workflow.base)}" if workflow.base else ""
    head = f"workflow {spelled(workflow.name)}{derived}"
    about = [*_text("description", workflow.description), *map(_parameter, workflow.parameters)]
    lines = _block(head, _sections(("", about), *style(workflow, {}, written)))
    return "\n".join([f"package {spelled_package(workflow.package)};", "", *lines, ""])


Section = tuple[str, Lines]


def _sections(*sections: Section) -> Lines:
    """The sections that hold anything, each under its title, with an empty line between two."""
    lines: Lines = []
    for title, content in sections:
        if content:
            lines += [*([""] if lines else []), *([f"// {title}"] if title else []), *content]
    return lines


def _block(head: str, lines: Lines) -> Lines:
    return [head + " {", *("  " + line if line else "" for line in lines), "}"] if lines else [head + " {}"]


_Style = Callable[[Workflow, Mapping[str, str], Reference], list[Section]]


def _described(level: Workflow, renamed: Mapping[str, str], written: Reference) -> list[Section]:
    """Tasks and data in one block each; `renamed` gives what a composite task calls them outside."""
    tasks = [line for task in level.tasks for line in _task(task, written)]
    data = [line for one in level.data for line in _data(one, renamed)]
    configured = [line for one in level.configurations for line in _configuration(one, written)]
    return [("tasks", tasks), ("data", data), *_flows(level), ("configurations", configured)]


def _defined(level: Workflow, renamed: Mapping[str, str], written: Reference) -> list[Section]:
    """Tasks and data declared first, and configured at the end; a sub-workflow still inline stands in its task."""
    tasks = [line for task in level.tasks for line in _declared(task, written)]
    data = [f"define data {spelled_node(one.name)};" for one in level.data]
    every = (*configurable(level), *level.configurations)
    configured = [line for one in every for line in _configuration(one, written)]
    return [("tasks", tasks), ("data", data), *_flows(level), ("configurations", configured)]


def _flows(level: Workflow) -> list[Section]:
    return [("control flow", _control(level)), ("data flow", _data_flow(level))]


def _task(task: Task, written: Reference) -> Lines:
    own = _own(task, written)
    inner = task.subworkflow
    if inner is None:
        return _block(f"task {spelled_node(task.name)}", [*own, *map(_binding, task.bindings)])
    declared = {data.name for data in inner.data}
    own += [_binding(binding) for binding in task.bindings if binding[0] not in declared]
    about = [*_text("description", inner.description), *map(_parameter, inner.parameters)]
    sections = _described(inner, dict(task.bindings), written)
    if about or not any(lines for _, lines in sections):
        sections.insert(0, ("", _block("subworkflow", about)))
    return _block(f"task {spelled_node(task.name)}", _sections(("", own), *sections))


def _declared(task: Task, written: Reference) -> Lines:
    return _task(task, written) if task.subworkflow else [f"define task {spelled_node(task.name)};"]


def _own(one: Task | Configuration, written: Reference) -> Lines:
    return [
        *_text("description", one.description),
        *_text("kind", one.kind),
        *_text("implementation", one.implementation),
        *([f"subworkflow {written(one.reference)};"] if one.reference else []),
        *map(_parameter, one.parameters),
        *(f"effect {spelled(effect.parameter)} = {quoted(effect.expression)};" for effect in one.effects),
    ]


def _configuration(one: Configuration, written: Reference) -> Lines:
    lines = [*_own(one, written), *_text("schema", one.schema), *map(_binding, one.bindings)]
    inside = [line for inner in one.configurations for line in _configuration(inner, written)]
    return _block(f"configure {one.of} {spelled_node(one.target)}", [*lines, *inside])


def _data(data: Data, renamed: Mapping[str, str]) -> Lines:
    outside = f" = {spelled_node(renamed[data.name])}" if data.name in renamed else ""
    head = f"define data {spelled_node(data.name)}{outside}"
    about = [*_text("description", data.description), *_text("schema", data.schema)]
    return _block(head, about) if about else [head + ";"]


def _binding(binding: tuple[str, str]) -> str:
    return f"data {spelled_node(binding[0])} = {spelled_node(binding[1])};"


def _text(word: str, text: str) -> Lines:
    return [f"{word} {quoted(text)};"] if text else []


def _parameter(parameter: Parameter) -> str:
    value = "" if parameter.value is None else f" = {spelled_value(parameter.value)}"
    domain = f" in {_domain(parameter.domain)}" if parameter.domain else ""
    return f"param {spelled(parameter.name)}{value}{domain};"


def _domain(domain: Domain) -> str:
    if domain.kind == "words":
        return "{ " + ", ".join(map(quoted, domain.words)) + " }"
    low, high = ("" if bound is None else spelled_value(bound) for bound in (domain.low, domain.high))
    return " ".join(filter(None, [domain.kind, low, ".." if low or high else "", high]))


def _control(level: Workflow) -> Lines:
    """The control flow, unguarded links chained as far as nothing branches off."""
    named = markers(level)

    def node(name: str) -> str:
        return named.get(name) or (name if name in (START, END) else spelled(name))

    lines: Lines = []
    for chain in _chains(level.links, named):
        if chain[0].guard is None:
            lines.append(" -> ".join([node(chain[0].source), *(node(link.target) for link in chain)]) + ";")
        else:
            head = f"{node(chain[0].source)} ?-> {node(chain[0].target)}"
            lines += _block(head, [f"condition {quoted(chain[0].guard)};"])
    return lines


def _chains(links: Sequence[Link], stops: Collection[str]) -> list[list[Link]]:
    """Return the links in their order, chained where a link begins at the task at which the one before it ends.

    A chain names no node twice and ends at `stops`, the gateways, and where the flow branches. Links that stand in
    another order than that of the flow are therefore written one by one: the text does not put the tasks in order.
    """
    ways = Counter(link.source for link in links)
    chains: list[list[Link]] = []
    named: set[str] = set()
    for link in links:
        continues = (
            chains
            and chains[-1][-1].guard is None
            and link.guard is None
            and chains[-1][-1].target == link.source
            and link.source not in stops
            and ways[link.source] == 1
            and link.target not in named
        )
        if continues:
            chains[-1].append(link)
            named.add(link.target)
        else:
            chains.append([link])
            named = {link.source, link.target}
    return chains


def _data_flow(level: Workflow) -> Lines:
    """The data flow; what a task writes follows what it reads in one line where it reads and writes one thing."""
    tasks = set(level.task_names)
    reads: dict[str, list[DataLink]] = {}
    writes: dict[str, list[DataLink]] = {}
    for link in level.data_links:
        writes.setdefault(link.source, []).append(link)
        reads.setdefault(link.target, []).append(link)
    through = {task for task in tasks if len(reads.get(task, ())) == len(writes.get(task, ())) == 1}
    lines = []
    for link in level.data_links:
        if link.target in through:
            lines.append(" --> ".join(map(spelled, (link.source, link.target, writes[link.target][0].target))) + ";")
        elif link.source not in through:
            lines.append(f"{spelled(link.source)} --> {spelled(link.target)};")
    return lines

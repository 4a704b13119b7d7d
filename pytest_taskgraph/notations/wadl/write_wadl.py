"""Writers of the workflow DSL, one for each variant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ...workflow.graph import reachable_from
from ...workflow.model import (
    END,
    START,
    Configuration,
    Data,
    Domain,
    Gateway,
    Parameter,
    QualifiedName,
    Task,
    Workflow,
)
from ..phrases import duration_phrase
from .files import lift_subworkflows, own_configurations, split_derivation
from .words import marker_name, parse_marker, quote, spell, spell_node, spell_package, spell_qualified, spell_value


def assign_markers(level: Workflow) -> dict[str, str]:
    """Return the marker of each gateway; a split and the join of its branches have the same number.

    Gateways whose names are such markers keep them. A gateway without a link has no marker, because no line names it.
    """
    if not level.gateways:
        return {}
    following = _successors(level)
    ends = {*following, *[link.target for link in (*level.links, *level.exceptional_links)]}
    linked = [gateway for gateway in level.gateways if gateway.name in ends]
    taken = {*level.task_names, *[data.name for data in level.data]}
    if all(parse_marker(gateway.name) == gateway and gateway.name not in taken for gateway in linked):
        return {gateway.name: gateway.name for gateway in linked}
    return _number_markers(linked, following, taken)


def _number_markers(gateways: Sequence[Gateway], following: Mapping[str, list[str]], taken: set[str]) -> dict[str, str]:
    joins = {join.name: join for join in gateways if join.role == "join"}
    markers: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for gateway in sorted(gateways, key=lambda candidate: candidate.role == "join"):  # splits first, in their order
        if gateway.name in markers:
            continue
        pair = [gateway]
        if gateway.role == "split":
            free_joins = {name: join for name, join in joins.items() if name not in markers}
            pair += _matching_joins(gateway, free_joins, following)
        number = numbers.get(gateway.kind, 0) + 1
        while any(marker_name(member, number) in taken for member in pair):
            number += 1
        numbers[gateway.kind] = number
        markers.update({member.name: marker_name(member, number) for member in pair})
    return markers


def _successors(level: Workflow) -> dict[str, list[str]]:
    following: dict[str, list[str]] = {}
    for link in level.links:
        following.setdefault(link.source, []).append(link.target)
    return following


def _matching_joins(split: Gateway, joins: Mapping[str, Gateway], following: Mapping[str, list[str]]) -> list[Gateway]:
    """Return the nearest join of the split's kind that every path from it to an end passes; none without it."""
    ahead = following.get(split.name, ())
    for node in _nearest_first(following, ahead):
        join = joins.get(node)
        if join and join.kind == split.kind:
            around = reachable_from(following, ahead, avoid=node)
            if all(following.get(other) for other in around):
                return [join]
    return []


def _nearest_first(following: Mapping[str, list[str]], first_nodes: Iterable[str]) -> Iterator[str]:
    """Yield the first nodes and all that they lead to, nearer ones first; the join is mostly among the nearest."""
    waiting = list(dict.fromkeys(first_nodes))
    met = set(waiting)
    for node in waiting:  # grows while it is iterated
        yield node
        for target in following.get(node, ()):
            if target not in met:
                met.add(target)
                waiting.append(target)


Lines = list[str]
ReferenceWriter = Callable[[QualifiedName], str]


def render_assembled(workflow: Workflow) -> str:
    """Return the text with each task in one block; every sub-workflow is a workflow referred to by name.

    Raises:
        UsageError: for a name or a number that the DSL does not support.
    """
    return _join_files(lift_subworkflows((workflow, *workflow.others)), _block_sections)


def render_separate(workflow: Workflow) -> str:
    """Return the text of abstract workflows and of workflows derived from them, which only `configure`.

    Raises:
        UsageError: for a name or a number that the DSL does not support.
    """
    return _join_files(split_derivation(lift_subworkflows((workflow, *workflow.others))), _separate_sections)


def render_expanded(workflow: Workflow) -> str:
    """Return the text with each composite task around its sub-workflow, without `others`.

    Raises:
        UsageError: for a name or a number that the DSL does not support.
    """
    return _join_files((workflow,), _block_sections)


def heading(path: str) -> str:
    """Return a comment with the path of a file."""
    return "// " + " ".join(path.split())


def _join_files(project: Sequence[Workflow], style: _Style) -> str:
    return "\n".join(_file_text(workflow, _reference_writer(project, workflow), style) for workflow in project)


def _reference_writer(project: Iterable[Workflow], workflow: Workflow) -> ReferenceWriter:
    """Return the function that writes references: short names in the own package, or if unambiguous."""
    packages: dict[str, list[str]] = {}
    for other in project:
        packages.setdefault(other.name, []).append(other.package)

    def write_reference(name: QualifiedName) -> str:
        simple = name.package == workflow.package or packages.get(name.name) == [name.package]
        return spell(name.name) if simple else spell_qualified(name)

    return write_reference


def _file_text(workflow: Workflow, write_reference: ReferenceWriter, style: _Style) -> str:
    derived = f" from {spell_qualified(workflow.base)}" if workflow.base else ""
    head = f"workflow {spell(workflow.name)}{derived}"
    lines_about = [*_text_line("description", workflow.description), *map(_parameter_line, workflow.parameters)]
    lines = _block(head, _sections(("", lines_about), *style(workflow, {}, write_reference)))
    return "\n".join([f"package {spell_package(workflow.package)};", "", *lines, ""])


Section = tuple[str, Lines]


def _sections(*sections: Section) -> Lines:
    """Return the lines of the sections that are not empty, each under its title, separated by empty lines."""
    lines: Lines = []
    for title, content in sections:
        if content:
            lines += [*([""] if lines else []), *([f"// {title}"] if title else []), *content]
    return lines


def _block(head: str, lines: Lines) -> Lines:
    return [head + " {", *["  " + line if line else "" for line in lines], "}"] if lines else [head + " {}"]


_Style = Callable[[Workflow, Mapping[str, str], ReferenceWriter], list[Section]]


def _block_sections(level: Workflow, renamed: Mapping[str, str], write_reference: ReferenceWriter) -> list[Section]:
    """Return the sections with each task and data in one block.

    Args:
        level: The workflow or sub-workflow.
        renamed: From names of data inside a composite task to their names outside.
        write_reference: Writes references to other workflows.
    """
    tasks = [line for task in level.tasks for line in _task_lines(task, write_reference)]
    data = [line for datum in level.data for line in _data_block(datum, renamed)]
    configured = [
        line for configuration in level.configurations for line in _configuration_lines(configuration, write_reference)
    ]
    return [("tasks", tasks), ("data", data), *_flow_sections(level), ("configurations", configured)]


def _separate_sections(level: Workflow, renamed: Mapping[str, str], write_reference: ReferenceWriter) -> list[Section]:
    """Return the sections with tasks and data declared first and configured at the end.

    A sub-workflow that is still inline stands in its task.
    """
    tasks = [line for task in level.tasks for line in _task_declaration(task, write_reference)]
    data = [f"define data {spell_node(datum.name)};" for datum in level.data]
    configurations = (*own_configurations(level), *level.configurations)
    configured = [
        line for configuration in configurations for line in _configuration_lines(configuration, write_reference)
    ]
    return [("tasks", tasks), ("data", data), *_flow_sections(level), ("configurations", configured)]


def _flow_sections(level: Workflow) -> list[Section]:
    return [("control flow", _control_lines(level)), ("data flow", _data_lines(level))]


def _task_lines(task: Task, write_reference: ReferenceWriter) -> Lines:
    if task.is_bare:
        return [f"task {spell_node(task.name)} {{}}"]
    lines = _shared_lines(task, write_reference)
    inner = task.subworkflow
    if inner is None:
        lines += map(_binding_line, task.bindings)
        return _block(f"task {spell_node(task.name)}", lines)
    declared = {data.name for data in inner.data}
    lines += [_binding_line(binding) for binding in task.bindings if binding[0] not in declared]
    inner_lines = [*_text_line("description", inner.description), *map(_parameter_line, inner.parameters)]
    sections = _block_sections(inner, dict(task.bindings), write_reference)
    if inner_lines or not any(lines for _, lines in sections):
        sections.insert(0, ("", _block("subworkflow", inner_lines)))
    return _block(f"task {spell_node(task.name)}", _sections(("", lines), *sections))


def _task_declaration(task: Task, write_reference: ReferenceWriter) -> Lines:
    return _task_lines(task, write_reference) if task.subworkflow else [f"define task {spell_node(task.name)};"]


def _shared_lines(owner: Task | Configuration, write_reference: ReferenceWriter) -> Lines:
    lines: Lines = []  # most tasks have few of these: each is looked at, and written only if it is there
    if owner.description:
        lines.append(f"description {quote(owner.description)};")
    if owner.kind:
        lines.append(f"kind {quote(owner.kind)};")
    if owner.implementation:
        lines.append(f"implementation {quote(owner.implementation)};")
    if owner.duration:
        lines.append(f"duration {duration_phrase(owner.duration)};")
    if owner.reference:
        lines.append(f"subworkflow {write_reference(owner.reference)};")
    lines += map(_parameter_line, owner.parameters)
    lines += [f"effect {spell(effect.parameter)} = {quote(effect.expression)};" for effect in owner.effects]
    return lines


def _configuration_lines(configuration: Configuration, write_reference: ReferenceWriter) -> Lines:
    lines = [
        *_shared_lines(configuration, write_reference),
        *_text_line("schema", configuration.schema),
        *map(_binding_line, configuration.bindings),
    ]
    inner_lines = [
        line for inner in configuration.configurations for line in _configuration_lines(inner, write_reference)
    ]
    return _block(f"configure {configuration.of} {spell_node(configuration.target)}", [*lines, *inner_lines])


def _data_block(data: Data, renamed: Mapping[str, str]) -> Lines:
    if not (data.description or data.schema or renamed):
        return [f"define data {spell_node(data.name)};"]
    outer_name = f" = {spell_node(renamed[data.name])}" if data.name in renamed else ""
    head = f"define data {spell_node(data.name)}{outer_name}"
    lines = [*_text_line("description", data.description), *_text_line("schema", data.schema)]
    return _block(head, lines) if lines else [head + ";"]


def _binding_line(binding: tuple[str, str]) -> str:
    return f"data {spell_node(binding[0])} = {spell_node(binding[1])};"


def _text_line(word: str, text: str) -> Lines:
    return [f"{word} {quote(text)};"] if text else []


def _parameter_line(parameter: Parameter) -> str:
    value = "" if parameter.value is None else f" = {spell_value(parameter.value)}"
    domain = f" in {_domain_text(parameter.domain)}" if parameter.domain else ""
    return f"param {spell(parameter.name)}{value}{domain};"


def _domain_text(domain: Domain) -> str:
    if domain.kind == "words":
        return "{ " + ", ".join(map(quote, domain.words)) + " }"
    low, high = ("" if bound is None else spell_value(bound) for bound in (domain.low, domain.high))
    return " ".join(filter(None, [domain.kind, low, ".." if low or high else "", high]))


def _control_lines(level: Workflow) -> Lines:
    """Return the control flow in the order of the links, with unguarded links chained up to the next branching.

    A link continues a chain if it begins at the task at which the previous link ends. A chain names no node twice and
    ends at gateways, and where the flow branches. Links in another order than that of the flow are therefore written
    one by one: the text does not put the tasks in order.
    """
    markers = assign_markers(level)
    texts = {START: START, END: END, **markers}
    ways = Counter([link.source for link in level.links])
    lines: Lines = []
    chain: Lines = []
    visited: set[str] = set()
    end: str | None = None  # the node at which the chain ends
    for link in level.links:
        source, target, guard = link.source, link.target, link.guard
        target_text = texts.get(target) or spell(target)
        if source == end and guard is None and source not in markers and ways[source] == 1 and target not in visited:
            chain.append(target_text)
            visited.add(target)
            end = target
            continue
        source_text = texts.get(source) or spell(source)
        if chain:
            lines.append(" -> ".join(chain) + ";")
        if guard is None:
            chain, visited, end = [source_text, target_text], {source, target}, target
        else:
            chain, end = [], None
            lines += [f"{source_text} ?-> {target_text} {{", f"  condition {quote(guard)};", "}"]
    if chain:
        lines.append(" -> ".join(chain) + ";")
    return lines + [f"{spell(link.source)} !-> {texts.get(link.target) or spell(link.target)};"
                    for link in level.exceptional_links]  # fmt: skip


def _data_lines(level: Workflow) -> Lines:
    """Return the data flow; a task that reads and writes exactly one data item has both on one line."""
    reads = Counter([link.target for link in level.data_links])
    writes = Counter([link.source for link in level.data_links])
    through = {task.name for task in level.tasks if reads.get(task.name) == writes.get(task.name) == 1}
    written = {link.source: link.target for link in level.data_links if link.source in through}
    lines = []
    for link in level.data_links:
        if link.target in through:
            lines.append(f"{spell(link.source)} --> {spell(link.target)} --> {spell(written[link.target])};")
        elif link.source not in through:
            lines.append(f"{spell(link.source)} --> {spell(link.target)};")
    return lines

"""Reader of BPMN 2.0 XML: the processes of a file as workflows, by the rules of docs/reference/notations.md."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Any

from ...source import Source
from ...workflow.graph import distances, reachable_from
from ...workflow.model import END, START, Data, DataLink, Gateway, Link, QualifiedName, Task, Workflow
from ..attribute_lines import DATA_KEYS, LEVEL_KEYS, TASK_KEYS
from ..notation import Interpretation
from .bpmn_guide import guide_to
from .data_flow import DataDraft, DataElements
from .documentation import stated_attributes
from .flow_scopes import CALL, FlowReader, Node, Remarks, Scope, designation
from .implied_gateways import without_implied
from .level_names import gateway_names, unique_names
from .level_wires import LevelDraft, draft_level
from .remarks import remark_file, remark_plain, remark_scope, remark_tokens
from .shown_text import escaped, is_verbatim, shown_text
from .written_style import INNER
from .written_style import guide_to as guide_to_style
from .xml_tree import Element, parse_xml

LEAST_ACTIVITIES = 2


def parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    """Return the workflows of a text.

    Raises:
        ReadError: as `interpret`.
    """
    source = Source(text, where)
    models = [_Model(source, root, remarked=False) for root in parse_xml(source)]
    return tuple([model.workflow(process) for model in models for process in model.processes])


def interpret(text: str, where: str = "", process: str = "") -> Interpretation:
    """Return the workflows of a BPMN file, and the rules by which it was read.

    Args:
        text: The text.
        where: Its name in messages.
        process: The name or id of the only process that is read, with those that it calls; empty for all.

    Raises:
        ReadError: if the text is no BPMN 2.0, no process has two activities, a process calls itself, or `process` is
            not the name of one.
    """
    source = Source(text, where)
    roots = parse_xml(source)
    if process:
        _keep_process(source, roots[0], process)
    readings = [_interpret_file(source, root) for root in roots]
    if len(readings) == 1:
        return readings[0]
    workflows, doubtful = (
        tuple([each for reading in readings for each in getattr(reading, name)]) for name in ("workflows", "doubtful")
    )
    spellings = {name: names for reading in readings for name, names in reading.spellings.items()}
    return Interpretation(workflows, guide_to_style(workflows), text, spellings=spellings, doubtful=doubtful)


def _interpret_file(source: Source, root: Element) -> Interpretation:
    """Return the workflows of one file of a text, and the rules by which it was read."""
    model = _Model(source, root)
    remark_file(root, model.remarks)
    workflows = tuple([model.workflow(process) for process in model.processes])
    doubtful = tuple([model.workflow(process, doubtful=True) for process in model.processes])
    unnamed = len(workflows) == 1 and not workflows[0].name
    if root.is_own_style:
        guide, shown = guide_to_style(workflows), source.text
    else:
        is_whole = is_verbatim(source.text)
        guide = guide_to(workflows, doubtful != workflows, model.has_pools, model.has_ids, is_whole)
        shown = shown_text(root)
    return Interpretation(
        workflows,
        guide,
        shown,
        unnamed=unnamed,
        spellings=model.spellings,
        left_out=model.remarks.lines,
        doubtful=doubtful if doubtful != workflows else (),
    )


class _Model:
    """The processes of a file that are asked about, and the names of all that is in them.

    Args:
        source: The text, for errors.
        root: The root element.
        remarked: True if what is left out of the workflows is to be collected, which takes most of the time.
    """

    def __init__(self, source: Source, root: Element, remarked: bool = True) -> None:
        self.source, self.remarks, self.remarked = source, Remarks(source.where), remarked
        reader = FlowReader(source, root, self.remarks)
        self.titles = _titles(root)
        self.by_id = {process.element.get("id"): process for process in reader.processes}
        if len(self.by_id) < len(reader.processes):
            source.fail(root.offset, "two processes with the same id", "each id once")
        self.calls = {key: [*_calls(process, self.by_id)] for key, process in self.by_id.items()}
        self._refuse_cycles()
        self.processes = self._asked(reader.processes)
        titles = {each.element.get("id"): self._title(each) for each in self.processes}
        self.names = titles if root.is_own_style else unique_names(titles)
        if len(self.processes) == 1 and not self._title(self.processes[0]):
            self.names = {self.processes[0].element.get("id"): ""}
        self.has_pools = any(self._title(each) != each.element.name for each in self.processes)
        self.has_ids = False
        self.data = [DataElements(root, reader.nodes, self.remarks, doubtful) for doubtful in (False, True)]
        self.spellings: dict[str, dict[str, str]] = {}
        self.second_drafts: dict[Scope, LevelDraft] = {}

    def _title(self, process: Scope) -> str:
        return self.titles[process.element.get("id")]

    def _asked(self, processes: list[Scope]) -> list[Scope]:
        """Return the processes that have enough activities and those that they call, the largest first.

        Raises:
            ReadError: if there is none.
        """
        if processes and processes[0].element.is_own_style:
            return processes
        asked = [process for process in processes if process.activities >= LEAST_ACTIVITIES]
        for process in asked:
            called = [self.by_id[each] for _, each in self.calls[process.element.get("id")]]
            asked += [each for each in called if each not in asked and each.activities]
        for process in processes:
            if process not in asked:
                reason = f"it has 1 activity and no process calls it; questions need {LEAST_ACTIVITIES}"
                reason = reason if process.activities else "it has no activity"
                self.remarks.add(
                    process.element, reason, f"process {self._title(process) or process.element.get('id')!r}"
                )
        if not asked:
            first = processes[0].element.offset if processes else 0
            most = max((process.activities for process in processes), default=0)
            found = "no process with more than one activity" if most else "no activity"
            self.source.fail(first, found, f"a process with at least {LEAST_ACTIVITIES} activities")
        return sorted(asked, key=lambda each: (-each.activities, self._title(each), each.element.get("id")))

    def _refuse_cycles(self) -> None:
        """Check that no process calls itself, directly or through others.

        Raises:
            ReadError: at a call activity, if one does.
        """
        done, path = set[str](), list[str]()
        waiting = [(name, iter(calls)) for name, calls in self.calls.items()]
        for name, calls in waiting:
            stack = [(name, calls)] if name not in done else []
            path = [name]
            while stack:
                node, called = next(stack[-1][1], (None, ""))
                if node is None:
                    done.add(stack.pop()[0])
                    path.pop()
                elif called in path:
                    expected = "processes that do not call themselves, directly or through others"
                    self.source.fail(
                        node.element.offset, f"the {designation(node.element)}, which calls {called!r} again", expected
                    )
                elif called not in done:
                    stack.append((called, iter(self.calls[called])))
                    path.append(called)

    def workflow(self, process: Scope, doubtful: bool = False) -> Workflow:
        """Return the workflow of a process."""
        name = self.names[process.element.get("id")]
        return self._level(process, name, name, doubtful)

    def _level(self, scope: Scope, name: str, root: str, doubtful: bool) -> Workflow:
        """Return one level, with the levels of the sub-processes in it."""
        draft = self._second_draft(scope) if doubtful else draft_level(scope, doubtful=False)
        if doubtful and scope in self._staying:
            draft.begin_nothing()
        data = self.data[doubtful].of(scope)
        own = {node.id: node.element.name for node in scope.of("activity")}
        names = unique_names(own)
        names |= unique_names(data.names, names.values())
        if not doubtful and self.remarked:
            remark_scope(scope, self.remarks)
            remark_tokens(draft, self.remarks)
            self._add_spellings(root, names)
            self.has_ids |= any(name != names[key] for key, name in (own | data.names).items())
        own_style = scope.element.is_own_style
        if own_style:
            draft = without_implied(draft)
        ends = {**names, **gateway_names(draft, names), START: START, END: END}
        # What tools write is put into one order, whichever order they chose; our own order is that of the workflow.
        place = dict.fromkeys(ends.values(), (0, "")) if own_style else _places(draft, ends)
        activities = sorted(draft.activities, key=lambda key: place[names[key]])
        links = [Link(ends[wire.source], ends[wire.target], wire.guard) for wire in draft.wires]
        exceptional = [Link(ends[source], ends[target]) for source, target in draft.exceptional]
        data_links = [DataLink(names[a], names[b]) for a, b in (*data.reads, *data.writes)]
        gateways = [Gateway(ends[key], each.kind, each.role) for key, each in draft.gateways.items()]

        def order(link: Link) -> tuple[object, ...]:
            return place[link.source], place[link.target], "" if own_style else link.guard or ""

        return Workflow(
            name,
            **self._level_attributes(scope),
            tasks=tuple([self._task(draft.activities[key], names[key], root, doubtful) for key in activities]),
            data=self._data_of(data, names, own_style),
            gateways=tuple(sorted(gateways, key=lambda gateway: place[gateway.name])),
            links=tuple(sorted(links, key=order)),
            exceptional_links=tuple(sorted(exceptional, key=order)),
            data_links=tuple(sorted(data_links, key=lambda link: (link.source, link.target))),
        )

    @cached_property
    def _staying(self) -> frozenset[Scope]:
        """Return the scopes of which a run may never come out of an activity, or not by its flows."""
        around: dict[Scope, list[Scope]] = {}
        for scope in (scope for process in self.by_id.values() for scope in process.all_scopes()):
            for node in scope.of("activity"):
                inner = scope.inner.get(node.id) or self.by_id.get(_called(node.element))
                if inner is not None and not node.is_started_by_event and not node.is_compensation:
                    around.setdefault(inner, []).append(scope)
        kept_in = (scope for scope in around if self._second_draft(scope).is_endless)
        return reachable_from(around, chain.from_iterable(around[scope] for scope in kept_in))

    def _second_draft(self, scope: Scope) -> LevelDraft:
        if scope not in self.second_drafts:
            self.second_drafts[scope] = draft_level(scope, doubtful=True)
        return self.second_drafts[scope]

    def _data_of(self, draft: DataDraft, names: dict[str, str], own_style: bool) -> tuple[Data, ...]:
        elements = self.data[False].elements
        keys = draft.names if own_style else sorted(draft.names, key=lambda key: names[key])
        return tuple([Data(names[key], **stated_attributes(elements[key], DATA_KEYS, self.source)) for key in keys])

    def _level_attributes(self, scope: Scope) -> dict[str, Any]:
        """Return what the documentation states of a process, or of the inside of a sub-process."""
        if not scope.element.is_own_style:
            return {}
        return stated_attributes(scope.element, LEVEL_KEYS, self.source, INNER if scope.parent else "")

    def _task(self, node: Node, name: str, root: str, doubtful: bool) -> Task:
        attributes = stated_attributes(node.element, TASK_KEYS, self.source)
        if doubtful and any(event.element.tag == "intermediateCatchEvent" for event in node.scope.of("event")):
            attributes.pop("duration", None)  # how long the flow waits at such an event is not read
        inner = node.scope.inner.get(node.id)
        if inner is not None and (inner.activities or inner.element.is_own_style):
            return Task(name, **attributes, subworkflow=self._level(inner, name, root, doubtful))
        called = _called(node.element)
        if called in self.names:
            return Task(name, **attributes, reference=QualifiedName(self.names[called]))
        if not doubtful:
            remark_plain(node, called in self.by_id or inner is not None, self.remarks)
        return Task(name, **attributes)

    def _add_spellings(self, root: str, names: dict[str, str]) -> None:
        spellings = self.spellings.setdefault(root, {})
        for identifier, name in names.items():
            for text in (identifier, escaped(name)):
                if text != name:
                    spellings[text] = name


def _places(draft: LevelDraft, ends: dict[str, str]) -> dict[str, tuple[int, str]]:
    """Return the place of each node of a level by name: its distance from START along all wires, then its name."""
    after: dict[str, list[str]] = {}
    for wire in draft.wires:
        after.setdefault(wire.source, []).append(wire.target)
    for source, target in draft.exceptional:
        after.setdefault(source, []).append(target)
    distance = distances(after, [START])
    return {name: (distance.get(node, len(ends) + 1), name) for node, name in ends.items()}


def _titles(root: Element) -> dict[str, str]:
    """Return the names of the processes by id: that of the pool, else that of the process, else ""."""
    titles = {process.get("id"): process.name for process in root.of("process")}
    for collaboration in root.of("collaboration"):
        for pool in collaboration.of("participant"):
            if _process_of(pool) in titles and pool.name:
                titles[_process_of(pool)] = pool.name
    return titles


def _keep_process(source: Source, root: Element, name: str) -> None:
    """Remove from a file all but the process of a name or id and those that it calls, with their pools.

    Raises:
        ReadError: if there is no such process, or several of that name.
    """
    processes = {process.get("id"): process for process in root.of("process")}
    titles = _titles(root)
    chosen = [name] if name in processes else [key for key, title in titles.items() if title == name]
    if len(chosen) != 1:
        known = ", ".join(repr(title or key) for key, title in titles.items())
        found = f"{len(chosen)} processes of the name {name!r}" if chosen else f"no process {name!r}"
        source.fail(root.offset, found, f"the id of one, or the name of one of {known}")
    calls = {key: {*map(_called, process.descendants())} & {*processes} for key, process in processes.items()}
    kept = reachable_from(calls, chosen)
    root.children = [each for each in root.children if each.tag != "process" or each.get("id") in kept]
    for collaboration in root.of("collaboration"):
        pools = collaboration.of("participant")
        collaboration.children = [pool for pool in pools if _process_of(pool) in kept]


def _process_of(pool: Element) -> str:
    return pool.get("processRef").rpartition(":")[2]


def _called(element: Element) -> str:
    return element.get("calledElement").rpartition(":")[2] if element.tag == CALL else ""


def _calls(process: Scope, processes: dict[str, Scope]) -> Iterator[tuple[Node, str]]:
    """Yield the call activities of a process, at any depth, with the process of the file that they call."""
    for scope in process.all_scopes():
        for node in scope.of("activity"):
            if _called(node.element) in processes:
                yield node, _called(node.element)

"""The flow nodes and sequence flows of a BPMN file by process and sub-process, and what is left out of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from ...source import Source
from .xml_tree import Element

NodeKind = Literal["activity", "gateway", "start", "end", "event", "boundary"]

SUB_PROCESSES: Final = ("subProcess", "transaction", "adHocSubProcess")
MAX_NODES: Final = 5_000  # activities, events and gateways of a file
CALL: Final = "callActivity"
_TASKS: Final = (
    "task",
    "userTask",
    "manualTask",
    "serviceTask",
    "scriptTask",
    "businessRuleTask",
    "sendTask",
    "receiveTask",
)
_KINDS: Final[dict[str, NodeKind]] = {
    **dict.fromkeys((*_TASKS, CALL, *SUB_PROCESSES), "activity"),
    **dict.fromkeys(
        ("exclusiveGateway", "parallelGateway", "inclusiveGateway", "eventBasedGateway", "complexGateway"), "gateway"
    ),
    "startEvent": "start",
    "endEvent": "end",
    **dict.fromkeys(("intermediateCatchEvent", "intermediateThrowEvent", "implicitThrowEvent", "event"), "event"),
    "boundaryEvent": "boundary",
}
WORDS: Final = {
    "exclusiveGateway": "exclusive gateway", "parallelGateway": "parallel gateway",
    "inclusiveGateway": "inclusive gateway", "eventBasedGateway": "event-based gateway",
    "complexGateway": "complex gateway", "startEvent": "start event", "endEvent": "end event",
    "intermediateCatchEvent": "intermediate event", "intermediateThrowEvent": "intermediate event",
    "boundaryEvent": "boundary event", "subProcess": "sub-process", "adHocSubProcess": "ad-hoc sub-process",
    "callActivity": "call activity", "sequenceFlow": "sequence flow", "messageFlow": "message flow",
    "participant": "pool", "textAnnotation": "text annotation",
}  # fmt: skip
"""Words for elements in messages; other elements are called by their tags."""


class Remarks:
    """What stands in a file and is no part of its workflows: a line each, in the order of the file."""

    def __init__(self, where: str) -> None:
        self.where = where
        self._lines: dict[tuple[int, str], None] = {}

    def add(self, element: Element, reason: str, subject: str = "") -> None:
        """Add a remark about an element, with the reason why it is left out."""
        text = f"{self.where or 'text'}:{element.line}: {subject or designation(element)}: {reason}"
        self._lines[element.offset, text] = None

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the remarks."""
        return tuple([text for _, text in sorted(self._lines)])


def designation(element: Element) -> str:
    """Return words for an element: what it is, and its name or else its id."""
    label = element.name or element.get("id")
    return f"{WORDS.get(element.tag, element.tag)} {label!r}" if label else WORDS.get(element.tag, element.tag)


@dataclass(eq=False, slots=True)
class Node:
    """A flow node. `flow_in` and `flow_out` are the sequence flows that lead into it and out of it."""

    id: str
    kind: NodeKind
    element: Element
    scope: Scope
    flow_in: list[Flow] = field(default_factory=list)
    flow_out: list[Flow] = field(default_factory=list)

    @property
    def definitions(self) -> set[str]:
        """Return what kinds of event definitions it has, such as "timer"."""
        tags = (child.tag for child in self.element.children)
        return {tag.removesuffix("EventDefinition") for tag in tags if tag.endswith("EventDefinition")}

    @property
    def is_started_by_event(self) -> bool:
        """Return True for an event sub-process."""
        return self.element.get("triggeredByEvent") in ("true", "1")

    @property
    def is_compensation(self) -> bool:
        """Return True for an activity that only compensates another."""
        return self.element.get("isForCompensation") in ("true", "1")


@dataclass(eq=False, slots=True)
class Flow:
    """A sequence flow, or a jump from a throwing link event to the catching one."""

    source: Node
    target: Node
    element: Element

    @property
    def is_conditional(self) -> bool:
        """Return True if it has a condition as a child, if only an empty one."""
        return any(True for _ in self.element.of("conditionExpression"))

    @property
    def condition(self) -> str:
        """Return the text of its condition, else its name."""
        texts = (child.text for child in self.element.of("conditionExpression"))
        return next(filter(None, texts), self.element.name)


@dataclass(eq=False, slots=True)
class Scope:
    """A process or a sub-process: its nodes by id, in the order of the file, and the scope around it."""

    element: Element
    parent: Scope | None
    nodes: dict[str, Node] = field(default_factory=dict)
    inner: dict[str, Scope] = field(default_factory=dict)  # of sub-processes, by id

    def of(self, *kinds: NodeKind) -> list[Node]:
        """Return the nodes of some kinds."""
        return [node for node in self.nodes.values() if node.kind in kinds]

    def all_scopes(self) -> Iterator[Scope]:
        """Yield the scope and all inside it."""
        yield self
        for scope in self.inner.values():
            yield from scope.all_scopes()

    @property
    def activities(self) -> int:
        """Return the number of activities in it, at any depth."""
        return sum(len(scope.of("activity")) for scope in self.all_scopes())


class FlowReader:
    """Reads the scopes of a file; every node and flow has an id afterwards, which the text that is shown states."""

    def __init__(self, source: Source, definitions: Element, remarks: Remarks) -> None:
        self.source, self.remarks = source, remarks
        self.nodes: dict[str, Node] = {}
        self.flows: list[Element] = []
        self.ids = {each.get("id") for each in definitions.descendants()}
        self.processes = [self._scope(process, None) for process in definitions.of("process")]
        for flow in self.flows:
            self._connect(flow)
        for process in self.processes:
            for scope in process.all_scopes():
                self._jump(scope.of("event"))

    def _scope(self, element: Element, parent: Scope | None) -> Scope:
        scope = Scope(element, parent)
        self._give_id(element)
        for child in element.children:
            kind = _KINDS.get(child.tag)
            if kind is not None:
                self._give_id(child)
                if len(self.nodes) == MAX_NODES:
                    self.source.fail(child.offset, f"more than {MAX_NODES:,} flow nodes", "a smaller model")
                node = scope.nodes[child.get("id")] = Node(child.get("id"), kind, child, scope)
                if self.nodes.setdefault(node.id, node) is not node:
                    self.source.fail(child.offset, f"the id {node.id!r} a second time", "each id once")
                if child.tag in SUB_PROCESSES:
                    scope.inner[node.id] = self._scope(child, scope)
            elif child.tag == "sequenceFlow":
                self.flows.append(child)
        return scope

    def _give_id(self, element: Element) -> None:
        if not element.get("id"):
            number = 1
            while (own := f"{element.tag}_{number}") in self.ids:
                number += 1
            element.attributes["id"] = own
            self.ids.add(own)

    def _connect(self, element: Element) -> None:
        ends = [self.nodes.get(element.get(attribute)) for attribute in ("sourceRef", "targetRef")]
        source, target = ends
        if source is None or target is None:
            missing = element.get("sourceRef" if source is None else "targetRef")
            lost = f"its {'source' if source is None else 'target'} {missing!r} is no flow node of the file"
            self.remarks.add(element, f"{lost if missing else 'an end is missing'}; the flow is left out")
        elif source.scope is not target.scope:
            self.remarks.add(element, "it crosses the border of a process or sub-process; the flow is left out")
        elif source.kind == "end" or target.kind in ("start", "boundary"):
            place = (
                f"out of {designation(source.element)}"
                if source.kind == "end"
                else f"into {designation(target.element)}"
            )
            self.remarks.add(element, f"it leads {place}, which BPMN does not allow; the flow is left out")
        elif source.is_started_by_event or target.is_started_by_event:
            self.remarks.add(element, "no flow leads into or out of an event sub-process; the flow is left out")
        else:
            _join(Flow(source, target, element))

    def _jump(self, events: Iterable[Node]) -> None:
        """Connect throwing link events with the catching ones of the same name."""
        linked = [event for event in events if "link" in event.definitions]
        caught = [event for event in linked if event.element.tag == "intermediateCatchEvent"]
        targets = Counter(map(_link_name, caught))
        for event in linked:
            if event in caught:
                continue
            name = _link_name(event)
            if targets[name] == 1 and not event.flow_out:
                target = next(each for each in caught if _link_name(each) == name)
                _join(Flow(event, target, Element("sequenceFlow", {}, event.element.line, event.element.offset)))
            else:
                self.remarks.add(
                    event.element, f"no single catching link event is called {name!r}; the jump is left out"
                )


def _join(flow: Flow) -> None:
    flow.source.flow_out.append(flow)
    flow.target.flow_in.append(flow)


def _link_name(event: Node) -> str:
    names = (definition.name for definition in event.element.of("linkEventDefinition"))
    return next(filter(None, names), event.element.name)

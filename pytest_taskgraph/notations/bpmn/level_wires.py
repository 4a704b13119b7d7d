"""The control flow of one process or sub-process as wires between activities, gateways, START and END.

Events that only pass the flow on are replaced by the wires through them; a gateway that joins and splits becomes two.
There are two drafts of a level: what its flows state, and the same with everything in doubt (`doubtful`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final, Literal, NamedTuple

from ...workflow.model import END, OTHERWISE, START, GatewayKind
from .flow_scopes import Flow, Node, Scope, designation
from .stuck_runs import goes_round, stuck_joins, waits_in_circle
from .token_flow import Concurrency, Wire

_START_CHOICE: Final = "#start"
_GATEWAY_KINDS: Final[dict[str, GatewayKind]] = {
    "exclusiveGateway": "exclusive",
    "eventBasedGateway": "exclusive",
    "parallelGateway": "parallel",
    "inclusiveGateway": "inclusive",
    "complexGateway": "inclusive",
}
_THROWING: Final = frozenset({"error", "cancel"})  # end events after which nothing follows by a flow
_CUTTING: Final = _THROWING | {"terminate"}  # end events that end what runs beside them, too


class GatewayDraft(NamedTuple):
    """A gateway of a level: its kind and role, and the node that it is made from, if there is one."""

    kind: GatewayKind
    role: Literal["split", "join"]
    node: Node | None


@dataclass(slots=True)
class LevelDraft:
    """The control flow of a level. Ends of wires are START, END, ids of activities, and keys of gateways."""

    activities: dict[str, Node]
    gateways: dict[str, GatewayDraft]
    wires: list[Wire]
    exceptional: list[tuple[str, str]]
    is_endless: bool = False  # of a second reading: a run may never end, or end with an error

    def begin_nothing(self) -> None:
        """Remove all beginnings: it is unclear what runs execute."""
        self.wires = [wire for wire in self.wires if wire.source != START]


def draft_level(scope: Scope, doubtful: bool) -> LevelDraft:
    """Return the control flow of a scope.

    Args:
        scope: The process or sub-process.
        doubtful: True for the second reading, in which everything in doubt is different: the ways out of boundary
            events are wires out of their activity, activities outside the flow are missing, loop markers are loops,
            nothing begins where it is unclear what runs execute, the kind of the choice of a start event is open, and
            nodes to which no flow leads begin beside start events.
    """
    return _Drafter(scope, doubtful).draft()


class _Drafter:
    def __init__(self, scope: Scope, doubtful: bool) -> None:
        self.scope, self.doubtful = scope, doubtful
        self.exceptions = exceptions(scope)
        self.aside = [n for n in scope.of("activity") if n.is_started_by_event or n.is_compensation]
        self.gateways: dict[str, GatewayDraft] = {}
        self.wires: list[Wire] = []
        self.starts = [n for n in scope.of("start") if n.flow_out] + [n for n in self._first_nodes() if instantiates(n)]
        self.has_starts = bool(scope.of("start") or self.starts)
        self.begins = self.starts if self.has_starts else list(self._first_nodes())
        # BPMN does not allow them beside a start event, and states elsewhere that they begin with their level.
        self.stray = [n for n in self._first_nodes() if doubtful and n not in self.begins]
        self.interrupting = [event for event in scope.of("boundary") if doubtful and _interrupts(event)]
        self.interrupted = {host_of(event) for event in self.interrupting}
        self.flows = [flow for node in scope.nodes.values() for flow in node.flow_out if self._counts(flow)]
        if scope.element.is_own_style:
            self.flows.sort(key=lambda flow: flow.element.offset)
        self.into: dict[Node, int] = dict.fromkeys(scope.nodes.values(), 0)
        self.out = dict(self.into)
        for flow in self.flows:
            self.out[self._source(flow)] += 1
            self.into[flow.target] += 1

    def draft(self) -> LevelDraft:
        """Return the draft."""
        for node in self.scope.of("gateway", "event"):
            self._add_gateway(node)
        self._wire_start()
        for flow in self.flows:
            source, target = self._source(flow), flow.target
            self._wire(self._out_port(source), self._in_port(target), self._guard(flow))
        for node in self.scope.of("activity", "gateway", "event"):
            linked = (
                self.into[node] or node in (*self.begins, *self.stray) or (node.kind == "activity" and node.flow_in)
            )
            ends = not self.out[node] and not node.element.is_own_style
            if linked and ends and node not in self.aside:
                self._wire(self._out_port(node), END)
        self._bypass()
        is_unclear, is_endless = self._add_doubts() if self.doubtful else (False, False)
        activities = {n.id: n for n in self.scope.of("activity") if not (self.doubtful and n in self.aside)}
        exceptional = [*self._exceptional()]
        self._separate_twins()
        draft = LevelDraft(activities, self.gateways, self.wires, exceptional, is_endless)
        if is_unclear:
            draft.begin_nothing()
        return draft

    def _first_nodes(self) -> Iterator[Node]:
        """Yield the nodes to which no flow leads, of those that can begin a level."""
        for node in self.scope.of("activity", "gateway", "event"):
            lone_link = "link" in node.definitions and not node.flow_out
            if node.flow_in or node in self.aside or lone_link:
                continue
            if node.kind == "activity" or node.flow_out:
                yield node

    def _counts(self, flow: Flow) -> bool:
        source = flow.source
        return source.kind != "boundary" or (self.doubtful and host_of(source) is not None)

    def _source(self, flow: Flow) -> Node:
        """Return the node that a flow leaves: for a boundary event its activity, if that is in the scope."""
        source = flow.source
        return host_of(source) or source if source.kind == "boundary" else source

    def _guard(self, flow: Flow) -> str | None:
        """Return the condition of a flow; in the second reading, an interrupting event is a condition of its own."""
        if flow.source.kind == "boundary":
            return _guard_of_event(flow.source) if _interrupts(flow.source) else None
        guard, node = guard_of(flow, self.out[flow.source]), flow.source
        if guard is None and node in self.interrupted and node.kind == "activity":
            return OTHERWISE
        if guard is None and self.doubtful and node.element.tag == "inclusiveGateway" and node.element.get("default"):
            return f"condition of {designation(flow.element)}"  # not stated; the default flow is not taken beside it
        return guard

    def _add_gateway(self, node: Node) -> None:
        into, out = self.into[node] + (node in (*self.begins, *self.stray)), self.out[node]
        if node.kind == "event":
            if into > 1:
                self.gateways[f"{node.id}#join" if out > 1 else node.id] = GatewayDraft("exclusive", "join", node)
            if out > 1:
                self.gateways[node.id] = GatewayDraft("parallel", "split", node)
        elif into or out:
            kind = _GATEWAY_KINDS[node.element.tag]
            unclear = self.doubtful and node.element.tag == "complexGateway"
            join: GatewayKind = "parallel" if unclear else kind
            split: GatewayKind = "exclusive" if unclear else kind
            if into > 1:
                self.gateways[f"{node.id}#join" if out > 1 else node.id] = GatewayDraft(join, "join", node)
            if out > 1 or into < 2:
                self.gateways[node.id] = GatewayDraft(split, "split", node)
        if f"{node.id}#join" in self.gateways:
            self._wire(f"{node.id}#join", node.id)

    def _in_port(self, node: Node) -> str:
        if node.kind == "end":
            return END
        return f"{node.id}#join" if f"{node.id}#join" in self.gateways else node.id

    def _out_port(self, node: Node) -> str:
        return self._start_port(node) if node.kind == "start" else node.id

    def _start_port(self, node: Node) -> str:
        if self.out[node] > 1 and len(self.starts) > 1:
            return node.id
        return _START_CHOICE if len(self.starts) > 1 else START

    def _wire_start(self) -> None:
        """Connect START: with all nodes that begin a level without start events, else with exactly one start."""
        choice = len(self.starts) > 1
        for node in self.stray:
            self._wire(START, self._in_port(node))
        if choice:
            self.gateways[_START_CHOICE] = GatewayDraft("exclusive", "split", None)
            self._wire(START, _START_CHOICE)
        for node in self.begins:
            if node.kind != "start":
                self._wire(_START_CHOICE if choice else START, self._in_port(node))
            elif choice and self.out[node] > 1:
                self.gateways[node.id] = GatewayDraft("parallel", "split", node)
                self._wire(_START_CHOICE, node.id)

    def _wire(self, source: str, target: str, guard: str | None = None) -> None:
        self.wires.append(Wire(source, target, guard))

    def _bypass(self) -> None:
        """Replace the wires into and out of the events that only pass the flow on by wires through them."""
        passed = {node.id for node in self.scope.of("event")} - set(self.gateways)
        behind = {wire.source: wire.target for wire in self.wires if wire.source in passed}
        bypassed = []
        for wire in (wire for wire in self.wires if wire.source not in passed):
            target, seen = wire.target, set[str]()
            while target in behind and target not in seen:
                seen.add(target)
                target = behind[target]
            if target not in passed:
                bypassed.append(replace(wire, target=target))
        self.wires = bypassed

    def _separate_twins(self) -> None:
        """Put a gateway into each wire that is the same as another one."""
        seen: set[tuple[str, str, str | None]] = set()
        for i, wire in enumerate([*self.wires]):
            key = (wire.source, wire.target, wire.guard)
            if key in seen:
                twin = f"#twin{i}"
                self.gateways[twin] = GatewayDraft("exclusive", "split", None)
                self.wires[i] = replace(wire, target=twin)
                self._wire(twin, wire.target)
            seen.add(key)

    def _exceptional(self) -> Iterator[tuple[str, str]]:
        for event, host in self.exceptions.items():
            target, seen = self._in_port(event.flow_out[0].target), set[str]()
            behind = {n.id: n.flow_out for n in self.scope.of("event") if n.id not in self.gateways}
            while target in behind and target not in seen:
                seen.add(target)
                target = self._in_port(behind[target][0].target) if behind[target] else END
            if target not in behind:
                yield host.id, target

    def _add_doubts(self) -> tuple[bool, bool]:
        """Change everything that is in doubt, as far as it is not changed already.

        Returns:
            True if it is unclear what runs execute, and True if one may never end, or end with an error.
        """
        for event in self.interrupting:
            if (host := host_of(event)) is not None and not event.flow_out:
                self._wire(host.id, END, _guard_of_event(event))
        is_free = self.scope.element.tag == "adHocSubProcess"
        if is_free:
            self.wires.clear()
        for node in self.scope.of("activity"):
            repeated = is_free or any(True for _ in node.element.of("standardLoopCharacteristics"))
            if repeated and node not in self.aside:
                self._wire(node.id, node.id)
        missing = {node.id for node in self.aside}
        self.wires = [wire for wire in self.wires if not missing & {wire.source, wire.target}]
        unclear = self._unclear_runs()
        self._doubt_start_choice()
        return unclear

    def _doubt_start_choice(self) -> None:
        """Make it open whether the choice of a start event is an exclusive one: no gateway of the file says so."""
        if _START_CHOICE in self.gateways:
            self.gateways[_START_CHOICE] = GatewayDraft("inclusive", "split", None)
            chosen = [wire for wire in self.wires if wire.source == _START_CHOICE]
            chosen.sort(key=attrgetter("target"))  # the order in the file has no meaning
            self.wires = [wire for wire in self.wires if wire.source != _START_CHOICE]
            self.wires += [replace(wire, guard=f"started_by = {i}") for i, wire in enumerate(chosen)]

    def _unclear_runs(self) -> tuple[bool, bool]:
        """Return whether it is unclear what runs execute, and whether one may never end, or end with an error."""
        concurrency, ends = Concurrency(self.wires, self.gateways), self.scope.of("end")
        is_cut = any(node.definitions & _CUTTING for node in ends) and concurrency.any()
        is_cut = is_cut or any(map(_is_interrupting, self.scope.inner.values()))
        if unjoined := bool(concurrency.unjoined()):
            is_stuck = any(gate.role == "join" and gate.kind != "exclusive" for gate in self.gateways.values())
        else:
            is_stuck = stuck_joins(self.wires, self.gateways) != frozenset()
        is_stuck = is_stuck or waits_in_circle(self.wires, self.gateways)
        is_counted = any(counts_tokens(node) for node in self.scope.of("activity"))
        throws = any(node.definitions & _THROWING for node in ends)
        endless = is_stuck or is_counted or throws or goes_round(self.wires)
        return is_cut or unjoined or is_stuck or is_counted, endless


def counts_tokens(node: Node) -> bool:
    """Return True for an activity that waits for several tokens, or lets out several at once."""
    return any(node.element.get(key) not in ("", "1") for key in ("startQuantity", "completionQuantity"))


def _is_interrupting(scope: Scope) -> bool:
    """Return True for an event sub-process that ends what runs beside it."""
    is_started = scope.element.get("triggeredByEvent") in ("true", "1")
    return is_started and any(n.element.get("isInterrupting") not in ("false", "0") for n in scope.of("start"))


def host_of(event: Node) -> Node | None:
    """Return the activity to which a boundary event is attached, if it is in the same scope."""
    host = event.scope.nodes.get(event.element.get("attachedToRef").rpartition(":")[2])
    return host if host is not None and host.kind == "activity" else None


def exceptions(scope: Scope) -> dict[Node, Node]:
    """Return the boundary events whose way is taken if their activity fails, with the activity."""
    hosts = {event: host_of(event) for event in scope.of("boundary") if event.definitions == {"error"}}
    times = Counter(host for host in hosts.values())
    return {
        event: host
        for event, host in hosts.items()
        if host is not None and times[host] == 1 and len(event.flow_out) == 1 and not host.is_started_by_event
    }


def _guard_of_event(event: Node) -> str:
    return f"after {designation(event.element)}"


def _interrupts(event: Node) -> bool:
    """Return True if a boundary event ends its activity."""
    return event.element.get("cancelActivity") not in ("false", "0") and "compensate" not in event.definitions


def instantiates(node: Node) -> bool:
    """Return True for a receive task or an event-based gateway that starts its process."""
    return node.element.get("instantiate") in ("true", "1")


def guard_of(flow: Flow, ways: int) -> str | None:
    """Return the condition of a flow out of a node with so many ways out; None if it has none."""
    source = flow.source.element
    chooses = source.tag in ("exclusiveGateway", "inclusiveGateway", "complexGateway")
    if not chooses and flow.source.kind != "activity":
        return None
    conditional = chooses or any(each.is_conditional for each in flow.source.flow_out)
    if ways > 1 and conditional and source.get("default") and source.get("default") == flow.element.get("id"):
        return OTHERWISE
    if (chooses and ways > 1) or flow.is_conditional:
        return flow.condition or None
    return None

"""What a BPMN file states and its workflows do not: a line for each construct, with the reason."""

from __future__ import annotations

from typing import Final

from .flow_scopes import CALL, Node, Remarks, Scope, designation
from .level_wires import LevelDraft, counts_tokens, exceptions, guard_of, host_of, instantiates
from .stuck_runs import stuck_joins
from .token_flow import Concurrency
from .xml_tree import Element

NO_QUESTION: Final = "not part of the questions"
_COLLABORATION: Final = {
    "messageFlow": f"messages between pools are {NO_QUESTION}",
    "textAnnotation": "no part of the workflow",
    "group": "no part of the workflow",
}
_LOOPS: Final = {
    "multiInstanceLoopCharacteristics": "it is executed several times; the questions count it once",
    "standardLoopCharacteristics": f"how often it is repeated is {NO_QUESTION}",
}
_ACTIVITIES: Final = {
    "adHocSubProcess": f"the order of its activities is free and {NO_QUESTION}",
    "transaction": f"its cancellation is {NO_QUESTION}",
}


def remark_file(definitions: Element, remarks: Remarks) -> None:
    """Add remarks about what stands beside the processes, and about lanes, annotations and groups."""
    for element in definitions.descendants():
        if element.tag in _COLLABORATION:
            remarks.add(element, _COLLABORATION[element.tag], _annotation(element))
        elif element.tag == "lane":
            remarks.add(element, "who executes an activity is no part of the workflow")
        elif element.tag == "participant" and not element.get("processRef"):
            remarks.add(element, "it has no process")
        elif "horeography" in element.tag or element.tag == "conversation":
            remarks.add(element, "it is no part of a process")


def _annotation(element: Element) -> str:
    texts = [child.text for child in element.of("text")]
    return f"text annotation {texts[0][:40]!r}" if texts and texts[0] else ""


def remark_scope(scope: Scope, remarks: Remarks) -> None:
    """Add remarks about the nodes of one process or sub-process."""
    taken = exceptions(scope)
    for node in scope.nodes.values():
        element, kinds = node.element, " ".join(sorted(node.definitions))
        if node.kind == "boundary":
            host = host_of(node)
            place = f" at {(host.element.name or host.id)!r}" if host else ""
            if node not in taken:
                remarks.add(element, NO_QUESTION, f"{designation(element)}{place}")
        elif node.kind == "event" and "link" not in node.definitions:
            remarks.add(element, f"{kinds or 'an event'} is no activity; the flow passes through it")
        elif node.kind == "end" and node.definitions & {"terminate", "error", "cancel"}:
            remarks.add(element, f"that it ends what runs beside it is {NO_QUESTION}")
        elif element.tag == "eventBasedGateway":
            remarks.add(element, "which way is taken depends on what happens; it is read as an exclusive choice")
        elif element.tag == "complexGateway":
            remarks.add(element, f"how it chooses or waits is {NO_QUESTION}")
        elif node.kind == "activity":
            _remark_activity(node, remarks)
        _remark_flows(node, remarks)
        is_aside = node.is_compensation or node.is_started_by_event or instantiates(node)
        alone = not node.flow_in and not is_aside
        if alone and node.kind in ("activity", "gateway", "event") and scope.of("start"):
            remarks.add(element, "no flow leads to it, although its level has a start event")


def _remark_activity(node: Node, remarks: Remarks) -> None:
    element = node.element
    if node.is_started_by_event:
        remarks.add(element, f"when it runs is {NO_QUESTION}", f"event {designation(element)}")
    elif element.tag in _ACTIVITIES:
        remarks.add(element, _ACTIVITIES[element.tag])
    if node.is_compensation:
        remarks.add(element, f"when it runs is {NO_QUESTION}", f"compensation {designation(element)}")
    if counts_tokens(node):
        remarks.add(element, f"it waits for several tokens, or lets out several; runs are {NO_QUESTION}")
    for tag, reason in _LOOPS.items():
        for marker in element.of(tag):
            remarks.add(marker, reason, f"loop marker of {designation(element)}")


def _remark_flows(node: Node, remarks: Remarks) -> None:
    for flow in node.flow_out:
        if flow.is_conditional and guard_of(flow, len(node.flow_out)) is None:
            reason = "it is empty" if node.kind == "activity" or not flow.condition else "it has no effect there"
            remarks.add(
                flow.element, reason, f"condition of {designation(flow.element)} out of {designation(node.element)}"
            )


def remark_tokens(draft: LevelDraft, remarks: Remarks) -> None:
    """Add remarks about branches that meet without a join, and about joins whose branches never come together."""
    concurrency = Concurrency(draft.wires, draft.gateways)
    for key in concurrency.unjoined():
        node = draft.activities.get(key) or (draft.gateways[key].node if key in draft.gateways else None)
        if node is not None:
            met = "branches of one run meet there unjoined, and what follows runs once for each"
            remarks.add(node.element, f"{met}; such runs are {NO_QUESTION}")
    for key in stuck_joins(draft.wires, draft.gateways) or () if not concurrency.unjoined() else ():
        if (gateway := draft.gateways.get(key)) is not None and gateway.node is not None:
            reason = f"runs can wait there for a flow that does not come; such runs are {NO_QUESTION}"
            remarks.add(gateway.node.element, reason)


def remark_plain(node: Node, is_empty: bool, remarks: Remarks) -> None:
    """Add a remark about a sub-process without activities, or a call activity whose process has none or is missing."""
    if is_empty:
        what = "the process that it calls" if node.element.tag == CALL else "it"
        remarks.add(node.element, f"{what} has no activity; it is read as a plain task")
    elif node.element.tag == CALL:
        called = node.element.get("calledElement")
        reason = f"{called!r} is no process of this file" if called else "it does not name what it calls"
        remarks.add(node.element, f"{reason}; it is read as a plain task")

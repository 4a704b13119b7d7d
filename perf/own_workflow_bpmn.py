"""The parts of a BPMN file by an independent count over its XML, and those that were read."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from typing import Final

from pytest_taskgraph.workflow.graph import task_graph
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.references import levels

Parts = Counter[tuple[str, ...]]
Element = ElementTree.Element
_MODEL: Final = "{http://www.omg.org/spec/BPMN/20100524/MODEL}"
_TASKS: Final = {
    *("task", "userTask", "manualTask", "serviceTask", "scriptTask", "businessRuleTask", "sendTask", "receiveTask"),
    *("callActivity", "subProcess", "transaction", "adHocSubProcess"),
}
_INNER: Final = {"subProcess", "transaction", "adHocSubProcess"}
_GATEWAYS: Final = {
    "exclusiveGateway": "exclusive",
    "eventBasedGateway": "exclusive",
    "parallelGateway": "parallel",
    "inclusiveGateway": "inclusive",
    "complexGateway": "inclusive",
}
_CHOOSING: Final = {"exclusiveGateway", "inclusiveGateway", "complexGateway"}


def _tag(element: Element) -> str:
    return element.tag.removeprefix(_MODEL) if isinstance(element.tag, str) else ""


def _title(element: Element) -> str:
    return " ".join((element.get("name") or "").split())


def _activities(process: Element) -> int:
    return sum(_tag(each) in _TASKS for each in process.iter())


def bpmn_parts(text: str) -> Parts:
    """Return the activities, links between them, gateways and conditions of the processes of a BPMN file."""
    root = ElementTree.fromstring(text.encode())  # the declaration is taken away by the caller
    processes = [each for each in root if _tag(each) == "process"]
    called = {each.get("calledElement", "").rpartition(":")[2] for each in root.iter() if _tag(each) == "callActivity"}
    kept = [p for p in processes if _activities(p) > 1 or (p.get("id") in called and _activities(p))]
    pools = {}
    for pool in root.iter(f"{_MODEL}participant"):
        if _title(pool):
            pools[pool.get("processRef", "").rpartition(":")[2]] = _title(pool)
    titles = [pools.get(process.get("id", "")) or _title(process) for process in kept]
    parts: Parts = Counter()
    for process, title in zip(kept, titles, strict=True):
        unique = titles.count(title) == 1 and (title or len(kept) == 1)
        parts.update(_scope_parts(process, title if unique else process.get("id", "")))
    return parts


def _scope_parts(scope: Element, place: str) -> Iterator[tuple[str, ...]]:
    names = _names(scope)
    nodes = {
        each.get("id", ""): each
        for each in scope
        if _tag(each) in _TASKS or "ateway" in _tag(each) or "vent" in _tag(each)
    }
    ends = {"startEvent": "targetRef", "boundaryEvent": "targetRef", "endEvent": "sourceRef"}
    flows = [each for each in scope if _tag(each) == "sequenceFlow"]
    flows = [
        flow for flow in flows
        if flow.get("sourceRef") in nodes and flow.get("targetRef") in nodes
        and not any(ends.get(_tag(nodes[flow.get(end, "")])) == end for end in ("sourceRef", "targetRef"))
        and not any(nodes[flow.get(end, "")].get("triggeredByEvent") == "true" for end in ("sourceRef", "targetRef"))
    ]  # fmt: skip
    normal = [flow for flow in flows if _tag(nodes[flow.get("sourceRef", "")]) != "boundaryEvent"]
    after: dict[str, list[str]] = {}
    for flow in normal:
        after.setdefault(flow.get("sourceRef", ""), []).append(flow.get("targetRef", ""))
    after.update(_jumps(nodes, after))
    for key, node in nodes.items():
        if _tag(node) in _TASKS:
            yield "task", place, names[key]
            yield from (("link", place, names[key], names[other]) for other in _next(key, after, names))
        elif _tag(node) in _GATEWAYS and any(key in (flow.get("sourceRef"), flow.get("targetRef")) for flow in normal):
            yield "gateway", place, _GATEWAYS[_tag(node)]
        if _tag(node) in _INNER and any(_tag(each) in _TASKS for each in node.iter() if each is not node):
            yield from _scope_parts(node, f"{place}/{names[key]}")
    for flow in normal:
        if condition := _condition(flow, nodes[flow.get("sourceRef", "")], normal):
            yield "condition", place, condition


def _names(scope: Element) -> dict[str, str]:
    """Return the names of the activities of a scope by id: the id where a name is missing or not unique."""
    own = {each.get("id", ""): _title(each) for each in scope if _tag(each) in _TASKS}
    times = Counter(own.values())
    return {
        key: name if name and times[name] == 1 and name not in ("START", "END") else key for key, name in own.items()
    }


def _jumps(nodes: dict[str, Element], after: dict[str, list[str]]) -> dict[str, list[str]]:
    links = {
        key: next((_title(each) or _title(node) for each in node if _tag(each) == "linkEventDefinition"), None)
        for key, node in nodes.items()
    }
    caught = {
        name: key for key, name in links.items() if name is not None and _tag(nodes[key]) == "intermediateCatchEvent"
    }
    thrown = {
        key: name for key, name in links.items() if name in caught and _tag(nodes[key]) == "intermediateThrowEvent"
    }
    return {key: [caught[name]] for key, name in thrown.items() if name is not None and key not in after}


def _next(key: str, after: dict[str, list[str]], tasks: dict[str, str]) -> set[str]:
    found, seen, waiting = set[str](), set[str](), [*after.get(key, ())]
    while waiting:
        node = waiting.pop()
        if node in tasks:
            found.add(node)
        elif node not in seen:
            seen.add(node)
            waiting += after.get(node, [])
    return found


def _condition(flow: Element, source: Element, flows: list[Element]) -> str:
    ways = sum(each.get("sourceRef") == source.get("id") for each in flows)
    written = flow.find(f"{_MODEL}conditionExpression")
    text = " ".join((written.text or "").split()) if written is not None else ""
    if _tag(source) in _CHOOSING and ways > 1:
        return "otherwise" if source.get("default") == flow.get("id") else text or _title(flow)
    if written is not None and (_tag(source) in _CHOOSING or _tag(source) in _TASKS):
        return text or _title(flow) if source.get("default") != flow.get("id") else ""
    return ""


def bpmn_found(whole: Workflow, expected: Parts) -> Parts:
    """Return the same of what was read; a gateway that joins and splits counts twice."""
    found: Parts = Counter()
    for root in (whole, *whole.others):
        for path, level in levels(root):
            place = "/".join((root.name, *path))
            found.update(("task", place, name) for name in level.task_names)
            found.update(("link", place, a, b) for a, after in task_graph(level).items() for b in after)
            found.update(("gateway", place, gateway.kind) for gateway in level.gateways)
            found.update(("condition", place, link.guard) for link in level.links if link.guard)
    return found

"""The writer of BPMN 2.0 XML: a process for each workflow, without its layout.

    <task id="Cook" name="Cook">
      <documentation>duration: 30 minutes</documentation>
      <property id="Cook_input"/>                            what a task reads needs a place in it
      <dataInputAssociation><sourceRef>Broth</sourceRef><targetRef>Cook_input</targetRef></dataInputAssociation>
    </task>
    <boundaryEvent id="Cook_error" attachedToRef="Cook"><errorEventDefinition/></boundaryEvent>
    <dataObject id="Broth" name="Broth"/>

The elements inside an element are in the order of BPMN's schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ...errors import WorkflowError
from ...workflow.model import END, OTHERWISE, START, Data, Task, Workflow
from ..attribute_lines import data_lines, level_lines, task_lines
from ..notation import IMPLIED
from .explicit_flow import ExplicitFlow
from .shown_text import escaped
from .token_flow import Wire
from .written_style import EXPORTER, INNER, encode
from .xml_tree import MODEL

_INDENT: Final = "  "
_TARGET_NAMESPACE: Final = "urn:workflow"  # BPMN demands one
_NO_CONDITION: Final = r"\u{20}"  # an empty condition would be none


def render(workflow: Workflow) -> str:
    """Return the file of the workflow and of its others.

    Raises:
        WorkflowError: for a link to a node that is not in the workflow.
    """
    ids = _Ids()
    start = f'<definitions xmlns="{MODEL}" targetNamespace="{_TARGET_NAMESPACE}" exporter="{EXPORTER}">'
    processes = (line for whole in (workflow, *workflow.others) for line in _process_lines(whole, ids))
    return "\n".join([start, *_indented(processes), "</definitions>"]) + "\n"


class _Ids:
    """The ids of a file."""

    def __init__(self) -> None:
        self.taken = set[str]()
        self.last: dict[str, int] = {}
        self.flows = 0

    def claim(self, name: str) -> str:
        """Return a new id of letters, digits and _ for a name, with a number behind it if others are like it."""
        stem = re.sub(r"[^A-Za-z0-9_]+", "_", name)
        stem = stem if stem[:1].isalpha() else f"n_{stem}"
        claimed, number = stem, self.last.get(stem, 1)
        while claimed in self.taken:
            number += 1
            claimed = f"{stem}_{number}"
        self.last[stem] = number
        self.taken.add(claimed)
        return claimed

    def claim_flow(self) -> str:
        """Return a new id of a sequence flow."""
        self.flows += 1
        return self.claim(f"flow_{self.flows}")


def _process_lines(workflow: Workflow, ids: _Ids) -> Iterator[str]:
    yield f'<process id="{ids.claim(workflow.name or "process")}"{_name(workflow.name)}>'
    yield from _indented(_documentation(level_lines(workflow)))
    yield from _indented(_LevelWriter(workflow, ids, "").lines())
    yield "</process>"


class _LevelWriter:
    """The nodes and flows of a level, with their ids.

    Args:
        level: The level.
        ids: The ids of the file.
        prefix: What the ids of START and END begin with.
    """

    def __init__(self, level: Workflow, ids: _Ids, prefix: str) -> None:
        _check_ends(level)
        self.level, self.file_ids, self.flow = level, ids, ExplicitFlow(level)
        self.ids = {name: ids.claim(prefix + name) for name in (START, END)}
        self.ids |= {name: ids.claim(name) for name in level.task_names}
        self.ids |= {key: ids.claim(gateway.name) for key, gateway in self.flow.gateways.items()}
        self.data_ids = {datum.name: ids.claim(datum.name) for datum in level.data}
        self.error_ids = {task: ids.claim(f"{self.ids[task]}_error") for task in self.flow.exceptions}
        self.flow_ids = [ids.claim_flow() for _ in self.flow.flows]
        self.defaults = self._find_defaults()

    def lines(self) -> Iterator[str]:
        """Yield the lines of all elements of the level."""
        yield f'<startEvent id="{self.ids[START]}"/>'
        for task in self.level.tasks:
            yield from self._task(task)
        for task_name, error in self.error_ids.items():
            attached = f'<boundaryEvent id="{error}" attachedToRef="{self.ids[task_name]}">'
            yield f"{attached}<errorEventDefinition/></boundaryEvent>"
        for key, gateway in self.flow.gateways.items():
            is_like_implied = key == gateway.name and key.startswith(IMPLIED)
            attributes = _name("" if is_like_implied else gateway.name) + self._default(key)
            yield f'<{gateway.kind}Gateway id="{self.ids[key]}"{attributes}/>'
        for datum in self.level.data:
            yield from self._data(datum)
        yield f'<endEvent id="{self.ids[END]}"/>'
        for flow, flow_id in zip(self.flow.flows, self.flow_ids, strict=True):
            yield from self._sequence_flow(flow_id, self.ids[flow.source], flow.target, self._condition(flow, flow_id))
        for task_name, error in self.error_ids.items():
            yield from self._sequence_flow(self.file_ids.claim_flow(), error, self.flow.exceptions[task_name])

    def _find_defaults(self) -> dict[str, str]:
        """Return the default flow of each node that has one: its only `otherwise`, beside other flows."""
        ways: dict[str, list[tuple[Wire, str]]] = {}
        for flow, flow_id in zip(self.flow.flows, self.flow_ids, strict=True):
            ways.setdefault(flow.source, []).append((flow, flow_id))
        defaults: dict[str, str] = {}
        for source, flows in ways.items():
            otherwise = [flow_id for flow, flow_id in flows if flow.guard == OTHERWISE]
            others = [flow for flow, _ in flows if flow.guard != OTHERWISE]
            has_choice = source in self.flow.gateways or any(flow.guard is not None for flow in others)
            if len(otherwise) == 1 and others and has_choice:
                defaults[source] = otherwise[0]
        return defaults

    def _default(self, node: str) -> str:
        return f' default="{self.defaults[node]}"' if node in self.defaults else ""

    def _condition(self, flow: Wire, flow_id: str) -> str:
        is_default = self.defaults.get(flow.source) == flow_id
        return "" if flow.guard is None or is_default else encode(flow.guard) or _NO_CONDITION

    def _sequence_flow(self, flow_id: str, source: str, target: str, condition: str = "") -> Iterator[str]:
        start = f'<sequenceFlow id="{flow_id}" sourceRef="{source}" targetRef="{self.ids[target]}"'
        text = escaped(condition, quotes=False)
        yield f"{start}><conditionExpression>{text}</conditionExpression></sequenceFlow>" if text else f"{start}/>"

    def _task(self, task: Task) -> Iterator[str]:
        own, inner = self.ids[task.name], task.subworkflow
        tag = "task" if inner is None else "subProcess"
        content = [*_documentation(task_lines(task))]
        if inner is not None:
            content += _documentation((f"{INNER}{key}", text) for key, text in level_lines(inner) if key != "package")
        content += self._associations(task.name, own)
        if inner is not None:
            content += _LevelWriter(inner, self.file_ids, f"{own}_").lines()
        start = f'<{tag} id="{own}"{_name(task.name)}{self._default(task.name)}'
        yield from [f"{start}>", *_indented(content), f"</{tag}>"] if content else [f"{start}/>"]

    def _associations(self, task: str, own: str) -> list[str]:
        reads = [link.source for link in self.level.data_links if link.target == task]
        writes = [link.target for link in self.level.data_links if link.source == task]
        place = self.file_ids.claim(f"{own}_input") if reads else ""
        properties = [f'<property id="{place}"/>'] if reads else []
        inputs = [f"<sourceRef>{self.data_ids[name]}</sourceRef><targetRef>{place}</targetRef>" for name in reads]
        outputs = [f"<targetRef>{self.data_ids[name]}</targetRef>" for name in writes]
        return [
            *properties,
            *(f"<dataInputAssociation>{refs}</dataInputAssociation>" for refs in inputs),
            *(f"<dataOutputAssociation>{refs}</dataOutputAssociation>" for refs in outputs),
        ]

    def _data(self, datum: Data) -> Iterator[str]:
        content = [*_documentation(data_lines(datum))]
        start = f'<dataObject id="{self.data_ids[datum.name]}"{_name(datum.name)}'
        yield from [f"{start}>", *_indented(content), "</dataObject>"] if content else [f"{start}/>"]


def _check_ends(level: Workflow) -> None:
    """Check that links lead to nodes of the level.

    Raises:
        WorkflowError: for one that does not.
    """
    nodes = {START, END, *level.task_names, *(gateway.name for gateway in level.gateways)}
    flowing = nodes | {datum.name for datum in level.data}
    ends = [(name, nodes) for link in (*level.links, *level.exceptional_links) for name in (link.source, link.target)]
    ends += [(name, flowing) for link in level.data_links for name in (link.source, link.target)]
    for name, known in ends:
        if name not in known:
            raise WorkflowError(f"workflow {level.name!r}: a link leads to {name!r}, which is not in it")


def _name(name: str) -> str:
    return f' name="{escaped(encode(name))}"' if name else ""


def _documentation(lines: Iterable[tuple[str, str]]) -> list[str]:
    texts = (escaped(f"{key}: {encode(text)}", quotes=False) for key, text in lines)
    return [f"<documentation>{text}</documentation>" for text in texts]


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (_INDENT + line for line in lines)

"""Small BPMN models in the styles of several tools, and the questions about them that have an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from pytest_taskgraph.families.understanding.own_files.choices import answers_in
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.scope import Scope, all_scopes, cases
from pytest_taskgraph.notations.bpmn import BPMN
from pytest_taskgraph.notations.notation import Interpretation, combine_workflows
from pytest_taskgraph.workflow.model import Workflow

NAMESPACE: Final = "http://www.omg.org/spec/BPMN/20100524/MODEL"
STYLES: Final = ("plain", "camunda", "signavio", "semantic")


def tasks(names: str, tag: str = "task") -> str:
    """Return activities whose ids are their names."""
    return "".join(f'<{tag} id="{name}" name="{name}"/>' for name in names.split())


def flows(text: str) -> str:
    """Return sequence flows: `A>B` without a name, `A>B:name` with one, `A>B=text` with a condition."""
    parts = [re.fullmatch(r"([^>]+)>([^:=]+)(?::(.*)|=(.*))?", part) for part in text.split()]
    return "".join(_flow(part[1], part[2], part[3], part[4]) for part in parts if part)


def _flow(source: str, target: str, name: str | None, condition: str | None) -> str:
    start = f'<sequenceFlow id="{source}-{target}" sourceRef="{source}" targetRef="{target}"'
    start += f' name="{name}"' if name else ""
    inside = "" if condition is None else f"<conditionExpression>{condition}</conditionExpression>"
    return f"{start}>{inside}</sequenceFlow>" if inside else f"{start}/>"


def process(body: str, name: str = "P", attributes: str = "") -> str:
    """Return a process whose id is its name in lower case."""
    return f'<process id="{name.lower()}" name="{name}"{attributes}>{body}</process>'


def written(content: str, style: str = "plain") -> str:
    """Return a file with the content as a tool of that style writes it."""
    if style == "plain":
        return f'<definitions xmlns="{NAMESPACE}">{content}</definitions>'
    if style == "camunda":
        content = re.sub(r"(</?)(?=\w)", r"\1bpmn:", content)
        content = re.sub(
            r"(<bpmn:(?:task|userTask) [^>]*)/>",
            r"\1 camunda:assignee='me'><bpmn:incoming>x</bpmn:incoming></bpmn:task>",
            content,
        )
        return (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<bpmn:definitions xmlns:bpmn="{NAMESPACE}" xmlns:camunda="urn:c" '
            f'xmlns:bpmndi="urn:di" id="D1">\n{content}\n<bpmndi:BPMNDiagram id="d"><bpmndi:BPMNPlane bpmnElement="p"/>'
            "</bpmndi:BPMNDiagram></bpmn:definitions>"
        )
    if style == "signavio":
        content = re.sub(r"(<\w+Gateway )", r'\1gatewayDirection="Diverging" ', content)
        content = re.sub(r'(<task )id="(\w+)" name="(\w+)"', r'\1completionQuantity="1" name="\3" id="\2"', content)
        return (
            f'<definitions xmlns="{NAMESPACE}" exporter="Signavio" xmlns:s="urn:s">\n<extensionElements><s:x/>'
            f"</extensionElements>{content}</definitions>"
        )
    content = re.sub(r"(</?)(?=\w)", r"\1semantic:", content)
    start = f'<semantic:definitions xmlns:semantic="{NAMESPACE}" xmlns="urn:other"><task/>'
    return f"{start}\n{content}</semantic:definitions>"


def read(content: str, style: str = "plain") -> Interpretation:
    """Return how a file with the content is read."""
    return BPMN.interpret(written(content, style), "m.bpmn")


def answers(
    interpretation: Interpretation, pattern: str, workflow: str = "", path: str = ""
) -> list[tuple[dict[str, Any], Any]]:
    """Return fields and answers of the cases of a pattern about a level that have one answer in both readings.

    Args:
        interpretation: The file.
        pattern: The name of the pattern.
        workflow: The name of the workflow; by default the first.
        path: The names of the composite tasks around the level, with dots.
    """
    name = workflow or interpretation.workflows[0].name
    asked, scope = catalogue()[pattern], _scope(interpretation.workflows, name, path)
    answered = [] if scope is None else [*cases(asked, scope)]
    if interpretation.doubtful:
        same = answers_in(asked, _scope(interpretation.doubtful, name, path))
        answered = [case for case in answered if (repr(case.fields), repr(case.answer)) in same]
    return [(dict(case.fields), case.answer) for case in answered]


def _scope(workflows: tuple[Workflow, ...], name: str, path: str) -> Scope | None:
    scopes = all_scopes(combine_workflows(workflows))
    return next((scope for scope in scopes if (scope.root.name, ".".join(scope.path)) == (name, path)), None)


def facts(interpretation: Interpretation, workflow: str = "", path: str = "") -> dict[str, Any]:
    """Return what is asked about a level: tasks next, before, first, last, together, always executed, and cycles."""

    def by(pattern: str, field: str, **wanted: object) -> Iterator[tuple[str, Any]]:
        for fields, answer in answers(interpretation, pattern, workflow, path):
            if all(fields.get(key) == value for key, value in wanted.items()):
                yield fields.get(field, ""), answer

    def sets(pattern: str, field: str, **wanted: object) -> dict[str, str]:
        return {key: " ".join(sorted(names)) for key, names in by(pattern, field, **wanted)}

    return {
        "next": sets("next_tasks", "task", flow="control"),
        "before": sets("dependency_list", "task", flow="control", direct=False),
        "first": next((answer for _, answer in by("flow_start", "", flow="control")), None),
        "last": next((" ".join(sorted(names)) for _, names in by("flow_end", "", flow="control")), None),
        "together": {k: v for k, v in sets("parallel_to_task", "task").items() if v},
        "always": dict(by("every_situation", "task")),
        "cycle": next((answer for _, answer in by("flow_cycle", "", flow="control")), None),
    }

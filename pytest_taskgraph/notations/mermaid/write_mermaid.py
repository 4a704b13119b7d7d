"""The writer of Mermaid flowcharts: one chart per workflow, one after another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from ...errors import WorkflowError
from ...workflow.model import END, START, Gateway, Link, Workflow
from .node_text import comment_line, data_label, encode, level_comments, task_label

EXCEPTION = "exception"
"""The text on an exceptional link, whose head is a cross."""
EXCEPTIONAL_ARROW = (
    f'An arrow out of a task with a cross at its end and the text "{EXCEPTION}" is an exceptional link of the control '
    "flow, and that text is no condition."
)
DURATION_LINE = 'A line of a label such as "duration: 30 minutes" is no part of the name, but the duration of the task.'
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_RESERVED = re.compile(
    "call|class|classDef|click|default|direction|end|flowchart|graph|href|interpolate|linkStyle|style|subgraph"
)


def render(workflow: Workflow) -> str:
    """Return the chart of the workflow, followed by those of its others.

    Raises:
        WorkflowError: for a link to a node that is not in the workflow.
    """
    return "\n".join(_chart_text(whole) for whole in (workflow, *workflow.others))


def _chart_text(workflow: Workflow) -> str:
    title = json.dumps(workflow.name, ensure_ascii=not workflow.name.isprintable())
    lines = ["---", f"title: {title}", "---", "flowchart TD", *_level_lines(workflow, "", set(), "  ")]
    return "\n".join(lines) + "\n"


def _level_lines(workflow: Workflow, prefix: str, taken: set[str], indent: str) -> Iterator[str]:
    """Yield the lines of one level; `taken` holds the ids of the whole chart."""
    names = (
        START,
        END,
        *workflow.task_names,
        *(datum.name for datum in workflow.data),
        *(gateway.name for gateway in workflow.gateways),
    )
    ids = {name: _claim_id(prefix + _plain_id(name), taken) for name in names}
    lines = (
        *level_comments(workflow),
        f"{ids[START]}(({START}))",
        f"{ids[END]}(({END}))",
        *_task_lines(workflow, ids, taken),
        *(f'{ids[datum.name]}[("{data_label(datum)}")]' for datum in workflow.data),
        *(_gateway_line(gateway, ids[gateway.name]) for gateway in workflow.gateways),
        *(_link_line(link, _end_ids(workflow, link.source, link.target, ids)) for link in workflow.links),
        *(
            f' --x|"{EXCEPTION}"| '.join(_end_ids(workflow, link.source, link.target, ids))
            for link in workflow.exceptional_links
        ),
        *(" -.-> ".join(_end_ids(workflow, link.source, link.target, ids)) for link in workflow.data_links),
    )
    yield from (indent + line for line in lines)


def _task_lines(workflow: Workflow, ids: Mapping[str, str], taken: set[str]) -> Iterator[str]:
    for task in workflow.tasks:
        own_id, inner = ids[task.name], task.subworkflow
        if inner is None:
            yield f'{own_id}["{task_label(task)}"]'
        else:
            yield f'subgraph {own_id} ["{task_label(task)}"]'
            if inner.name != task.name:
                yield "  " + comment_line("workflow", inner.name)
            yield from _level_lines(inner, f"{own_id}__", taken, "  ")
            yield "end"


def _gateway_line(gateway: Gateway, own_id: str) -> str:
    text = f'"{gateway.kind} {gateway.role}"'
    return f"{own_id}{{{{{text}}}}}" if gateway.kind == "parallel" else f"{own_id}{{{text}}}"


def _link_line(link: Link, ends: tuple[str, str]) -> str:
    arrow = " --> " if link.guard is None else f' -->|"{encode(link.guard) or " "}"| '  # Mermaid refuses ""
    return arrow.join(ends)


def _end_ids(workflow: Workflow, source: str, target: str, ids: Mapping[str, str]) -> tuple[str, str]:
    for name in (source, target):
        if name not in ids:
            raise WorkflowError(f"workflow {workflow.name!r}: a link leads to {name!r}, which is not in it")
    return ids[source], ids[target]


def _plain_id(name: str) -> str:
    """Return an id of letters, digits and _ that is no reserved word of Mermaid."""
    if _PLAIN.fullmatch(name) and not _RESERVED.fullmatch(name):
        return name
    return "n_" + re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")


def _claim_id(preferred: str, taken: set[str]) -> str:
    """Return the preferred id, or the first free one with a number behind it, and add it to the taken ids."""
    candidate, number = preferred, 2
    while candidate in taken:
        candidate, number = f"{preferred}_{number}", number + 1
    taken.add(candidate)
    return candidate

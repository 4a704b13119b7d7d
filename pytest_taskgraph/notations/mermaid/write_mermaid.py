"""Mermaid flowcharts, written: one chart a workflow, one after another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from ...errors import WorkflowError
from ...workflow.model import END, START, Gateway, Link, Workflow
from .node_text import comment, encode, of_data, of_level, of_task

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_RESERVED = re.compile(
    "call|class|classDef|click|default|direction|end|flowchart|graph|href|interpolate|linkStyle|style|subgraph"
)


def render(workflow: Workflow) -> str:
    """The chart of the workflow, then those of its others. Raises WorkflowError for a link to nowhere."""
    return "\n".join(_chart(one) for one in (workflow, *workflow.others))


def _chart(workflow: Workflow) -> str:
    title = json.dumps(workflow.name, ensure_ascii=not workflow.name.isprintable())
    lines = ["---", f"title: {title}", "---", "flowchart TD", *_level(workflow, "", set(), "  ")]
    return "\n".join(lines) + "\n"


def _level(workflow: Workflow, prefix: str, taken: set[str], indent: str) -> Iterator[str]:
    """The lines of one level; `taken` are the ids of the whole chart."""
    names = (
        START,
        END,
        *workflow.task_names,
        *(one.name for one in workflow.data),
        *(one.name for one in workflow.gateways),
    )
    ids = {name: _fresh(prefix + _plain(name), taken) for name in names}
    inner = (
        *of_level(workflow),
        f"{ids[START]}(({START}))",
        f"{ids[END]}(({END}))",
        *_tasks(workflow, ids, taken),
        *(f'{ids[one.name]}[("{of_data(one)}")]' for one in workflow.data),
        *(_gateway(one, ids[one.name]) for one in workflow.gateways),
        *(_link(one, _ends(workflow, one.source, one.target, ids)) for one in workflow.links),
        *(" -.-> ".join(_ends(workflow, one.source, one.target, ids)) for one in workflow.data_links),
    )
    yield from (indent + line for line in inner)


def _tasks(workflow: Workflow, ids: Mapping[str, str], taken: set[str]) -> Iterator[str]:
    for task in workflow.tasks:
        own, below = ids[task.name], task.subworkflow
        if below is None:
            yield f'{own}["{of_task(task)}"]'
        else:
            yield f'subgraph {own} ["{of_task(task)}"]'
            if below.name != task.name:
                yield "  " + comment("workflow", below.name)
            yield from _level(below, f"{own}__", taken, "  ")
            yield "end"


def _gateway(gateway: Gateway, own: str) -> str:
    text = f'"{gateway.kind} {gateway.role}"'
    return f"{own}{{{{{text}}}}}" if gateway.kind == "parallel" else f"{own}{{{text}}}"


def _link(link: Link, ends: tuple[str, str]) -> str:
    arrow = " --> " if link.guard is None else f' -->|"{encode(link.guard) or " "}"| '  # Mermaid refuses ""
    return arrow.join(ends)


def _ends(workflow: Workflow, source: str, target: str, ids: Mapping[str, str]) -> tuple[str, str]:
    for name in (source, target):
        if name not in ids:
            raise WorkflowError(f"workflow {workflow.name!r}: a link leads to {name!r}, which is not in it")
    return ids[source], ids[target]


def _plain(name: str) -> str:
    """An id of letters, digits and _ that Mermaid takes for no word of its own."""
    if _PLAIN.fullmatch(name) and not _RESERVED.fullmatch(name):
        return name
    return "n_" + re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")


def _fresh(wanted: str, taken: set[str]) -> str:
    """The wanted id, or the first with a number behind it that is not taken; it is taken then."""
    own, number = wanted, 2
    while own in taken:
        own, number = f"{wanted}_{number}", number + 1
    taken.add(own)
    return own

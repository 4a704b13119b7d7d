"""Patterns about a whole flow: cycles, start, end and connection (docs/reference/patterns.md)."""

from __future__ import annotations

from .....workflow.graph import ends, is_connected, shortest_cycle, starts, task_graph
from .....workflow.model import Flow, Workflow
from ..pattern import OWN_LEVEL, Cases, case, pattern
from ..task_profiles import level_profile
from .links import FLOWS


@pattern(
    "Is there a cycle in the {{ flow }} flow of {{ place }}, that is, do its links"
    "{% if flow == 'control' %}, with or without conditions,{% endif %} lead from some task back to that same task?"
    + OWN_LEVEL,
    "In {{ place }}, can one start at one of the tasks, follow {{ flow }} flow links only"
    "{% if flow == 'control' %} (conditional ones count){% endif %} and get back to the task one started at?"
    + OWN_LEVEL,
    form="yes-no",
    needs={"guards"},
    avoids={"loop"},
    varies={"parallel", "exclusive", "inclusive", "mixed"},
    flaws={"yes": "back-link", "no": "forward-link"},
    least=5,
)
def flow_cycle(workflow: Workflow) -> Cases:
    """Check that the model notices a way back.

    Workflows with either answer have the same kinds of blocks by chance, and one more conditional link: it leads back
    for yes and forward for no. So neither the guards nor their number give the answer away.

    The data flow is asked about only where one of the two flows has a cycle, or where there is no control flow.
    Generated data flow has no cycle: asked about as often as the control flow, it would give its answer away. So it is
    not asked about in generated workflows (where the control flow has a cycle, the intended answer is yes), and in the
    user's own workflows either answer can be right.
    """
    cycles: dict[Flow, tuple[str, ...]] = {
        "control": shortest_cycle(workflow) if workflow.links else (),
        "data": shortest_cycle(workflow, "data") if workflow.data_links else (),
    }
    if workflow.tasks and workflow.links:
        yield case(bool(cycles["control"]), flow="control", labels={"flow": "control", "cycle": len(cycles["control"])})
    if workflow.data_links and (any(cycles.values()) or not workflow.links):
        yield case(bool(cycles["data"]), flow="data", labels={"flow": "data", "cycle": len(cycles["data"])})


@pattern(
    "{% if flow == 'control' %}In the control flow of {{ place }}, which task runs first?{% else %}In the data flow of "
    "{{ place }}, which one of the tasks that read or write data reads nothing that another task writes?{% endif %}"
    + OWN_LEVEL,
    "{% if flow == 'control' %}With which task does the control flow of {{ place }} begin?{% else %}Among the tasks of "
    "{{ place }} that read or write data, the data flow has just one that needs nothing written by any other task. "
    "Which one?{% endif %}" + OWN_LEVEL,
    form="task",
)
def flow_start(workflow: Workflow) -> Cases:
    """Check that the model finds where a flow begins.

    Asked only where one task comes first and every other task has another before it. Generated data flow begins at
    several tasks; it is asked about in the user's own workflows.
    """
    first = starts(workflow)
    followed = {task for before, after in task_graph(workflow).items() for task in after if task != before}
    if len(first) == 1 and followed.union(first).issuperset(workflow.task_names):
        yield case(first[0], flow="control", labels={"flow": "control"})
    first = starts(workflow, "data")
    if len(first) == 1:
        yield case(first[0], flow="data", labels={"flow": "data"})


@pattern(
    "{% if flow == 'control' %}Which tasks come last in the control flow of {{ place }}, that is, after which tasks "
    "does no other task come?{% else %}In the data flow of {{ place }}, which of the tasks that read or write data "
    "write nothing that another task reads?{% endif %}"
    "{% if stray %} Tasks without any link do not count.{% endif %}" + OWN_LEVEL,
    "{% if flow == 'control' %}List the tasks of {{ place }} from which the control flow leads to no other task."
    "{% else %}Look at the data flow of {{ place }}. List all tasks that read or write data but produce nothing for "
    "any other task to read.{% endif %}"
    "{% if stray %} Leave out tasks that have no link at all.{% endif %}" + OWN_LEVEL,
    form="task-set",
)
def flow_end(workflow: Workflow) -> Cases:
    """Check that the model finds all places where a flow ends.

    A task that another one may follow under a condition is no end; a task that only repeats itself is.
    """
    linked = {node for link in workflow.links for node in (link.source, link.target)}
    for flow in FLOWS:
        if last := ends(workflow, flow):
            stray = flow == "control" and not linked.issuperset(workflow.task_names)
            yield case(last, flow=flow, stray=stray, labels={"flow": flow, "answers": len(last)})


@pattern(
    "Is the control flow of {{ place }} connected, that is, does every task lie on a path of its links from START to "
    "END? A path may pass a task more than once, and take conditional links." + OWN_LEVEL,
    "In the control flow of {{ place }}, is every task reached by following links from START, and is END reached by "
    "following links, conditional ones included, from every task?" + OWN_LEVEL,
    form="yes-no",
    avoids={"loop"},
    varies={"exclusive", "inclusive", "mixed"},
    flaws={"yes": "keep-connected", "no": "disconnect"},
    matched=0.9,
    least=5,
)
def flow_connected(workflow: Workflow) -> Cases:
    """Check that the model notices a part of the flow that is cut off.

    Connected means that every task lies on a path from START to END (docs/explanation/patterns.md). Equally likely in
    generated workflows: a task without a link in or out; a detached cycle; a section behind a gateway that nothing
    leads to; a section that cannot be left; a section that can be left, but not entered. Connected workflows have as
    many gateways, conditions, forks and loose ends, and cycles too.
    """
    if workflow.tasks:
        yield case(is_connected(workflow), profile=level_profile(workflow), flow="control", labels={"flow": "control"})

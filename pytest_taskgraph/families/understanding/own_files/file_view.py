"""What is read of the user's own files, for the command `show`: workflows, what is left out, conversions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....benchmarks.family import ShownFile
from ....notations import Notation, notation
from ....notations.notation import IMPLIED
from ....reports.drawing.diagram_text import diagram_lines
from ....reports.wording import count
from ....workflow.features import features
from ....workflow.model import Workflow
from ....workflow.project import every_level
from ....workflow.workflow_diagram import diagram
from ..patterns.scope import rotations
from .found_files import title_of
from .projects import OwnWorkflows, Project, fit, load_all

_RESOLVED = {"references": "sub-workflows are written inline", "derivation": "derived workflows are filled in"}


def show_file(path: str, form: str) -> ShownFile:
    """Return what is read of the workflows at a path.

    Args:
        path: A file, a folder or a pattern.
        form: The name of the notation to convert the workflows into; empty for a description.

    Raises:
        UsageError: if no file can be read, or there is no such notation.
    """
    target = notation(form) if form else None
    own = load_all(path)
    lines, remarks = list[str](), [*_unused(path, own)]
    for project in own.projects:
        if target is None:
            lines += [*_description(project), ""]
        else:
            converted, lost = _converted(project, target)
            lines += converted
            remarks += [*(f"left out: {line}" for line in project.left_out), *lost]
    diagrams = [diagram(root) for project in own.projects for root in _own_workflows(project)]
    return ShownFile(lines[:-1] if target is None else lines, remarks, diagrams)


def _own_workflows(project: Project) -> list[Workflow]:
    """Return the workflows of a project's own files; those that they only refer to follow them."""
    return [*rotations(project.workflow)][: project.own_workflows]


def _unused(path: str, own: OwnWorkflows) -> Iterator[str]:
    yield from (f"not used: {refusal}" for refusal in own.refusals)
    if own.skipped_files:
        yield f"{path}: skipped, because they contain no workflow: {', '.join(own.skipped_files)}"


def _description(project: Project) -> Iterator[str]:
    """Yield the lines that describe a project: format, counts, a drawing of each workflow, and what is left out."""
    roots = _own_workflows(project)
    yield f"{project.path}: {title_of(project.notation)}, {count(len(roots), 'workflow')}"
    for root in roots:
        drawn = diagram(root)
        yield f"{drawn.title or 'the workflow'}: {_counts(root)}"
        yield from diagram_lines(drawn)[1:]
    if project.left_out:
        yield "left out:"
        yield from (f"  {line}" for line in project.left_out)


def _counts(root: Workflow) -> str:
    """Return the numbers of a workflow and the levels written inside it."""
    own = [*every_level(replace(root, others=()))]
    numbers = {
        "task": sum(len(level.tasks) for level in own),
        "link": sum(not link.target.startswith(IMPLIED) for level in own for link in level.links),
        "exceptional link": sum(len(level.exceptional_links) for level in own),
        "condition": sum(link.guard is not None for level in own for link in level.links),
        "gateway": sum(not gateway.name.startswith(IMPLIED) for level in own for gateway in level.gateways),
        "data item": sum(len(level.data) for level in own),
        "data link": sum(len(level.data_links) for level in own),
        "composite task": sum(task.composite for level in own for task in level.tasks),
    }
    return ", ".join(count(number, noun) for noun, number in numbers.items() if number or noun in ("task", "link"))


def _converted(project: Project, target: Notation) -> tuple[list[str], list[str]]:
    """Return the lines of a project in a notation, and lines on what it loses."""
    roots = [project.workflow] if "references" in target.says else _own_workflows(project)
    lines, lost = list[str](), list[str]()
    for root in roots:
        fitted = fit(root, target)
        for feature in sorted(features(root) & target.unsupported):
            reason = _RESOLVED.get(feature, "") if fitted else ""
            how = reason or f"{target.name} does not support it, so the workflow is not converted"
            lost.append(f"{root.name or 'the workflow'}: {feature}: {how}")
        lines += target.write(fitted).strip("\n").split("\n") if fitted else []
    return lines, list(dict.fromkeys(lost))

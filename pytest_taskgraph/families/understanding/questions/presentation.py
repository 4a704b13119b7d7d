"""Presentation of a workflow: inline in the prompt, or as specifications that an agent reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from ....notations.notation import Notation
from ....notations.wadl.files import referenced_names
from ....workflow.model import QualifiedName, Workflow
from ....workflow.project import Index
from ....workflow.references import assemble
from ..agent import LIST, READ
from ..family_options import Presentation
from ..patterns.scope import Scope

BELOW = frozenset({"hierarchy", "references"})  # features of patterns that ask about the inside of tasks
NOT_SHOWN = (
    "The text of the workflow is not shown here: it is kept as specifications, one for each workflow it is made of. "
    f"Read those that you need with your tools: {LIST} tells their names, {READ} gives the text of one."
)


@dataclass(frozen=True, slots=True)
class PresentedWorkflow:
    """Text in the prompt, specifications that can be read, and the episode that asks the question."""

    text: str
    episode: str = "single"
    specifications: dict[str, str] = field(default_factory=dict)  # by name
    needed: list[str] = field(default_factory=list)  # names of the specifications that the answer depends on


def present(
    text: str,
    presentation: Presentation,
    notation: Notation,
    scope: Scope,
    needs: Collection[str] = (),
    files: Mapping[str, str] | None = None,
) -> PresentedWorkflow:
    """Return a workflow's text in the given presentation.

    For an agent there is a specification for each workflow of the text, under its qualified name. Needed are the
    specifications of the workflow around the level that the question is about, of the workflows on the path down to
    that level, and of all their bases; if the pattern asks about the inside of tasks, also of all referenced workflows.

    Args:
        text: The text of the workflow.
        presentation: "inline" or "agent".
        notation: The notation of the text.
        scope: The level that the question is about.
        needs: The features that the pattern needs.
        files: The user's own files, path to text, shown verbatim: a file of several workflows is the specification of
            each of them.
    """
    if presentation != "agent":
        return PresentedWorkflow(text)
    whole = notation.read_files(files) if files else notation.read(text)
    index = Index(whole)
    texts = _verbatim_texts(notation, files) if files else _rendered_texts(notation, index)
    specifications = {str(name): texts[name] for name in index.exact}
    root = index.exact.get(scope.root.qualified, whole)
    return PresentedWorkflow(
        NOT_SHOWN, "agent", specifications, [str(n) for n in _needed_names(index, root, scope, needs)]
    )


def _verbatim_texts(notation: Notation, files: Mapping[str, str]) -> dict[QualifiedName, str]:
    """Return the text of the file that defines each workflow; of several definitions, the first."""
    texts: dict[QualifiedName, str] = {}
    for path, text in files.items():
        for workflow in notation.parse(text, path):
            texts.setdefault(workflow.qualified, text.strip("\n"))
    return texts


def _rendered_texts(notation: Notation, index: Index) -> dict[QualifiedName, str]:
    """Return the text of each workflow, written separately."""
    return {name: notation.render(replace(workflow, others=())).strip("\n") for name, workflow in index.exact.items()}


def _needed_names(index: Index, root: Workflow, scope: Scope, needs: Collection[str]) -> list[QualifiedName]:
    """Return the names of the workflows that a question about the level depends on, in the order of the project."""
    path_workflows = _names_on_path(index, root, scope.path)
    below = path_workflows is None or not BELOW.isdisjoint(needs)
    waiting, needed = list(path_workflows or (root.qualified,)), set[QualifiedName]()
    while waiting:
        workflow = index.exact[waiting.pop()]
        needed.add(workflow.qualified)
        names = referenced_names(workflow) if below else filter(None, [workflow.base])
        targets = (index.find(name, workflow.package) for name in names)
        waiting += [other.qualified for other in targets if other is not None and other.qualified not in needed]
    return [name for name in index.exact if name in needed]


def _names_on_path(index: Index, root: Workflow, path: tuple[str, ...]) -> list[QualifiedName] | None:
    """Return the workflows in which the level at a path of composite tasks is written, from the root on.

    Returns:
        None where other workflows configure the level, so that no specification shows it alone.
    """
    others = [workflow for workflow in index.exact.values() if workflow.qualified != root.qualified]
    level = assemble(replace(root, others=tuple(replace(workflow, others=()) for workflow in others)))
    by_name, names = {workflow.qualified: workflow for workflow in (level, *level.others)}, [root.qualified]
    for step in path:
        task = next((task for task in level.tasks if task.name == step), None)
        below = task and (task.subworkflow or (task.reference and by_name.get(task.reference)))
        if not task or not below:
            return None
        if task.reference is not None:
            if below.qualified not in index.exact:
                return None
            names.append(below.qualified)
        level = below
    return names

"""How a workflow is presented: all of it in the prompt, or specifications by name for a model that asks for them."""

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

BELOW = frozenset({"hierarchy", "references"})  # a pattern that needs them asks about what lies inside tasks
NOT_SHOWN = (
    "The text of the workflow is not shown here: it is kept as specifications, one for each workflow it is made of. "
    f"Read those that you need with your tools: {LIST} tells their names, {READ} gives the text of one."
)


@dataclass(frozen=True, slots=True)
class Presented:
    """What stands in the prompt, what can be asked for, and how the question is put."""

    text: str
    episode: str = "single"
    specifications: dict[str, str] = field(default_factory=dict)  # by name
    needed: list[str] = field(default_factory=list)  # the names of those without which the answer cannot be known


def present(
    text: str,
    presentation: Presentation,
    notation: Notation,
    scope: Scope,
    needs: Collection[str] = (),
    files: Mapping[str, str] | None = None,
) -> Presented:
    """The text of a workflow as the presentation wants it.

    For an agent: a specification for each workflow of the text, under its qualified name. Needed are those of the
    workflow around the level that the question is about, of the workflows on the way down to that level, and of all
    their bases; where what the pattern needs says that it asks about what lies inside tasks, all that references lead
    to as well. `files`, path to text, are the user's own, given verbatim: a file of several workflows is the
    specification of each of them.
    """
    if presentation != "agent":
        return Presented(text)
    whole = notation.read_files(files) if files else notation.read(text)
    index = Index(whole)
    texts = _verbatim(notation, files) if files else _each(notation, index)
    specifications = {str(name): texts[name] for name in index.exact}
    root = index.exact.get(scope.root.qualified, whole)
    return Presented(NOT_SHOWN, "agent", specifications, [str(n) for n in _needed(index, root, scope, needs)])


def _verbatim(notation: Notation, files: Mapping[str, str]) -> dict[QualifiedName, str]:
    """The text of the file that each workflow stands in; of those that define the same one, the first."""
    texts: dict[QualifiedName, str] = {}
    for path, shown in files.items():
        for one in notation.parse(shown, path):
            texts.setdefault(one.qualified, shown.strip("\n"))
    return texts


def _each(notation: Notation, index: Index) -> dict[QualifiedName, str]:
    """Each workflow written by itself."""
    return {name: notation.render(replace(one, others=())).strip("\n") for name, one in index.exact.items()}


def _needed(index: Index, root: Workflow, scope: Scope, needs: Collection[str]) -> list[QualifiedName]:
    """The names of the workflows that a question about the level hangs on, in the order of the project."""
    way = _way(index, root, scope.path)
    below = way is None or not BELOW.isdisjoint(needs)
    waiting, found = list(way or (root.qualified,)), set[QualifiedName]()
    while waiting:
        one = index.exact[waiting.pop()]
        found.add(one.qualified)
        names = referenced_names(one) if below else filter(None, [one.base])
        meant = (index.find(name, one.package) for name in names)
        waiting += [other.qualified for other in meant if other is not None and other.qualified not in found]
    return [name for name in index.exact if name in found]


def _way(index: Index, root: Workflow, path: tuple[str, ...]) -> list[QualifiedName] | None:
    """The workflows in which the level at a path of composite tasks is written, from the root on.

    None where it is one that other workflows configure, so that no specification is that level alone.
    """
    family = [one for one in index.exact.values() if one.qualified != root.qualified]
    level = assemble(replace(root, others=tuple(replace(one, others=()) for one in family)))
    known, way = {one.qualified: one for one in (level, *level.others)}, [root.qualified]
    for step in path:
        task = next((task for task in level.tasks if task.name == step), None)
        below = task and (task.subworkflow or (task.reference and known.get(task.reference)))
        if not task or not below:
            return None
        if task.reference is not None:
            if below.qualified not in index.exact:
                return None
            way.append(below.qualified)
        level = below
    return way

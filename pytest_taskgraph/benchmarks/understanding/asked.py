"""What a question is made of: its pattern, the words of this run, the workflow, the case, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from random import Random

from ...catalog import catalog_cache
from ...errors import UnknownNameError
from ...notations import notation
from ...workflow.model import Workflow
from . import projects
from .catalogue import catalogue
from .choices import choose, text_of
from .interpretations import interpretation
from .pattern import Case, Pattern
from .phrasings import phrasing_of, worded
from .reference import PatternReference
from .sample import draw
from .scope import Scope, by_own_name, rotations, without_name
from .settings import UnderstandingSettings

OWN_NAME = 0.5  # of the levels inside composite tasks are called by the name of their sub-workflow, if it is clear


@dataclass(frozen=True, slots=True)
class Asked:
    """A case of a pattern about a level of a workflow, in a phrasing and a notation."""

    pattern: Pattern
    worded: Pattern  # the same in the words of this run
    workflow: Workflow
    scope: Scope
    case: Case
    phrasing: int
    notation: str
    text: str  # the workflow as it is shown
    names: str = ""  # what the names of a generated workflow are like; empty for the user's own
    edit: str = ""  # the kind of the one edit of the user's own workflow; empty where it is shown as it is

    @property
    def phrasings(self) -> int:
        """How many phrasings there are."""
        return len(self.worded.templates)


def as_is(reference: PatternReference, settings: UnderstandingSettings) -> Asked:
    """What a reference stands for, not varied. Raises UnknownNameError for a pattern that is not registered."""
    known = catalogue()
    if reference.pattern not in known:
        raise UnknownNameError("pattern", reference.pattern, known)
    pattern = known[reference.pattern]
    words = worded(pattern, settings.templates)
    names = edit = ""
    if reference.source < 0:
        one = draw(pattern, reference.tasks, settings.seed, reference.ordinal, settings.names)
        workflow, scope, case, names = one.project, one.scope, one.case, one.names
        text = written(workflow, reference.notation)
    else:
        path, converted = settings.workflows[reference.source], reference.notation if settings.convert else ""
        chosen = choose(pattern, path, converted, settings.seed, max(settings.instances, reference.ordinal + 1))
        workflow, scope, case, edit, text = chosen[reference.ordinal]
        if edit:
            text = text or text_of(path, workflow, notation(reference.notation), edit)
        else:
            text = written(workflow, converted) if converted else projects.load(path).text
    phrasing = phrasing_of(words, reference.ordinal, settings.phrasing)
    read = interpretation(reference.notation, text) if reference.source >= 0 else None
    if read is not None and read.unnamed:
        scope = without_name(scope)
    if Random(f"place|{pattern.name}|{reference.tasks}|{settings.seed}|{reference.ordinal}").random() < OWN_NAME:
        scope = by_own_name(scope, workflow, text)
    return Asked(pattern, words, workflow, scope, case, phrasing, reference.notation, text, names, edit)


def about(found: Asked, reference: PatternReference, settings: UnderstandingSettings) -> Workflow:
    """The one workflow that the question is about, the others of its project beside it.

    Of the user's own as it stands in the files, however it is shown: in each notation it is the same workflow. What
    was varied is another one.
    """
    as_shown = reference.source < 0 or reference.relation
    project = found.workflow if as_shown else projects.load(settings.workflows[reference.source]).workflow
    return next((one for one in rotations(project) if one.qualified == found.scope.root.qualified), project)


@catalog_cache
@lru_cache(maxsize=64)
def written(workflow: Workflow, name: str) -> str:
    """The workflow in that notation, without the line end that ends a file."""
    return notation(name).write(workflow).strip("\n")

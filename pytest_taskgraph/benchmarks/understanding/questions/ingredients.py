"""What a question is made of: its pattern, the words of this run, the workflow, the case, and known names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from ....catalog import catalog_cache
from ....errors import UnknownNameError, UsageError
from ....notations import notation
from ....scoring.name_lists import is_function_word
from ....workflow.model import Workflow
from ....workflow.project import every_level
from ....workflow.references import nested_task_paths
from ...family import QuestionReference
from ..family_options import UnderstandingSettings
from ..own_files import projects
from ..own_files.choices import choose, text_of
from ..own_files.interpretations import interpretation
from ..own_files.stated_case import stated_case
from ..patterns import catalogue
from ..patterns.pattern import Case, Pattern
from ..patterns.scope import Scope, by_own_name, rotations, without_name
from .phrasings import phrasing_of, worded
from .sample import draw


@dataclass(frozen=True, slots=True)
class PatternReference:
    """Enough to build one question of a pattern again, in any process."""

    id: str
    pattern: str
    notation: str
    ordinal: int
    tasks: int = 0  # the size of the generated workflow
    source: int = -1  # the place of the user's own project among those given; -1: generated
    relation: str = ""  # how the question is varied; none where empty
    twin: str = ""  # the id of the question that it varies
    question: str = ""  # the text of the one question about the user's own workflow that a suite states

    @classmethod
    def of(cls, reference: QuestionReference) -> PatternReference:
        """Return what the payload of a reference holds."""
        return cls(reference.id, reference.group, relation=reference.relation, twin=reference.twin, **reference.payload)

    def generic(self, labels: Mapping[str, str | int | None]) -> QuestionReference:
        """Return the reference that travels, with these labels."""
        payload = {"notation": self.notation, "ordinal": self.ordinal, "tasks": self.tasks, "source": self.source,
                   **({"question": self.question} if self.question else {})}  # fmt: skip
        return QuestionReference(self.id, self.pattern, payload, labels, relation=self.relation, twin=self.twin)


_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*")


def known_names(workflow: Workflow, level: Workflow) -> list[str]:
    """The names that a reader of lists would cut in pieces or strip if it did not know them; paths where they clash."""
    names = {n for each in every_level(workflow) for n in (*each.task_names, *(d.name for d in each.data))}
    paths = nested_task_paths(level)
    twice = {leaf for leaf, n in Counter([*level.task_names, *(path[-1] for path in paths)]).items() if n > 1}
    odd = {name for name in names if not _PLAIN_NAME.fullmatch(name) or _reads_as_prose(name)}
    return sorted(odd | {".".join(path) for path in paths if path[-1] in twice})


def _reads_as_prose(name: str) -> bool:
    return name.lower() in {"none", "empty"} or is_function_word(name)


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
    if reference.question:
        return _stated(reference, settings, words)
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


def _stated(reference: PatternReference, settings: UnderstandingSettings, words: Pattern) -> Asked:
    """The question whose text a suite states. Raises UsageError where the workflow allows no such question."""
    path, converted = settings.workflows[reference.source], reference.notation if settings.convert else ""
    found = stated_case(words, path, converted, reference.question)
    if found is None:
        raise UsageError(f"pattern {words.name!r} does not ask {reference.question!r} about {path}")
    text = written(found.workflow, converted) if converted else projects.load(path).text
    pattern = catalogue()[reference.pattern]
    return Asked(pattern, words, found.workflow, found.scope, found.case, found.phrasing, reference.notation, text)


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

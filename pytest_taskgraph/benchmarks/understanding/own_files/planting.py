"""Flaws planted in copies of the user's own workflows, for the functionality patterns that can be had so.

What is planted comes from a domain in which all that the workflow says is foreign, and shares no word with it. What a
name or a description means is taken from the file, so a level is left out where the two have no word in common.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from random import Random
from typing import Final, NamedTuple

from ....catalog import catalog_cache
from ....generation.vocabularies import domain_names, vocabulary
from ....workflow.check import problems
from ....workflow.model import Flaw, Task, Workflow
from ....workflow.project import every_level
from ..patterns.pattern import Pattern
from ..patterns.scope import Scope
from ..renaming import with_texts

STEM: Final = 4  # letters of a word that tell it; shorter words tell nothing
LEAST_WORDS: Final = 3  # of a description that is asked for or replaced
LEAST_TASKS: Final = 3  # described tasks of a level in which some are to be found
COMMON: Final = frozenset(
    {"that", "this", "with", "from", "into", "each", "them", "thei", "when", "whic", "task", "work"}
)


@dataclass(frozen=True, slots=True)
class PlantingPlan:
    """What is changed in the texts of a project, and what the flaw records."""

    texts: Mapping[str, str]
    details: tuple[str, ...]


class Planted(NamedTuple):
    """A copy of a project with a flaw, the place of the level among its levels, and the level with the flaw."""

    kind: str  # as the label `edit` has it
    project: Workflow
    at: int
    level: Workflow


class Foreign:
    """Tasks and purposes that share no word with a project."""

    def __init__(self, project: Workflow) -> None:
        self.words = stems(_texts(project))
        nearest = max(domain_names(), key=lambda name: len(_stems_of(name) & self.words))
        far = [vocabulary(name) for name in vocabulary(nearest).far]
        self.tasks = [task for domain in far for task in domain.tasks if not self._near(task.name, task.description)]
        self.purposes = [text for domain in far for name, text in domain.workflows if not self._near(name, text)]

    def _near(self, *texts: str) -> bool:
        return not stems(texts).isdisjoint(self.words)


@catalog_cache
@lru_cache(maxsize=16)
def _foreign_to(project: Workflow) -> Foreign:
    return Foreign(project)


Planter = Callable[[Scope, Foreign, Random], PlantingPlan | None]


def plant(pattern: Pattern, verdict: str, project: Workflow, found: tuple[Scope, ...], rng: Random) -> Planted | None:
    """Return a copy of the project with a flaw for that verdict of the pattern in a drawn level; None if none has room.

    Args:
        pattern: A pattern with planted flaws.
        verdict: "yes" or "no", or "" for a pattern with other answers.
        project: The user's own workflow.
        found: The levels of the project.
        rng: The source of choice.
    """
    foreign = _foreign_to(project)
    names = [name for name in pattern.flaws.get(verdict, ()) if name in PLANTERS]
    levels = [at for at, scope in enumerate(found) if scope.whole or pattern.levels == "all"]
    for at in rng.sample(levels, len(levels)) if names else ():
        name = rng.choice(names)
        kind, planter = PLANTERS[name]
        plan = planter(found[at], foreign, rng)
        copy = _changed(project, plan.texts) if plan else None
        if plan and copy is not None and not problems(copy):
            return Planted(kind, copy, at, replace(found[at].workflow, flaw=Flaw(name, plan.details)))
    return None


def _changed(project: Workflow, texts: Mapping[str, str]) -> Workflow:
    return with_texts(project, lambda text: texts.get(text, text))


def holds(planted: Planted, scope: Scope) -> Scope | None:
    """Return the level of the copy with the flaw recorded, as patterns take it; None where the flaw did not take there.

    A text is changed wherever it stands, so that derived workflows and what they are derived from agree. Where other
    tasks of the level had the same text, or a configuration hides the change, the flaw is not what was recorded.
    """
    before, after, flaw = planted.level, scope.workflow, planted.level.flaw
    if flaw is None:
        return None
    changed = {
        new.name
        for old, new in zip(before.tasks, after.tasks, strict=True)
        if (old.name, old.description) != (new.name, new.description)
    }
    expected = {
        "hide-description": set(flaw.details[:1]),
        "misdescribe": set(flaw.details[::3]),
        "stray-task": set(flaw.details[::3]),
    }
    if flaw.kind in expected and changed != expected[flaw.kind]:
        return None
    if flaw.kind == "hide-purpose" and after.description:
        return None
    if flaw.kind == "swap-purpose" and after.description != flaw.details[1]:
        return None
    outer = (scope.root,) if scope.path else ()
    return replace(scope, workflow=replace(after, flaw=flaw, others=outer))


def stems(texts: Iterable[str]) -> set[str]:
    """Return the beginnings of the words of texts and of names in camel case, without those that tell nothing."""
    words = (word for text in texts for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text))
    return {word.lower()[:STEM] for word in words if len(word) >= STEM} - COMMON


def _texts(project: Workflow) -> Iterator[str]:
    for level in every_level(project):
        named = [(level.name, level.description)]
        named += [(task.name, task.description) for task in level.tasks]
        named += [(data.name, data.description) for data in level.data]
        yield from (text for pair in named for text in pair)


@catalog_cache
@cache
def _stems_of(domain: str) -> frozenset[str]:
    """Return the stems of all words of a domain's tasks."""
    return frozenset(stems(text for task in vocabulary(domain).tasks for text in (task.name, task.description)))


def _described(level: Workflow) -> list[Task]:
    """Return the atomic tasks with a description that is long enough."""
    return [task for task in level.tasks if not task.composite and _long(task.description)]


def _long(description: str) -> bool:
    return len(description.split()) >= LEAST_WORDS


def _agrees(name: str, description: str) -> bool:
    return not stems([name]).isdisjoint(stems([description]))


def _hide_description(scope: Scope, foreign: Foreign, rng: Random) -> PlantingPlan | None:
    tasks = _described(scope.workflow)
    if not tasks:
        return None
    hidden = rng.choice(tasks)
    return PlantingPlan({hidden.description: ""}, (hidden.name, hidden.description))


def _hide_purpose(scope: Scope, foreign: Foreign, rng: Random) -> PlantingPlan | None:
    purpose = scope.workflow.description
    return PlantingPlan({purpose: ""}, (purpose,)) if _long(purpose) else None


def _misdescribe(scope: Scope, foreign: Foreign, rng: Random) -> PlantingPlan | None:
    tasks = _described(scope.workflow)
    clear = all(_agrees(task.name, task.description) for task in scope.workflow.tasks if task.description)
    if len(tasks) < LEAST_TASKS or not clear or len(foreign.tasks) < 2:
        return None
    chosen = rng.sample(tasks, rng.randint(1, 2))
    others = rng.sample(foreign.tasks, len(chosen))
    pairs = [(task, _like(other.description, task.description)) for task, other in zip(chosen, others, strict=True)]
    texts = {task.description: new for task, new in pairs}
    return PlantingPlan(texts, tuple(text for task, new in pairs for text in (task.name, task.description, new)))


def _stray_task(scope: Scope, foreign: Foreign, rng: Random) -> PlantingPlan | None:
    tasks, purpose = _described(scope.workflow), scope.root.description
    by_name = scope.place.endswith(f"workflow '{scope.root.name}'")  # as the question calls the whole
    if len(tasks) < LEAST_TASKS or not _long(purpose) or not by_name or not foreign.tasks:
        return None
    task, other = rng.choice(tasks), rng.choice(foreign.tasks)
    name, description = _styled(other.name, task.name), _like(other.description, task.description)
    return PlantingPlan({task.name: name, task.description: description}, (name, purpose, description))


def _keep_purpose(scope: Scope, foreign: Foreign, rng: Random) -> PlantingPlan | None:
    purpose = scope.workflow.description
    return PlantingPlan({}, (purpose, purpose)) if _long(purpose) and _agrees(scope.workflow.name, purpose) else None


def _swap_purpose(scope: Scope, foreign: Foreign, rng: Random) -> PlantingPlan | None:
    purpose = scope.workflow.description
    if not foreign.purposes or _keep_purpose(scope, foreign, rng) is None:
        return None
    new = _like(rng.choice(foreign.purposes), purpose)
    return PlantingPlan({purpose: new}, (purpose, new))


def _like(sentence: str, other: str) -> str:
    """Return the sentence with a full stop only where the other sentence has one."""
    return sentence.rstrip(".") + ("." if other.rstrip().endswith(".") else "")


def _styled(name: str, other: str) -> str:
    """Return a name in camel case written as the other name is: in words, with underscores, or as it is."""
    words = re.findall(r"[A-Z][a-z]*|[a-z]+", name)
    if " " in other:
        return " ".join(words).capitalize()
    if "_" in other or "-" in other:
        joined = ("_" if "_" in other else "-").join(words)
        return joined.lower() if other.islower() else joined
    return "".join(words).lower() if other.islower() else name


PLANTERS: dict[str, tuple[str, Planter]] = {
    "hide-description": ("description hidden", _hide_description),
    "hide-purpose": ("description hidden", _hide_purpose),
    "misdescribe": ("description replaced", _misdescribe),
    "stray-task": ("task replaced", _stray_task),
    "keep-purpose": ("copy unchanged", _keep_purpose),
    "swap-purpose": ("description replaced", _swap_purpose),
}
"""Of the flaws that patterns have planted in generated workflows, those that any described workflow has room for."""
KINDS: Final = tuple(dict.fromkeys(kind for kind, _ in PLANTERS.values()))

"""Flaws planted in copies of the user's own workflows, for functionality patterns.

The wrong texts come from a domain that is foreign to everything in the workflow and shares no word with it. The meaning
of a name or a description is taken from the file, so a level is left out where the two have no word in common.
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

STEM: Final = 4  # letters that identify a word; shorter words are ignored
LEAST_WORDS: Final = 3  # in a description that is asked for or replaced
LEAST_TASKS: Final = 3  # described tasks of a level among which a flaw is searched
COMMON: Final = frozenset(
    {"that", "this", "with", "from", "into", "each", "them", "thei", "when", "whic", "task", "work"}
)


@dataclass(frozen=True, slots=True)
class PlantingPlan:
    """Changes in the texts of a project, and the details that the flaw records."""

    texts: Mapping[str, str]
    details: tuple[str, ...]


class Planted(NamedTuple):
    """A copy of a project with a flaw, the index of the level among its levels, and the level with the flaw."""

    kind: str  # value of the label `edit`
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
@lru_cache(maxsize=256)
def _foreign_to(project: Workflow) -> Foreign:
    return Foreign(project)


Planter = Callable[[Scope, Foreign, Random], PlantingPlan | None]


def plant(
    pattern: Pattern, verdict: str, project: Workflow, levels_of_project: tuple[Scope, ...], rng: Random
) -> Planted | None:
    """Return a copy of the project with a flaw for that verdict in a level that is drawn; None if no level has room.

    Args:
        pattern: A pattern with planted flaws.
        verdict: "yes" or "no", or "" for a pattern with other answers.
        project: The user's own workflow.
        levels_of_project: The levels of the project.
        rng: The random number generator.
    """
    foreign = _foreign_to(project)
    names = [name for name in pattern.flaws.get(verdict, ()) if name in PLANTERS]
    levels = [at for at, scope in enumerate(levels_of_project) if scope.whole or pattern.levels == "all"]
    for at in rng.sample(levels, len(levels)) if names else ():
        name = rng.choice(names)
        kind, planter = PLANTERS[name]
        plan = planter(levels_of_project[at], foreign, rng)
        copy = _with_changed_texts(project, plan.texts) if plan else None
        if plan and copy is not None and not problems(copy):
            return Planted(kind, copy, at, replace(levels_of_project[at].workflow, flaw=Flaw(name, plan.details)))
    return None


def _with_changed_texts(project: Workflow, texts: Mapping[str, str]) -> Workflow:
    return with_texts(project, lambda text: texts.get(text, text))


def recorded_level(planted: Planted, scope: Scope) -> Scope | None:
    """Return the level of the copy with the flaw recorded, as patterns expect it; None where the flaw has no effect.

    A text is changed wherever it occurs, so that derived workflows agree with their bases. Where other tasks of the
    level had the same text, or a configuration hides the change, the flaw differs from the recorded one.
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
    """Return the first letters of the words of texts and of names in camel case, without ignored words."""
    words = (word for text in texts for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text))
    return {word.lower()[:STEM] for word in words if len(word) >= STEM} - COMMON


def _texts(project: Workflow) -> Iterator[str]:
    for level in every_level(project):
        named_texts = [(level.name, level.description)]
        named_texts += [(task.name, task.description) for task in level.tasks]
        named_texts += [(data.name, data.description) for data in level.data]
        yield from (text for pair in named_texts for text in pair)


@catalog_cache
@cache
def _stems_of(domain: str) -> frozenset[str]:
    """Return the stems of all words of a domain's tasks."""
    return frozenset(stems(text for task in vocabulary(domain).tasks for text in (task.name, task.description)))


def _described_tasks(level: Workflow) -> list[Task]:
    """Return the atomic tasks with a description that is long enough."""
    return [task for task in level.tasks if not task.composite and _is_long(task.description)]


def _is_long(description: str) -> bool:
    return len(description.split()) >= LEAST_WORDS


def _name_fits(name: str, description: str) -> bool:
    return not stems([name]).isdisjoint(stems([description]))


def _hide_description(scope: Scope, foreign: Foreign, rng: Random) -> PlantingPlan | None:
    tasks = _described_tasks(scope.workflow)
    if not tasks:
        return None
    hidden = rng.choice(tasks)
    return PlantingPlan({hidden.description: ""}, (hidden.name, hidden.description))


def _hide_purpose(scope: Scope, foreign: Foreign, rng: Random) -> PlantingPlan | None:
    purpose = scope.workflow.description
    return PlantingPlan({purpose: ""}, (purpose,)) if _is_long(purpose) else None


def _misdescribe(scope: Scope, foreign: Foreign, rng: Random) -> PlantingPlan | None:
    tasks = _described_tasks(scope.workflow)
    clear = all(_name_fits(task.name, task.description) for task in scope.workflow.tasks if task.description)
    if len(tasks) < LEAST_TASKS or not clear or len(foreign.tasks) < 2:
        return None
    chosen = rng.sample(tasks, rng.randint(1, 2))
    others = rng.sample(foreign.tasks, len(chosen))
    pairs = [
        (task, _punctuate_like(other.description, task.description)) for task, other in zip(chosen, others, strict=True)
    ]
    texts = {task.description: new for task, new in pairs}
    return PlantingPlan(texts, tuple(text for task, new in pairs for text in (task.name, task.description, new)))


def _stray_task(scope: Scope, foreign: Foreign, rng: Random) -> PlantingPlan | None:
    tasks, purpose = _described_tasks(scope.workflow), scope.root.description
    by_name = scope.place.endswith(f"workflow '{scope.root.name}'")  # as the question names the whole workflow
    if len(tasks) < LEAST_TASKS or not _is_long(purpose) or not by_name or not foreign.tasks:
        return None
    task, other = rng.choice(tasks), rng.choice(foreign.tasks)
    name, description = _style_like(other.name, task.name), _punctuate_like(other.description, task.description)
    return PlantingPlan({task.name: name, task.description: description}, (name, purpose, description))


def _keep_purpose(scope: Scope, foreign: Foreign, rng: Random) -> PlantingPlan | None:
    purpose = scope.workflow.description
    return (
        PlantingPlan({}, (purpose, purpose)) if _is_long(purpose) and _name_fits(scope.workflow.name, purpose) else None
    )


def _swap_purpose(scope: Scope, foreign: Foreign, rng: Random) -> PlantingPlan | None:
    purpose = scope.workflow.description
    if not foreign.purposes or _keep_purpose(scope, foreign, rng) is None:
        return None
    new = _punctuate_like(rng.choice(foreign.purposes), purpose)
    return PlantingPlan({purpose: new}, (purpose, new))


def _punctuate_like(sentence: str, other: str) -> str:
    """Return the sentence with a full stop only where the other sentence has one."""
    return sentence.rstrip(".") + ("." if other.rstrip().endswith(".") else "")


def _style_like(name: str, other: str) -> str:
    """Return a name in camel case in the style of the other name: words, underscores, or unchanged."""
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
"""Planters of the flaws of generated workflows that fit in any described workflow, with the kind of edit."""
KINDS: Final = tuple(dict.fromkeys(kind for kind, _ in PLANTERS.values()))

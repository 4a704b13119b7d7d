"""Which cases are asked about the user's own workflows: for yes and no, only as many as leave both equally likely.

A question with yes or no is asked in pairs, one for each answer. Where a project has cases of one answer only, both
come from copies of it with one edit (in its text, else by `generation.edits`), shown under one heading: so neither the
answer nor the heading gives the other away. Where such copies have no pair either, nothing is asked. Patterns about
planted flaws are asked about copies in which one is planted (`planting`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest
from pathlib import PurePath
from random import Random
from typing import Final, NamedTuple

from ...catalog import catalog_cache
from ...errors import WorkflowError
from ...generation.edits import EDITS, edits
from ...notations import NOTATIONS, Notation
from ...trial import Json
from ...workflow.check import problems
from ...workflow.model import Workflow
from ...workflow.project import every_level
from .listing import askable_cases, list_cases
from .pattern import Case, Pattern, verdict
from .planting import holds, plant
from .projects import fit, load, shown_workflows
from .scope import Scope, all_scopes, cases, scopes
from .spread import WORK
from .text_edits import text_edits

MOST_EDITS: Final = 28  # copies of a project in which a pair is looked for
EDITED_WORK: Final = WORK // 4  # cases of one pattern about them, times tasks
EDITED_TASKS: Final = 1000  # tasks that all these copies have together
MOST_PLANTED: Final = 40  # copies in which a flaw is planted
EDITED = "with one change made to it: a link, a condition or a reference was added, removed or replaced"
PLANTED = "in a copy in which names and descriptions may be changed"
ANSWERS: Final = ("yes", "no")


class Choice(NamedTuple):
    """A case, the workflow to show for it, and the kind of the edit where that is no longer the user's own."""

    workflow: Workflow
    scope: Scope
    case: Case
    edit: str = ""
    text: str = ""  # of an edit in the user's own text; empty where the workflow is written anew


class Edited(NamedTuple):
    """A copy of a project with one edit, as it is shown; `text` as in a Choice."""

    kind: str
    workflow: Workflow
    scopes: tuple[Scope, ...]
    text: str = ""


@catalog_cache
@lru_cache(maxsize=256)
def choose(pattern: Pattern, path: str, converted: str, seed: int, instances: int) -> tuple[Choice, ...]:
    """Return the cases that the seed draws among all: hard ones first; more instances extend fewer.

    Yes and no take turns, either first by a coin; what would be left over is not asked.
    """
    found = [Choice(*entry) for entry in list_cases(pattern, path, converted).cases]
    rng = Random(f"{pattern.name}|{load(path).digest}|{seed}")
    rng.shuffle(found)
    found.sort(key=lambda entry: entry.case.rank)
    if pattern.planted and not found:
        found = _planted(pattern, path, converted, seed, instances)
    if not pattern.yes_no:
        return tuple(found[:instances])
    order = ANSWERS if rng.random() < 0.5 else ANSWERS[::-1]
    ways = (False,) if converted else (True, False)
    tried = (_edited_pairs(pattern, path, converted, seed, instances, verbatim) for verbatim in ways if found)
    pairs = _pairs(found) or next(filter(None, tried), [])
    return tuple([pair[answer] for pair in pairs for answer in order][:instances])


def unbalanced(pattern: Pattern, path: str, converted: str, seed: int, instances: int) -> str:
    """Return the answer that all cases of a pattern about a project share; empty where a pair is asked, or none."""
    if not pattern.yes_no or choose(pattern, path, converted, seed, instances):
        return ""
    return next((str(verdict(entry.case.answer)) for entry in list_cases(pattern, path, converted).cases), "")


def text_of(path: str, workflow: Workflow, shown: Notation, edit: str) -> str:
    """Return the text of a copy of a project that is written anew, under a heading that names the change."""
    return f"{_heading(path, shown, EDITED if edit in EDITS else PLANTED)}\n{shown.write(workflow)}".strip("\n")


def _heading(path: str, shown: Notation, words: str) -> str:
    return shown.heading(f"{PurePath(path).name}, {words}")


def _planted(pattern: Pattern, path: str, converted: str, seed: int, instances: int) -> list[Choice]:
    """Return cases about copies in which a flaw is planted, none twice; for yes and no, as many copies of each."""
    found: dict[str, Choice] = {}
    for i in range(MOST_PLANTED):
        for answer in ANSWERS if pattern.yes_no else ("",):
            rng = Random(f"planted|{pattern.name}|{load(path).digest}|{seed}|{i}|{answer}")
            for key, choice in _with_flaw(pattern, answer, path, converted, rng):
                found.setdefault(key, choice)
        if len(found) >= 2 * instances:
            break
    return [*found.values()]


def _with_flaw(pattern: Pattern, answer: str, path: str, converted: str, rng: Random) -> Iterator[tuple[str, Choice]]:
    """Yield the case about a copy with a flaw, if one has room for it, and a key that no other case has."""
    whole = rng.choice(shown_workflows(path, converted))
    shown = NOTATIONS[converted] if converted else load(path).notation
    levels_of = scopes if converted else all_scopes
    planted = plant(pattern, answer, whole, levels_of(whole), rng)
    copy = fit(planted.project, shown) if planted else None
    if planted is None or copy is None:
        return
    scope = levels_of(copy)[planted.at]
    level = holds(planted, scope)
    for case in cases(pattern, level) if level else ():
        key = f"{scope.place}|{planted.level.flaw}"
        yield key, Choice(copy, scope, case, planted.kind)


def _pairs(found: list[Choice]) -> list[dict[Json, Choice]]:
    """Return the cases with yes and those with no side by side, as far as both reach."""
    sides = [[choice for choice in found if verdict(choice.case.answer) == answer] for answer in ANSWERS]
    return [dict(zip(ANSWERS, pair, strict=True)) for pair in zip(*sides, strict=False)]


def _edited_pairs(
    pattern: Pattern, path: str, converted: str, seed: int, instances: int, verbatim: bool
) -> list[dict[Json, Choice]]:
    """Return pairs of cases about edited copies, at most one of each answer about each copy."""
    wanted, found = (instances + 1) // 2, list[Choice]()
    work = 0
    for copy in edited_texts(path, seed) if verbatim else edited_copies(path, converted, seed):
        rng = Random(f"{pattern.name}|{copy.kind}|{len(found)}")
        asked = [(s, c) for s in copy.scopes for c in askable_cases(pattern, s, path, converted)]
        for answer in ANSWERS:
            same = [(s, c) for s, c in asked if verdict(c.answer) == answer]
            least = min((c.rank for _, c in same), default=0)
            if hardest := [(s, c) for s, c in same if c.rank == least]:
                found.append(Choice(copy.workflow, *rng.choice(hardest), copy.kind, copy.text))
        work += sum(len(scope.workflow.tasks) for scope, _ in asked)
        if len(_pairs(found)) >= wanted or work > EDITED_WORK:
            break
    return _pairs(found)


@catalog_cache
@lru_cache(maxsize=16)
def edited_texts(path: str, seed: int) -> tuple[Edited, ...]:
    """Return copies of a project with one edit each in the user's own text."""
    project = load(path)
    heading = _heading(path, project.notation, EDITED)
    rng = Random(f"texts|{project.digest}|{seed}")
    made = text_edits(project.notation, heading, project.text, rng, _most(project.workflow))
    copies = ((edit, _levels_of(edit.workflow, "")) for edit in made)
    return tuple([Edited(edit.kind, edit.workflow, found, edit.text) for edit, found in copies if found])


@catalog_cache
@lru_cache(maxsize=16)
def edited_copies(path: str, converted: str, seed: int) -> tuple[Edited, ...]:
    """Return copies of a project with one edit each, that its notation can say; the workflows to show in turn."""
    project = load(path)
    streams = [_copies(whole, path, converted, seed) for whole in shown_workflows(path, converted)]
    most = _most(project.workflow)
    return tuple([copy for some in zip_longest(*streams) for copy in some if copy is not None][:most])


def _copies(whole: Workflow, path: str, converted: str, seed: int) -> Iterator[Edited]:
    rng = Random(f"edits|{load(path).digest}|{seed}")
    shown = NOTATIONS[converted] if converted else load(path).notation
    for edit in edits(whole, rng, _most(whole)):
        workflow = fit(edit.workflow, shown)
        if workflow is not None and not problems(workflow) and (found := _levels_of(workflow, converted)):
            yield Edited(edit.kind, workflow, found)


def _levels_of(workflow: Workflow, converted: str) -> tuple[Scope, ...]:
    """Return the levels of a copy; none where a derived workflow configures what is no longer there."""
    try:
        return scopes(workflow) if converted else all_scopes(workflow)
    except WorkflowError:
        return ()


def _most(project: Workflow) -> int:
    """Return how many copies of a project are made; none where it is so large that they would hold no pair."""
    tasks = sum(len(level.tasks) for level in every_level(project))
    most = min(MOST_EDITS, EDITED_TASKS // max(tasks, 1))
    return most if most >= len(ANSWERS) else 0

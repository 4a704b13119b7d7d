"""The cases that are asked about the user's own workflows, and how many of each answer.

A question with yes or no is asked in pairs, one for each answer. Where a project has cases of one answer only, both
come from copies of it with one edit (in its text, else by `generation.edits`), shown under one heading: so neither the
answer nor the heading gives the other away. Where such copies have no pair either, nothing is asked. Patterns about
planted flaws are asked about copies in which one is planted (`planting`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest
from pathlib import PurePath
from random import Random
from typing import Final, NamedTuple

from ....catalog import catalog_cache
from ....errors import WorkflowError
from ....generation.edits import EDITS, edits
from ....notations import NOTATIONS, Notation, drawn_ends
from ....trial import Json
from ....workflow.bounds import Bound, reached_bounds, record_bound
from ....workflow.check import problems
from ....workflow.model import Workflow
from ....workflow.project import every_level
from ....workflow.references import levels
from ..patterns.pattern import Case, Pattern, verdict
from ..patterns.scope import FULL_SIZE, MAX_WORK, Scope, all_scopes, cases, rotations, scopes
from .planting import holds, plant
from .projects import fit, load, shown_workflows
from .text_edits import text_edits

LONGEST: Final = 40
"""Names in the longest answer that is asked for about the user's own workflows."""

END_NAMES = re.compile(r"\b(?:START|END)\b")


class ListedCase(NamedTuple):
    """A case, and the workflow to show for it."""

    workflow: Workflow
    scope: Scope
    case: Case


class Listing(NamedTuple):
    """The cases of a pattern, whether some have an answer that is too long, and the bounds that were reached."""

    cases: tuple[ListedCase, ...]
    too_long: bool
    bounds: frozenset[Bound]


@catalog_cache
@lru_cache(maxsize=256)
def list_cases(pattern: Pattern, path: str, converted: str) -> Listing:
    """Return the cases of a pattern about a project.

    Args:
        pattern: The pattern.
        path: Where the project is.
        converted: The notation to show it in; empty for the files themselves.
    """
    places = [
        (whole, scope)
        for whole in shown_workflows(path, converted)
        for scope in (scopes(whole) if converted else all_scopes(whole))
    ]
    found: list[ListedCase] = []
    work, too_long = 0, False
    with reached_bounds() as bounds:
        for whole, scope in _in_spread_order(places):
            if work > MAX_WORK:
                record_bound("cases")
                break
            listed = list(askable_cases(pattern, scope, path, converted))
            short = [case for case in listed if names_in(case.answer) <= LONGEST]
            found += [ListedCase(whole, scope, case) for case in short]
            too_long = too_long or len(short) < len(listed)
            work += len(listed) * len(scope.workflow.tasks)
    return Listing(tuple(found), too_long, frozenset(bounds))


def names_in(answer: Json) -> int:
    """Return how many names an answer lists; one where it is no list."""
    if isinstance(answer, dict) and "tasks" in answer:
        answer = answer["tasks"]
    if isinstance(answer, list):
        return sum(len(one) if isinstance(one, list) else 1 for one in answer)
    return 1


def askable_cases(pattern: Pattern, scope: Scope, path: str, converted: str) -> Iterator[Case]:
    """Yield the cases of a pattern about a level but those whose words tell the answer, or name what is not shown."""
    if converted or _shows_ends(pattern, scope, path):
        yield from (case for case in cases(pattern, scope) if not case.revealing)


def _in_spread_order(places: list[tuple[Workflow, Scope]]) -> list[tuple[Workflow, Scope]]:
    """Return the levels of a small project in their order, those of a large one so that the first are a sample."""
    if sum(len(scope.workflow.tasks) for _, scope in places) > FULL_SIZE:
        Random(f"levels|{len(places)}").shuffle(places)
    return places


def _shows_ends(pattern: Pattern, scope: Scope, path: str) -> bool:
    """Return False if the pattern names START and END, and the user's chart of that level does not draw them."""
    if not any(END_NAMES.search(template) for template in pattern.templates):
        return True
    if load(path).notation.name != "mermaid":
        return True
    whole, inner = _drawn_ends(path)
    return whole if scope.whole else inner


@catalog_cache
@lru_cache(maxsize=32)
def _drawn_ends(path: str) -> tuple[bool, bool]:
    """Return whether the charts of a project draw START and END, and whether all of its subgraphs do."""
    project = load(path)
    drawn = drawn_ends(project.text)
    inner = sum(len(levels(whole)) - 1 for whole in rotations(project.workflow))
    return drawn.whole, drawn.subgraphs >= inner


MOST_EDITS: Final = 28  # copies of a project in which a pair is looked for
EDITED_WORK: Final = MAX_WORK // 4  # cases of one pattern about them, times tasks
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

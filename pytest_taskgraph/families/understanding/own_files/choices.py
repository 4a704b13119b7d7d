"""Choice of the cases about the user's own workflows, and balance of their answers.

A question with yes or no is asked in pairs, one for each answer. Where a project has cases of one answer only, both
come from copies of it with one edit (in its text, else by `generation.edits`), shown under the same heading: so neither
the answer nor the heading gives the other away. Where such copies have no pair either, the pattern is not asked.
Patterns about planted flaws are asked about copies with a flaw (`planting`).
Questions whose answer is "none" throughout a workflow, because it has nothing of the kind, are not asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import zip_longest
from random import Random
from typing import Final, NamedTuple

from ....catalog import catalog_cache
from ....errors import WorkflowError
from ....generation.edits import EDITS, edits
from ....notations import FILE_FORMATS, NOTATIONS, Notation
from ....notations.notation import combine_workflows
from ....trial import Json
from ....workflow.bounds import Bound, reached_bounds, record_bound
from ....workflow.check import problems
from ....workflow.model import START, Workflow
from ....workflow.project import every_level
from ....workflow.references import levels
from ..patterns.pattern import Case, Pattern, verdict
from ..patterns.scope import FULL_SIZE, MAX_WORK, Scope, all_scopes, cases, rotations, scopes
from .found_files import split_path
from .interpretations import interpretation
from .planting import plant, recorded_level
from .projects import fit, load, shown_workflows
from .text_edits import text_edits

LONGEST: Final = 40
"""Largest number of names in an answer about the user's own workflows."""

MOST_LEVELS: Final = 100
"""Largest number of levels that a pattern looks for cases in; of more, whole workflows come first."""

END_NAMES = re.compile(r"\b(?:START|END)\b")


class ListedCase(NamedTuple):
    """A case, and the workflow to show for it."""

    workflow: Workflow
    scope: Scope
    case: Case


class CaseKind(NamedTuple):
    """The workflow that a case is about, and its labels that are texts, such as a property or a flow."""

    workflow: str
    labels: tuple[str, ...]


class Listing(NamedTuple):
    """Cases of a pattern, whether some have a too long answer, and the bounds that were reached.

    `always_empty` holds the kinds of cases that are left out because all their answers are empty.
    """

    cases: tuple[ListedCase, ...]
    too_long: bool
    bounds: frozenset[Bound]
    always_empty: frozenset[CaseKind] = frozenset()


@catalog_cache
@lru_cache(maxsize=256)
def list_cases(pattern: Pattern, path: str, converted: str) -> Listing:
    """Return the cases of a pattern about a project.

    Args:
        pattern: The pattern.
        path: Path of the project.
        converted: The notation to show it in; empty for the files themselves.
    """
    levels_to_ask = [
        (whole, scope)
        for whole in shown_workflows(path, converted)
        for scope in (scopes(whole) if converted else all_scopes(whole))
    ]
    cases_found: list[ListedCase] = []
    work, too_long = 0, False
    second = None if converted else _by_place(load(path).second)
    with reached_bounds() as bounds:
        for number, (whole, scope) in enumerate(_order_levels(levels_to_ask)):
            if number == MOST_LEVELS or work > MAX_WORK:
                record_bound("cases")
                break
            level_cases = list(askable_cases(pattern, scope, path, converted, second))
            short = [case for case in level_cases if names_in(case.answer) <= LONGEST]
            cases_found += [ListedCase(whole, scope, case) for case in short]
            too_long = too_long or len(short) < len(level_cases)
            work += len(level_cases) * len(scope.workflow.tasks)
    always_empty = {*map(_kind_of, cases_found)} - {_kind_of(each) for each in cases_found if each.case.answer != []}
    asked = [each for each in cases_found if _kind_of(each) not in always_empty]
    return Listing(tuple(asked), too_long, frozenset(bounds), frozenset(always_empty))


def _kind_of(listed: ListedCase) -> CaseKind:
    labels = tuple([text for _, text in sorted(listed.case.labels.items()) if isinstance(text, str)])
    return CaseKind(str(listed.scope.root.qualified), labels)


def names_in(answer: Json) -> int:
    """Return the number of names that an answer lists; 1 if it is no list."""
    if isinstance(answer, dict) and "tasks" in answer:
        answer = answer["tasks"]
    if isinstance(answer, list):
        return sum(len(part) if isinstance(part, list) else 1 for part in answer)
    return 1


def askable_cases(
    pattern: Pattern, scope: Scope, path: str, converted: str, second: Mapping[str, Scope] | None = None
) -> Iterator[Case]:
    """Yield the cases of a pattern about a level, without those that reveal the answer or name what is not shown.

    Args:
        pattern: The pattern.
        scope: The level.
        path: Path of the project.
        converted: The notation to show it in; empty for the files themselves.
        second: The levels of a second reading by place; only cases with the same answer there are yielded.
    """
    if not converted and not _has_required_ends(pattern, scope, path):
        return
    same = None if second is None else answers_in(pattern, second.get(scope.place))
    for case in cases(pattern, scope):
        if not case.revealing and (same is None or (repr(case.fields), repr(case.answer)) in same):
            yield case


def answers_in(pattern: Pattern, scope: Scope | None) -> set[tuple[str, str]]:
    """Return what the cases of a pattern about a level of a second reading are about, each with its answer.

    Where nothing begins in that reading, it does not say what follows from START.
    """
    if scope is None or (_names_ends(pattern) and not any(link.source == START for link in scope.workflow.links)):
        return set()
    return {(repr(case.fields), repr(case.answer)) for case in cases(pattern, scope)}


def _names_ends(pattern: Pattern) -> bool:
    return any(END_NAMES.search(template) for template in pattern.templates)


def _order_levels(levels_to_ask: list[tuple[Workflow, Scope]]) -> list[tuple[Workflow, Scope]]:
    """Return the levels, shuffled if the project is large, so that the first are a sample."""
    if sum(len(scope.workflow.tasks) for _, scope in levels_to_ask) > FULL_SIZE:
        Random(f"levels|{len(levels_to_ask)}").shuffle(levels_to_ask)
    if len(levels_to_ask) > MOST_LEVELS:
        levels_to_ask.sort(key=lambda level: not level[1].whole)
    return levels_to_ask


def _has_required_ends(pattern: Pattern, scope: Scope, path: str) -> bool:
    """Return False if the pattern names START and END, and the user's chart of that level does not draw them."""
    if not _names_ends(pattern):
        return True
    if load(path).notation.name != "mermaid":
        return True
    whole, inner = _drawn_ends(path)
    return whole if scope.whole else inner


@catalog_cache
@lru_cache(maxsize=1024)
def _drawn_ends(path: str) -> tuple[bool, bool]:
    """Return whether the charts of a project draw START and END, and whether all of its subgraphs do."""
    from ....notations.mermaid.meaning import drawn_ends  # as the notation, loaded when a chart is asked about

    project = load(path)
    ends = drawn_ends(project.text)
    inner = sum(len(levels(whole)) - 1 for whole in rotations(project.workflow))
    return ends.whole, ends.subgraphs >= inner


MOST_EDITS: Final = 28  # edited copies of a project that are searched for a pair
EDITED_WORK: Final = MAX_WORK // 4  # maximum of cases of one pattern about these copies, times tasks
EDITED_TASKS: Final = 1000  # maximum number of tasks of these copies together
MOST_PLANTED: Final = 40  # copies with a planted flaw
EDITED = "with one change made to it: a link, a condition or a reference was added, removed or replaced"
PLANTED = "in a copy in which names and descriptions may be changed"
ANSWERS: Final = ("yes", "no")


class Choice(NamedTuple):
    """A case, the workflow to show for it, and the kind of edit if it differs from the user's own."""

    workflow: Workflow
    scope: Scope
    case: Case
    edit: str = ""
    text: str = ""  # edited text of the user's own; empty where the notation writes the workflow


class EditedCopy(NamedTuple):
    """A copy of a project with one edit, as it is shown; `text` as in a Choice."""

    kind: str
    workflow: Workflow
    scopes: tuple[Scope, ...]
    text: str = ""
    second: Mapping[str, Scope] | None = None  # the levels of its second reading by place


@catalog_cache
@lru_cache(maxsize=4096)
def choose(pattern: Pattern, path: str, converted: str, seed: int, instances: int) -> tuple[Choice, ...]:
    """Return the cases that the seed draws among all: hard ones first; more instances extend fewer.

    Yes and no alternate, and a coin decides which comes first; cases without a partner are not asked.
    """
    chosen = [Choice(*choice) for choice in list_cases(pattern, path, converted).cases]
    rng = Random(f"{pattern.name}|{load(path).digest}|{seed}")
    rng.shuffle(chosen)
    chosen.sort(key=lambda choice: choice.case.rank)
    if pattern.planted and not chosen:
        chosen = _planted_choices(pattern, path, converted, seed, instances)
    if not pattern.yes_no:
        return tuple(chosen[:instances])
    order = ANSWERS if rng.random() < 0.5 else ANSWERS[::-1]
    verbatim_options = (False,) if converted else (True, False)
    edited_pairs = (
        _edited_pairs(pattern, path, converted, seed, instances, verbatim) for verbatim in verbatim_options if chosen
    )
    pairs = _pairs(chosen) or next(filter(None, edited_pairs), [])
    return tuple([pair[answer] for pair in pairs for answer in order][:instances])


def unbalanced(pattern: Pattern, path: str, converted: str, seed: int, instances: int) -> str:
    """Return the answer that all cases of a pattern about a project share; empty if a pair is asked, or none."""
    if not pattern.yes_no or choose(pattern, path, converted, seed, instances):
        return ""
    return next(
        (str(verdict(listed_case.case.answer)) for listed_case in list_cases(pattern, path, converted).cases), ""
    )


def text_of(path: str, workflow: Workflow, notation: Notation, edit: str) -> str:
    """Return the text of a copy of a project, written by the notation under a heading that names the change."""
    return f"{_heading(path, notation, EDITED if edit in EDITS else PLANTED)}\n{notation.write(workflow)}".strip("\n")


def _heading(path: str, notation: Notation, words: str) -> str:
    return notation.heading(f"{load(path).title}, {words}")


def _planted_choices(pattern: Pattern, path: str, converted: str, seed: int, instances: int) -> list[Choice]:
    """Return different cases about copies with a planted flaw; for yes and no, as many copies of each."""
    choices: dict[str, Choice] = {}
    for i in range(MOST_PLANTED):
        for answer in ANSWERS if pattern.yes_no else ("",):
            rng = Random(f"planted|{pattern.name}|{load(path).digest}|{seed}|{i}|{answer}")
            for key, choice in _cases_with_flaw(pattern, answer, path, converted, rng):
                choices.setdefault(key, choice)
        if len(choices) >= 2 * instances:
            break
    return [*choices.values()]


def _cases_with_flaw(
    pattern: Pattern, answer: str, path: str, converted: str, rng: Random
) -> Iterator[tuple[str, Choice]]:
    """Yield the cases about a copy with a flaw, if one has room for it, each with a unique key."""
    if not converted and load(path).notation.name in FILE_FORMATS:  # no copy can be written
        return
    whole = rng.choice(shown_workflows(path, converted))
    notation = NOTATIONS[converted] if converted else load(path).notation
    levels_of = scopes if converted else all_scopes
    planted = plant(pattern, answer, whole, levels_of(whole), rng)
    copy = fit(planted.project, notation) if planted else None
    if planted is None or copy is None:
        return
    scope = levels_of(copy)[planted.at]
    level = recorded_level(planted, scope)
    for case in cases(pattern, level) if level else ():
        key = f"{scope.place}|{planted.level.flaw}"
        yield key, Choice(copy, scope, case, planted.kind)


def _pairs(choices: list[Choice]) -> list[dict[Json, Choice]]:
    """Return pairs of a case with yes and a case with no, as many as both allow."""
    sides = [[choice for choice in choices if verdict(choice.case.answer) == answer] for answer in ANSWERS]
    return [dict(zip(ANSWERS, pair, strict=True)) for pair in zip(*sides, strict=False)]


def _edited_pairs(
    pattern: Pattern, path: str, converted: str, seed: int, instances: int, verbatim: bool
) -> list[dict[Json, Choice]]:
    """Return pairs of cases about edited copies, at most one of each answer about each copy."""
    pairs_needed, choices = (instances + 1) // 2, list[Choice]()
    work = 0
    for copy in edited_texts(path, seed) if verbatim else edited_copies(path, converted, seed):
        rng = Random(f"{pattern.name}|{copy.kind}|{len(choices)}")
        candidates = [(s, c) for s in copy.scopes for c in askable_cases(pattern, s, path, converted, copy.second)]
        for answer in ANSWERS:
            same = [(s, c) for s, c in candidates if verdict(c.answer) == answer]
            least = min((c.rank for _, c in same), default=0)
            if hardest := [(s, c) for s, c in same if c.rank == least]:
                choices.append(Choice(copy.workflow, *rng.choice(hardest), copy.kind, copy.text))
        work += sum(len(scope.workflow.tasks) for scope, _ in candidates)
        if len(_pairs(choices)) >= pairs_needed or work > EDITED_WORK:
            break
    return _pairs(choices)


@catalog_cache
@lru_cache(maxsize=64)
def edited_texts(path: str, seed: int) -> tuple[EditedCopy, ...]:
    """Return copies of a project with one edit each in the user's own text; none of one that is shown verbatim.

    There a removed link would still be drawn in the diagram of the file.
    """
    project = load(path)
    if split_path(path).is_verbatim:
        return ()
    heading = _heading(path, project.notation, EDITED)
    rng = Random(f"texts|{project.digest}|{seed}")
    edited = text_edits(project.notation, heading, project.text, rng, _max_copies(project.workflow))
    copies = ((edit, _levels_of(edit.workflow, "")) for edit in edited)
    return tuple(
        [
            EditedCopy(edit.kind, edit.workflow, scopes_of_edit, edit.text, _second(project.notation, edit.text))
            for edit, scopes_of_edit in copies
            if scopes_of_edit
        ]
    )


def _second(notation: Notation, text: str) -> Mapping[str, Scope] | None:
    """Return the levels of the second reading of a text by place; None if it leaves nothing open."""
    interpreted = interpretation(notation.name, text)
    return _by_place(combine_workflows(interpreted.doubtful)) if interpreted and interpreted.doubtful else None


def _by_place(second: Workflow | None) -> Mapping[str, Scope] | None:
    return None if second is None else {scope.place: scope for scope in _levels_of(second, "")}


@catalog_cache
@lru_cache(maxsize=64)
def edited_copies(path: str, converted: str, seed: int) -> tuple[EditedCopy, ...]:
    """Return copies of a project with one edit each that the notation supports, from each shown workflow in turn."""
    project = load(path)
    if not converted and project.notation.name in FILE_FORMATS:
        return ()
    streams = [_copies(whole, path, converted, seed) for whole in shown_workflows(path, converted)]
    most = _max_copies(project.workflow)
    return tuple([copy for some in zip_longest(*streams) for copy in some if copy is not None][:most])


def _copies(whole: Workflow, path: str, converted: str, seed: int) -> Iterator[EditedCopy]:
    rng = Random(f"edits|{load(path).digest}|{seed}")
    notation = NOTATIONS[converted] if converted else load(path).notation
    for edit in edits(whole, rng, _max_copies(whole)):
        workflow = fit(edit.workflow, notation)
        if workflow is not None and not problems(workflow) and (scopes_of_edit := _levels_of(workflow, converted)):
            yield EditedCopy(edit.kind, workflow, scopes_of_edit)


def _levels_of(workflow: Workflow, converted: str) -> tuple[Scope, ...]:
    """Return the levels of a copy; none where a derived workflow configures what no longer exists."""
    try:
        return scopes(workflow) if converted else all_scopes(workflow)
    except WorkflowError:
        return ()


def _max_copies(project: Workflow) -> int:
    """Return the maximum number of copies of a project; 0 for a project so large that they would yield no pair."""
    tasks = sum(len(level.tasks) for level in every_level(project))
    most = min(MOST_EDITS, EDITED_TASKS // max(tasks, 1))
    return most if most >= len(ANSWERS) else 0

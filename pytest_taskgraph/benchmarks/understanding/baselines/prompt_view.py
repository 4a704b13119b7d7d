"""What a baseline sees in a prompt: the workflow, the level it asks about, names and the form of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ....catalog import catalog_cache
from ....errors import PromptNotUnderstoodError, TaskgraphError
from ....notations import NOTATIONS, Notation
from ....scoring.forms import FORMS
from ....workflow.guards.solver import conditions
from ....workflow.model import Workflow
from ..own_files.interpretations import leaves_unnamed
from ..patterns.scope import Scope, all_scopes, omit_workflow_name, scopes_by_own_name

_FENCED = re.compile(r"^(`{3,})[^\n`]*\n(.*?)\n\1`*\s*$", re.MULTILINE | re.DOTALL)
LINES = 2_000  # at which of a prompt's lines a workflow may begin
AHEAD = 50  # lines that are read first: most lines are no beginning, which the line itself tells
CUTS = 3  # how often a text is cut where reading stops


class Excerpt(NamedTuple):
    """A workflow, and where in the prompt it stands."""

    workflow: Workflow
    start: int
    end: int
    text: str


def find_workflow(prompt: str) -> Workflow | None:
    """The project that is asked about: the last that stands in the prompt; None if no notation reads one.

    What stands before it are solved examples. Fenced text is tried first; else runs of lines that some notation reads
    as a whole, of which the longest tells the notation.
    """
    found = _last(prompt)
    return found.workflow if found else None


def is_unnamed(prompt: str) -> bool:
    """Return True if the text of the workflow in the prompt does not name it."""
    found = _last(prompt)
    return found is not None and leaves_unnamed(found.text)


def question_parts(prompt: str) -> Iterator[str]:
    """Where the question is to be looked for, in this order: after the workflow; after the example before; anywhere."""
    asked = _last(prompt)
    if asked:
        yield prompt[asked.end :]
        example = _last(prompt[: asked.start])
        yield prompt[example.end if example else 0 :]
    yield prompt


@catalog_cache
@lru_cache(maxsize=64)
def _last(prompt: str) -> Excerpt | None:
    for fenced in reversed(list(_FENCED.finditer(prompt))):
        workflow = _read(fenced[2])
        if workflow is not None:
            return Excerpt(workflow, fenced.start(), fenced.end(), fenced[2])
    return _unfenced(prompt)


@catalog_cache
@lru_cache(maxsize=64)
def _read(text: str) -> Workflow | None:
    """Return the workflow of a whole text in any notation; kept, as many questions show the same one."""
    for notation in NOTATIONS.values():
        try:
            return notation.read(text)
        except TaskgraphError:
            continue
    return None


def without_fenced(prompt: str) -> str:
    """The prompt without what stands in code fences."""
    return _FENCED.sub("", prompt)


def _unfenced(prompt: str) -> Excerpt | None:
    """The last workflow at least half as long as the longest, in its notation: so no word that is one by chance."""
    lines = prompt.split("\n")
    runs = [list(_runs(lines, notation)) for notation in NOTATIONS.values()]
    longest = [max((taken for _, taken, _ in found), default=0) for found in runs]
    most = max(longest)
    if not most:
        return None
    first, taken, workflow = [run for run in runs[longest.index(most)] if 2 * run[1] >= most][-1]
    start = sum(len(line) + 1 for line in lines[:first])
    text = "\n".join(lines[first : first + taken])
    return Excerpt(workflow, start, start + len(text), text)


def _runs(lines: list[str], notation: Notation) -> Iterator[tuple[int, int, Workflow]]:
    """The first line, the number of lines, and the workflow, of each run of lines that the notation reads."""
    first = 0
    while first < min(len(lines), LINES):
        taken, found = _beginning(lines[first : first + AHEAD], notation)
        if taken:
            taken, found = _beginning(lines[first:], notation)
        if found:
            yield first, taken, found
        # What was understood up to a mistake holds no other beginning: so no line is read again and again.
        first += max(taken, 1)


def _beginning(lines: list[str], notation: Notation) -> tuple[int, Workflow | None]:
    """How many of the first lines are a workflow, and this; or how many the notation understands, and None.

    Where reading stops, the text is cut, and read again.
    """
    understood = 0
    for _ in range(CUTS):
        try:
            return len(lines), notation.read("\n".join(lines))
        except TaskgraphError as error:
            stopped = getattr(error, "line", 1) - 1
        understood = max(understood, stopped)
        while stopped > 0 and not lines[stopped - 1].strip():
            stopped -= 1
        if not 0 < stopped < len(lines):
            break
        lines = lines[:stopped]
    return understood, None


@catalog_cache
@lru_cache(maxsize=64)
def scopes_of(prompt: str) -> tuple[Scope, ...]:
    """The levels of the workflow in the prompt, each place once.

    A composite task that the question is about may be written inline or elsewhere, as the notation has it; its
    reference is only followed where the task is not written inline, so that a recursion stays one.
    """
    return _scopes_of(_workflow(prompt), is_unnamed(prompt))


@catalog_cache
@lru_cache(maxsize=64)
def _scopes_of(workflow: Workflow, unnamed: bool) -> tuple[Scope, ...]:
    found = (*all_scopes(workflow, entered=True), *all_scopes(workflow))
    found = tuple(map(omit_workflow_name, found)) if unnamed else found
    return tuple({one.designation: one for one in (*found, *scopes_by_own_name(found))}.values())


def _workflow(prompt: str) -> Workflow:
    workflow = find_workflow(prompt)
    if workflow is None:
        raise PromptNotUnderstoodError("no notation reads a workflow in the prompt")
    return workflow


def plain(text: str) -> str:
    """The text with single blanks."""
    return " ".join(text.split())


def instructed_names(prompt: str, form: str) -> Sequence[str]:
    """The names that need care in a list: all of them, where the instruction is not that for plain names."""
    return [] if FORMS[form].instruct([]) in prompt else all_names(prompt)


def all_names(prompt: str) -> list[str]:
    """The names of all tasks and data, at any level."""
    levels = [scope.workflow for scope in scopes_of(prompt)]
    return [name for level in levels for name in (*level.task_names, *(one.name for one in level.data))]


def form_of(prompt: str) -> str:
    """The form whose instruction stands in the prompt."""
    for name, form in FORMS.items():
        if form.instruct([]) in prompt or form.instruct(all_names(prompt)) in prompt:
            return name
    raise PromptNotUnderstoodError("the prompt holds no instruction of a known answer form")


def names_of(prompt: str) -> list[str]:
    """The tasks of the level that the prompt asks about."""
    return list(asked_about(prompt).task_names) or [""]


def guards_of(prompt: str) -> list[str]:
    """The conditions of that level, but "otherwise"."""
    return conditions(asked_about(prompt)) or [""]


def descriptions_of(prompt: str) -> list[str]:
    """Return the descriptions that tasks of that level have."""
    return [task.description for task in asked_about(prompt).tasks if task.description]


def asked_about(prompt: str) -> Workflow:
    """The level that the prompt asks about; the first workflow, where it names none."""
    known = scopes_of(prompt)
    for part in map(plain, question_parts(prompt)):
        if named := [scope for scope in known if plain(scope.designation) in part]:
            return max(named, key=lambda scope: len(scope.designation)).workflow
    return known[0].workflow

"""View of a prompt by a baseline: the workflow, the level asked about, names and the form of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ....catalog import catalog_cache
from ....errors import PromptNotUnderstoodError, TaskgraphError
from ....notations import NOTATIONS, Notation, known_notations
from ....scoring.forms import FORMS
from ....workflow.guards.solver import conditions
from ....workflow.model import Workflow
from ..own_files.interpretations import leaves_unnamed
from ..patterns.scope import Scope, all_scopes, omit_workflow_name, scopes_by_own_name
from ..questions.chance import offered_names

_FENCED = re.compile(r"^(`{3,})[^\n`]*\n(.*?)\n\1`*\s*$", re.MULTILINE | re.DOTALL)
_ASKS_FOR_DATA = re.compile(r"\b(?:which|list the) data\b", re.IGNORECASE)
LINES = 2_000  # first lines of a prompt at which a workflow can begin
AHEAD = 50  # lines that are parsed first: most lines cannot begin a workflow
CUTS = 3  # how often a text is cut where parsing stops


class Excerpt(NamedTuple):
    """A workflow, and its position in the prompt."""

    workflow: Workflow
    start: int
    end: int
    text: str


def find_workflow(prompt: str) -> Workflow | None:
    """Return the project that is asked about, the last in the prompt; None if no notation reads one.

    Solved examples stand before it. Fenced text is tried first; else runs of lines that some notation reads as a whole,
    of which the longest determines the notation.
    """
    excerpt = _last_excerpt(prompt)
    return excerpt.workflow if excerpt else None


def is_unnamed(prompt: str) -> bool:
    """Return True if the text of the workflow in the prompt does not name it."""
    excerpt = _last_excerpt(prompt)
    return excerpt is not None and leaves_unnamed(excerpt.text)


def question_parts(prompt: str) -> Iterator[str]:
    """Yield the parts in which to search the question: after the workflow, after the example before it, everything."""
    excerpt = _last_excerpt(prompt)
    if excerpt:
        yield prompt[excerpt.end :]
        example = _last_excerpt(prompt[: excerpt.start])
        yield prompt[example.end if example else 0 :]
    yield prompt


@catalog_cache
@lru_cache(maxsize=64)
def _last_excerpt(prompt: str) -> Excerpt | None:
    for fenced in reversed(list(_FENCED.finditer(prompt))):
        workflow = _read(fenced[2])
        if workflow is not None:
            return Excerpt(workflow, fenced.start(), fenced.end(), fenced[2])
    return _unfenced(prompt)


@catalog_cache
@lru_cache(maxsize=64)
def _read(text: str) -> Workflow | None:
    """Return the workflow of a whole text in any notation; cached, because many questions show the same text."""
    for notation in known_notations():
        try:
            return notation.read(text)
        except TaskgraphError:
            continue
    return None


def without_fenced(prompt: str) -> str:
    """Return the prompt without its code fences."""
    return _FENCED.sub("", prompt)


def _unfenced(prompt: str) -> Excerpt | None:
    """Return the last workflow at least half as long as the longest, in its notation.

    Shorter runs can be read as a workflow by chance.
    """
    lines = prompt.split("\n")
    runs = [list(_runs(lines, notation)) for notation in NOTATIONS.values()]
    longest = [max((taken for _, taken, _ in runs_of_notation), default=0) for runs_of_notation in runs]
    most = max(longest)
    if not most:
        return None
    first, taken, workflow = [run for run in runs[longest.index(most)] if 2 * run[1] >= most][-1]
    start = sum(len(line) + 1 for line in lines[:first])
    text = "\n".join(lines[first : first + taken])
    return Excerpt(workflow, start, start + len(text), text)


def _runs(lines: list[str], notation: Notation) -> Iterator[tuple[int, int, Workflow]]:
    """Yield the first line, the number of lines and the workflow of each run of lines that the notation reads."""
    first = 0
    while first < min(len(lines), LINES):
        taken, workflow = _parse_beginning(lines[first : first + AHEAD], notation)
        if taken:
            taken, workflow = _parse_beginning(lines[first:], notation)
        if workflow:
            yield first, taken, workflow
        # The part before a mistake contains no other beginning, so no line is parsed repeatedly.
        first += max(taken, 1)


def _parse_beginning(lines: list[str], notation: Notation) -> tuple[int, Workflow | None]:
    """Return how many of the first lines are a workflow, and the workflow.

    Where parsing stops, the text is cut, and parsed again.

    Returns:
        The number of lines that the notation understands, and None, if the lines begin no workflow.
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
    """Return the levels of the workflow in the prompt, each place once.

    A composite task that the question is about can be written inline or elsewhere, depending on the notation; its
    reference is only followed where the task is not written inline, so that recursion is preserved.
    """
    return _scopes_of(_required_workflow(prompt), is_unnamed(prompt))


@catalog_cache
@lru_cache(maxsize=64)
def _scopes_of(workflow: Workflow, unnamed: bool) -> tuple[Scope, ...]:
    scopes = (*all_scopes(workflow, entered=True), *all_scopes(workflow))
    scopes = tuple(map(omit_workflow_name, scopes)) if unnamed else scopes
    return tuple({scope.designation: scope for scope in (*scopes, *scopes_by_own_name(scopes))}.values())


def _required_workflow(prompt: str) -> Workflow:
    workflow = find_workflow(prompt)
    if workflow is None:
        raise PromptNotUnderstoodError("no notation reads a workflow in the prompt")
    return workflow


def normalize_spaces(text: str) -> str:
    """Return the text with single spaces."""
    return " ".join(text.split())


def instructed_names(prompt: str, form: str) -> Sequence[str]:
    """Return the names that need care in a list: all, unless the instruction is that for plain names."""
    return [] if FORMS[form].instruct([]) in prompt else all_names(prompt)


def all_names(prompt: str) -> list[str]:
    """Return the names of all tasks and data, at any level."""
    levels = [scope.workflow for scope in scopes_of(prompt)]
    return [name for level in levels for name in (*level.task_names, *(data.name for data in level.data))]


def form_of(prompt: str) -> str:
    """Return the form whose instruction is in the prompt."""
    for name, form in FORMS.items():
        if form.instruct([]) in prompt or form.instruct(all_names(prompt)) in prompt:
            return name
    raise PromptNotUnderstoodError("the prompt holds no instruction of a known answer form")


def names_of(prompt: str) -> list[str]:
    """Return the names that the text offers: of all data if the question asks for data, else of all tasks."""
    question = next(question_parts(prompt))
    return list(offered_names(_required_workflow(prompt), bool(_ASKS_FOR_DATA.search(question)))) or [""]


def tasks_of_level(prompt: str) -> list[str]:
    """Return the tasks of the level that the prompt asks about."""
    return list(level_of_question(prompt).task_names) or [""]


def guards_of(prompt: str) -> list[str]:
    """Return the conditions of that level except "otherwise"."""
    return conditions(level_of_question(prompt)) or [""]


def descriptions_of(prompt: str) -> list[str]:
    """Return the descriptions of the tasks of that level."""
    return [task.description for task in level_of_question(prompt).tasks if task.description]


def level_of_question(prompt: str) -> Workflow:
    """Return the level that the prompt asks about; the first workflow if it names none."""
    scopes = scopes_of(prompt)
    for part in map(normalize_spaces, question_parts(prompt)):
        if named_scopes := [scope for scope in scopes if normalize_spaces(scope.designation) in part]:
            return max(named_scopes, key=lambda scope: len(scope.designation)).workflow
    return scopes[0].workflow

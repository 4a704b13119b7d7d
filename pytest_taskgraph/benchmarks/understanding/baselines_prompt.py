"""What a baseline sees in a prompt: the workflow, the level it asks about, names, and the form of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ...catalog import catalog_cache
from ...errors import PromptNotUnderstoodError
from ...scoring.forms import FORMS
from ...workflow.guards import conditions
from ...workflow.model import Workflow
from .excerpt import find_workflow, is_unnamed, question_parts
from .scope import Scope, all_scopes, own_names, without_name


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
    found = tuple(map(without_name, found)) if unnamed else found
    return tuple({one.called: one for one in (*found, *own_names(found))}.values())


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
        if named := [scope for scope in known if plain(scope.called) in part]:
            return max(named, key=lambda scope: len(scope.called)).workflow
    return known[0].workflow

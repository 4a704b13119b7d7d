"""In-context learning (ICL): a few tasks with their steps, then the task whose steps are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from ....scoring.forms.form import collapse_spaces
from ..prompts import PROMPTS

if TYPE_CHECKING:
    from ..complex_task import ComplexTask
    from ..tasklama_options import TaskLamaSettings


def draw_examples(train: Sequence[ComplexTask], task: ComplexTask, k: int, seed: int) -> tuple[ComplexTask, ...]:
    """Return k in-context examples for a task: the same for all tasks, but for those that resemble the task.

    A task of the same cluster, title or id as the asked one is left out, and the next one drawn.

    Args:
        train: The tasks of the training split.
        task: The task that is asked about.
        k: The number of examples; there are fewer if the split has fewer.
        seed: The seed of the run.
    """
    order = Random(f"{seed}|tasklama|examples").sample(range(len(train)), len(train))
    examples: list[ComplexTask] = []
    for at in order:
        if len(examples) >= k:
            break
        if not _resemble(train[at], task):
            examples.append(train[at])
    return tuple(examples)


def _resemble(first: ComplexTask, second: ComplexTask) -> bool:
    same_cluster = bool(first.cluster) and first.cluster == second.cluster
    return (
        same_cluster
        or first.id == second.id
        or collapse_spaces(first.title).casefold() == collapse_spaces(second.title).casefold()
    )


def icl_prompt(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> str:
    """Return the prompt that asks for the steps of a task, after the examples; the task comes last.

    Raises:
        UsageError: if the user's template cannot be read or fails.
    """
    fields = task_fields(task) | {
        "examples": [task_fields(example) | {"steps": [*example.steps]} for example in examples]
    }
    return PROMPTS.render("steps", fields, settings)


def task_fields(task: ComplexTask) -> dict[str, Any]:
    """Return the fields of prompt templates that show a task: its title and its context, each in one line."""
    return {"title": collapse_spaces(task.title), "context": "; ".join(map(collapse_spaces, task.context))}

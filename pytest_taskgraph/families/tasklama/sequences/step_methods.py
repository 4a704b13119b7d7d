"""The methods that generate steps, with their prompt and what their episodes need.

In-context learning (ICL) shows a few tasks with their steps, then the task whose steps are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Final

from ....scoring.forms.form import collapse_spaces
from ..method import Method, no_settings
from ..prompts import PROMPTS
from .multiple_sequences import icl, multseq
from .sample_filter import (
    EPISODE_METRICS,
    filter_best,
    filter_best_logprob,
    load_filter,
    multseq_filter,
    multseq_filter_logprob,
)

if TYPE_CHECKING:
    from ....trial import Json
    from ..complex_task import ComplexTask
    from ..tasklama_settings import TaskLamaSettings

METRIC: Final = "hungarian_f1"


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


def _sequences(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> dict[str, Json]:
    """Return the task, from which `tasklama fit` computes features, and the number of sequences."""
    return _task_settings(task) | {"sequences": settings.sequences}


def _samples(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> dict[str, Json]:
    return _task_settings(task) | {"samples": settings.samples}


def _best_samples(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> dict[str, Json]:
    return _samples(task, examples, settings) | {"sequences": settings.sequences}


def _filter(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> dict[str, Json]:
    return _samples(task, examples, settings) | {"filter": load_filter(settings, "filter").to_json()}


def _filter_best(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> dict[str, Json]:
    model = load_filter(settings, "multseq_filter").to_json()
    return _best_samples(task, examples, settings) | {"filter": model}


def _task_settings(task: ComplexTask) -> dict[str, Json]:
    return {"title": task.title, "context": [*task.context], "split": task.split}


_OF_STEPS: Final[dict[str, Any]] = {"section": "step_generation", "prompt": icl_prompt, "metric": METRIC}
METHODS: Final = (
    Method(name="icl", title="one sequence of steps", episode=icl, settings=no_settings, **_OF_STEPS),
    Method(name="multseq", title="several sequences put together", episode=multseq, settings=_sequences, **_OF_STEPS),
    Method(
        name="filter",
        title="the best sample by fitted coefficients",
        episode=filter_best,
        settings=_filter,
        episode_metrics=EPISODE_METRICS,
        **_OF_STEPS,
    ),
    Method(
        name="filter_logprob",
        title="the sample that is most probable to the model",
        episode=filter_best_logprob,
        settings=_samples,
        episode_metrics=EPISODE_METRICS,
        **_OF_STEPS,
    ),
    Method(
        name="multseq_filter",
        title="the best samples by fitted coefficients put together",
        episode=multseq_filter,
        settings=_filter_best,
        episode_metrics=EPISODE_METRICS,
        **_OF_STEPS,
    ),
    Method(
        name="multseq_filter_logprob",
        title="the samples that are most probable to the model put together",
        episode=multseq_filter_logprob,
        settings=_best_samples,
        episode_metrics=EPISODE_METRICS,
        **_OF_STEPS,
    ),
)
"""The methods in the order of the paper's Table 2."""
SAMPLING: Final = tuple(method.name for method in METHODS if method.name != "icl")
"""The methods that ask for several sequences, whose trials `tasklama fit` reads."""

"""What models are tuned for: to generate the steps of a task, and to decide a pair of steps (Yuan et al. 2024).

The paper learns a soft prompt in place of in-context examples. So the prompts are those of a run without examples, the
size of the soft prompt is decided on the validation tasks, and the tuned model is asked with `--taskgraph-shots=0`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from math import fsum
from typing import TYPE_CHECKING, Final

from ...benchmarks.settings import Settings
from ...benchmarks.tuning_task import (
    TuningData,
    TuningMethod,
    TuningParameters,
    TuningSample,
    TuningTask,
    chosen_share,
    draw_samples,
)
from ...errors import UnparseableError
from ...scoring.forms.task_graph_form import read_graph
from ...scoring.metrics.texts import f_beta
from ...scoring.task_graphs.step_matching import hungarian_scores, similarity_matrix
from .complex_task import ComplexTask
from .edges.edge_prompts import gold_closure, pair_prompt, pair_text
from .edges.edge_replies import numbered_lines
from .sequences import icl_prompt
from .task_sets import load
from .tasklama_settings import TaskLamaSettings

if TYPE_CHECKING:
    from .task_sets import TaskSet

VERDICTS: Final = ("yes", "no")


def step_samples(task: ComplexTask, settings: TaskLamaSettings) -> list[TuningSample]:
    """Return the prompt that asks for the steps of a task, with its steps as they are listed."""
    steps = numbered_lines(task.steps)
    return [TuningSample(icl_prompt(task, (), settings), steps, reference={"steps": [*task.steps], "dependencies": []})]


def pair_samples(task: ComplexTask, settings: TaskLamaSettings) -> list[TuningSample]:
    """Return the prompt about each ordered pair of steps of a task, with yes or no."""
    prompt, before = pair_prompt("pair", task, (), settings), gold_closure(task)
    return [
        TuningSample(
            pair_text(prompt, task.steps[first], task.steps[second]),
            VERDICTS[0 if (first, second) in before else 1],
            VERDICTS,
        )
        for first, second in permutations(range(len(task.steps)), 2)
    ]


def step_data(settings: Settings, stated: TuningParameters) -> TuningData:
    """Return the steps of the tasks of both splits. Raises UsageError."""
    own = TaskLamaSettings.of(settings)
    tasks = load(own)
    train = draw_samples([task for task in tasks.train if task.steps], stated.train, stated.seed, "tasks")
    dev = [sample for task in tasks.validation if task.steps for sample in step_samples(task, own)]
    return _data(tasks, [sample for task in train for sample in step_samples(task, own)], dev, stated, len(train))


def pair_data(settings: Settings, stated: TuningParameters) -> TuningData:
    """Return the pairs of steps of the tasks of both splits. Raises UsageError."""
    own = TaskLamaSettings.of(settings)
    tasks = load(own)
    train = draw_samples([task for task in tasks.train if len(task.steps) > 1], stated.train, stated.seed, "tasks")
    dev = [sample for task in tasks.validation for sample in pair_samples(task, own)]
    return _data(tasks, [sample for task in train for sample in pair_samples(task, own)], dev, stated, len(train))


def _data(
    tasks: TaskSet, learned: Sequence[TuningSample], dev: Sequence[TuningSample], stated: TuningParameters, train: int
) -> TuningData:
    facts = {"source": tasks.source, "train_tasks": train, "validation_tasks": len(tasks.validation)}
    checked = draw_samples(dev, stated.dev, stated.seed, "dev")
    return TuningData(tuple(learned), tuple(checked), facts, tuple(tasks.problems))


def score_steps(samples: Sequence[TuningSample], replies: Sequence[str]) -> Mapping[str, float | None]:
    """Return the mean Hungarian F1 and F2 of written steps by the lexical similarity; 0 of a reply without steps."""
    scores: list[tuple[float, float]] = []
    for sample, reply in zip(samples, replies, strict=True):
        try:
            given = hungarian_scores(similarity_matrix(read_graph(reply), sample.reference))
        except UnparseableError:
            given = (0.0, 0.0)
        scores.append((f_beta(*given), f_beta(*given, beta=2.0)))
    count = len(scores)
    f1, f2 = (fsum(score[at] for score in scores) / count if count else None for at in (0, 1))
    return {"hungarian_f1": f1, "hungarian_f2": f2}


def score_pairs(samples: Sequence[TuningSample], replies: Sequence[str]) -> Mapping[str, float | None]:
    """Return the share of right pairs, and that of the more frequent answer; a tie is wrong."""
    yes = sum(sample.target == VERDICTS[0] for sample in samples)
    majority = max(yes, len(samples) - yes) / len(samples) if samples else None
    return {"pair_accuracy": chosen_share(samples, replies), "majority_accuracy": majority}


def _parameters(updates: int, dev: int) -> dict[TuningMethod, TuningParameters]:
    """Return the parameters, which the paper does not state."""
    every = updates // 20
    return {
        "full": TuningParameters(updates=updates, every=every, learning_rate=5e-5, dev=dev),
        "lora": TuningParameters(updates=updates, every=every, learning_rate=2e-4, dev=dev),
        "soft-prompt": TuningParameters(
            updates=updates, every=every, learning_rate=1e-2, dev=dev, prompt_tokens=(20, 50, 100)
        ),
    }


TASKS: Final = (
    TuningTask(
        name="steps",
        title="steps of complex tasks",
        ask="suites/tasklama --taskgraph-shots=0 --taskgraph-tasklama-method=icl",
        data=step_data,
        score=score_steps,
        parameters=_parameters(1000, 100),
    ),
    TuningTask(
        name="pairs",
        title="pairs of steps",
        ask="suites/tasklama --taskgraph-shots=0 --taskgraph-tasklama-method=golden_pairs",
        data=pair_data,
        score=score_pairs,
        parameters=_parameters(1000, 500),
    ),
)

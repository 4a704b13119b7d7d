"""The prompts of the dependency methods, and what their episodes need beside them.

A prompt about generated steps is made before the steps are known, and one about pairs stands for many: where the steps
belong it holds a mark, which the episode replaces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Final

from ....errors import UsageError
from ....scoring.forms.form import collapse_spaces
from ....scoring.task_graphs.precedence import Edge, transitive_reduction
from ....scoring.task_graphs.step_graphs import StepGraph
from ....trial import Json
from ..prompts import PROMPTS
from ..sequences.icl import task_fields
from .edge_answers import linear_extension_of, numbered_lines, pairs_text
from .pair_examples import draw_pairs

if TYPE_CHECKING:
    from ..complex_task import ComplexTask
    from ..tasklama_options import TaskLamaSettings

FIRST: Final = "⟦first step⟧"
SECOND: Final = "⟦second step⟧"
STEPS: Final = "⟦steps⟧"
LEAST_SHUFFLED: Final = 4  # steps; of fewer steps, an order that is never the gold order would reveal it


def shown_order(task: ComplexTask, seed: int) -> list[int]:
    """Return the indices of the steps of a task in the order in which they are shown: shuffled, seeded by run and task.

    It is never the order of the task, where that has four steps or more.
    """
    shuffling = Random(f"{seed}|{task.id}|golden")
    order = [*range(len(task.steps))]
    while True:
        shuffling.shuffle(order)
        if len(order) < LEAST_SHUFFLED or order != sorted(order):
            return order


def pair_prompt(name: str, task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> str:
    """Return the prompt about two steps of a task, with marks in their places.

    Args:
        name: The name of the prompt: "pair" or "pair_cot".
        task: The task that is asked about.
        examples: The in-context examples.
        settings: The settings of the run.

    Raises:
        UsageError: if the template fails, or does not show a step.
    """
    solved = [
        task_fields(pair.task)
        | {
            "first": collapse_spaces(pair.task.steps[pair.first]),
            "second": collapse_spaces(pair.task.steps[pair.second]),
            "label": "yes" if pair.label else "no",
            "rationale": pair.rationale,
        }
        for pair in draw_pairs(examples, settings.seed)
    ]
    fields = task_fields(task) | {"examples": solved, "first": FIRST, "second": SECOND}
    return _render_marked(name, fields, settings, {"first": FIRST, "second": SECOND})


def steps_prompt(name: str, task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> str:
    """Return the prompt about a list of steps of a task, with a mark in its place.

    Args:
        name: The name of the prompt: "order" or "graph".
        task: The task that is asked about.
        examples: The in-context examples; their steps are shown shuffled, as gold steps are.
        settings: The settings of the run.

    Raises:
        UsageError: if the template fails, or does not show the steps.
    """
    solved = [_example_fields(example, shown_order(example, settings.seed)) for example in examples]
    fields = task_fields(task) | {"examples": solved, "steps": STEPS}
    return _render_marked(name, fields, settings, {"steps": STEPS})


def entire_graph_prompt(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> str:
    """Return the prompt that asks for steps and dependencies in one reply.

    Raises:
        UsageError: if the template fails.
    """
    solved = [_example_fields(example, [*range(len(example.steps))]) for example in examples]
    return PROMPTS.render("entire_graph", task_fields(task) | {"examples": solved}, settings)


def fill_marks(prompt: str, values: Mapping[str, str]) -> str:
    """Return the prompt with values in the place of marks; what looks like a mark in a value stays as it is."""
    parts = [prompt]
    for mark in values:
        parts = [piece for part in parts for piece in _split_at(part, mark)]
    return "".join(values.get(part, part) for part in parts)


def steps_text(prompt: str, steps: Sequence[str]) -> str:
    """Return the prompt about a list of steps: the given prompt with the list in place of its mark."""
    return fill_marks(prompt, {STEPS: numbered_lines(steps)})


def pair_text(prompt: str, first: str, second: str) -> str:
    """Return the prompt about two steps: the given prompt with the steps in place of their marks."""
    return fill_marks(prompt, {FIRST: first, SECOND: second})


def text_setting(settings: Mapping[str, Json], name: str) -> str:
    """Return a text among the settings of an episode; empty if there is none."""
    return str(settings.get(name) or "")


def _split_at(part: str, mark: str) -> list[str]:
    """Return the pieces of a text between marks, and the marks, in their order."""
    pieces = part.split(mark)
    return [part for at, piece in enumerate(pieces) for part in ((mark, piece) if at else (piece,))]


def _render_marked(name: str, fields: Mapping[str, Any], settings: TaskLamaSettings, marks: Mapping[str, str]) -> str:
    prompt = PROMPTS.render(name, fields, settings)
    for field, mark in marks.items():
        if mark not in prompt:
            raise UsageError(
                f"prompt {name}.jinja of TaskLAMA does not show {{{{ {field} }}}} as it is; the template needs it"
            )
    return prompt


def _example_fields(task: ComplexTask, order: Sequence[int]) -> dict[str, Any]:
    """Return what templates see of an example whose steps are shown in that order: numbered lines, and answers."""
    place = {at: position for position, at in enumerate(order)}
    edges: list[Edge] = transitive_reduction(len(order), [(place[a], place[b]) for a, b in task.dependencies])
    first_to_last = linear_extension_of(StepGraph(task.steps, task.dependencies))
    return task_fields(task) | {
        "steps": numbered_lines(task.steps[at] for at in order),
        "order": ", ".join(str(place[at] + 1) for at in first_to_last),
        "dependencies": pairs_text(edges),
    }

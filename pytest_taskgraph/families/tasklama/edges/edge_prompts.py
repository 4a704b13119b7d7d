"""The prompts of the dependency methods, and what their episodes need beside them.

A prompt about generated steps is made before the steps are known, and one about pairs stands for many: where the steps
belong it holds a mark, which the episode replaces.

In-context examples of pairs are a task, two of its steps, and whether the first must be done before the second.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, permutations
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

from ....errors import UsageError
from ....scoring.forms.form import collapse_spaces
from ....scoring.task_graphs.step_graphs import (
    Edge,
    StepGraph,
    transitive_closure,
    transitive_reduction,
    without_cycles,
)
from ....trial import Json
from ..complex_task import ComplexTask
from ..prompts import PROMPTS
from ..sequences.step_methods import task_fields
from .edge_replies import linear_extension_of, numbered_lines, pairs_text

if TYPE_CHECKING:
    from ..complex_task import ComplexTask
    from ..tasklama_settings import TaskLamaSettings

RATIONALES: Final = Path(__file__).with_name("rationales.jsonl")
"""Rationales that a person wrote for pairs of the embedded training tasks; for other pairs they follow a rule."""
FIRST: Final = "⟦first step⟧"
SECOND: Final = "⟦second step⟧"
STEPS: Final = "⟦steps⟧"
LEAST_SHUFFLED: Final = 4  # steps; of fewer steps, an order that is never the gold order would reveal it


@dataclass(frozen=True, slots=True)
class PairExample:
    """Two steps of an example task with the right answer.

    Args:
        task: The task.
        first: The index of the step that is named first.
        second: The index of the other one.
        label: True if the first must be done before the second, by a path of the graph freed of cycles.
    """

    task: ComplexTask
    first: int
    second: int
    label: bool

    @property
    def rationale(self) -> str:
        """The reason for the label: as a person wrote it, else by the rule of `rationale_by_rule`."""
        pair = self.first, self.second
        return _written_rationale(self.task, pair, self.label) or rationale_by_rule(self.task, *pair)


def draw_pairs(examples: Sequence[ComplexTask], seed: int) -> list[PairExample]:
    """Return one pair of each example task; the labels yes and no alternate, from a seeded first one.

    A pair with a written rationale is preferred: in the paper all are written by hand. A task that has no pair of the
    label has one of the other; a task of one step has none. What is drawn from a task depends on the seed, the task and
    its place alone.

    Args:
        examples: The in-context examples of the run.
        seed: The seed of the run.
    """
    start = Random(f"{seed}|tasklama|pairs").randrange(2)
    pairs = (_draw_pair(task, (at + start) % 2 == 0, seed) for at, task in enumerate(examples))
    return [pair for pair in pairs if pair is not None]


def _draw_pair(task: ComplexTask, label: bool, seed: int) -> PairExample | None:
    before = gold_closure(task)
    pairs = [*permutations(range(len(task.steps)), 2)]
    labelled = [pair for pair in pairs if (pair in before) == label]
    pool = [pair for pair in labelled if _written_rationale(task, pair, label)] or labelled or pairs
    if not pool:
        return None
    first, second = Random(f"{seed}|{task.id}|{label}|pair").choice(pool)
    return PairExample(task, first, second, (first, second) in before)


def gold_closure(task: ComplexTask) -> set[Edge]:
    """Return the pairs of steps of which the first must be done before the second, directly or not; without cycles."""
    return transitive_closure(len(task.steps), without_cycles(len(task.steps), task.dependencies))


def rationale_by_rule(task: ComplexTask, first: int, second: int) -> str:
    """Return a reason for the label of a pair that states what the graph states, and nothing more.

    Args:
        task: The task.
        first: The index of the step that is named first.
        second: The index of the other one.
    """
    edges = without_cycles(len(task.steps), task.dependencies)
    ours, theirs = (f'"{collapse_spaces(task.steps[at])}"' for at in (first, second))
    if path := _shortest_path(edges, first, second):
        names = [f'"{collapse_spaces(task.steps[at])}"' for at in path]
        links = "; ".join(f"{after} can only begin when {before} is done" for before, after in pairwise(names))
        return f"{links}. So {ours} has to be done before {theirs}."
    if path := _shortest_path(edges, second, first):
        names = [f'"{collapse_spaces(task.steps[at])}"' for at in path]
        links = "; ".join(f"{after} can only begin when {before} is done" for before, after in pairwise(names))
        return f"It is the other way round. {links}. So {ours} cannot be done before {theirs}."
    return f"Neither {ours} nor {theirs} needs the other one to be done. They can be done in any order."


def _shortest_path(edges: Iterable[Edge], start: int, end: int) -> list[int]:
    """Return the steps on a shortest path, both ends included; none if there is no path."""
    children: dict[int, list[int]] = {}
    for before, after in edges:
        children.setdefault(before, []).append(after)
    come_from: dict[int, int] = {start: start}
    queue = [start]
    for at in queue:
        for child in sorted(children.get(at, ())):
            if child not in come_from:
                come_from[child] = at
                queue.append(child)
    if end not in come_from:
        return []
    path = [end]
    while path[-1] != start:
        path.append(come_from[path[-1]])
    return path[::-1]


def _written_rationale(task: ComplexTask, pair: Edge, label: bool) -> str:
    """Return the rationale that a person wrote for a pair of steps with that label; empty if there is none."""
    first, second = (collapse_spaces(task.steps[at]) for at in pair)
    return _written_rationales().get((collapse_spaces(task.title), first, second, "yes" if label else "no"), "")


@cache
def _written_rationales() -> Mapping[tuple[str, str, str, str], str]:
    """Return the rationales of the file by title of the task, first step, second step and label."""
    rows = [json.loads(line) for line in RATIONALES.read_text(encoding="utf-8").splitlines()]
    return {(row["task"], row["first"], row["second"], row["label"]): row["rationale"] for row in rows}


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

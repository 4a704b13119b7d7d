"""In-context examples of pairs: a task, two of its steps, and whether the first must be done before the second."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, permutations
from pathlib import Path
from random import Random
from typing import Final

from ....scoring.forms.form import collapse_spaces
from ....scoring.task_graphs.precedence import Edge, transitive_closure, without_cycles
from ..complex_task import ComplexTask

RATIONALES: Final = Path(__file__).with_name("rationales.jsonl")
"""Rationales that a person wrote for pairs of the embedded training tasks; for other pairs they follow a rule."""


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

"""Draws what tasks and data say of themselves: parameters, effects, implementations, descriptions, kinds, schemas."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from random import Random
from typing import TypeVar

from ..workflow.model import Domain, Effect, Parameter, Value
from .conditions import Conditions
from .draft import Draft, Loop, Step
from .vocabularies import Vocabulary

SPLIT_MOVES = range(-2, 5)  # what the first of two tasks adds, where two move a loop's parameter

_T = TypeVar("_T")


class Content:
    """Fills the levels of a draft with the features that are wanted; `levels` are all, the whole workflow first.

    Of the tasks that can have something, some have it and, where there are two or more, some have not. But in a
    `complete` workflow all are described, and all atomic ones are classified: what is said of them is then what there
    is to understand, not whether anything is said.
    """

    def __init__(
        self, levels: list[Draft], wanted: Collection[str], conditions: Conditions, complete: bool = False
    ) -> None:
        self.levels, self.wanted, self.conditions, self.complete = levels, wanted, conditions, complete
        self.vocabulary: Vocabulary = conditions.vocabulary
        self.rng: Random = conditions.rng

    def fill(self) -> None:
        """Draws everything that is wanted."""
        if "implementations" in self.wanted:
            for step in self._some_steps():
                step.implemented = True
        if "kinds" in self.wanted:
            for step in self._all_steps() if self.complete else self._some_steps():
                step.classified = True
        if "parameters" in self.wanted:
            for step in self._some_steps():
                step.parameters = self._settings()
        if "effects" in self.wanted:
            self._add_effects()
        self._describe()

    def _some(self, candidates: Sequence[_T]) -> list[_T]:
        """At least one of them and, if there are two, not all; none of none."""
        most = max(1, len(candidates) - 1)
        return self.rng.sample(candidates, 1 + self.rng.randrange(most)) if candidates else []

    def _some_steps(self) -> list[Step]:
        """Some atomic tasks of the whole workflow, and of the levels inside it."""
        return [step for level in self.levels for step in self._some(_atomic(level))]

    def _all_steps(self) -> list[Step]:
        return [step for level in self.levels for step in _atomic(level)]

    def _settings(self) -> list[Parameter]:
        names = self.rng.sample(self.vocabulary.settings, 1 + self.rng.randrange(2))
        return [self._setting(name) for name in names]

    def _setting(self, name: str) -> Parameter:
        number = 1 + self.rng.randrange(99)
        if "domains" in self.wanted and self.rng.random() > 0.5:
            return Parameter(name, number, Domain("integer", 0, 100))
        words = self.rng.choice(self.vocabulary.modes)[1]
        values: list[Value] = [number, number / 10, self.rng.choice(words), tuple(words[:2])]
        return Parameter(name, self.rng.choice(values))

    def _add_effects(self) -> None:
        """In every loop one or two tasks that always run change the loop's parameter; without loops, a task counts."""
        loops = [loop for level in self.levels for loop in level.loops]
        for loop in loops:
            self._move(loop)
        if not loops:
            name = self.conditions.measure().name
            for step in self.rng.sample(_atomic(self.levels[0]), 1):
                step.effects.append(Effect(name, f"{name} + {1 + self.rng.randrange(3)}"))

    def _move(self, loop: Loop) -> None:
        """Let tasks of the loop add its step to its parameter: one task, or two whose changes come to that."""
        body = [step for step in loop.body if step.inner is None]
        moves = [loop.step]
        if len(body) > 1 and self.rng.random() > 0.6:
            first = self.rng.choice([move for move in SPLIT_MOVES if move not in (0, loop.step)])
            moves = [first, loop.step - first]
        for step, move in zip(self.rng.sample(body, len(moves)), moves, strict=True):
            step.effects.append(Effect(loop.parameter, f"{loop.parameter} {'+' if move > 0 else '-'} {abs(move)}"))

    def _describe(self) -> None:
        every = self.complete
        for level in self.levels:
            if "descriptions" in self.wanted:
                self._describe_level(level, every)
            if "schemas" in self.wanted and not every:
                for datum in self._some(level.data):
                    datum.schema = f"file://schemas/{datum.name}.json"
        if "schemas" in self.wanted and every:
            self._add_schemas()

    def _describe_level(self, level: Draft, every: bool) -> None:
        told = dict(self.vocabulary.data)
        for step in level.steps if every else self._some(level.steps):
            step.described = True
        for datum in level.data if every else self._some(level.data):
            datum.description = told.get(datum.name, "")
        if every or level is self.levels[0]:
            level.description = level.purpose

    def _add_schemas(self) -> None:
        """The schemas that the vocabulary has for the data; where it has none for any of them, one of some data."""
        known = dict(self.vocabulary.schemas)
        data = [datum for level in self.levels for datum in level.data]
        for datum in data:
            datum.schema = known.get(datum.name, "")
        if not any(datum.schema for datum in data):
            for datum in self._some(data):
                datum.schema = f"file://schemas/{datum.name}.json"


def _atomic(level: Draft) -> list[Step]:
    return [step for step in level.steps if step.inner is None]

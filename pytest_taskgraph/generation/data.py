"""Draw the data of a level: what tasks read and write, and the attributes of tasks and data."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from random import Random
from typing import Final, TypeVar

from ..workflow.model import SECONDS, Domain, Duration, Effect, Parameter, Value
from .draft import Datum, Draft, DraftStep, LoopDraft, ancestors
from .guards import Conditions, GuardNames
from .vocabularies import Vocabulary

SPLIT_MOVES = range(-2, 5)  # what the first of two tasks adds if two change a loop's parameter
SHORTEST: Final = 3  # least amount of a duration
SPREAD: Final = 14.0  # of the longest duration to the shortest
MIXED_UNITS: Final = 0.5  # share of the workflows with two units
LONGER_IF_MIXED: Final = 3  # factor of amounts beside a unit that is 60 times as long
ROUNDED: Final = 0.6  # probability that a task that takes at least half of a larger unit is told in larger units

_T = TypeVar("_T")


class Content:
    """Fills the levels of a draft with the demanded features; `levels` are all, the whole workflow first.

    Of the tasks that can have an attribute, some have it and, of two or more, some have not. But in a `complete`
    workflow all tasks are described, and all atomic ones have a kind: then the content matters, not whether there is
    any.
    """

    def __init__(
        self, levels: list[Draft], features: Collection[str], conditions: Conditions, complete: bool = False
    ) -> None:
        self.levels, self.features, self.conditions, self.complete = levels, features, conditions, complete
        self.vocabulary: Vocabulary = conditions.vocabulary
        self.rng: Random = conditions.rng

    def fill(self) -> None:
        """Draw everything that is demanded."""
        if "implementations" in self.features:
            for step in self._some_steps():
                step.implemented = True
        if "kinds" in self.features:
            for step in self._all_steps() if self.complete else self._some_steps():
                step.classified = True
        if "parameters" in self.features:
            for step in self._some_steps():
                step.parameters = self._settings()
        if "effects" in self.features:
            self._add_effects()
        self._describe()

    def _some(self, candidates: Sequence[_T]) -> list[_T]:
        """Draw at least one of the candidates and, of two or more, not all; none if there are none."""
        limit = max(1, len(candidates) - 1)
        return self.rng.sample(candidates, 1 + self.rng.randrange(limit)) if candidates else []

    def _some_steps(self) -> list[DraftStep]:
        """Draw some atomic tasks of the whole workflow, and of the levels inside it."""
        return [step for level in self.levels for step in self._some(_atomic_steps(level))]

    def _all_steps(self) -> list[DraftStep]:
        return [step for level in self.levels for step in _atomic_steps(level)]

    def _settings(self) -> list[Parameter]:
        names = self.rng.sample(self.vocabulary.settings, 1 + self.rng.randrange(2))
        return [self._setting(name) for name in names]

    def _setting(self, name: str) -> Parameter:
        number = 1 + self.rng.randrange(99)
        if "domains" in self.features and self.rng.random() > 0.5:
            return Parameter(name, number, Domain("integer", 0, 100))
        words = self.rng.choice(self.vocabulary.modes)[1]
        values: list[Value] = [number, number / 10, self.rng.choice(words), tuple(words[:2])]
        return Parameter(name, self.rng.choice(values))

    def _add_effects(self) -> None:
        """Let one or two tasks that always run in a loop change its parameter; without loops, let a task count."""
        loops = [loop for level in self.levels for loop in level.loops]
        for loop in loops:
            self._move(loop)
        if not loops:
            name = self.conditions.measure().name
            for step in self.rng.sample(_atomic_steps(self.levels[0]), 1):
                step.effects.append(Effect(name, f"{name} + {1 + self.rng.randrange(3)}"))

    def _move(self, loop: LoopDraft) -> None:
        """Let tasks of the loop add its step to its parameter: one task, or two whose changes add up to it."""
        body = [step for step in loop.body if step.inner is None]
        moves = [loop.step]
        if len(body) > 1 and self.rng.random() > 0.6:
            first = self.rng.choice([move for move in SPLIT_MOVES if move not in (0, loop.step)])
            moves = [first, loop.step - first]
        for step, move in zip(self.rng.sample(body, len(moves)), moves, strict=True):
            step.effects.append(Effect(loop.parameter, f"{loop.parameter} {'+' if move > 0 else '-'} {abs(move)}"))

    def _describe(self) -> None:
        complete = self.complete
        for level in self.levels:
            if "descriptions" in self.features:
                self._describe_level(level, complete)
            if "schemas" in self.features and not complete:
                for datum in self._some(level.data):
                    datum.schema = f"file://schemas/{datum.name}.json"
        if "schemas" in self.features and complete:
            self._add_schemas()

    def _describe_level(self, level: Draft, complete: bool) -> None:
        descriptions = dict(self.vocabulary.data)
        for step in level.steps if complete else self._some(level.steps):
            step.described = True
        for datum in level.data if complete else self._some(level.data):
            datum.description = descriptions.get(datum.name, "")
        if complete or level is self.levels[0]:
            level.description = level.purpose

    def _add_schemas(self) -> None:
        """Add the schemas that the vocabulary has for the data; if it has none, computed schemas for some data."""
        schemas = dict(self.vocabulary.schemas)
        data = [datum for level in self.levels for datum in level.data]
        for datum in data:
            datum.schema = schemas.get(datum.name, "")
        if not any(datum.schema for datum in data):
            for datum in self._some(data):
                datum.schema = f"file://schemas/{datum.name}.json"


def _atomic_steps(level: Draft) -> list[DraftStep]:
    return [step for step in level.steps if step.inner is None]


def add_data(draft: Draft, rng: Random, from_vocabulary: bool = True, excluded: Collection[str] = ()) -> None:
    """Add data to the level: those that the vocabulary's tasks read and write, or drawn data.

    Some data are written by no task (at least one), others by one task and read by later ones; chains over several
    tasks occur. Drawn data are, rarely, written by two tasks, and have no names yet (`name_data`).

    Args:
        draft: The level.
        rng: The source of choice.
        from_vocabulary: Use the data of the vocabulary's tasks, if these have any.
        excluded: Names of data of the vocabulary that are on another level.
    """
    before = ancestors(draft)
    if from_vocabulary and any(step.entry.writes for step in draft.steps):
        draft.data = [datum for datum in _data_of_vocabulary(draft.steps, before) if datum.name not in excluded]
    else:
        draft.data = _draw_data(draft.steps, before, rng)


def _data_of_vocabulary(steps: list[DraftStep], before: list[int]) -> list[Datum]:
    """Return the data of the vocabulary; a task does not read what only a task that may run later writes."""
    data: dict[str, Datum] = {}
    writer: dict[str, int] = {}
    for index, step in enumerate(steps):
        for name in step.entry.reads:
            datum = data.setdefault(name, Datum(name))
            if name not in writer or before[index] >> writer[name] & 1:
                datum.readers.append(step)
        for name in step.entry.writes:
            data.setdefault(name, Datum(name)).writers.append(step)
            writer[name] = index
    return list(data.values())


def _draw_data(steps: list[DraftStep], before: list[int], rng: Random) -> list[Datum]:
    data = _draw_chain(steps, before, rng)
    for _ in range(1 + len(steps) // 2):
        if rng.random() > 0.8:
            data.append(Datum("", [], rng.sample(steps, 1 + rng.randrange(min(2, len(steps))))))
        else:
            index = rng.randrange(len(steps))
            later = _steps_after(index, before)
            readers = rng.sample(later, min(len(later), rng.randrange(3)))
            data.append(Datum("", [steps[index]], [steps[other] for other in readers]))
    if rng.random() > 0.85:
        _add_producer(data, steps, before, rng)
    return data


def _draw_chain(steps: list[DraftStep], before: list[int], rng: Random) -> list[Datum]:
    """Draw data from a first input, read by a task that writes what a later task reads, and so on."""
    index = rng.randrange(1 + len(steps) // 2)
    data = [Datum("", [], [steps[index]])]
    while later := _steps_after(index, before):
        following = rng.choice(later)
        data.append(Datum("", [steps[index]], [steps[following]]))
        index = following
        if len(data) > 2 and rng.random() > 0.5:
            break
    data.append(Datum("", [steps[index]]))
    return data


def _steps_after(index: int, before: list[int]) -> list[int]:
    """Return the steps that come after the step of that index."""
    return [other for other, steps in enumerate(before) if steps >> index & 1]


def _add_producer(data: list[Datum], steps: list[DraftStep], before: list[int], rng: Random) -> None:
    """Give one datum a second producer, which comes before all its readers."""
    position = {id(step): index for index, step in enumerate(steps)}
    for datum in rng.sample(data, len(data)):
        if not (datum.writers and datum.readers):
            continue
        common = -1
        for reader in datum.readers:
            common &= before[position[id(reader)]]
        others = [step for index, step in enumerate(steps) if common >> index & 1 and step not in datum.writers]
        if others:
            datum.writers.append(rng.choice(others))
            return


def bind(outer: Draft, step: DraftStep, rng: Random) -> None:
    """Bind data of a composite task's sub-workflow to data that the task reads and writes: at least one."""
    inner = step.inner
    if inner is None:
        return
    if not any(step in datum.readers for datum in outer.data):
        outer.data.append(Datum("", [], [step]))
    inputs = [datum for datum in inner.data if not datum.writers]
    results = [datum for datum in inner.data if datum.writers and not datum.readers]
    step.bindings = [
        *_draw_pairs(inputs, [datum for datum in outer.data if step in datum.readers], rng),
        *_draw_pairs(results, [datum for datum in outer.data if step in datum.writers], rng),
    ]


def _draw_pairs(inner: list[Datum], outer: list[Datum], rng: Random) -> list[tuple[Datum, Datum]]:
    chosen = rng.sample(inner, min(len(inner), len(outer)))
    return list(zip(chosen, outer, strict=False))


def name_data(levels: list[Draft], vocabulary: Vocabulary, names: GuardNames, rng: Random) -> None:
    """Name all data, each differently: by their vocabulary name, by a word of the domain or by a number."""
    all_data = [datum for level in levels for datum in level.data]
    words = [name for name, _ in vocabulary.data]
    rng.shuffle(words)
    numbers = rng.sample(range(1, len(all_data) + 1), len(all_data))
    for datum, number in zip(all_data, numbers, strict=True):
        datum.name = names.take(datum.name or (words.pop() if words else f"Data{number}"))


def add_durations(levels: Iterable[Draft], vocabulary: Vocabulary, rng: Random) -> None:
    """Draw a duration for every atomic task of the levels, in units that fit the domain.

    The shortest and the longest differ by so much that neither the number of tasks on a path nor its longest task tells
    how long it takes.
    """
    position = rng.randrange(len(vocabulary.units) - 1)
    units, mixed = vocabulary.units[position : position + 2], rng.random() < MIXED_UNITS
    ratio = SECONDS[units[1]] // SECONDS[units[0]]
    for level in levels:
        for step in level.steps:
            if step.inner is None:
                amount = round(SHORTEST * SPREAD ** rng.random())
                amount *= LONGER_IF_MIXED if mixed and ratio == 60 else 1
                larger = mixed and 2 * amount >= ratio and rng.random() < ROUNDED
                step.duration = Duration(round(amount / ratio) or 1, units[1]) if larger else Duration(amount, units[0])

"""Draw the data of a level: what tasks read and write, and what tasks and data say of themselves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from random import Random
from typing import TypeVar

from ..workflow.model import Domain, Effect, Parameter, Value
from .draft import Datum, Draft, DraftStep, LoopDraft, ancestors
from .guards import Conditions, GuardNames
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

    def _some_steps(self) -> list[DraftStep]:
        """Some atomic tasks of the whole workflow, and of the levels inside it."""
        return [step for level in self.levels for step in self._some(_atomic(level))]

    def _all_steps(self) -> list[DraftStep]:
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

    def _move(self, loop: LoopDraft) -> None:
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


def _atomic(level: Draft) -> list[DraftStep]:
    return [step for step in level.steps if step.inner is None]


def add_data(draft: Draft, rng: Random, known: bool = True, elsewhere: Collection[str] = ()) -> None:
    """Add data to the level: those that the vocabulary's tasks read and write, if they are `known`, or drawn ones.

    Known data that are there on another level (`elsewhere`) are left out.

    Some data are written by nobody (at least one), others by one task and read by later ones; chains over several
    tasks occur. Drawn data are, rarely, written by two tasks. Drawn ones have no names yet (`name_data`).
    """
    before = ancestors(draft)
    if known and any(step.entry.writes for step in draft.steps):
        draft.data = [datum for datum in _known(draft.steps, before) if datum.name not in elsewhere]
    else:
        draft.data = _drawn(draft.steps, before, rng)


def _known(steps: list[DraftStep], before: list[int]) -> list[Datum]:
    """Data as the vocabulary tells; a task does not read what only a task that need not run before it writes."""
    found: dict[str, Datum] = {}
    writer: dict[str, int] = {}
    for index, step in enumerate(steps):
        for name in step.entry.reads:
            datum = found.setdefault(name, Datum(name))
            if name not in writer or before[index] >> writer[name] & 1:
                datum.readers.append(step)
        for name in step.entry.writes:
            found.setdefault(name, Datum(name)).writers.append(step)
            writer[name] = index
    return list(found.values())


def _drawn(steps: list[DraftStep], before: list[int], rng: Random) -> list[Datum]:
    data = _chain(steps, before, rng)
    for _ in range(1 + len(steps) // 2):
        if rng.random() > 0.8:
            data.append(Datum("", [], rng.sample(steps, 1 + rng.randrange(min(2, len(steps))))))
        else:
            index = rng.randrange(len(steps))
            later = _later(index, before)
            readers = rng.sample(later, min(len(later), rng.randrange(3)))
            data.append(Datum("", [steps[index]], [steps[one] for one in readers]))
    if rng.random() > 0.85:
        _add_producer(data, steps, before, rng)
    return data


def _chain(steps: list[DraftStep], before: list[int], rng: Random) -> list[Datum]:
    """Data of a first input, read by a task that writes what a later task reads, and so on."""
    index = rng.randrange(1 + len(steps) // 2)
    data = [Datum("", [], [steps[index]])]
    while later := _later(index, before):
        following = rng.choice(later)
        data.append(Datum("", [steps[index]], [steps[following]]))
        index = following
        if len(data) > 2 and rng.random() > 0.5:
            break
    data.append(Datum("", [steps[index]]))
    return data


def _later(index: int, before: list[int]) -> list[int]:
    """The steps that come after the step of that index."""
    return [other for other, steps in enumerate(before) if steps >> index & 1]


def _add_producer(data: list[Datum], steps: list[DraftStep], before: list[int], rng: Random) -> None:
    """Gives one datum a second producer, one that comes before all its readers."""
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
    """Binds data of a composite task's sub-workflow to data that the task reads and writes: one at least."""
    inner = step.inner
    if inner is None:
        return
    if not any(step in datum.readers for datum in outer.data):
        outer.data.append(Datum("", [], [step]))
    inputs = [datum for datum in inner.data if not datum.writers]
    results = [datum for datum in inner.data if datum.writers and not datum.readers]
    step.bindings = [
        *_pairs(inputs, [datum for datum in outer.data if step in datum.readers], rng),
        *_pairs(results, [datum for datum in outer.data if step in datum.writers], rng),
    ]


def _pairs(inner: list[Datum], outer: list[Datum], rng: Random) -> list[tuple[Datum, Datum]]:
    chosen = rng.sample(inner, min(len(inner), len(outer)))
    return list(zip(chosen, outer, strict=False))


def name_data(levels: list[Draft], vocabulary: Vocabulary, names: GuardNames, rng: Random) -> None:
    """Name all data, each differently: known ones by their name, drawn ones by a word of the domain or a number."""
    every = [datum for level in levels for datum in level.data]
    words = [name for name, _ in vocabulary.data]
    rng.shuffle(words)
    numbers = rng.sample(list(range(1, len(every) + 1)), len(every))
    for datum, number in zip(every, numbers, strict=True):
        datum.name = names.take(datum.name or (words.pop() if words else f"Data{number}"))

"""Draws the data flow of a level: what each task reads and writes, never against the control flow."""

from __future__ import annotations

from collections.abc import Collection
from random import Random

from .conditions import Names
from .draft import Datum, Draft, Step
from .flow import ancestors
from .vocabularies import Vocabulary


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


def _known(steps: list[Step], before: list[int]) -> list[Datum]:
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


def _drawn(steps: list[Step], before: list[int], rng: Random) -> list[Datum]:
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


def _chain(steps: list[Step], before: list[int], rng: Random) -> list[Datum]:
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


def _add_producer(data: list[Datum], steps: list[Step], before: list[int], rng: Random) -> None:
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


def bind(outer: Draft, step: Step, rng: Random) -> None:
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


def name_data(levels: list[Draft], vocabulary: Vocabulary, names: Names, rng: Random) -> None:
    """Name all data, each differently: known ones by their name, drawn ones by a word of the domain or a number."""
    every = [datum for level in levels for datum in level.data]
    words = [name for name, _ in vocabulary.data]
    rng.shuffle(words)
    numbers = rng.sample(list(range(1, len(every) + 1)), len(every))
    for datum, number in zip(every, numbers, strict=True):
        datum.name = names.take(datum.name or (words.pop() if words else f"Data{number}"))

"""The words that generated workflows are made of: one TOML file of this folder for each domain, found by its name.

A file holds `workflow` and `description` (of a whole workflow), `measures` (parameters with a number), `settings`
(parameters of single tasks), `[modes]` (parameters with words), and `[[tasks]]` in an order in which they make sense,
each with name, description, kind, and the data it reads and writes. A file without tasks has computed ones, as many
as are asked for, named by numbers that tell nothing; its `kinds` are drawn. `[data]` may describe data.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random

from ...errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class Entry:
    """A task as the vocabulary has it; reads and writes are names of data."""

    name: str
    description: str
    kind: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of one domain."""

    name: str
    workflow: str
    description: str
    measures: tuple[str, ...]
    settings: tuple[str, ...]
    modes: tuple[tuple[str, tuple[str, ...]], ...]
    tasks: tuple[Entry, ...] = ()  # empty: computed
    kinds: tuple[str, ...] = ()
    data: tuple[tuple[str, str], ...] = ()  # name and description

    def entries(self, count: int, rng: Random) -> list[Entry]:
        """`count` different tasks, in an order that makes sense.

        More than the vocabulary holds are had by numbering: "Chop", "Chop2" with data of their own, in any order.
        """
        if not self.tasks:
            # From twice as many numbers as tasks, so that knowing how many tasks there are does not tell their names.
            return [self._computed(number, rng) for number in rng.sample(list(range(1, 2 * count + 1)), count)]
        rounds, rest = divmod(count, len(self.tasks))
        extra = sorted(rng.sample(list(range(len(self.tasks))), rest))
        found: list[Entry] = []
        for index, entry in enumerate(self.tasks):
            copies = list(range(1, rounds + (index in extra) + 1))
            rng.shuffle(copies)
            found.extend(_numbered(entry, copy) for copy in copies)
        return found

    def _computed(self, number: int, rng: Random) -> Entry:
        return Entry(f"Task{number}", f"Carries out step {number}.", rng.choice(self.kinds))


def _numbered(entry: Entry, number: int) -> Entry:
    if number == 1:
        return entry
    reads, writes = ([f"{name}{number}" for name in names] for names in (entry.reads, entry.writes))
    return Entry(f"{entry.name}{number}", entry.description, entry.kind, tuple(reads), tuple(writes))


def vocabulary_names() -> tuple[str, ...]:
    """The names of all vocabularies, sorted: the files of this folder."""
    found = (file.name for file in files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


@cache
def vocabulary(name: str) -> Vocabulary:
    """The vocabulary of that name. Raises UnknownNameError with the known ones."""
    if name not in vocabulary_names():
        raise UnknownNameError("vocabulary", name, vocabulary_names())
    text = files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    return Vocabulary(
        name,
        read["workflow"],
        read["description"],
        tuple(read["measures"]),
        tuple(read["settings"]),
        tuple((mode, tuple(words)) for mode, words in read["modes"].items()),
        tuple(_entry(task) for task in read.get("tasks", [])),
        tuple(read.get("kinds", [])),
        tuple(read.get("data", {}).items()),
    )


def _entry(task: dict[str, str | list[str]]) -> Entry:
    name, description, kind = (str(task[key]) for key in ("name", "description", "kind"))
    return Entry(name, description, kind, tuple(task["reads"]), tuple(task["writes"]))

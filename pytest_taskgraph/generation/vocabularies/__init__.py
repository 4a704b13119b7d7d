"""The words that generated workflows are made of: one TOML file of this folder for each domain, found by its name.

A file holds `measures` (parameters with a number), `settings` (parameters of single tasks), `[modes]` (parameters with
words), `[[workflows]]` (names of a whole workflow, each with a sentence on its goal; the first is the usual one) and
`[[tasks]]` in an order in which they make sense, each with name, description, kind, the data it reads and writes, and
`after`: the tasks that must come before it in any sensible workflow, the closest ones being enough. `[data]` describes
the data, `[schemas]` names the schemas of some. A file without tasks has computed ones, as many as are asked for, named
by numbers that tell nothing and in no order; its `kinds` are drawn.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from ...errors import UnknownNameError

DIGITS = 6  # that the number of a task has less than


@dataclass(frozen=True, slots=True)
class Entry:
    """A task as the vocabulary has it; reads and writes are names of data.

    `after` names all tasks that must come before it, directly or not, in the order of the file: a workflow of some of
    the tasks keeps the order even where the task between two of them is missing.
    """

    name: str
    description: str
    kind: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of one domain."""

    name: str
    workflows: tuple[tuple[str, str], ...]  # name and description of the whole, the usual one first
    measures: tuple[str, ...]
    settings: tuple[str, ...]
    modes: tuple[tuple[str, tuple[str, ...]], ...]
    tasks: tuple[Entry, ...] = ()  # empty: computed
    kinds: tuple[str, ...] = ()  # all kinds of its tasks, in the order of the file
    data: tuple[tuple[str, str], ...] = ()  # name and description
    schemas: tuple[tuple[str, str], ...] = ()  # name and schema, of some data

    @property
    def workflow(self) -> str:
        """The usual name of a whole workflow."""
        return self.workflows[0][0]

    @property
    def description(self) -> str:
        """The description of the workflow of the usual name."""
        return self.workflows[0][1]

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
            found.extend(numbered(entry, copy) for copy in copies)
        return found

    def entry(self, name: str) -> Entry | None:
        """The task of that name, numbered ones too ("Chop2"); None where the vocabulary has none."""
        bare = unnumbered(name)
        found = next((numbered(one, number_of(name)) for one in self.tasks if one.name == bare), None)
        return found if found is not None and found.name == name else None

    def spare(self, taken: Collection[str], rounds: int = 1) -> list[Entry]:
        """Its tasks but those whose names are taken, in the order of the file; with more rounds, numbered ones too."""
        found = [numbered(entry, number) for number in range(1, rounds + 1) for entry in self.tasks]
        return [entry for entry in found if entry.name not in taken]

    def _computed(self, number: int, rng: Random) -> Entry:
        return Entry(f"Task{number}", f"Carries out step {number}.", rng.choice(self.kinds))


def unnumbered(name: str) -> str:
    """The name without the number at its end, which it has where it is had more than once."""
    return name.rstrip("0123456789")


def number_of(name: str) -> int:
    """The number that a task of that name has; 1 where none is written."""
    digits = name[len(unnumbered(name)) :]
    return int(digits) if 0 < len(digits) < DIGITS else 1


def numbered(entry: Entry, number: int) -> Entry:
    """The entry as the one of that number: its name, and all names in it, end in it, if it is not 1."""
    if number == 1:
        return entry
    reads, writes, after = (
        tuple(f"{name}{number}" for name in names) for names in (entry.reads, entry.writes, entry.after)
    )
    return Entry(f"{entry.name}{number}", entry.description, entry.kind, reads, writes, after)


@cache
def domain_names() -> tuple[str, ...]:
    """The names of the vocabularies of a domain: all whose tasks mean something, sorted."""
    return tuple(name for name in vocabulary_names() if vocabulary(name).tasks)


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
    tasks = _entries(read.get("tasks", []))
    return Vocabulary(
        name,
        tuple((one["name"], one["description"]) for one in read["workflows"]),
        tuple(read["measures"]),
        tuple(read["settings"]),
        tuple((mode, tuple(words)) for mode, words in read["modes"].items()),
        tasks,
        tuple(read.get("kinds", dict.fromkeys(task.kind for task in tasks))),
        tuple(read.get("data", {}).items()),
        tuple(read.get("schemas", {}).items()),
    )


def _entries(tasks: list[dict[str, Any]]) -> tuple[Entry, ...]:
    """The tasks of a file, each after all that the tasks it comes after are after."""
    found: dict[str, Entry] = {}
    for task in tasks:
        name, description, kind = task["name"], task["description"], task["kind"]
        before = {one for direct in task["after"] for one in (direct, *found[direct].after)}
        after = tuple(one for one in found if one in before)
        found[name] = Entry(name, description, kind, tuple(task["reads"]), tuple(task["writes"]), after)
    return tuple(found.values())

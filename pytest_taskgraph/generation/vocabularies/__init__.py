"""The words that generated workflows are made of: a TOML file of this folder for each domain, found by its name.

A file holds `settings` (parameters of single tasks), `units` (of durations that fit the tasks, two neighbours or more,
the smallest first; the largest never stands alone), `[[conditions]]` (numbers that decisions depend on, each with a
range and with the words for "from the limit on" and for "below it"), `[modes]` (parameters with words),
`[[workflows]]` (names of a whole workflow, each with a sentence on its goal; the first is the usual name), `[data]`
with their descriptions, `[schemas]` of some, `[[tasks]]`, `[[composites]]` (names of tasks that consist of tasks),
`[[goals]]` (workflows with a goal so definite that the method or a setting of a task can contradict it), `far`: the
domains in which every task of this domain is plainly foreign, and `[procedure]`: actors and notices
(`procedure_words`).

Tasks stand in an order in which the whole makes sense, and the order of every pair is stated. Two tasks are *free* if
the later task names the earlier one in `free`: either order is right. Of any other two the earlier task comes first. It
*must* come first, in everybody's judgement, if the later task names it in `after`: a wrong order is planted in such
pairs alone, because what follows through others is less certain from the names. The rest of the order is custom, which
generation keeps too.

A file without tasks has computed tasks, as many as needed, named by numbers that carry no meaning and in no order; its
`kinds` are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

from ...catalog import Catalog, Deferred, catalog_cache
from ...errors import UsageError
from ...workflow.model import SECONDS, TimeUnit, Value
from .procedure_words import ProcedureWords

LEAST_TASKS = 44  # tasks of a domain, since recipes demand so many at once


@dataclass(frozen=True, slots=True)
class VocabularyEntry:
    """A task of a vocabulary; `reads` and `writes` are names of data.

    `requires` names tasks that must come before it in everybody's judgement, `follows` all that come before it in a
    workflow that makes sense (those included); both in the order of the file.
    """

    name: str
    description: str
    kind: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """A parameter with an integer from `low` to `high`.

    `holds` states in words that it is `limit` or more, `fails` that it is less; both are empty if the numbers have no
    meaning.
    """

    parameter: str
    low: int = 0
    high: int = 20
    limit: int = 10
    holds: str = ""
    fails: str = ""


@dataclass(frozen=True, slots=True)
class Composite:
    """A name for a task that consists of some of these tasks."""

    name: str
    description: str
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """Two ways to do a task: a way that serves a goal and a way that cannot, and the reason.

    Both are descriptions of the task or, if `parameter` is not empty, values of that parameter.
    """

    task: str
    fits: Value
    contradicts: Value
    reason: str
    parameter: str = ""


@dataclass(frozen=True, slots=True)
class Goal:
    """A workflow with a definite goal, and the tasks that it must not hold because they might contradict it."""

    name: str
    description: str
    excludes: tuple[str, ...]
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of one domain."""

    name: str
    workflows: tuple[tuple[str, str], ...]  # name and description of the whole, the usual one first
    conditions: tuple[Condition, ...]
    settings: tuple[str, ...]
    modes: tuple[tuple[str, tuple[str, ...]], ...]
    tasks: tuple[VocabularyEntry, ...] = ()  # empty: computed
    kinds: tuple[str, ...] = ()  # all kinds of its tasks, in the order of the file
    data: tuple[tuple[str, str], ...] = ()  # name and description
    schemas: tuple[tuple[str, str], ...] = ()  # name and schema, of some data
    composites: tuple[Composite, ...] = ()
    goals: tuple[Goal, ...] = ()
    far: tuple[str, ...] = ()
    units: tuple[TimeUnit, ...] = tuple(SECONDS)  # the smallest first
    procedure: ProcedureWords = field(default_factory=ProcedureWords, compare=False, repr=False)
    _entries: Mapping[str, VocabularyEntry] = field(default_factory=dict, compare=False, repr=False)

    def entry(self, name: str) -> VocabularyEntry | None:
        """Return the task of that name; None if the vocabulary has none."""
        return self._entries.get(name)

    def computed(self, count: int, rng: Random) -> list[VocabularyEntry]:
        """Draw `count` tasks without a meaning, named by numbers in no order."""
        # From twice as many numbers as tasks, so that names cannot be guessed from the number of tasks.
        numbers = rng.sample(range(1, 2 * count + 1), count)
        return [VocabularyEntry(f"Task{n}", f"Carries out step {n}.", rng.choice(self.kinds)) for n in numbers]


@catalog_cache
@cache
def domain_names() -> tuple[str, ...]:
    """Return the names of the vocabularies whose tasks have a meaning, sorted."""
    return tuple(name for name in vocabulary_names() if vocabulary(name).tasks)


@catalog_cache
@cache
def most_tasks() -> int:
    """Return the number of tasks that every domain has."""
    return min(len(vocabulary(name).tasks) for name in domain_names())


def vocabulary_names() -> tuple[str, ...]:
    """Return the names of all vocabularies: the files of this folder, sorted, then those that are registered."""
    return tuple(VOCABULARIES)


def vocabulary(name: str) -> Vocabulary:
    """Return the vocabulary of that name.

    Raises:
        UnknownNameError: if there is none; the message lists the available names.
    """
    return VOCABULARIES[name]


def read_vocabulary(name: str, path: Path | None = None) -> Vocabulary:
    """Return the vocabulary in a TOML file: that at the path, or that of the name in this folder.

    Raises:
        UsageError: if the file cannot be read, or is not a vocabulary.
    """
    import tomllib  # a run whose questions are kept reads no vocabulary

    if path is None:
        return _vocabulary(name, tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")))
    try:
        result = _vocabulary(name, tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"the vocabulary {path} cannot be read: {error}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"the vocabulary {path} lacks a part, or has one of another kind: {error}") from None
    _check(result, path)
    return result


def _vocabulary(name: str, table: Mapping[str, Any]) -> Vocabulary:
    tasks = tuple(_entries(table.get("tasks", [])))
    return Vocabulary(
        name,
        tuple((entry["name"], entry["description"]) for entry in table["workflows"]),
        tuple(Condition(**entry) for entry in table["conditions"]),
        tuple(table["settings"]),
        tuple((mode, tuple(words)) for mode, words in table["modes"].items()),
        tasks,
        tuple(table.get("kinds", dict.fromkeys(task.kind for task in tasks))),
        tuple(table.get("data", {}).items()),
        tuple(table.get("schemas", {}).items()),
        tuple(
            Composite(entry["name"], entry["description"], tuple(entry["tasks"]))
            for entry in table.get("composites", ())
        ),
        tuple(map(_goal, table.get("goals", ()))),
        tuple(table.get("far", ())),
        tuple(unit for unit in SECONDS if unit in table.get("units", SECONDS)),
        ProcedureWords.of(table.get("procedure", {})),
        {task.name: task for task in tasks},
    )


def _entries(tasks: list[dict[str, Any]]) -> Iterator[VocabularyEntry]:
    """Yield the tasks of a file, each with what it requires and all that it follows."""
    earlier: tuple[str, ...] = ()
    for task in tasks:
        yield VocabularyEntry(
            task["name"],
            task["description"],
            task["kind"],
            tuple(task["reads"]),
            tuple(task["writes"]),
            tuple(previous for previous in earlier if previous in task["after"]),
            tuple(previous for previous in earlier if previous not in task["free"]),
        )
        earlier = (*earlier, task["name"])


def _goal(table: dict[str, Any]) -> Goal:
    alternatives = [Alternative(**alternative) for alternative in (*table["methods"], *table["parameters"])]
    return Goal(table["name"], table["description"], tuple(table["excludes"]), tuple(alternatives))


def _check(candidate: Vocabulary, path: Path) -> None:
    """Check that workflows of all sizes and flaws can be generated from the words of a domain.

    Raises:
        UsageError: if they cannot.
    """
    earlier: set[str] = set()
    for task in candidate.tasks:
        if task.name in earlier:
            raise UsageError(f"the vocabulary {path}: the task {task.name!r} stands twice")
        if unknown := sorted({*task.reads, *task.writes} - dict(candidate.data).keys()):
            raise UsageError(f"the vocabulary {path}: {unknown[0]!r} of task {task.name!r} is not in [data]")
        earlier.add(task.name)
    if len(candidate.tasks) < LEAST_TASKS:
        raise UsageError(f"the vocabulary {path} has {len(candidate.tasks)} tasks; expected {LEAST_TASKS} or more")
    for part in ("workflows", "conditions", "settings", "modes", "composites", "goals", "far"):
        if not getattr(candidate, part):
            raise UsageError(f"the vocabulary {path} has no {part}; expected one or more")
    if len(candidate.units) < 2:
        raise UsageError(f"the vocabulary {path}: units names fewer than two of {', '.join(SECONDS)}; name two or more")
    if unknown := sorted(set(candidate.far) - set(VOCABULARIES)):
        raise UsageError(f"the vocabulary {path}: far names {unknown[0]!r}; known: {', '.join(VOCABULARIES)}")
    mentioned = [name for composite in candidate.composites for name in composite.tasks]
    mentioned += [
        name
        for goal in candidate.goals
        for name in (*goal.excludes, *(composite.task for composite in goal.alternatives))
    ]
    if unknown := sorted(set(mentioned) - earlier):
        raise UsageError(f"the vocabulary {path}: {unknown[0]!r} is none of its tasks")
    for fault in candidate.procedure.faults(frozenset(earlier)):
        raise UsageError(f"the vocabulary {path}: {fault}")


def _own_names() -> list[str]:
    """Return the names of the files of this folder, sorted."""
    file_names = (file.name for file in files(__package__).iterdir())
    return sorted(name.removesuffix(".toml") for name in file_names if name.endswith(".toml"))


VOCABULARIES: Catalog[Vocabulary] = Catalog(
    "vocabulary", {name: Deferred(partial(read_vocabulary, name)) for name in _own_names()}
)

"""The data model of a workflow: tasks, data, links and guards. Frozen; nothing is computed here.

Sequences keep the order of declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Final, Literal

START = "START"
END = "END"
OTHERWISE = "otherwise"

Scalar = bool | int | float | str
Value = Scalar | tuple["Value", ...]
GatewayKind = Literal["parallel", "exclusive", "inclusive"]
Flow = Literal["control", "data"]
TimeUnit = Literal["seconds", "minutes", "hours", "days"]
SECONDS: Final[Mapping[TimeUnit, int]] = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}


@dataclass(frozen=True, slots=True)
class QualifiedName:
    """The name of a workflow, with its package if it has one."""

    name: str
    package: str = ""

    def __str__(self) -> str:
        return f"{self.package}.{self.name}" if self.package else self.name


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that a parameter may take: integers or reals from `low` to `high` (None: unbounded), or words."""

    kind: Literal["integer", "real", "words"]
    low: float | int | None = None
    high: float | int | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named value of a task or a workflow."""

    name: str
    value: Value | None = None
    domain: Domain | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """The change that a task makes to a parameter: `n` becomes the value of `expression`, such as "n + 1"."""

    parameter: str
    expression: str


@dataclass(frozen=True, slots=True)
class Duration:
    """The time that a task takes: a whole number of units, at least 1. Two that are equally long may be unequal."""

    amount: int
    unit: TimeUnit

    @property
    def seconds(self) -> int:
        """Return the length in seconds, by which durations of different units are compared."""
        return self.amount * SECONDS[self.unit]


@dataclass(frozen=True, slots=True)
class Task:
    """A step. It is composite if it has a sub-workflow: inline (`subworkflow`) or by name (`reference`), never both."""

    name: str
    description: str = ""
    kind: str = ""
    implementation: str = ""
    parameters: tuple[Parameter, ...] = ()
    effects: tuple[Effect, ...] = ()
    subworkflow: Workflow | None = None
    reference: QualifiedName | None = None
    bindings: tuple[tuple[str, str], ...] = ()  # (data of the sub-workflow, data of this level): a renaming
    duration: Duration | None = None

    @property
    def composite(self) -> bool:
        """Return True if the task has a sub-workflow."""
        return self.subworkflow is not None or self.reference is not None

    @property
    def is_bare(self) -> bool:
        """Return True if the task has nothing but a name."""
        return _task_details(self) == _NO_DETAILS


_task_details = attrgetter(*(field.name for field in fields(Task)[1:]))
_NO_DETAILS = _task_details(Task(""))


@dataclass(frozen=True, slots=True)
class Data:
    """Something that tasks read and write."""

    name: str
    description: str = ""
    schema: str = ""


@dataclass(frozen=True, slots=True)
class Gateway:
    """A node of the control flow that is not a task: a fork or join, a choice or merge."""

    name: str
    kind: GatewayKind
    role: Literal["split", "join"]


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the control flow between START, END, tasks and gateways; `guard` is the text of its condition."""

    source: str
    target: str
    guard: str | None = None


@dataclass(frozen=True, slots=True)
class DataLink:
    """A link of the data flow, from data to the task that reads it or from a task to the data it writes."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """The parts of a task or of data that a derived workflow fills in or replaces, inside composite tasks too."""

    target: str
    of: Literal["task", "data"] = "task"
    description: str = ""
    kind: str = ""
    implementation: str = ""
    schema: str = ""
    parameters: tuple[Parameter, ...] = ()
    effects: tuple[Effect, ...] = ()
    reference: QualifiedName | None = None
    bindings: tuple[tuple[str, str], ...] = ()
    duration: Duration | None = None
    configurations: tuple[Configuration, ...] = ()


@dataclass(frozen=True, slots=True)
class Flaw:
    """The flaw that was planted in a workflow; only the lossless notation writes it."""

    kind: str
    details: tuple[str, ...] = ()


class _Hashed:
    """Slots for the hash and the digest of a workflow, which take long to compute and are needed often."""

    __slots__ = ("_digest", "_hash")
    _hash: int
    _digest: str


@dataclass(frozen=True, slots=True)
class Workflow(_Hashed):
    """Tasks and the links between them. `others` are the further workflows of its project, found by qualified name.

    `links` are the flow in which no task fails: what is computed of runs, orders and paths is about these alone.
    """

    name: str
    package: str = ""
    description: str = ""
    tasks: tuple[Task, ...] = ()
    data: tuple[Data, ...] = ()
    gateways: tuple[Gateway, ...] = ()
    links: tuple[Link, ...] = ()
    exceptional_links: tuple[Link, ...] = ()  # out of tasks, taken in place of the others if the task fails
    data_links: tuple[DataLink, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    base: QualifiedName | None = None  # the workflow it is derived from
    configurations: tuple[Configuration, ...] = ()
    others: tuple[Workflow, ...] = ()
    flaw: Flaw | None = None

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash(_hashed_values(self)))
            return self._hash

    def cached_digest(self, compute: Callable[[Workflow], str]) -> str:
        """Return the digest, computed at the first call."""
        try:
            return self._digest
        except AttributeError:
            object.__setattr__(self, "_digest", compute(self))
            return self._digest

    @property
    def qualified(self) -> QualifiedName:
        """Return the name with the package."""
        return QualifiedName(self.name, self.package)

    @property
    def task_names(self) -> tuple[str, ...]:
        """Return the names of the tasks directly in the workflow, in the order of declaration."""
        return tuple([task.name for task in self.tasks])

    def task(self, name: str) -> Task:
        """Return the task of that name directly in the workflow.

        Raises:
            KeyError: if there is none.
        """
        for task in self.tasks:
            if task.name == name:
                return task
        raise KeyError(name)


# Data and data links are half of the objects of a workflow, and two workflows seldom differ in these alone.
_hashed_values = attrgetter(*(field.name for field in fields(Workflow) if field.name not in ("data", "data_links")))

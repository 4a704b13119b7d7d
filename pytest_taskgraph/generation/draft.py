"""A level while it is being made: steps and arcs that can still be changed, in the order of the control flow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ..workflow.model import DataLink, Domain, Effect, Gateway, Parameter
from .vocabularies import Entry

_UNNAMED = Entry("", "", "")


class Branch(NamedTuple):
    """A branch of a block of its level, or the body of a loop."""

    block: int
    kind: str
    number: int


@dataclass(slots=True, eq=False)
class Step:
    """A task to be.

    `region` tells the innermost branch of a choice or body of a loop that holds it, `branches` all branches that hold
    it, outer ones first.
    """

    region: int = 0
    branches: tuple[Branch, ...] = ()
    entry: Entry = _UNNAMED
    inner: Draft | None = None
    described: bool = False
    classified: bool = False
    implemented: bool = False
    parameters: list[Parameter] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    bindings: list[tuple[Datum, Datum]] = field(default_factory=list)  # (of the sub-workflow, of this level)

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.entry.name


Node = Step | str  # START, END and gateways by name


@dataclass(slots=True, eq=False)
class Arc:
    """A control link to be; `back` leads from the end of a loop to its beginning."""

    source: Node
    target: Node
    guard: str | None = None
    back: bool = False


@dataclass(slots=True, eq=False)
class Datum:
    """Data to be."""

    name: str
    writers: list[Step] = field(default_factory=list)
    readers: list[Step] = field(default_factory=list)
    description: str = ""
    schema: str = ""

    def links(self) -> list[DataLink]:
        """Its data links, from those who write it, then to those who read it."""
        return [DataLink(one.name, self.name) for one in self.writers] + [
            DataLink(self.name, one.name) for one in self.readers
        ]


@dataclass(slots=True)
class Loop:
    """A loop to be: its parameter, what one pass adds to it, and the tasks that always run in it."""

    parameter: str
    step: int
    body: list[Step]


@dataclass(slots=True, eq=False)
class Draft:
    """One level to be. Every arc but a `back` one leads from an earlier node to a later one."""

    nodes: list[Node] = field(default_factory=list)
    gateways: list[Gateway] = field(default_factory=list)
    arcs: list[Arc] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    domains: list[tuple[str, Domain]] = field(default_factory=list)  # of the parameters in its guards
    data: list[Datum] = field(default_factory=list)
    name: str = ""
    purpose: str = ""  # what its description says, where it is to have one
    description: str = ""
    package: str = ""
    referred: bool = False  # a workflow of its own, reached by name

    @property
    def steps(self) -> list[Step]:
        """Its tasks in the order of the control flow."""
        return [node for node in self.nodes if isinstance(node, Step)]

    def below(self) -> list[Draft]:
        """The level itself and all levels inside it, outer ones first."""
        found = [self]
        for level in found:
            found.extend(step.inner for step in level.steps if step.inner is not None)
        return found


def walk(level: Draft) -> list[Step]:
    """All tasks of the level, each directly followed by those inside it."""
    found: list[Step] = []
    for step in level.steps:
        found.append(step)
        found.extend(walk(step.inner) if step.inner is not None else ())
    return found

"""A level while it is being built: steps, arcs and what leads to what, from a block structure to a graph.

Choices are guarded links out of their head, joined without a gateway; forks and joins are parallel gateways.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from ..workflow.model import END, START, DataLink, Domain, Duration, Effect, Gateway, Parameter
from .blocks import BlockPlan, Sequence
from .guards import Conditions, GuardChoice, GuardNames
from .vocabularies import VocabularyEntry

_UNNAMED = VocabularyEntry("", "", "")


class Branch(NamedTuple):
    """A branch of a block of its level, or the body of a loop."""

    block: int
    kind: str
    number: int


@dataclass(slots=True, eq=False)
class DraftStep:
    """A task that is being built.

    `region` identifies the innermost branch of a choice or body of a loop that holds it; `branches` are all branches
    that hold it, outer ones first.
    """

    region: int = 0
    branches: tuple[Branch, ...] = ()
    entry: VocabularyEntry = _UNNAMED
    inner: Draft | None = None
    described: bool = False
    classified: bool = False
    implemented: bool = False
    parameters: list[Parameter] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    duration: Duration | None = None
    bindings: list[tuple[Datum, Datum]] = field(default_factory=list)  # (of the sub-workflow, of this level)

    @property
    def name(self) -> str:
        """Return the name of the task."""
        return self.entry.name


Node = DraftStep | str  # START, END and gateways by name


@dataclass(slots=True, eq=False)
class Arc:
    """A control link that is being built; `back` leads from the end of a loop to its beginning."""

    source: Node
    target: Node
    guard: str | None = None
    back: bool = False


@dataclass(slots=True, eq=False)
class Datum:
    """Data that are being built."""

    name: str
    writers: list[DraftStep] = field(default_factory=list)
    readers: list[DraftStep] = field(default_factory=list)
    description: str = ""
    schema: str = ""

    def links(self) -> list[DataLink]:
        """Return the data links from those who write it, then to those who read it."""
        links = [DataLink(step.entry.name, self.name) for step in self.writers]
        links += [DataLink(self.name, step.entry.name) for step in self.readers]
        return links


@dataclass(slots=True)
class LoopDraft:
    """A loop that is being built: its parameter, what one pass adds to it, and the tasks that always run in it."""

    parameter: str
    step: int
    body: list[DraftStep]


@dataclass(slots=True, eq=False)
class Draft:
    """A level that is being built. Every arc but a `back` one leads from an earlier node to a later one.

    `steps` are those of the `nodes` that are tasks, in their order: that of the control flow.
    """

    nodes: list[Node] = field(default_factory=list)
    steps: list[DraftStep] = field(default_factory=list)
    gateways: list[Gateway] = field(default_factory=list)
    arcs: list[Arc] = field(default_factory=list)
    loops: list[LoopDraft] = field(default_factory=list)
    domains: list[tuple[str, Domain]] = field(default_factory=list)  # of the parameters in its guards
    data: list[Datum] = field(default_factory=list)
    name: str = ""
    purpose: str = ""  # what its description says, where it is to have one
    description: str = ""
    package: str = ""
    referred: bool = False  # a workflow of its own, reached by name

    def add(self, node: Node) -> None:
        """Add a node after all others."""
        self.nodes.append(node)
        if isinstance(node, DraftStep):
            self.steps.append(node)

    def below(self) -> list[Draft]:
        """Return the level itself and all levels inside it, outer ones first."""
        levels = [self]
        for level in levels:
            levels.extend(step.inner for step in level.steps if step.inner is not None)
        return levels


def walk(level: Draft) -> list[DraftStep]:
    """Return all tasks of the level, each directly followed by those inside it."""
    steps: list[DraftStep] = []
    for step in level.steps:
        steps.append(step)
        steps.extend(walk(step.inner) if step.inner is not None else ())
    return steps


def ancestors(draft: Draft) -> list[int]:
    """Return, for each step in order, the steps from which a path leads to it, as bits: bit i is step i.

    The nodes of a draft stand in topological order, and `placement` computes with bits: no graph of networkx is built.
    """
    incoming: dict[Node, list[Node]] = {}
    for arc in draft.arcs:
        if not arc.back:
            incoming.setdefault(arc.target, []).append(arc.source)
    reached: dict[Node, int] = {}  # for each node, what leads to it, and itself if it is a step
    ancestors_of_steps: list[int] = []
    for node in draft.nodes:
        before = 0
        for source in incoming.get(node, ()):
            before |= reached.get(source, 0)
        reached[node] = before
        if isinstance(node, DraftStep):
            reached[node] |= 1 << len(ancestors_of_steps)
            ancestors_of_steps.append(before)
    return ancestors_of_steps


def add_cross_links(draft: Draft, count: int, rng: Random) -> None:
    """Add `count` unguarded forward links between tasks, each new.

    They skip tasks of a sequence or lead from one branch of a fork to another; never in or out of a branch of a choice
    or the body of a loop, and never out of a task that has guarded links. There must be room for them
    (`recipe.run_length`).
    """
    guarded = {id(step) for step in deciding_steps(draft)}
    after = _directly_after(draft)
    pairs = [
        (early, late)
        for index, early in enumerate(draft.steps)
        if id(early) not in guarded
        for late in draft.steps[index + 1 :]
        if late.region == early.region and late not in after[id(early)]
    ]
    draft.arcs.extend(Arc(early, late) for early, late in rng.sample(pairs, count))


def _directly_after(draft: Draft) -> dict[int, list[DraftStep]]:
    """Return, for each step by identity, the steps that a path through gateways alone leads to."""
    targets: dict[Node, list[Node]] = {}
    for arc in draft.arcs:
        targets.setdefault(arc.source, []).append(arc.target)
    after: dict[int, list[DraftStep]] = {}
    for step in draft.steps:
        nodes = list(targets.get(step, ()))
        for node in nodes:
            nodes.extend(targets.get(node, ()) if isinstance(node, str) else ())
        after[id(step)] = [node for node in nodes if isinstance(node, DraftStep)]
    return after


OpenEnds = list[tuple[Node, str | None]]  # nodes whose next arc, with its guard, has no target yet


class FlowLayout:
    """Lays sequences out, one after the other, into one draft."""

    def __init__(self, conditions: Conditions, gateways: GuardNames) -> None:
        self.conditions, self.gateways = conditions, gateways
        self.draft = Draft()
        self.regions = 0
        self.blocks = 0
        self.branches: tuple[Branch, ...] = ()  # those that hold what is laid out now

    def level(self, sequence: Sequence) -> Draft:
        """Return the draft of a whole level."""
        self._close(self._sequence(sequence, [(START, None)], 0), END)
        return self.draft

    def _sequence(self, sequence: Sequence, flow: OpenEnds, region: int) -> OpenEnds:
        for block in sequence.blocks:
            flow = self._block(block, flow, region)
        return flow

    def _branch(self, sequence: Sequence, branch: Branch, flow: OpenEnds, region: int) -> OpenEnds:
        """Lay out a branch of a block, and record in its steps that they are on it."""
        outside, self.branches = self.branches, (*self.branches, branch)
        ends = self._sequence(sequence, flow, region)
        self.branches = outside
        return ends

    def _block(self, block: BlockPlan, flow: OpenEnds, region: int) -> OpenEnds:
        if block.kind == "task":
            return [(self._step(flow, region), None)]
        if block.kind == "parallel":
            return self._fork(block, flow, region)
        if block.kind == "loop":
            return self._loop(block, flow)
        return self._choice(block, flow, region)

    def _fork(self, block: BlockPlan, flow: OpenEnds, region: int) -> OpenEnds:
        fork = self._node(self._gateway("split"), flow)
        number = self._number()
        ends = [
            end
            for i, branch in enumerate(block.branches)
            for end in self._branch(branch, Branch(number, block.kind, i), [(fork, None)], region)
        ]
        return [(self._node(self._gateway("join"), ends), None)]

    def _choice(self, block: BlockPlan, flow: OpenEnds, region: int) -> OpenEnds:
        head = self._step(flow, region)
        guards: list[str | None] = [*self._guards(block)]
        if block.kind == "mixed":
            guards.insert(self.conditions.rng.randrange(2), None)
        number, ends = self._number(), OpenEnds()
        for i, (branch, guard) in enumerate(zip(block.branches, guards, strict=True)):
            ends += self._branch(branch, Branch(number, block.kind, i), [(head, guard)], self._region())
        return ends

    def _guards(self, block: BlockPlan) -> list[str]:
        count = len(block.branches)
        if block.kind == "mixed":
            return self._use(self.conditions.mixed())
        if block.kind == "inclusive":
            return self._use(self.conditions.inclusive(count))
        return self._use(self.conditions.exclusive(count))

    def _loop(self, block: BlockPlan, flow: OpenEnds) -> OpenEnds:
        region, choice = self._region(), self.conditions.loop()
        back, on = self._use(choice)
        before = len(self.draft.steps)
        [(last, _)] = self._branch(block.branches[0], Branch(self._number(), block.kind, 0), flow, region)
        always = [step for step in self.draft.steps[before:] if step.region == region]
        self.draft.arcs.append(Arc(last, always[0], back, back=True))
        self.draft.loops.append(LoopDraft(choice.domains[0][0], choice.step, always))
        return [(last, on)]

    def _use(self, choice: GuardChoice) -> list[str]:
        self.draft.domains.extend(choice.domains)
        return choice.guards

    def _number(self) -> int:
        self.blocks += 1
        return self.blocks

    def _region(self) -> int:
        self.regions += 1
        return self.regions

    def _gateway(self, role: str) -> str:
        split = role == "split"
        gateway = Gateway(self.gateways.take("Fork" if split else "Join"), "parallel", "split" if split else "join")
        self.draft.gateways.append(gateway)
        return gateway.name

    def _step(self, flow: OpenEnds, region: int) -> DraftStep:
        step = DraftStep(region, self.branches)
        self._node(step, flow)
        return step

    def _node(self, node: Node, flow: OpenEnds) -> Node:
        self.draft.add(node)
        self._close(flow, node)
        return node

    def _close(self, flow: OpenEnds, target: Node) -> None:
        for source, guard in flow:
            self.draft.arcs.append(Arc(source, target, guard))


def deciding_steps(draft: Draft) -> list[DraftStep]:
    """Return the tasks with guarded links out of them."""
    guarded = {id(arc.source) for arc in draft.arcs if arc.guard is not None}
    return [step for step in draft.steps if id(step) in guarded]

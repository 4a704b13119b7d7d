"""Turns a block structure into steps, gateways and arcs, in the normal form of `workflow/canonical.py`.

Choices are guarded links out of their head, joined without a gateway; forks and joins are parallel gateways.
"""

from __future__ import annotations

from ..workflow.model import END, START, Gateway
from .blocks import Block, Sequence
from .conditions import Choice, Conditions, Names
from .draft import Arc, Branch, Draft, Loop, Node, Step

Open = list[tuple[Node, str | None]]  # where the flow stands: nodes whose next arc, with its guard, has no target yet


class Layout:
    """Lays sequences out, one after the other, into one draft."""

    def __init__(self, conditions: Conditions, gateways: Names) -> None:
        self.conditions, self.gateways = conditions, gateways
        self.draft = Draft()
        self.regions = 0
        self.blocks = 0
        self.branches: tuple[Branch, ...] = ()  # those that hold what is laid out now

    def level(self, sequence: Sequence) -> Draft:
        """The draft of a whole level."""
        self._close(self._sequence(sequence, [(START, None)], 0), END)
        return self.draft

    def _sequence(self, sequence: Sequence, flow: Open, region: int) -> Open:
        for block in sequence.blocks:
            flow = self._block(block, flow, region)
        return flow

    def _branch(self, sequence: Sequence, branch: Branch, flow: Open, region: int) -> Open:
        """Lay out a branch of a block, and note in its steps that they are on it."""
        outside, self.branches = self.branches, (*self.branches, branch)
        ends = self._sequence(sequence, flow, region)
        self.branches = outside
        return ends

    def _block(self, block: Block, flow: Open, region: int) -> Open:
        if block.kind == "task":
            return [(self._step(flow, region), None)]
        if block.kind == "parallel":
            return self._fork(block, flow, region)
        if block.kind == "loop":
            return self._loop(block, flow)
        return self._choice(block, flow, region)

    def _fork(self, block: Block, flow: Open, region: int) -> Open:
        fork = self._node(self._gateway("split"), flow)
        number = self._number()
        ends = [
            end
            for i, branch in enumerate(block.branches)
            for end in self._branch(branch, Branch(number, block.kind, i), [(fork, None)], region)
        ]
        return [(self._node(self._gateway("join"), ends), None)]

    def _choice(self, block: Block, flow: Open, region: int) -> Open:
        head = self._step(flow, region)
        guards: list[str | None] = [*self._guards(block)]
        if block.kind == "mixed":
            guards.insert(self.conditions.rng.randrange(2), None)
        number, ends = self._number(), Open()
        for i, (branch, guard) in enumerate(zip(block.branches, guards, strict=True)):
            ends += self._branch(branch, Branch(number, block.kind, i), [(head, guard)], self._region())
        return ends

    def _guards(self, block: Block) -> list[str]:
        count = len(block.branches)
        if block.kind == "mixed":
            return self._use(self.conditions.mixed())
        if block.kind == "inclusive":
            return self._use(self.conditions.inclusive(count))
        return self._use(self.conditions.exclusive(count))

    def _loop(self, block: Block, flow: Open) -> Open:
        region, choice = self._region(), self.conditions.loop()
        back, on = self._use(choice)
        before = len(self.draft.nodes)
        [(last, _)] = self._branch(block.branches[0], Branch(self._number(), block.kind, 0), flow, region)
        always = [node for node in self.draft.nodes[before:] if isinstance(node, Step) and node.region == region]
        self.draft.arcs.append(Arc(last, always[0], back, back=True))
        self.draft.loops.append(Loop(choice.domains[0][0], choice.step, always))
        return [(last, on)]

    def _use(self, choice: Choice) -> list[str]:
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

    def _step(self, flow: Open, region: int) -> Step:
        step = Step(region, self.branches)
        self._node(step, flow)
        return step

    def _node(self, node: Node, flow: Open) -> Node:
        self.draft.nodes.append(node)
        self._close(flow, node)
        return node

    def _close(self, flow: Open, target: Node) -> None:
        self.draft.arcs.extend(Arc(source, target, guard) for source, guard in flow)


def deciders(draft: Draft) -> list[Step]:
    """The tasks with guarded links out of them."""
    guarded = {id(arc.source) for arc in draft.arcs if arc.guard is not None}
    return [step for step in draft.steps if id(step) in guarded]

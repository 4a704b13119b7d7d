"""Levels to test with: one from the text of its links, and a random block with the level that it stands for."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from pytest_taskgraph.workflow.model import END, START, Domain, Gateway, GatewayKind, Link, Parameter, Task, Workflow
from pytest_taskgraph.workflow.semantics.block_structure import Block, reduced_edges

SPLITS: tuple[GatewayKind, ...] = ("parallel", "exclusive", "inclusive")


def level(text: str, *gateways: Gateway, parameters: tuple[Parameter, ...] = ()) -> Workflow:
    """A workflow of lines "A -> B" or "A -> B [guard]"."""
    links = []
    for line in text.strip().splitlines():
        ends, _, guard = line.strip().rstrip("]").partition(" [")
        source, target = ends.split(" -> ")
        links.append(Link(source, target, guard or None))
    node_names = {START, END, *(gateway.name for gateway in gateways)}
    names = dict.fromkeys(name for link in links for name in (link.source, link.target) if name not in node_names)
    return Workflow("W", tasks=tuple(map(Task, names)), gateways=gateways, links=tuple(links), parameters=parameters)


@dataclass
class Rendering:
    """Turns a block into links; every split and join is a gateway, every choice has a parameter of its own."""

    links: list[Link] = field(default_factory=list)
    gateways: list[Gateway] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)

    def gateway(self, kind: GatewayKind, role: str) -> str:
        name = f"G{len(self.gateways)}"
        self.gateways.append(Gateway(name, kind, "split" if role == "split" else "join"))
        return name

    def parameter(self) -> str:
        name = f"p{len(self.parameters)}"
        self.parameters.append(Parameter(name, domain=Domain("integer", 0, 9)))
        return name

    def put(self, block: Block, source: str, guard: str | None) -> tuple[str, str | None]:
        """The node at which the block ends, with the guard of the link out of it."""
        if block.kind == "task":
            self.links.append(Link(source, block.task, guard))
            return block.task, None
        if block.kind == "sequence":
            for child in block.children:
                source, guard = self.put(child, source, guard)
            return source, guard
        return self.loop(block, source, guard) if block.kind == "loop" else self.split(block, source, guard)

    def split(self, block: Block, source: str, guard: str | None) -> tuple[str, str | None]:
        kind = next(kind_of_split for kind_of_split in SPLITS if kind_of_split == block.kind)
        fork, join, name = self.gateway(kind, "split"), self.gateway(kind, "join"), self.parameter()
        self.links.append(Link(source, fork, guard))
        sign = {"exclusive": "=", "inclusive": ">", "parallel": ""}[block.kind]
        for i, child in enumerate(block.children):
            end, left = self.put(child, fork, f"{name} {sign} {i}" if sign else None)
            self.links.append(Link(end, join, left))
        return join, None

    def loop(self, block: Block, source: str, guard: str | None) -> tuple[str, str | None]:
        entry, decision, name = self.gateway("exclusive", "join"), self.gateway("exclusive", "split"), self.parameter()
        self.links.append(Link(source, entry, guard))
        self.links.append(Link(*self._turned(self.put(block.children[0], entry, None), decision)))
        redo = Block("sequence", "", block.children[1:])
        self.links.append(Link(*self._turned(self.put(redo, decision, f"{name} < 5"), entry)))
        return decision, f"{name} >= 5"

    @staticmethod
    def _turned(end: tuple[str, str | None], target: str) -> tuple[str, str, str | None]:
        return end[0], target, end[1]


def rendered(block: Block, rng: random.Random) -> Workflow:
    """The workflow of a block, its declarations shuffled."""
    rendering = Rendering()
    end, guard = rendering.put(block, START, None)
    rendering.links.append(Link(end, END, guard))
    tasks = [Task(name) for name in tasks_of(block)]
    for declared in (tasks, rendering.links, rendering.gateways):
        rng.shuffle(declared)
    parts = (tuple(tasks), tuple(rendering.gateways), tuple(rendering.links), tuple(rendering.parameters))
    return Workflow("W", tasks=parts[0], gateways=parts[1], links=parts[2], parameters=parts[3])


def block_tree(flow: Workflow) -> Block | None:
    """Return the block structure of a level; None if it is not block-structured.

    None too if a task is off every path from START to END, a loop leaves it open whether it repeats or ends, links
    contradict their gateway, or blocks nest deeper than MAX_NESTING.
    """
    edges = reduced_edges(flow)
    single = len(edges) == 1 and (edges[0].source, edges[0].target) == ((START, 1), (END, 0))
    return edges[0].block if single and not edges[0].conditional else None


def tasks_of(block: Block) -> list[str]:
    return [block.task] if block.task else [name for child in block.children for name in tasks_of(child)]


def a_tree(rng: random.Random, names: list[str]) -> Block:
    """A random block over the names, as `block_tree` would have it."""
    if len(names) == 1:
        task = Block("task", names[0])
        return Block("loop", "", (task,)) if rng.random() < 0.2 else task
    kind = rng.choice(["sequence", "sequence", "parallel", "exclusive", "inclusive", "loop"])
    cut = sorted(rng.sample(range(1, len(names)), 1 if kind == "loop" else rng.randint(1, min(2, len(names) - 1))))
    children = [a_tree(rng, names[a:b]) for a, b in zip([0, *cut], [*cut, len(names)], strict=True)]
    if kind == "sequence":
        return Block("sequence", "", tuple(s for c in children for s in (c.children if c.kind == kind else (c,))))
    if kind == "loop":
        return Block("loop", "", tuple(children))
    if kind == "exclusive" and rng.random() < 0.3:
        children.append(Block("sequence"))
    children.sort(key=lambda child: min(tasks_of(child), default=""))
    return Block(kind, "", tuple(children))  # type: ignore[arg-type]

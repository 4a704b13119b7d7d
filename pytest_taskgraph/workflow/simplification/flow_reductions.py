"""Smaller levels made of the control flow of a level: stretches, fewer branches, fewer tasks, grafts, fewer links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, TypeVar

from ..model import END, START, Gateway, Link, Workflow
from .flow_draft import (
    Chain,
    FlowArc,
    FlowBlock,
    FlowDraft,
    chains_of,
    every_chain,
    exceptions_between,
    kind_of,
    used_data,
)

T = TypeVar("T")
MOST_GRAFTS: Final = 120
"""Largest number of grafts of a level that are tried, those of small blocks first."""


def smaller_flows(level: Workflow) -> Iterator[Workflow]:
    """Yield levels with less control flow; not all are smaller, and not all are well-formed."""
    chains = chains_of(level)
    yield from _stretches(level, chains)
    yield from _shorter_chains(level, chains)
    yield from _fewer_branches(level, chains)
    yield from _sequences(level, chains)
    yield from _fewer_nodes(level, chains)
    yield from islice(_grafts(level, chains), MOST_GRAFTS)
    yield from _fewer_links(level, chains)


def chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield halves, quarters and so on of a sequence, down to single items (ddmin, Zeller and Hildebrandt 2002)."""
    width = (len(items) + 1) // 2
    while width:
        for start in range(0, len(items), width):
            yield items[start : start + width]
        width = (width + 1) // 2 if width > 1 else 0


@dataclass(frozen=True, slots=True)
class _Element:
    """A node or a block of a chain; the places of the arcs around it, None where another element is nearer."""

    nodes: frozenset[str]
    before: int | None
    behind: int | None


def _elements(chain: Chain) -> list[_Element]:
    elements = []
    for place, arc in enumerate(chain.arcs):
        if arc.node not in ("", START, END):
            before = place - 1 if place and chain.blocks[place - 1] is None else None
            behind = place + 1 if place < len(chain.blocks) and chain.blocks[place] is None else None
            elements.append(_Element(frozenset({arc.node}), before, behind))
        if place < len(chain.blocks) and (block := chain.blocks[place]) is not None:
            elements.append(_Element(block.nodes, place, place + 1))
    return elements


def _stretches(level: Workflow, chains: Sequence[Chain]) -> Iterator[Workflow]:
    """Yield every block and every branch, and the parts of each chain, as the whole level."""
    for chain in every_chain(chains):
        elements = _elements(chain)
        if chain.arcs[0].link is not None and chain.arcs[-1].link is not None and elements:
            yield _alone(level, chain.arcs[0], chain.arcs[-1], chain.nodes)
        for part in chunks(elements):
            before, behind = part[0].before, part[-1].behind
            if before is not None and behind is not None:
                nodes = frozenset[str]().union(*(element.nodes for element in part))
                yield _alone(level, chain.arcs[before], chain.arcs[behind], nodes)


def _alone(level: Workflow, entry: FlowArc, leaving: FlowArc, nodes: frozenset[str]) -> Workflow:
    """Return the level with only what lies between two arcs of a chain."""
    links = [link for link in level.links if link.source in nodes and link.target in nodes]
    entered = [entry.link] if entry.link else [link for link in level.links if link.source == entry.node]
    left = [leaving.link] if leaving.link else [link for link in level.links if link.target == leaving.node]
    links = [link for link in links if link not in entered and link not in left]
    links += [replace(link, source=START, guard=None if entry.link else link.guard) for link in entered
              if link.target in nodes]  # fmt: skip
    links += [replace(link, target=END) for link in left if link.source in nodes]
    data_links = tuple(link for link in level.data_links if {link.source, link.target} & nodes)
    tasks = tuple(task for task in level.tasks if task.name in nodes)
    gateways = tuple(gateway for gateway in level.gateways if gateway.name in nodes)
    return replace(
        level,
        tasks=tasks,
        gateways=gateways,
        links=tuple(links),
        exceptional_links=exceptions_between(level.exceptional_links, (*tasks, *gateways)),
        data_links=data_links,
        data=used_data(level, data_links),
    )


def _shorter_chains(level: Workflow, chains: Sequence[Chain]) -> Iterator[Workflow]:
    """Yield the level without parts of a chain."""
    for chain in every_chain(chains):
        for part in chunks(_elements(chain)):
            yield _without(level, chains, chain, list(part))


def _without(level: Workflow, chains: Sequence[Chain], chain: Chain, part: list[_Element]) -> Workflow:
    """Return the level without a part of a chain; nodes at its ends where branches meet or part are dissolved."""
    draft, dissolved = FlowDraft(level, chains), list[str]()
    while part and part[0].before is None:
        dissolved += part.pop(0).nodes
    while part and part[-1].behind is None:
        dissolved += part.pop().nodes
    if part and part[0].before is not None and part[-1].behind is not None:
        nodes = frozenset[str]().union(*(element.nodes for element in part))
        draft.bypass(chain.arcs[part[0].before], chain.arcs[part[-1].behind], nodes)
    for node in dissolved:
        draft.dissolve(node)
    return draft.finish()


def _blocks(chains: Sequence[Chain]) -> Iterator[FlowBlock]:
    yield from (block for chain in every_chain(chains) for block in chain.blocks if block)


def _fewer_branches(level: Workflow, chains: Sequence[Chain]) -> Iterator[Workflow]:
    """Yield the level with one branch of a block for the block, and with some of its branches less."""
    for block in _blocks(chains):
        branches = [branch for branch in block.branches if branch.arcs[0].link or branch.arcs[-1].link]
        parts = (
            [[other for other in branches if other is not kept_branch] for kept_branch in branches]
            if len(branches) > 2
            else []
        )
        for part in (*parts, *chunks(branches)):
            if (reduced := _without_branches(level, chains, part)) is not None:
                yield reduced


def _without_branches(level: Workflow, chains: Sequence[Chain], branches: Sequence[Chain]) -> Workflow | None:
    """Return the level without some branches; None if a node were to lose all that leads in or out."""
    draft = FlowDraft(level, chains)
    ends = [(branch.arcs[0], branch.arcs[-1]) for branch in branches]
    for first, last in ends:
        draft.links = [link for link in draft.links if link not in (first.link, last.link)]
    removed = frozenset[str]().union(*(branch.nodes for branch in branches))
    sources = [first.tail[0] for first, _ in ends if first.link]
    targets = [last.head[0] for _, last in ends if last.link]
    draft.remove(removed)
    kept_sources, kept_targets = [n for n in sources if n not in removed], [n for n in targets if n not in removed]
    if not all(map(draft.out, kept_sources)) or not all(map(draft.into, kept_targets)):
        return None
    draft.unguard_single(dict.fromkeys(kept_sources))
    return draft.finish()


def _sequences(level: Workflow, chains: Sequence[Chain]) -> Iterator[Workflow]:
    """Yield the level with the branches of a block one after the other."""
    for block in _blocks(chains):
        start, end = block.entry.head, block.exit.tail
        branches = [branch for branch in block.branches if branch.arcs[0].tail == start and branch.arcs[-1].head == end]
        if start[1] != 1 or end[1] != 0 or len(branches) != len(block.branches):
            continue
        draft = FlowDraft(level, chains)
        ends = {arc.link for branch in branches for arc in (branch.arcs[0], branch.arcs[-1])}
        draft.links = [link for link in draft.links if link not in ends]
        source = start[0]
        for branch in branches:
            if branch.nodes:
                draft.links.append(Link(source, branch.arcs[0].head[0]))
                source = branch.arcs[-1].tail[0]
        draft.links.append(Link(source, end[0]))
        yield draft.finish()


def _fewer_nodes(level: Workflow, chains: Sequence[Chain]) -> Iterator[Workflow]:
    """Yield the level without some of its tasks, in the order of the flow, and without single gateways.

    It needs no chains, so that any graph becomes smaller.
    """
    for part in (*chunks(_in_flow_order(level)), *([gateway.name] for gateway in level.gateways)):
        draft = FlowDraft(level, chains)
        for node in part:
            draft.dissolve(node)
        yield draft.finish()


def _in_flow_order(level: Workflow) -> list[str]:
    """Return the tasks as a walk from START meets them first, then those that it never meets."""
    order, tasks = dict.fromkeys([START]), set(level.task_names)
    waiting = [START]
    for node in waiting:
        new = [link.target for link in level.links if link.source == node and link.target not in order]
        order |= dict.fromkeys(new)
        waiting += dict.fromkeys(new)
    return [*(node for node in order if node in tasks), *(name for name in level.task_names if name not in order)]


def _grafts(level: Workflow, chains: Sequence[Chain]) -> Iterator[Workflow]:
    """Yield the level with a block moved to the place of a task, which is removed."""
    for block in sorted(_blocks(chains), key=lambda block: len(block.nodes)):
        for task in level.task_names:
            if task not in block.nodes and (grafted := _graft(level, chains, block, task)) is not None:
                yield grafted


def _graft(level: Workflow, chains: Sequence[Chain], block: FlowBlock, task: str) -> Workflow | None:
    draft = FlowDraft(level, chains)
    ins, outs = draft.into(task), draft.out(task)
    if len(ins) != 1 or len(outs) != 1 or task in (block.entry.node, block.exit.node):
        return None
    if ins[0] == block.exit.link or outs[0] == block.entry.link:
        return None
    gap, entry, leaving = draft.gap(block.entry, block.exit), block.entry, block.exit
    entered = [entry.link] if entry.link else draft.out(entry.node)
    left = [leaving.link] if leaving.link else draft.into(leaving.node)
    first, last = draft.pseudo("First"), draft.pseudo("Last")
    draft.cut(entry, leaving)
    through = [link for link in entered if link in left]  # an empty branch
    draft.links += [Link(first, last, link.guard) for link in through]
    draft.links += [Link(first, link.target, None if entry.link else link.guard) for link in entered
                    if link not in through]  # fmt: skip
    draft.links += [Link(link.source, last, link.guard) for link in left if link not in through]
    draft.links += [gap, replace(ins[0], target=first), replace(outs[0], source=last)]
    draft.remove([task])
    kind = kind_of(level, block)
    draft.gateways |= {first: Gateway(first, kind, "split"), last: Gateway(last, kind, "join")}
    return _settled(draft, (first, last))


def _settled(draft: FlowDraft, ends: Sequence[str]) -> Workflow:
    """Return the level of a draft, without the gateways at the ends of what was moved where these are not needed."""
    for name in ends:
        ins, outs = draft.into(name), draft.out(name)
        before = ins[0].source if len(ins) == 1 and ins[0].guard is None else ""
        behind = outs[0].target if len(outs) == 1 and outs[0].guard is None else ""
        parts = before and before not in draft.gateways and len(draft.out(before)) == 1
        meets = behind and behind not in draft.gateways and len(draft.into(behind)) == 1
        if parts or meets or (len(ins) == len(outs) == 1):
            draft.dissolve(name)
    return draft.finish()


def _fewer_links(level: Workflow, chains: Sequence[Chain]) -> Iterator[Workflow]:
    """Yield the level without one of the links that both of their ends can do without."""
    for link in level.links:
        draft = FlowDraft(level, chains)
        draft.links.remove(link)
        if link.source == link.target or (draft.out(link.source) and draft.into(link.target)):
            draft.unguard_single([link.source])
            yield draft.finish()

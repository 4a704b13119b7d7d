"""Documents written from generated graphs: as many as are asked for, the same ones first for every number.

Procedural graphs generated from the vocabularies, so that there are always some that no model has seen.

A graph is about one domain, drawn for each. Its actions stand where they make sense (`generation/placement`), and its
conditions are in the words of the domain: those of an exclusive gateway exclude each other, those of an inclusive one
are about different things and can hold together. Data constraints are what the vocabulary says that a task reads
(needed) or writes (produced), and each has one flow. In 62 % of the graphs every action has an actor, in the others
none has: the share of the actions with an actor in Table 4 of Du et al. (2024).

The sizes follow that table, too, but the flows cannot: it has fewer flows between actions and gateways than any graph
needs in which all of its nodes are reached from Start. Start and End are counted as actions there, and without them in
ours.

The shape of a generated procedure: actions in sequence, and gateways with branches, before it has words.

The numbers of gateways follow Table 4 of Du et al. (2024), divided by its 3,394 documents. It counts splits and joins
alike, so 2.1 exclusive gateways are about one pair.

A shape is a run of blocks. A block is an action; a choice (exclusive or inclusive) or a fork (parallel), each with a
split, branches and a join; or an exit: an exclusive split without a join, one condition of which ends the procedure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest
from random import Random
from typing import Final, Literal

from ....benchmarks.data_sets.items import hyphenate, shorten
from ....benchmarks.option import Split
from ....catalog import catalog_cache
from ....errors import UsageError
from ....generation.draft import Arc, Branch, Draft, DraftStep, Node
from ....generation.placement import place_tasks
from ....generation.vocabularies import Condition, Vocabulary, domain_names, vocabulary
from ....generation.vocabularies.procedure_words import name_phrase
from ....workflow.model import END, START
from ....workflow.procedural_graph import GATEWAY_NAMES, NodeSort, ProceduralFlow, ProceduralGraph, ProceduralNode
from ..documents.written_document import write_document
from ..paged_options import DocumentQuality
from .document_set import DEALT, DocumentPair, DocumentSet, deal_splits

BlockSort = Literal["action", "exclusive", "inclusive", "parallel", "exit"]
ACTIONS: Final = range(7, 16)  # drawn twice, and the mean taken
EXCLUSIVE: Final = (0, 0, 0, 1, 1, 1, 1, 1, 1, 2)  # pairs in a procedure
EXITS: Final = (0, 0, 0, 0, 0, 1, 1, 1, 1, 1)
INCLUSIVE: Final = 0.18
PARALLEL: Final = 0.3
BRANCHES: Final[dict[BlockSort, tuple[int, ...]]] = {
    "exclusive": (2, 2, 2, 3),
    "inclusive": (2, 2, 2, 3, 3),
    "parallel": (2, 2, 2, 2, 2, 2, 3, 3, 3, 4),
}
NESTED: Final = 0.3  # how often a gateway stands in a branch of another, where there is one
DEEPEST: Final = 2  # gateways in each other
IN_BRANCHES: Final = 0.4  # how often a further action stands in a branch
EMPTY_BRANCH: Final[dict[BlockSort, float]] = {"exclusive": 0.35, "inclusive": 0.1}
BARE_EXIT: Final = 0.6  # how often nothing is done before an exit ends the procedure
ATTEMPTS: Final = 50  # to find a shape whose actions can make sense
ACTED: Final = 0.62
DATA: Final = (0, 0, 1, 1, 1, 1, 1, 1, 2, 2)  # data constraints of a graph
NOTICES: Final = (0, 0, 0, 0, 1, 1, 1, 1, 1, 2)
Open = list[tuple[Node, str | None]]  # nodes whose next flow, with its condition, has no target yet
MOST_DOCUMENTS: Final = 10_000  # of a split
LEAST_ROWS: Final = 6  # of six documents, so that every split has some
LONGEST_WORDS: Final = 48  # characters of an id before the number


@dataclass(slots=True, eq=False)
class ProcedureBlock:
    """An action, or a gateway with its branches. The only branch of an exit is what is done before the end."""

    sort: BlockSort = "action"
    branches: list[BlockRun] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class BlockRun:
    """Blocks one after the other: the whole procedure, or a branch.

    Args:
        depth: The number of gateways around it.
        alone: Whether no other branch runs beside it, so that an exit may stand in it.
        blocks: The blocks.
    """

    depth: int = 0
    alone: bool = True
    blocks: list[ProcedureBlock] = field(default_factory=list)

    def below(self) -> Iterator[BlockRun]:
        """Yield the run itself and all branches inside it, outer ones first."""
        yield self
        for block in self.blocks:
            for branch in block.branches:
                yield from branch.below()


@dataclass(slots=True)
class ConditionCounts:
    """How many conditions a domain has for the gateways of a procedure.

    Args:
        opposites: Conditions with their opposites. A choice between two takes one, and so does an exit; an inclusive
            choice takes one for each branch.
        choices: Lists of three conditions of which exactly one holds; a choice between three takes one.
    """

    opposites: int
    choices: int

    def take(self, sort: BlockSort, branches: int) -> bool:
        """Take the conditions of a gateway with this number of branches; return False if there are too few."""
        if sort == "exclusive" and branches > 2:
            if self.choices:
                self.choices -= 1
                return True
            return False
        needed = {"exclusive": 1, "exit": 1, "inclusive": branches}.get(sort, 0)
        if needed > self.opposites:
            return False
        self.opposites -= needed
        return True


def draw_plan(rng: Random, conditions: ConditionCounts) -> BlockRun:
    """Return a drawn shape whose gateways need no more than these conditions, which are used up."""
    whole = BlockRun(blocks=[ProcedureBlock(), ProcedureBlock()])
    left = (rng.choice(ACTIONS) + rng.choice(ACTIONS)) // 2 - len(whole.blocks)
    branches: list[BlockRun] = []
    for sort in _gateways(rng):
        count = rng.choice(BRANCHES.get(sort, (1,)))
        if left < count or not conditions.take(sort, count):
            continue
        inner = [run for run in branches if run.depth < DEEPEST and (sort != "exit" or (run.alone and run.blocks))]
        around = rng.choice(inner) if inner and rng.random() < NESTED else whole
        block = _gateway(sort, count, around, rng)
        last = len(around.blocks) - (sort == "exit")  # something is left to do after an exit that is not taken
        around.blocks.insert(rng.randint(int(sort == "exit" and around is whole), last), block)
        left -= sum(len(branch.blocks) for branch in block.branches)
        if sort != "exit":
            branches += block.branches
    for _ in range(left):
        run = rng.choice(branches) if branches and rng.random() < IN_BRANCHES else whole
        run.blocks.insert(rng.randint(0, len(run.blocks)), ProcedureBlock())
    for run in [*whole.below()]:
        _fill_branches(run)
    return whole


def _gateways(rng: Random) -> list[BlockSort]:
    """Return the gateways of a procedure in the order in which they get their places."""
    numbers: dict[BlockSort, int] = {
        "exclusive": rng.choice(EXCLUSIVE),
        "exit": rng.choice(EXITS),
        "inclusive": rng.random() < INCLUSIVE,
        "parallel": rng.random() < PARALLEL,
    }
    sorts = [sort for sort, number in numbers.items() for _ in range(number)]
    rng.shuffle(sorts)
    return sorts


def _gateway(sort: BlockSort, count: int, around: BlockRun, rng: Random) -> ProcedureBlock:
    """Return a gateway with branches of one action each; one of a choice, or that of an exit, may be empty."""
    alone = around.alone and sort in ("exclusive", "exit")
    branches = [BlockRun(around.depth + 1, alone, [ProcedureBlock()]) for _ in range(count)]
    if rng.random() < (BARE_EXIT if sort == "exit" else EMPTY_BRANCH.get(sort, 0)):
        branches[-1].blocks.clear()
    return ProcedureBlock(sort, branches)


def _fill_branches(run: BlockRun) -> None:
    """Put an action into the empty branches of choices that no action follows: "if so, then" needs one to name."""
    for block, following in zip_longest(run.blocks, run.blocks[1:]):
        if block.sort != "exit" and (following is None or following.sort != "action"):
            for branch in block.branches:
                if not branch.blocks:
                    branch.blocks.append(ProcedureBlock())


@dataclass(frozen=True, slots=True)
class GeneratedGraph:
    """A graph with the name of its domain and with that of the whole in words."""

    domain: str
    title: str
    graph: ProceduralGraph


def generate_graph(seed: int, number: int) -> GeneratedGraph:
    """Return a graph: always the same for a seed and a number.

    Raises:
        UsageError: if no actions make sense in any of the shapes that are tried, which only vocabularies of one's own
            come to.
    """
    for attempt in range(ATTEMPTS):
        rng = Random(f"{seed}|paged|{number}|{attempt}")
        words = vocabulary(rng.choice(domain_names()))
        conditions = DomainConditions(words, rng)
        layout = ProcedureLayout(conditions)
        layout.lay_out(draw_plan(rng, conditions.counts))
        if place_tasks(words, layout.draft, rng):
            title = name_phrase(rng.choice(words.workflows)[0])
            return GeneratedGraph(words.name, title[:1].upper() + title[1:], _graph(layout, words, rng))
    raise UsageError(
        f"PAGED: no graph {number} found for the seed {seed}; choose another --taskgraph-seed, or let fewer pairs of "
        "tasks be ordered in the vocabularies that the project registers"
    )


class DomainConditions:
    """The conditions of a domain in a drawn order, each used once in a graph."""

    def __init__(self, words: Vocabulary, rng: Random) -> None:
        self._rng = rng
        self._opposites = list(map(_opposites, words.conditions))
        self._choices = [choice[:3] for choice in words.procedure.choices]
        rng.shuffle(self._opposites)
        rng.shuffle(self._choices)

    @property
    def counts(self) -> ConditionCounts:
        """How many there are as yet."""
        return ConditionCounts(len(self._opposites), len(self._choices))

    def conflicting(self, count: int) -> Sequence[str]:
        """Return conditions of which exactly one holds, in a drawn order: two, or three."""
        conditions = self._opposites.pop() if count == 2 else self._choices.pop()
        return self._rng.sample(conditions, count)

    def compatible(self, count: int) -> Sequence[str]:
        """Return conditions that can hold together, for they are about different things."""
        return [self._rng.choice(self._opposites.pop()) for _ in range(count)]


def _opposites(condition: Condition) -> tuple[str, str]:
    """Return a condition and its opposite, in the words of the domain if it has words for both."""
    if condition.holds and condition.fails:
        return condition.holds, condition.fails
    parameter = name_phrase(condition.parameter)
    return f"the {parameter} is {condition.limit} or more", f"the {parameter} is less than {condition.limit}"


class ProcedureLayout:
    """Lays a shape out into a draft, whose guards are conditions in words."""

    def __init__(self, conditions: DomainConditions) -> None:
        self.draft = Draft()
        self.gateways: dict[str, NodeSort] = {}
        self._conditions = conditions
        self._branches: tuple[Branch, ...] = ()  # those that hold what is laid out now

    def lay_out(self, whole: BlockRun) -> None:
        """Lay out a whole procedure, from start to end."""
        self._close(self._run(whole, [(START, None)]), END)

    def _run(self, run: BlockRun, flow: Open) -> Open:
        outside = self._branches
        for block in run.blocks:
            if block.sort == "action":
                flow = [(self._node(DraftStep(branches=self._branches), flow), None)]
            elif block.sort == "exit":
                flow = self._exit(block, flow)
            else:
                flow = self._pair(block, flow)
        self._branches = outside
        return flow

    def _exit(self, block: ProcedureBlock, flow: Open) -> Open:
        """Lay out an exit; what follows it in its run is its other branch, which never runs if it is taken."""
        split, number = self._gateway(block, flow), len(self.gateways)
        leaving, staying = self._conditions.conflicting(2)
        self._close(self._branch(block, number, 0, [(split, leaving)]), END)
        self._branches = (*self._branches, Branch(number, "exclusive", 1))
        return [(split, staying)]

    def _pair(self, block: ProcedureBlock, flow: Open) -> Open:
        split, number = self._gateway(block, flow), len(self.gateways)
        count = len(block.branches)
        conditions: Sequence[str | None] = [None] * count
        if block.sort == "exclusive":
            conditions = self._conditions.conflicting(count)
        elif block.sort == "inclusive":
            conditions = self._conditions.compatible(count)
        ends = [
            end
            for at, condition in enumerate(conditions)
            for end in self._branch(block, number, at, [(split, condition)])
        ]
        return [(self._gateway(block, ends), None)]

    def _branch(self, block: ProcedureBlock, number: int, at: int, flow: Open) -> Open:
        outside = self._branches
        self._branches = (*outside, Branch(number, _gateway_sort(block), at))
        ends = self._run(block.branches[at], flow)
        self._branches = outside
        return ends

    def _gateway(self, block: ProcedureBlock, flow: Open) -> Node:
        sort = _gateway_sort(block)
        name = f"{GATEWAY_NAMES[sort]}{1 + sum(other == sort for other in self.gateways.values())}"
        self.gateways[name] = sort
        return self._node(name, flow)

    def _node(self, node: Node, flow: Open) -> Node:
        self.draft.add(node)
        self._close(flow, node)
        return node

    def _close(self, flow: Open, target: Node) -> None:
        self.draft.arcs.extend(Arc(source, target, condition) for source, condition in flow)


def _gateway_sort(block: ProcedureBlock) -> NodeSort:
    """Return the sort of the gateways of a block."""
    return "exclusive" if block.sort == "exit" else block.sort


def _graph(layout: ProcedureLayout, words: Vocabulary, rng: Random) -> ProceduralGraph:
    """Return the graph of a draft whose steps have tasks, with drawn constraints."""
    phrases, has_actors = words.procedure, rng.random() < ACTED
    actions = {
        id(step): ProceduralNode(
            "action", phrases.action(step.name), phrases.actors.get(step.name, "") if has_actors else ""
        )
        for step in layout.draft.steps
    }

    def node_of(place: Node) -> ProceduralNode:
        if isinstance(place, DraftStep):
            return actions[id(place)]
        if place in layout.gateways:
            return ProceduralNode(layout.gateways[place], place)
        return ProceduralNode("start" if place == START else "end")

    flows = [ProceduralFlow(node_of(arc.source), node_of(arc.target), arc.guard or "") for arc in layout.draft.arcs]
    steps = [(step, actions[id(step)]) for step in layout.draft.steps]
    data = [*_data_flows(steps)]
    rng.shuffle(data)
    flows += [*dict(data).values()][: rng.choice(DATA)]
    notices = [
        ProceduralFlow(action, ProceduralNode("notice", phrases.notices[step.name]))
        for step, action in steps
        if step.name in phrases.notices
    ]
    flows += rng.sample(notices, min(len(notices), rng.choice(NOTICES)))
    return ProceduralGraph.of(flows)


def _data_flows(steps: Sequence[tuple[DraftStep, ProceduralNode]]) -> Iterator[tuple[str, ProceduralFlow]]:
    """Yield for each action a flow from what it needs and one to what it produces, each with the name of the data."""
    for step, action in steps:
        for name in step.entry.reads:
            yield name, ProceduralFlow(ProceduralNode("data", name_phrase(name)), action)
        for name in step.entry.writes:
            yield name, ProceduralFlow(action, ProceduralNode("data", name_phrase(name)))


def generate_documents(
    seed: int, least: int, split: Split = "test", quality: DocumentQuality = "pipeline"
) -> DocumentSet:
    """Return new documents with their graphs; the same for the same seed, and the first ones for fewer.

    Args:
        seed: Decides on the graphs, their documents and their splits.
        least: The number of pairs that the split has at least.
        split: The split that is to have so many.
        quality: How the documents are written.

    Raises:
        UsageError: if these are more than MOST_DOCUMENTS, or a vocabulary of the project's own allows no graph.
    """
    if least > MOST_DOCUMENTS:
        raise UsageError(
            f"PAGED, generated documents: {least} are asked for; expected at most {MOST_DOCUMENTS} "
            "(--taskgraph-instances); another --taskgraph-seed gives others"
        )
    rows = max(LEAST_ROWS, -(-least // DEALT.count(split)))
    return _generate(seed, rows * len(DEALT), quality)


def generate_pairs(seed: int, count: int, quality: DocumentQuality = "pipeline") -> tuple[DocumentPair, ...]:
    """Return the first so many pairs of a seed, in the order of the draw, each in the split that it always has.

    Raises:
        UsageError: if a vocabulary of the project's own allows no graph.
    """
    rows = -(-count // len(DEALT))
    whole = [_pair(seed, number, quality) for number in range(rows * len(DEALT))]
    return tuple(deal_splits(whole, seed))[:count]


@catalog_cache
@lru_cache(maxsize=4)
def _generate(seed: int, count: int, quality: DocumentQuality) -> DocumentSet:
    return DocumentSet.of_items("generated", generate_pairs(seed, count, quality))


def _pair(seed: int, number: int, quality: DocumentQuality) -> DocumentPair:
    procedure = generate_graph(seed, number)
    words = shorten(hyphenate(procedure.title), LONGEST_WORDS) or "procedure"
    return DocumentPair(
        f"{words}-{number + 1}", procedure.title, procedure.graph, write_document(procedure.graph, quality, seed).text
    )

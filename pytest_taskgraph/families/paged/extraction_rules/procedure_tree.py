"""A procedure as blocks within each other, what is found again in it, and the procedural graph of it.

Actions that a text mentioned are found by the same or by similar words. Later statements lead out of the blocks in
which a text stands, by words such as "in either case".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from ....workflow.procedural_graph import GATEWAY_NAMES, NodeSort, ProceduralFlow, ProceduralGraph, ProceduralNode
from .clashing_conditions import exclude_each_other
from .document_sentences import ChoiceMention, EndMention, ParallelMention, StatementMention
from .verb_lexicon import OTHERWISE, negate_condition, verb_of, word_overlap, word_set

Exit = tuple[ProceduralNode, str]
"""A node from which the procedure goes on, and the condition under which it does."""
MOST_BRANCHES: Final = 20  # of a choice by conditions, which are compared in pairs
START: Final = ProceduralNode("start")
END: Final = ProceduralNode("end")
MOST_COMPARED: Final = 300  # of the last actions, by similarity
_WORD = re.compile(r"\w+")
_FUNCTION_WORDS = word_set("the a an of to for in on at with and or his her its their this that it them by from")


@dataclass(frozen=True, slots=True)
class BackTo:
    """The end of a sequence that goes on at an action elsewhere."""

    action: ProceduralNode


@dataclass(eq=False, slots=True)
class TreeBlock:
    """Branches from a split to a join.

    Args:
        sort: "parallel", or what sort of choice the text announces; "choice" if the conditions decide.
        parent: The sequence in which the block stands.
        closed: Whether the text says that its branches are done.
        conflicts: Whether a condition excludes another one.
    """

    sort: Literal["parallel", "exclusive", "inclusive", "choice"]
    parent: TreeSequence
    branches: list[TreeSequence] = field(default_factory=list)
    closed: bool = False
    conflicts: bool = False

    def add(self, condition: str = "", otherwise: bool = False) -> TreeSequence:
        """Add an empty branch."""
        branch = TreeSequence(self, condition, otherwise)
        self.conflicts = self.conflicts or self.excludes(branch)
        self.branches.append(branch)
        return branch

    @property
    def is_choice(self) -> bool:
        """Return True unless the branches run in parallel."""
        return self.sort != "parallel"

    @property
    def is_full(self) -> bool:
        """Return True if no branch fits in that conditions decide about: there are many, or one for all other cases."""
        return len(self.branches) >= MOST_BRANCHES or self.has_otherwise

    @property
    def has_otherwise(self) -> bool:
        """Return True if a branch is for all other cases."""
        return any(branch.otherwise and branch.condition == OTHERWISE for branch in self.branches)

    @property
    def is_exclusive(self) -> bool:
        """Return True for a choice of which one branch at most is taken.

        Unless the text says of what sort it is, conditions that exclude each other decide, and a branch that ends the
        procedure: nothing is done beside it.
        """
        if self.sort in ("exclusive", "inclusive"):
            return self.sort == "exclusive"
        ending = any(branch.items[-1:] == [END] for branch in self.branches)
        return len(self.branches) < 2 or ending or self.conflicts

    def condition_of(self, branch: TreeSequence) -> str:
        """Return the condition of a branch; for "otherwise" the opposite of the other condition, if there is one."""
        others = [other.condition for other in self.branches if other is not branch]
        if branch.condition == OTHERWISE and len(others) == 1 and others[0]:
            return negate_condition(others[0])
        return branch.condition

    def excludes(self, branch: TreeSequence) -> bool:
        """Return True if a branch is an alternative to the others, or its condition excludes that of another."""
        return branch.otherwise or any(exclude_each_other(other.condition, branch.condition) for other in self.branches)


@dataclass(eq=False, slots=True)
class TreeSequence:
    """What happens in sequence: the whole procedure, or a branch of a block with its condition.

    Args:
        block: The block of which it is a branch; None for the whole.
        condition: The condition of the branch.
        otherwise: Whether the text states it as an alternative to the conditions before.
    """

    block: TreeBlock | None = None
    condition: str = ""
    otherwise: bool = False
    items: list[ProceduralNode | TreeBlock | BackTo] = field(default_factory=list)

    @property
    def ends(self) -> bool:
        """Return True if nothing can follow: the procedure ends here, or goes on elsewhere."""
        return bool(self.items) and (self.items[-1] == END or isinstance(self.items[-1], BackTo))

    def enclosing(self) -> Iterator[TreeBlock]:
        """Yield the blocks around it, the innermost first."""
        block = self.block
        while block is not None:
            yield block
            block = block.parent.block


def join_common_targets(sequence: TreeSequence) -> None:
    """Move what several branches of a block go on with behind the block.

    A branch that goes on at an action of another branch of the same block is read as joining it there, if every other
    branch does, ends, or goes back.
    """
    at = 0
    while at < len(sequence.items):
        block = sequence.items[at]
        if isinstance(block, TreeBlock):
            for branch in block.branches:
                join_common_targets(branch)
            shared = _shared_tail(block)
            if shared is not None:
                branch, start, backs = shared
                for back in backs:
                    back.items.pop()
                sequence.items[at + 1 : at + 1] = branch.items[start:]
                for item in branch.items[start:]:
                    if isinstance(item, TreeBlock):
                        item.parent = sequence
                del branch.items[start:]
        at += 1


def _shared_tail(block: TreeBlock) -> tuple[TreeSequence, int, list[TreeSequence]] | None:
    """Return a branch, where in it the common rest begins, and the branches that go on there; None if there is none."""
    targets = {
        item: (branch, at)
        for branch in block.branches
        for at, item in enumerate(branch.items)
        if isinstance(item, ProceduralNode) and item != END
    }
    backs: dict[ProceduralNode, list[TreeSequence]] = {}
    for branch in block.branches:
        last = branch.items[-1] if branch.items else None
        if isinstance(last, BackTo) and last.action in targets and targets[last.action][0] is not branch:
            backs.setdefault(last.action, []).append(branch)
    for action, joining in backs.items():
        home, at = targets[action]
        if all(branch is home or branch in joining or branch.ends for branch in block.branches):
            return home, at, joining
    return None


def graph_of_tree(roots: list[TreeSequence]) -> ProceduralGraph:
    """Return the graph of a procedure: each root from the start to the end, gateways in pairs.

    A join stands only where more than one branch goes on.
    """
    writer = _FlowWriter()
    for root in roots:
        if root.items:
            writer.connect(writer.write(root, [(START, "")]), END)
    return ProceduralGraph.of(writer.flows)


class _FlowWriter:
    """Writes the flows of sequences in the order of the text."""

    def __init__(self) -> None:
        self.flows: list[ProceduralFlow] = []
        self._counts: Counter[NodeSort] = Counter()

    def connect(self, exits: list[Exit], node: ProceduralNode) -> list[Exit]:
        """Write the flows to a node, and return how it goes on from there."""
        self.flows += [ProceduralFlow(source, node, condition) for source, condition in exits]
        return [(node, "")]

    def write(self, sequence: TreeSequence, exits: list[Exit]) -> list[Exit]:
        """Write the flows of a sequence, and return from where it goes on; from nowhere if it ends."""
        for item in sequence.items:
            if isinstance(item, TreeBlock):
                exits = self._write_block(item, exits)
            elif isinstance(item, BackTo):
                self.connect(exits, item.action)
                exits = []
            else:
                exits = self.connect(exits, item)
                exits = [] if item == END else exits
        return exits

    def _write_block(self, block: TreeBlock, exits: list[Exit]) -> list[Exit]:
        branches = [branch for branch in block.branches if branch.items]
        if not branches:
            return exits
        if not block.is_choice and len(branches) == 1:
            return self.write(branches[0], exits)
        sort: NodeSort = "parallel"
        if block.is_choice:
            sort = "exclusive" if block.is_exclusive else "inclusive"
            branches = block.branches
        split = self._gateway(sort)
        self.connect(exits, split)
        ways = [self.write(branch, [(split, block.condition_of(branch))]) for branch in branches]
        if len(branches) == 1:
            ways.append([(split, "")])
        open_ways = [way for way in ways if way]
        if len(open_ways) < 2:
            return open_ways[0] if open_ways else []
        join = self._gateway(sort)
        for way in open_ways:
            self.connect(way, join)
        return [(join, "")]

    def _gateway(self, sort: NodeSort) -> ProceduralNode:
        self._counts[sort] += 1
        return ProceduralNode(sort, f"{GATEWAY_NAMES[sort]}{self._counts[sort]}")


class KnownActions:
    """Actions by their words, and the sequence in which each stands."""

    def __init__(self) -> None:
        self._by_words: dict[str, list[ProceduralNode]] = {}
        self._homes: dict[ProceduralNode, TreeSequence] = {}
        self._stems: dict[ProceduralNode, frozenset[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._homes)

    def put(self, node: ProceduralNode, sequence: TreeSequence) -> None:
        """State where an action stands."""
        if node not in self._homes:
            self._by_words.setdefault(_key(node.text), []).append(node)
            self._stems[node] = _stems(node.text)
        self._homes[node] = sequence

    def home(self, node: ProceduralNode) -> TreeSequence:
        """Return the sequence in which an action stands."""
        return self._homes[node]

    def find(self, text: str, actor: str = "") -> ProceduralNode | None:
        """Return the action of these words, articles aside: of this actor, else where one of the two has none."""
        candidates = self._by_words.get(_key(text), [])
        for node in candidates:
            if node.actor.casefold() == actor.casefold():
                return node
        return next((node for node in candidates if not actor or not node.actor), None)

    def similar(self, text: str, actor: str = "", least: float = 0.5) -> ProceduralNode | None:
        """Return the action of the most similar words, the last among equals; none below the least similarity.

        Args:
            text: The words.
            actor: Who does it; empty for anyone.
            least: The least Jaccard index of the stems.
        """
        exact = self.find(text, actor) or self._by_words.get(_key(text), [None])[0]
        if exact is not None:
            return exact
        stems = _stems(text)
        best, best_node = least, None
        for node in list(self._homes)[-MOST_COMPARED:]:
            other = self._stems[node]
            similarity = word_overlap(stems, other)
            if similarity >= best:
                best, best_node = similarity, node
        return best_node


def _key(text: str) -> str:
    return " ".join(word for word in _WORD.findall(text.lower()) if word not in ("the", "a", "an"))


def _stems(text: str) -> frozenset[str]:
    words: Iterable[str] = (word for word in _WORD.findall(text.lower()) if word not in _FUNCTION_WORDS)
    return frozenset(verb[0] if (verb := verb_of(word)) else word.removesuffix("s") for word in words)


def leads_out_of(block: TreeBlock, all_done: bool) -> bool:
    """Return True if words lead out of a block: one of their kind, with more than one branch that goes on.

    Args:
        block: The block.
        all_done: Whether they say that several branches are done, as in "once all are done", or that it does not matter
            which was taken, as in "in either case".
    """
    going_on = sum(not branch.ends for branch in block.branches)
    return (block.sort in ("parallel", "inclusive")) == all_done and (going_on > 1 or len(block.branches) == 1)


def left_later(around: Sequence[TreeBlock], following: Sequence[StatementMention]) -> TreeBlock | None:
    """Return the innermost of some blocks that later words lead out of: the last of them out of the outermost.

    Args:
        around: The blocks around a place, the innermost first.
        following: The statements behind it.
    """
    left = list(around)
    innermost = None
    for all_done in reversed(_later_joins(following)) if left else ():
        while left and not leads_out_of(left[-1], all_done):
            left.pop()
        if left:
            innermost = left.pop()
    return innermost


def _later_joins(following: Sequence[StatementMention]) -> list[bool]:
    """Return for each of the words that lead out of a block around whether they say that all was done.

    Words that lead out of a block which itself opens later do not count.
    """
    joins: list[bool] = []
    opened, grouped = 0, False
    for later in following:
        if later.lead in ("join", "done"):
            if opened:
                opened -= 1
            else:
                joins.append(later.lead == "done")
        opens = any(isinstance(step, ParallelMention | ChoiceMention) for step in later.steps)
        first = later.conditions[0] if later.conditions else None
        if first is not None and not grouped and not first.otherwise and later.lead != "also":
            opens = True
        opened += opens or later.lead == "split"
        grouped = first is not None
        if grouped and later.steps[-1:] == (EndMention(),):
            opened = max(0, opened - 1)  # no branches to join, if there are two
    return joins

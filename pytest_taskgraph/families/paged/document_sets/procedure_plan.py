"""The shape of a generated procedure: actions in sequence, and gateways with branches, before it has words.

The numbers of gateways follow Table 4 of Du et al. (2024), divided by its 3,394 documents. It counts splits and joins
alike, so 2.1 exclusive gateways are about one pair.

A shape is a run of blocks. A block is an action; a choice (exclusive or inclusive) or a fork (parallel), each with a
split, branches and a join; or an exit: an exclusive split without a join, one condition of which ends the procedure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from random import Random
from typing import Final, Literal

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

"""Draw the block structure of one level: sequences of tasks and blocks, each block with branches that are sequences.

These rules keep every workflow unambiguous:

- A fork stands right after a task, a loop also at the very start; a choice begins with its own head task. So "the
  block right after A" has an A.
- After a choice or a loop comes a task, or the head of a choice, or END; so no branch of a fork ends in a choice, and
  no gateway has to mark where a choice ends.
- The body of a loop begins and ends with a plain task; the last task decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Literal

Kind = Literal["task", "parallel", "exclusive", "inclusive", "mixed", "loop"]
CHOICES = ("exclusive", "inclusive", "mixed")
BLOCKS = 0.4  # probability that a level grows by a block rather than by a task
_LEADS_WITH_TASK = ("task", *CHOICES)


@dataclass(slots=True, eq=False)
class BlockPlan:
    """A task, or an operator with its branches, a loop with its body as the only branch; a choice includes its head."""

    kind: Kind
    branches: list[Sequence] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Sequence:
    """Blocks one after the other: the whole level, a branch of a block, or the body of a loop."""

    place: Literal["level", "branch", "body"]
    depth: int = 0  # the number of blocks around it
    blocks: list[BlockPlan] = field(default_factory=list)


class Growth:
    """A level that grows by one task or block at a time until it holds exactly `size` tasks.

    With `flat` 1.0 only the outermost sequence grows; with 0.0 all sequences grow alike.
    """

    def __init__(self, size: int, width: int, depth: int, rng: Random, flat: float = 0.0) -> None:
        self.left, self.width, self.depth, self.rng, self.flat = size, width, depth, rng, flat
        self.level = Sequence("level")
        self.open = [self.level]

    def start(self, run: int, kinds: list[Kind]) -> None:
        """Put `run` tasks in a row and, at random places around them, one smallest block of each kind."""
        for _ in range(run):
            self._insert_task(self.level, 0)
        self.rng.shuffle(kinds)
        for kind in kinds:
            self._insert_smallest(kind)

    def fill(self, kinds: list[Kind]) -> None:
        """Add tasks and blocks of these kinds, at random places, until the size is reached."""
        while self.left:
            block = kinds and self.left >= 3 and self.rng.random() < BLOCKS * (1 - self.flat)
            if not (block and self._grow_block(self.rng.choice(kinds))):
                outside = bool(self.flat) and self.rng.random() < self.flat
                sequence = self.level if outside else self.rng.choice(self.open)
                self._insert_task(sequence, self.rng.randrange(len(sequence.blocks) + 1))

    def _insert_task(self, sequence: Sequence, index: int) -> None:
        sequence.blocks.insert(index, BlockPlan("task"))
        self.left -= 1

    def _insert_smallest(self, kind: Kind) -> None:
        needs_task_before = kind not in CHOICES  # a fork and a loop come with the task before them
        around = [
            sequence_around
            for sequence_around in self.open
            if sequence_around.place == "branch" and sequence_around.depth < self.depth
        ]
        # In a branch a loop may not run at all, which would otherwise be rare.
        sequence = self.rng.choice(around) if kind == "loop" and around and self.rng.random() > 0.3 else self.level
        places = [
            index
            for index in range(len(sequence.blocks) + 1)
            if _fits(kind, sequence, index, "task" if needs_task_before else _kind_at(sequence, index - 1))
        ]
        index = self.rng.choice(places)
        if needs_task_before:
            self._insert_task(sequence, index)
        self._insert_block(kind, sequence, index + needs_task_before, 1 if kind == "loop" else 2)

    def _grow_block(self, kind: Kind) -> bool:
        """Insert a block into a drawn sequence; return False if no place in it fits."""
        sequence = self.rng.choice(self.open)
        places = [
            index
            for index in range(len(sequence.blocks) + 1)
            if _fits(kind, sequence, index, _kind_at(sequence, index - 1))
        ]
        if sequence.depth >= self.depth or not places:
            return False
        index = places[self.rng.randrange(len(places))]
        self._insert_block(kind, sequence, index, self._branches(kind))
        return True

    def _branches(self, kind: Kind) -> int:
        """Draw how many branches a block gets, or a loop tasks in its body, within the width and the tasks left."""
        if kind == "loop":
            return 1 + self.rng.randrange(min(3, self.left))
        limit = 2 if kind == "mixed" else min(self.width, self.left - (kind != "parallel"))
        return 2 + self.rng.randrange(limit - 1)

    def _insert_block(self, kind: Kind, sequence: Sequence, index: int, count: int) -> None:
        """Insert a loop with a body of `count` tasks, or a block with `count` branches of one task each."""
        inner = sequence.depth + 1
        if kind == "loop":
            branches = [Sequence("body", inner, [BlockPlan("task") for _ in range(count)])]
        else:
            branches = [Sequence("branch", inner, [BlockPlan("task")]) for _ in range(count)]
        sequence.blocks.insert(index, BlockPlan(kind, branches))
        self.open.extend(branches)
        self.left -= count + (kind in CHOICES)


def _kind_at(sequence: Sequence, index: int) -> Kind | None:
    """Return the kind of the block at the index; None before the first and after the last."""
    return sequence.blocks[index].kind if 0 <= index < len(sequence.blocks) else None


def _fits(kind: Kind, sequence: Sequence, index: int, before: Kind | None) -> bool:
    """Return True if a block of that kind may stand at the index, after a block of the kind `before`."""
    after = _kind_at(sequence, index)
    if sequence.place == "body" and (index == 0 or after is None):
        return False
    if kind == "parallel":
        return before == "task" and after not in ("parallel", "loop")
    follows = after in _LEADS_WITH_TASK or (after is None and sequence.place == "level")
    return follows and (kind != "loop" or before in (None, "task"))

"""What later statements say of the blocks in which a text stands: words such as "in either case" lead out of them."""

from __future__ import annotations

from collections.abc import Sequence

from .mentions import ChoiceMention, EndMention, ParallelMention, StatementMention
from .procedure_tree import TreeBlock


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

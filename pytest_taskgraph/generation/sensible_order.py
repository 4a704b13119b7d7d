"""Puts the tasks of a domain where they make sense: whatever must come before a task stands on a way that leads to it.

A randomized search with bounded backtracking, in the order of the control flow. Its source of choice is a generator of
its own, seeded by one draw, so that how long it searches has no effect on what is drawn after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from .vocabularies import Entry, Vocabulary

TRIES = 3  # with each choice of tasks
LEAST_STEP = 3  # tasks by which the choice grows, or a quarter of the steps
ROUNDS = 3  # how often a task may stand in a workflow once more than it must
NODES = 6  # placed tasks, for each step, after which a try is given up


def sensible_entries(vocabulary: Vocabulary, before: Sequence[int], rng: Random) -> list[Entry]:
    """A task for each step; bit i of `before[j]` tells that step i lies on a way to step j, and i < j then.

    Where no sensible order is found, the tasks stand in one that makes sense as far as nothing branches.
    """
    own = Random(rng.randrange(1 << 32))
    entries = vocabulary.entries(len(before), own)
    rounds = -(-len(before) // len(vocabulary.tasks))
    # Where tasks are numbered anyway, more numbers do no harm.
    pool = vocabulary.spare((), rounds + (ROUNDS if rounds > 1 else 0))
    found = arranged(entries, before, own)
    step = max(LEAST_STEP, len(before) // 4)
    for size in range(len(before) + step, len(pool) + step, step):
        if found is None:
            # From as few as will do: out of many, those that others wait for would always be taken.
            chosen = set(own.sample(range(len(pool)), min(size, len(pool))))
            found = arranged([one for i, one in enumerate(pool) if i in chosen], before, own)
    return found or entries


def arranged(pool: Sequence[Entry], before: Sequence[int], rng: Random) -> list[Entry] | None:
    """An entry of the pool for each step, so that all their `after` among them hold; None if none is found."""
    search = _Search(pool, before)
    for _ in range(TRIES if len(pool) >= len(before) else 0):
        found = search.run(rng)
        if found is not None:
            return [pool[index] for index in found]
    return None


class _Search:
    """Entries and steps as bits: what an entry comes after, and what lies before a step."""

    def __init__(self, pool: Sequence[Entry], before: Sequence[int]) -> None:
        index = {entry.name: i for i, entry in enumerate(pool)}
        self.before = before
        self.after = [sum(1 << index[name] for name in entry.after if name in index) for entry in pool]
        self.spare = len(pool) - len(before)

    def run(self, rng: Random) -> list[int] | None:
        """The entry of each step, by its index; None when the search is given up."""
        size, chosen = len(self.before), list[int]()
        waiting = [self._candidates(chosen, rng)]
        for _ in range(NODES * size):
            while waiting and not waiting[-1]:
                waiting.pop()
                del chosen[-1:]
            if not waiting:
                return None
            chosen.append(waiting[-1].pop())
            if len(chosen) == size:
                return chosen
            waiting.append(self._candidates(chosen, rng))
        return None

    def _candidates(self, chosen: Sequence[int], rng: Random) -> list[int]:
        """Which entries fit the next step, the best last: those that shut out few others, which would come too late."""
        before, placed, ahead, late = self.before[len(chosen)], 0, 0, 0
        for step, entry in enumerate(chosen):
            placed |= 1 << entry
            late |= self.after[entry]
            ahead |= (before >> step & 1) << entry
        fitting, shut, beside = [], placed | late, placed & ~ahead
        for entry, after in enumerate(self.after):
            if not shut >> entry & 1 and not after & beside:
                lost = ((late | after) & ~placed).bit_count()
                if lost <= self.spare:
                    fitting.append((-lost * rng.random(), rng.random(), entry))
        return [entry for *_, entry in sorted(fitting)]

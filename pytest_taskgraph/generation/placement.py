"""Choose a task of a domain for every step of a draft, so that the workflow makes sense, or that it contradicts sense.

It makes sense if no task stands before one that it follows in the order relation of its vocabulary: on a way to it, or
beside it where both may run. A misleading one has the ordered tasks the other way round, as far as ways lead from one
to the other.

A randomized search with bounded backtracking, in the order of the control flow. Its source of choice is a generator of
its own, seeded by one draw, so that how long it searches has no effect on what is drawn after it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from ..catalog import catalog_cache
from .draft import Draft, DraftStep, ancestors
from .vocabularies import Composite, Vocabulary, VocabularyEntry, vocabulary

TRIES = 6  # searches, each with other composites and another taste
NODES = 8  # tasks tried for each step, after which a search is given up
BRANCHING = 5  # tasks tried for one step
NOISE = (0.1, 0.25, 0.5)  # how far, as a share of the vocabulary, the choice strays from the step's place


@dataclass(frozen=True, slots=True)
class TaskSlot:
    """An atomic step that is to be given a task; slots are numbered in the order of the flow, bits stand for them.

    `before` are the slots on ways that lead to it, `apart` those of other branches of an exclusive choice, which
    never run together with it. `position` tells where in the whole it stands, from 0.0 to 1.0.
    """

    step: DraftStep
    before: int
    apart: int
    position: float
    around: DraftStep | None  # the composite step that it is directly inside


def place_tasks(
    chosen: Vocabulary, root: Draft, rng: Random, misleading: bool = False, without: Collection[str] = ()
) -> bool:
    """Give every step below the root a task of the domain or the name of a composite; nothing stands twice.

    Args:
        chosen: the vocabulary of the domain.
        root: the draft, with all its levels.
        rng: the source of choice, asked once.
        misleading: whether ordered tasks are to stand the other way round.
        without: the tasks that are left out, and with them composites that they may be part of.

    Returns:
        False if no arrangement was found in the bounds of the search; the steps are then not named.
    """
    own = Random(rng.randrange(1 << 32))
    slots = _slots(root)
    composites = [step for level in root.below() for step in level.steps if step.inner is not None]
    names = [task.name for task in chosen.tasks]
    every = sum(1 << i for i, name in enumerate(names) if name not in without)
    for number in range(TRIES):
        groups = _group(chosen, composites, slots, own, misleading, without)
        if groups is None:
            return False
        masks = {key: sum(1 << names.index(name) for name in group.tasks) for key, group in groups.items()}
        allowed = [masks.get(id(slot.around), every) for slot in slots]
        search = _Search(_relation(chosen.name), slots, allowed, misleading)
        found = search.run(_window(len(slots) / len(names), own), NOISE[number % len(NOISE)], own)
        if found is not None:
            for slot, index in zip(slots, found, strict=True):
                slot.step.entry = chosen.tasks[index]
            for step in composites:
                step.entry = VocabularyEntry(groups[id(step)].name, groups[id(step)].description, "")
            return True
    return False


def _window(used: float, rng: Random) -> tuple[float, float]:
    """Return a part of the vocabulary, as shares of it: all of it or less, down to twice what is used.

    Of a small part more tasks belong together, of a large one they are more varied.
    """
    span = min(1.0, 2 * used + (1 - 2 * used) * rng.random())
    low = (1 - span) * rng.random()
    return low, low + span


def _group(
    chosen: Vocabulary,
    composites: Sequence[DraftStep],
    slots: Sequence[TaskSlot],
    rng: Random,
    misleading: bool,
    without: Collection[str],
) -> dict[int, Composite] | None:
    """Choose a composite for each composite step, by the step's identity: one with room, close to its place.

    Returns None where there are too few.
    """
    index = {task.name: i for i, task in enumerate(chosen.tasks)}
    free = [one for one in chosen.composites if not set(without).intersection(one.tasks)]
    found: dict[int, Composite] = {}
    for step in composites:
        inside = [slot for slot in slots if slot.around is step]
        position = sum(slot.position for slot in inside) / len(inside) if inside else rng.random()
        position = 1 - position if misleading else position

        def distance(one: Composite, position: float = position) -> float:
            middle = sum(index[name] for name in one.tasks) / len(one.tasks) / len(index)
            return abs(middle - position) + 0.3 * rng.random()

        fitting = [one for one in free if len(one.tasks) >= len(inside)]
        if not fitting:
            return None
        found[id(step)] = min(fitting, key=distance)
        free.remove(found[id(step)])
    return found


def _slots(root: Draft) -> list[TaskSlot]:
    """Return the slots of all levels, each directly followed by those inside it, like `draft.walk`."""
    steps = _atomic(root)
    bits = {id(step): 1 << number for number, step in enumerate(steps)}
    before: dict[int, int] = {}
    apart: dict[int, int] = {}
    around: dict[int, DraftStep | None] = {}
    _relate(root, None, 0, 0, bits, (before, apart, around))
    after = [sum(before[id(other)] >> number & 1 for other in steps) for number in range(len(steps))]
    most = max(1, len(steps) - 1)
    return [
        TaskSlot(
            step,
            before[id(step)],
            apart[id(step)],
            (before[id(step)].bit_count() + most - after[number]) / (2 * most),
            around[id(step)],
        )
        for number, step in enumerate(steps)
    ]


def _atomic(level: Draft) -> list[DraftStep]:
    return [one for step in level.steps for one in ([step] if step.inner is None else _atomic(step.inner))]


def _relate(
    level: Draft,
    around: DraftStep | None,
    before: int,
    apart: int,
    bits: dict[int, int],
    found: tuple[dict[int, int], dict[int, int], dict[int, DraftStep | None]],
) -> None:
    """Note for each atomic step of a level, and inside it, what lies before it, what never runs with it, what it is in.

    `before` and `apart` are what holds of the step around the level.
    """
    steps = level.steps
    held = [sum(bits[id(one)] for one in ([step] if step.inner is None else _atomic(step.inner))) for step in steps]
    for i, (step, ways) in enumerate(zip(steps, ancestors(level), strict=True)):
        earlier = before | sum(held[j] for j in range(len(steps)) if ways >> j & 1)
        never = apart | sum(held[j] for j, other in enumerate(steps) if i != j and _exclude(step, other))
        if step.inner is not None:
            _relate(step.inner, step, earlier, never, bits, found)
        else:
            found[0][id(step)], found[1][id(step)], found[2][id(step)] = earlier, never, around


def _exclude(one: DraftStep, other: DraftStep) -> bool:
    """Return True if the steps stand on two branches of one exclusive choice."""
    for mine, theirs in zip(one.branches, other.branches, strict=False):
        if mine != theirs:
            return mine.block == theirs.block and mine.kind == "exclusive"
    return False


@dataclass(frozen=True, slots=True)
class _Relation:
    """The order relation of a vocabulary: for each task, as bits, what comes before it, after it, or must do either."""

    earlier: tuple[int, ...]
    later: tuple[int, ...]
    bound: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.earlier)


@catalog_cache
@cache
def _relation(name: str) -> _Relation:
    tasks = vocabulary(name).tasks
    index = {task.name: i for i, task in enumerate(tasks)}
    earlier, later, required = ([0] * len(tasks) for _ in range(3))
    for i, task in enumerate(tasks):
        for j in (index[one] for one in task.follows):
            earlier[i] |= 1 << j
            later[j] |= 1 << i
        for j in (index[one] for one in task.requires):
            required[i] |= 1 << j | required[j]
    bound = [required[i] | sum(1 << j for j, other in enumerate(required) if other >> i & 1) for i in range(len(tasks))]
    return _Relation(tuple(earlier), tuple(later), tuple(bound))


class _Search:
    """A search for a task for every slot, one slot after the other."""

    def __init__(
        self, relation: _Relation, slots: Sequence[TaskSlot], allowed: Sequence[int], misleading: bool
    ) -> None:
        self.relation, self.slots, self.allowed, self.misleading = relation, slots, allowed, misleading

    def run(self, window: tuple[float, float], noise: float, rng: Random) -> list[int] | None:
        """Return the task of each slot, by its index; None if the search is given up.

        Args:
            window: the part of the vocabulary to choose from, as shares of it; others are taken where these do not do.
            noise: how far the choice strays from the slot's place in the window, as a share of it.
            rng: the source of choice.
        """
        chosen: list[int] = []
        waiting = [self._candidates(chosen, window, noise, rng)]
        for _ in range(NODES * len(self.slots)):
            while waiting and not waiting[-1]:
                waiting.pop()
                del chosen[-1:]
            if not waiting:
                return None
            chosen.append(waiting[-1].pop())
            if len(chosen) == len(self.slots):
                return chosen
            waiting.append(self._candidates(chosen, window, noise, rng))
        return None

    def _candidates(self, chosen: Sequence[int], window: tuple[float, float], noise: float, rng: Random) -> list[int]:
        """Return some tasks that fit the next slot, the one closest to its place last."""
        slot, relation = self.slots[len(chosen)], self.relation
        fitting = self.allowed[len(chosen)]
        for number, task in enumerate(chosen):
            fitting &= ~(1 << task)
            if slot.before >> number & 1:
                fitting &= ~(relation.later[task] if self.misleading else relation.earlier[task])
            elif self.misleading:
                continue
            elif slot.apart >> number & 1:
                fitting &= ~relation.bound[task]
            else:
                fitting &= ~(relation.earlier[task] | relation.later[task])
        position = 1 - slot.position if self.misleading else slot.position
        low, high = window
        wanted = (low + (high - low) * position) * (relation.size - 1)
        spread = noise * (high - low) * relation.size
        ranked = sorted(
            (abs(task - wanted) + spread * rng.random(), task) for task in range(relation.size) if fitting >> task & 1
        )
        return [task for _, task in reversed(ranked[:BRANCHING])]

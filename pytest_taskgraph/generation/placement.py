"""Choose a task of a domain for every step of a draft, so that the workflow makes sense, or contradicts sense.

It makes sense if no task stands before a task that it follows in the order relation of its vocabulary: on a way to it,
or beside it where both may run. In a misleading workflow the ordered tasks stand in reverse, as far as ways lead from
one to the other.

The search is randomized, with bounded backtracking, in the order of the control flow. It has a random generator of its
own, seeded by a single draw, so that its length has no effect on what is drawn after it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, compress, count, pairwise
from random import Random

from ..catalog import catalog_cache
from .draft import Branch, Draft, DraftStep, ancestors
from .vocabularies import Composite, Vocabulary, VocabularyEntry, vocabulary

TRIES = 6  # searches, each with other composites and another noise
NODES = 8  # tasks tried for each step, after which a search is given up
BRANCHING = 5  # tasks tried for one step
NOISE = (0.1, 0.25, 0.5)  # how far, as a share of the vocabulary, the choice strays from the step's place


@dataclass(slots=True, eq=False)
class TaskSlot:
    """An atomic step that needs a task; slots are numbered in the order of the flow, bits stand for them.

    `before` are the slots on ways that lead to it, `excluding` those of other branches of an exclusive choice, which
    never run together with it. `position` is its place in the whole, from 0.0 to 1.0.
    """

    step: DraftStep
    before: int
    excluding: int
    around: DraftStep | None  # the composite step that it is directly inside
    position: float = 0.0


def place_tasks(
    domain: Vocabulary, root: Draft, rng: Random, misleading: bool = False, excluded: Collection[str] = ()
) -> bool:
    """Give every step below the root a task of the domain or the name of a composite; no task is used twice.

    Args:
        domain: The vocabulary of the domain.
        root: The draft, with all its levels.
        rng: The source of choice, used once.
        misleading: Place ordered tasks in reverse.
        excluded: The tasks to leave out, together with composites that they may be part of.

    Returns:
        False if no arrangement was found within the bounds of the search; the steps are then not named.
    """
    search_rng = Random(rng.randrange(1 << 32))
    slots = _slots(root)
    composites = [step for level in root.below() for step in level.steps if step.inner is not None]
    relation = _relation(domain.name)
    all_allowed = ((1 << relation.size) - 1) ^ relation.bits(relation.number.keys() & excluded)
    for number in range(TRIES):
        groups = _choose_composites(domain, composites, slots, search_rng, misleading, excluded)
        if groups is None:
            return False
        masks = {key: relation.bits(group.tasks) for key, group in groups.items()}
        allowed = [masks.get(id(slot.around), all_allowed) for slot in slots]
        window = _draw_window(len(slots) / relation.size, search_rng)
        search = _Search(relation, slots, allowed, misleading, window, NOISE[number % len(NOISE)])
        task_indices = search.run(search_rng)
        if task_indices is not None:
            for slot, index in zip(slots, task_indices, strict=True):
                slot.step.entry = domain.tasks[index]
            for step in composites:
                step.entry = VocabularyEntry(groups[id(step)].name, groups[id(step)].description, "")
            return True
    return False


def _draw_window(used: float, rng: Random) -> tuple[float, float]:
    """Draw a part of the vocabulary, as shares of it: all of it or less, down to twice what is used.

    In a small part more tasks belong together, in a large part they are more varied.
    """
    span = min(1.0, 2 * used + (1 - 2 * used) * rng.random())
    low = (1 - span) * rng.random()
    return low, low + span


def _choose_composites(
    domain: Vocabulary,
    composites: Sequence[DraftStep],
    slots: Sequence[TaskSlot],
    rng: Random,
    misleading: bool,
    excluded: Collection[str],
) -> dict[int, Composite] | None:
    """Choose a composite for each composite step, by the step's identity: with enough tasks, close to its place.

    None if there are too few.
    """
    if not composites:
        return {}
    index = _relation(domain.name).number
    free = [composite for composite in domain.composites if not set(excluded).intersection(composite.tasks)]
    composite_of_step: dict[int, Composite] = {}
    for step in composites:
        inside = [slot for slot in slots if slot.around is step]
        position = sum(slot.position for slot in inside) / len(inside) if inside else rng.random()
        position = 1 - position if misleading else position

        def distance(composite: Composite, position: float = position) -> float:
            middle = sum(index[name] for name in composite.tasks) / len(composite.tasks) / len(index)
            return abs(middle - position) + 0.3 * rng.random()

        fitting = [composite for composite in free if len(composite.tasks) >= len(inside)]
        if not fitting:
            return None
        composite_of_step[id(step)] = min(fitting, key=distance)
        free.remove(composite_of_step[id(step)])
    return composite_of_step


def _slots(root: Draft) -> list[TaskSlot]:
    """Return the slots of all levels, each directly followed by those inside it, like `draft.walk`."""
    slots: list[TaskSlot] = []
    _add_slots(root, None, 0, 0, slots)
    last = max(1, len(slots) - 1)
    for slot, after in zip(slots, _count_bits([slot.before for slot in slots]), strict=True):
        slot.position = (slot.before.bit_count() + last - after) / (2 * last)
    return slots


def _count_bits(numbers: Sequence[int]) -> list[int]:
    """Return in how many of the numbers each bit is set, for as many bits as there are numbers."""
    size = len(numbers)
    columns = zip(*[f"{number:0{size}b}" for number in numbers], strict=True)  # the highest bit first
    return [column.count("1") for column in columns][::-1]


_BIT_VALUES = bytes.maketrans(b"01", b"\0\1")


def _set_bits(number: int) -> list[int]:
    """Return the bits of a number that are set, the lowest first."""
    return [*compress(count(), bin(number)[:1:-1].encode().translate(_BIT_VALUES))]  # no loop in Python: it runs often


def _count_atomic(step: DraftStep) -> int:
    """Return how many atomic steps the step is or holds, at any depth."""
    return 1 if step.inner is None else sum(map(_count_atomic, step.inner.steps))


def _add_slots(level: Draft, around: DraftStep | None, before: int, excluding: int, slots: list[TaskSlot]) -> None:
    """Add a slot for each atomic step of the level, at any depth.

    `before` and `excluding` are those of the step around the level.
    """
    steps, first = level.steps, len(slots)
    flat = all(step.inner is None for step in steps)
    ends = list(accumulate(map(_count_atomic, steps), initial=first))
    bits_inside = [(1 << end) - (1 << begin) for begin, end in pairwise(ends)]
    exclusive = _ExclusiveBranches(steps, bits_inside)
    for i, (step, ways) in enumerate(zip(steps, ancestors(level), strict=True)):
        earlier = before | (ways << first if flat else sum([bits_inside[j] for j in range(i) if ways >> j & 1]))
        never = excluding | exclusive.outside(step)
        if step.inner is not None:
            _add_slots(step.inner, step, earlier, never, slots)
        else:
            slots.append(TaskSlot(step, earlier, never, around))


class _ExclusiveBranches:
    """The steps on the branches of the exclusive choices of a level, as bits.

    Args:
        steps: The steps of the level.
        bits_inside: For each of them, the atomic steps that it is or holds.
    """

    def __init__(self, steps: Sequence[DraftStep], bits_inside: Sequence[int]) -> None:
        self._of_branch: dict[Branch, int] = {}
        self._of_choice: dict[int, int] = {}
        for step, inside in zip(steps, bits_inside, strict=True):
            for branch in step.branches:
                if branch.kind == "exclusive":
                    self._of_branch[branch] = self._of_branch.get(branch, 0) | inside
                    self._of_choice[branch.block] = self._of_choice.get(branch.block, 0) | inside

    def outside(self, step: DraftStep) -> int:
        """Return the steps on the other branches of the choices that the step is on a branch of."""
        others = 0
        for branch in step.branches:
            if branch.kind == "exclusive":
                others |= self._of_choice[branch.block] & ~self._of_branch[branch]
        return others


@dataclass(frozen=True, slots=True)
class _Relation:
    """The order relation of a vocabulary, with its tasks as bits.

    For each task there are four masks, in which all bits are set but its own and: those of no other task (`any_other`),
    of the tasks before it, of those after it, of both, and of those that are bound to be either.
    """

    number: Mapping[str, int]
    any_other: tuple[int, ...]
    not_earlier: tuple[int, ...]
    not_later: tuple[int, ...]
    not_related: tuple[int, ...]
    not_bound: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.number)

    def bits(self, names: Iterable[str]) -> int:
        """Return the bits of the tasks of these names, each given once."""
        return sum([1 << self.number[name] for name in names])


@catalog_cache
@cache
def _relation(name: str) -> _Relation:
    tasks = vocabulary(name).tasks
    index = {task.name: i for i, task in enumerate(tasks)}
    earlier, later, required = ([0] * len(tasks) for _ in range(3))
    for i, task in enumerate(tasks):
        for j in (index[name_before] for name_before in task.follows):
            earlier[i] |= 1 << j
            later[j] |= 1 << i
        for j in (index[name_before] for name_before in task.requires):
            required[i] |= 1 << j | required[j]
    bound = [required[i] | sum(1 << j for j, other in enumerate(required) if other >> i & 1) for i in range(len(tasks))]
    related = [before | after for before, after in zip(earlier, later, strict=True)]
    masks = [
        tuple([~(others | 1 << i) for i, others in enumerate(excluded)])
        for excluded in ([0] * len(tasks), earlier, later, related, bound)
    ]
    return _Relation(index, *masks)


class _Search:
    """A search for a task for every slot, one slot after the other.

    Args:
        relation: The order relation of the tasks.
        slots: The slots.
        allowed: The tasks that may take each of the slots, as bits.
        misleading: Place ordered tasks in reverse.
        window: The part of the vocabulary to choose from, as shares of it; others are used if none fits.
        noise: How far the choice strays from the slot's place in the window, as a share of it.
    """

    def __init__(
        self,
        relation: _Relation,
        slots: Sequence[TaskSlot],
        allowed: Sequence[int],
        misleading: bool,
        window: tuple[float, float],
        noise: float,
    ) -> None:
        low, high = window
        self.allowed = allowed
        self.spread = noise * (high - low) * relation.size
        positions = [1 - slot.position if misleading else slot.position for slot in slots]
        self.targets = [(low + (high - low) * position) * (relation.size - 1) for position in positions]
        masks = _misleading_masks if misleading else _sensible_masks
        self.masks = [masks(relation, slot, number) for number, slot in enumerate(slots)]

    def run(self, rng: Random) -> list[int] | None:
        """Return the task of each slot, by its index; None if the search is given up."""
        chosen: list[int] = []
        waiting = [self._candidates(0, self.allowed[0], rng)]
        ahead = [self._fitting(1, chosen)]  # for each slot reached: what fits the next slot beside all slots before it
        for _ in range(NODES * len(self.allowed)):
            while (task := next(waiting[-1], None)) is None:
                waiting.pop()
                ahead.pop()
                if not waiting:
                    return None
                chosen.pop()
            chosen.append(task)
            number = len(chosen)
            if number == len(self.allowed):
                return chosen
            fitting = ahead[-1] & self.masks[number][-1][task]
            waiting.append(self._candidates(number, fitting, rng))
            ahead.append(self._fitting(number + 1, chosen) if fitting else 0)
        return None

    def _fitting(self, number: int, chosen: Sequence[int]) -> int:
        """Return the tasks that fit the slot of that number beside the chosen ones, as bits; none if there is no slot.

        The tasks of the last slots before it need not be chosen yet.
        """
        if number == len(self.allowed):
            return 0
        fitting = self.allowed[number]
        for masks, task in zip(self.masks[number], chosen, strict=False):
            fitting &= masks[task]
        return fitting

    def _candidates(self, number: int, fitting: int, rng: Random) -> Iterator[int]:
        """Return some of the tasks that fit the slot of that number, the task closest to the slot's place first.

        All numbers are drawn at once, so that the sequence of draws does not depend on how many tasks are tried.
        """
        if not fitting:
            return iter(())
        target, spread, draw = self.targets[number], self.spread, rng.random
        tasks = _set_bits(fitting)
        return _closest_first(tasks, [abs(task - target) + spread * draw() for task in tasks])


def _misleading_masks(relation: _Relation, slot: TaskSlot, number: int) -> list[tuple[int, ...]]:
    """Return, for each slot before the slot of that number, which tasks it leaves by the task that it has itself."""
    return [relation.not_later if slot.before >> other & 1 else relation.any_other for other in range(number)]


def _sensible_masks(relation: _Relation, slot: TaskSlot, number: int) -> list[tuple[int, ...]]:
    """Return, for each slot before the slot of that number, which tasks it leaves by the task that it has itself."""
    masks = []
    for other in range(number):
        if slot.before >> other & 1:
            masks.append(relation.not_earlier)
        elif slot.excluding >> other & 1:
            masks.append(relation.not_bound)
        else:
            masks.append(relation.not_related)
    return masks


def _closest_first(tasks: Sequence[int], distances: list[float]) -> Iterator[int]:
    """Yield up to BRANCHING tasks, closest first; mostly only the first is tried, so they are not sorted."""
    for _ in range(min(BRANCHING, len(tasks))):
        closest = distances.index(min(distances))
        yield tasks[closest]
        distances[closest] = math.inf

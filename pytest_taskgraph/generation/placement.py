"""Choose a task of a domain for every step of a draft, so that the workflow makes sense, or contradicts sense.

It makes sense if no task stands before a task that it follows in the order relation of its vocabulary: on a way to it,
or beside it where both may run. In a misleading workflow the ordered tasks stand in reverse, as far as ways lead from
one to the other.

The search is randomized, with bounded backtracking, in the order of the control flow. It has a random generator of its
own, seeded by a single draw, so that its length has no effect on what is drawn after it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from ..catalog import catalog_cache
from .draft import Branch, Draft, DraftStep, ancestors
from .vocabularies import Composite, Vocabulary, VocabularyEntry, vocabulary

TRIES = 6  # searches, each with other composites and another noise
NODES = 8  # tasks tried for each step, after which a search is given up
BRANCHING = 5  # tasks tried for one step
NOISE = (0.1, 0.25, 0.5)  # how far, as a share of the vocabulary, the choice strays from the step's place


@dataclass(frozen=True, slots=True)
class TaskSlot:
    """An atomic step that needs a task; slots are numbered in the order of the flow, bits stand for them.

    `before` are the slots on ways that lead to it, `excluding` those of other branches of an exclusive choice, which
    never run together with it. `position` is its place in the whole, from 0.0 to 1.0.
    """

    step: DraftStep
    before: int
    excluding: int
    position: float
    around: DraftStep | None  # the composite step that it is directly inside


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
    names = [task.name for task in domain.tasks]
    all_allowed = sum([1 << i for i, name in enumerate(names) if name not in excluded])
    for number in range(TRIES):
        groups = _choose_composites(domain, composites, slots, search_rng, misleading, excluded)
        if groups is None:
            return False
        masks = {key: sum(1 << names.index(name) for name in group.tasks) for key, group in groups.items()}
        allowed = [masks.get(id(slot.around), all_allowed) for slot in slots]
        search = _Search(_relation(domain.name), slots, allowed, misleading)
        task_indices = search.run(
            _draw_window(len(slots) / len(names), search_rng), NOISE[number % len(NOISE)], search_rng
        )
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
    index = {task.name: i for i, task in enumerate(domain.tasks)}
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
    steps = _atomic_steps(root)
    bits = {id(step): 1 << number for number, step in enumerate(steps)}
    before: dict[int, int] = {}
    excluding: dict[int, int] = {}
    around: dict[int, DraftStep | None] = {}
    _relate_steps(root, None, 0, 0, bits, (before, excluding, around))
    after = _count_bits(before.values(), len(steps))
    last = max(1, len(steps) - 1)
    return [
        TaskSlot(
            step,
            before[id(step)],
            excluding[id(step)],
            (before[id(step)].bit_count() + last - after[number]) / (2 * last),
            around[id(step)],
        )
        for number, step in enumerate(steps)
    ]


def _count_bits(numbers: Iterable[int], size: int) -> list[int]:
    """Return in how many of the numbers each of the lowest `size` bits is set."""
    counts = [0] * size
    for left in numbers:
        while left:
            lowest = left & -left
            counts[lowest.bit_length() - 1] += 1
            left ^= lowest
    return counts


def _atomic_steps(level: Draft) -> list[DraftStep]:
    return [atomic for step in level.steps for atomic in ([step] if step.inner is None else _atomic_steps(step.inner))]


def _relate_steps(
    level: Draft,
    around: DraftStep | None,
    before: int,
    excluding: int,
    bits: dict[int, int],
    relations: tuple[dict[int, int], dict[int, int], dict[int, DraftStep | None]],
) -> None:
    """Record for each atomic step, at any depth, the steps before it, those that exclude it, and the step around it.

    `before` and `excluding` are those of the step around the level.
    """
    steps = level.steps
    bits_inside = [
        bits[id(step)] if step.inner is None else sum([bits[id(inner)] for inner in _atomic_steps(step.inner)])
        for step in steps
    ]
    exclusive = _ExclusiveBranches(steps, bits_inside)
    for i, (step, ways) in enumerate(zip(steps, ancestors(level), strict=True)):
        earlier = before | sum([bits_inside[j] for j in range(i) if ways >> j & 1])
        never = excluding | exclusive.outside(step)
        if step.inner is not None:
            _relate_steps(step.inner, step, earlier, never, bits, relations)
        else:
            relations[0][id(step)], relations[1][id(step)], relations[2][id(step)] = earlier, never, around


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
    """The order relation of a vocabulary: for each task, as bits, those before it, after it, or bound to be either."""

    earlier: tuple[int, ...]
    later: tuple[int, ...]
    bound: tuple[int, ...]

    @property
    def tasks(self) -> range:
        return range(len(self.earlier))


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
            window: The part of the vocabulary to choose from, as shares of it; others are used if none fits.
            noise: How far the choice strays from the slot's place in the window, as a share of it.
            rng: The source of choice.
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
        """Return some tasks that fit the next slot, the task closest to the slot's place last."""
        slot, relation = self.slots[len(chosen)], self.relation
        fitting = self.allowed[len(chosen)]
        for number, task in enumerate(chosen):
            fitting &= ~(1 << task)
            if slot.before >> number & 1:
                fitting &= ~(relation.later[task] if self.misleading else relation.earlier[task])
            elif self.misleading:
                continue
            elif slot.excluding >> number & 1:
                fitting &= ~relation.bound[task]
            else:
                fitting &= ~(relation.earlier[task] | relation.later[task])
        position = 1 - slot.position if self.misleading else slot.position
        low, high = window
        size = len(relation.earlier)
        target = (low + (high - low) * position) * (size - 1)
        spread = noise * (high - low) * size
        draw = rng.random
        ranked = [(abs(task - target) + spread * draw(), task) for task in relation.tasks if fitting >> task & 1]
        ranked.sort()
        return [task for _, task in ranked[BRANCHING - 1 :: -1]]

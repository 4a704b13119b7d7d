"""Tasks generated from the vocabularies, so that there are always some that no model has seen.

A task consists of 5 to 12 tasks of one domain, written as steps: "Fold napkins" for `FoldNapkins`. A vocabulary says of
each pair whether one must come first in everybody's eyes, only by custom, or whether the order is free
(`generation/vocabularies`). Only such tasks are put together of which every two are in a clear relation: either the
one must be done before the other, directly or through others of the same task, or their order is free. The dependencies
are the transitive reduction of what must be; there are at least half as many as steps. The steps are listed in a random
order that keeps the dependencies.

The title names the whole and the results of the last steps, the context also what is at hand at the start and the
number of steps.

What such a task can measure:

- The order of the steps, when they are given: it is fully determined, and nothing in it is mere custom.
- Not which steps are right: title and context tell what goes in and comes out, and the steps are one valid list of
  several. The scores of generated steps compare models with each other; they are low for a good model too, and not
  comparable with those on tasks that people wrote.

The steps of a split come from domains of its own, so training and test never share a task: the built-in domains are
dealt out in the order of their names, those that a project or a plugin registers are for the test. Vocabularies without
meaning are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import cycle
from random import Random
from typing import Final

from ....benchmarks.option import SPLITS, Split
from ....catalog import catalog_cache
from ....errors import UsageError
from ....generation.vocabularies import VOCABULARIES, Vocabulary, VocabularyEntry, domain_names, vocabulary
from ....generation.vocabularies.procedure_words import name_phrase
from ....notations.phrases import join_words
from ..complex_task import ComplexTask
from .task_set import TaskSet

LEAST_STEPS: Final = 5
MOST_STEPS: Final = 12
MOST_TASKS: Final = 10_000  # of a split; a second makes about 200
LEAST_TASKS: Final = 32  # of a split, so that there are examples to draw, and something to tune on
RESULTS_IN_TITLE: Final = 3
ATTEMPTS: Final = 500  # to find one more task in a domain
LINKED: Final = (0.5, 0.75, 0.95)  # how often a step is added that depends on another, or another on it
DEALT: Final[tuple[Split, ...]] = ("train", "test", "train", "test", "validation")  # to the built-in domains in turn


def generate_tasks(seed: int, least: int) -> TaskSet:
    """Return new tasks; the same for the same seed, and the first ones for fewer.

    Args:
        seed: Decides on the tasks.
        least: The number of tasks that each split has at least.

    Raises:
        UsageError: if these are more than MOST_TASKS, or the vocabularies do not have so many different tasks.
    """
    if least > MOST_TASKS:
        raise UsageError(
            f"TaskLAMA, generated tasks: {least} are asked for; expected at most {MOST_TASKS} "
            "(--taskgraph-instances); another --taskgraph-seed gives others"
        )
    return _generate(seed, max(least, LEAST_TASKS))


@catalog_cache
@lru_cache(maxsize=4)
def _generate(seed: int, count: int) -> TaskSet:
    domains = domains_by_split()
    return TaskSet.of("generated", {split: list(_tasks(domains[split], split, seed, count)) for split in SPLITS})


def domains_by_split() -> dict[Split, tuple[str, ...]]:
    """Return the names of the domains of each split."""
    dealt: dict[Split, list[str]] = {split: [] for split in SPLITS}
    turns = cycle(DEALT)
    for name in domain_names():
        dealt["test" if name in VOCABULARIES.registered else next(turns)].append(name)
    return {split: tuple(names) for split, names in dealt.items()}


def _tasks(domains: Sequence[str], split: Split, seed: int, count: int) -> Iterator[ComplexTask]:
    """Yield `count` tasks of different steps."""
    orders = [MustOrder.of(vocabulary(name)) for name in domains]
    seen: set[tuple[str, int]] = set()
    for number in range(count):
        rng = Random(f"{seed}|tasklama|{split}|{number}")
        turn = number % len(orders)  # the domains take turns; one that has no further task leaves it to the next
        draws = ((order, order.draw(rng)) for order in (*orders[turn:], *orders[:turn]) for _ in range(ATTEMPTS))
        draw = next(
            (
                (order, chosen_steps)
                for order, chosen_steps in draws
                if chosen_steps and (order.words.name, chosen_steps) not in seen
            ),
            None,
        )
        if draw is None:
            raise UsageError(
                f"TaskLAMA: {number} different tasks were found in the domains {', '.join(domains)}, and {count} are "
                "asked for; ask for fewer --taskgraph-instances, or register another vocabulary"
            )
        order, chosen = draw
        seen.add((order.words.name, chosen))
        yield _task(order, chosen, split, rng)


@dataclass(frozen=True, slots=True)
class MustOrder:
    """The tasks of a domain in the order of its file, with what is clear about their order.

    Sets of tasks are bits of a number. `before` holds for each task those that must come before it, as the file states
    them, `after` those before which it must come, and `free` the earlier and later ones in a free order with it.
    """

    words: Vocabulary
    before: tuple[int, ...]
    after: tuple[int, ...]
    free: tuple[int, ...]

    @classmethod
    def of(cls, words: Vocabulary) -> MustOrder:
        """Return the order that a vocabulary states."""
        place = {task.name: at for at, task in enumerate(words.tasks)}
        before = [sum(1 << place[name] for name in task.requires) for task in words.tasks]
        free = [(1 << at) - 1 & ~sum(1 << place[name] for name in task.follows) for at, task in enumerate(words.tasks)]
        return cls(
            words,
            tuple(before),
            tuple(_invert(before)),
            tuple(earlier | later for earlier, later in zip(free, _invert(free), strict=True)),
        )

    def draw(self, rng: Random) -> int:
        """Return a set of tasks whose order is clear, with enough dependencies; 0 if the draw came to none."""
        size, linked = rng.randint(LEAST_STEPS, MOST_STEPS), rng.choice(LINKED)
        chosen = 1 << rng.randrange(len(self.before))
        for _ in range(size - 1):
            fitting = self.extensions(chosen)
            neighbours = [at for at in fitting if (self.before[at] | self.after[at]) & chosen]
            if not fitting:
                return 0
            chosen |= 1 << rng.choice(neighbours if neighbours and rng.random() < linked else fitting)
        phrases = {step_phrase(task.name).casefold() for task in self.tasks(chosen)}
        enough = len(phrases) == size and 2 * len(self.dependencies(chosen)) >= size
        return chosen if enough else 0

    def extensions(self, chosen: int) -> list[int]:
        """Return the tasks that can be added to a set with a clear order so that its order stays clear."""
        reached = dict(self._predecessors(chosen))
        return [at for at in range(len(self.before)) if not chosen >> at & 1 and self._is_clear(at, reached)]

    def _is_clear(self, at: int, reached: Mapping[int, int]) -> bool:
        """Return True if a task, added to others, must come before or after each of them, or is free with it.

        Args:
            at: The task.
            reached: Each of the others with those of them that must come before it.
        """
        unclear = [other for other in reached if not self.free[at] >> other & 1]
        if not unclear:
            return True
        earlier = later = 0
        for other, must in reached.items():  # rising: what comes between stands before
            bit = 1 << other
            if self.before[at] & bit:
                earlier |= bit | must
            if self.after[at] & bit or must & later:
                later |= bit
        return all((earlier | later) >> other & 1 for other in unclear)

    def _predecessors(self, chosen: int) -> Iterator[tuple[int, int]]:
        """Yield each of the tasks with those of them that must come before it, also through others of them."""
        reached: dict[int, int] = {}
        for at in bits(chosen):
            reached[at] = self.before[at] & chosen
            for other in bits(reached[at]):
                reached[at] |= reached[other]
            yield at, reached[at]

    def tasks(self, chosen: int) -> list[VocabularyEntry]:
        """Return the tasks of a set, in the order of the file."""
        return [self.words.tasks[at] for at in bits(chosen)]

    def dependencies(self, chosen: int) -> list[tuple[int, int]]:
        """Return the immediate dependencies between the tasks of a set, by their places in the file."""
        reached = dict(self._predecessors(chosen))
        return [
            (before, at)
            for at, must in reached.items()
            for before in bits(must)
            if not any(reached[between] >> before & 1 for between in bits(must))
        ]


def _invert(relation: Sequence[int]) -> list[int]:
    """Return the relation from the other side: for each task, those that it is stated of."""
    return [sum(1 << at for at, stated in enumerate(relation) if stated >> place & 1) for place in range(len(relation))]


def bits(number: int) -> list[int]:
    """Return the places of the bits that are set, in rising order."""
    return [at for at in range(number.bit_length()) if number >> at & 1]


def _task(order: MustOrder, chosen: int, split: Split, rng: Random) -> ComplexTask:
    """Return the task of these steps, in a random order that keeps the dependencies."""
    edges = order.dependencies(chosen)
    left, listing = bits(chosen), list[int]()
    while left:
        ready = [at for at in left if not any(after == at and before in left for before, after in edges)]
        listing.append(rng.choice(ready))
        left.remove(listing[-1])
    place = {at: index for index, at in enumerate(listing)}
    entries = [order.words.tasks[at] for at in listing]
    last = [order.words.tasks[at] for at in listing if all(before != at for before, _ in edges)]
    whole, purpose = order.words.workflows[0] if rng.random() < 0.5 else rng.choice(order.words.workflows)
    return ComplexTask(
        "",
        _title(whole, last),
        _context(purpose, entries),
        tuple(step_phrase(entry.name) for entry in entries),
        tuple(sorted((place[before], place[after]) for before, after in edges)),
        order.words.name,
        split,
    )


def _title(whole: str, last: Sequence[VocabularyEntry]) -> str:
    """Name the whole and what the last steps come to."""
    results = list(dict.fromkeys(name for entry in last for name in entry.writes))[:RESULTS_IN_TITLE]
    if not results:
        return f"{step_phrase(whole)}: carry out a part"
    return f"{step_phrase(whole)}: get {join_words(f'the {name_phrase(name)}' for name in results)}"


def _context(purpose: str, entries: Sequence[VocabularyEntry]) -> tuple[str, ...]:
    """Say what the whole is for, what is at hand, what comes out, and how many steps there are."""
    read = dict.fromkeys(name for entry in entries for name in entry.reads)
    written_names = dict.fromkeys(name for entry in entries for name in entry.writes)
    given = [name_phrase(name) for name in read if name not in written_names]
    results = [name_phrase(name) for name in written_names if name not in read]
    about = purpose[:1].lower() + purpose[1:].rstrip(". ")
    lines = [f"Part of a workflow that {about}"] if about else []
    lines += [f"At hand at the start: {', '.join(sorted(given))}"] if given else []
    lines += [f"There at the end: {', '.join(sorted(results))}"] if results else []
    return (*lines, f"In {len(entries)} steps")


def step_phrase(name: str) -> str:
    """Return a name of a vocabulary as a phrase: "Fold napkins" for `FoldNapkins`."""
    words = name_phrase(name)
    return words[:1].upper() + words[1:]

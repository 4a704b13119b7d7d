"""Draw guards: conditions that provably exclude each other, or provably overlap, and in either case leave no gap.

Which of the two it is shows in the constants alone: the operators, their strictness, "and" and "or" are drawn alike.
Guards in any shape, with gaps too, are drawn by `flaws/guard_flaws.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from ..workflow.model import OTHERWISE, Domain, Link, Workflow
from .vocabularies import Condition, Vocabulary, vocabulary, vocabulary_names

IN_WORDS = 0.5  # probability that a choice of two uses the words of the domain, where allowed
MOST_NAMED = 2  # words that one guard names
STEPS = (1, 1, 2, 3)  # amounts by which a loop changes its parameter

UPPER = {True: "<", False: "<="}
LOWER = {True: ">", False: ">="}

_WORD = re.compile(r"[^\W\d]\w*")


class GuardNames:
    """A supply of names, each given once; when the words of a kind are used up, they are numbered."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def take(self, word: str) -> str:
        """Return the word, or the word with the smallest number from 2 on that makes it new."""
        name, number = word, 1
        while name in self._taken:
            number += 1
            name = f"{word}{number}"
        self._taken.add(name)
        return name


@dataclass(frozen=True, slots=True)
class Measure:
    """A numeric parameter, and the integers from `low` to `high` that are usual for it."""

    name: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class GuardChoice:
    """The guards of one task's links, and the domains of the parameters that they compare.

    For a loop, the first guard is that of the way back; `step` is what one pass adds to its only parameter.
    """

    guards: list[str]
    domains: list[tuple[str, Domain]]
    step: int = 0


class Conditions:
    """Draws the guards of one workflow; every choice has a parameter of its own, so choices are independent."""

    def __init__(self, vocabulary: Vocabulary, names: GuardNames, rng: Random, prose: bool = False) -> None:
        self.vocabulary, self.names, self.rng, self.prose = vocabulary, names, rng, prose

    def measure(self, cuts: int = 1) -> Measure:
        """Draw a new numeric parameter whose range has room for `cuts` constants with numbers between."""
        condition = self.rng.choice(self.vocabulary.conditions)
        return Measure(
            self.names.take(condition.parameter), condition.low, max(condition.high, condition.low + 2 * cuts + 2)
        )

    def mode(self, least: int = 2) -> tuple[str, tuple[str, ...]] | None:
        """Draw a new parameter with words, `least` or more; None if the vocabulary has none."""
        fitting = [mode for mode in self.vocabulary.modes if len(mode[1]) >= least]
        if not fitting:
            return None
        name, words = self.rng.choice(fitting)
        return self.names.take(name), words

    def numbers(self, measure: Measure) -> Domain:
        """Draw a domain for the parameter: its range, in integers or reals."""
        return Domain("real" if self.rng.random() > 0.7 else "integer", measure.low, measure.high)

    def exclusive(self, count: int) -> GuardChoice:
        """Draw `count` guards of which exactly one holds, over integers as over reals.

        Two guards are at times stated in the words of the domain, if prose is allowed.
        """
        in_words = (
            [condition for condition in self.vocabulary.conditions if condition.holds]
            if count == 2 and self.prose
            else []
        )
        if in_words and self.rng.random() < IN_WORDS:
            return self._in_words(self.rng.choice(in_words))
        return self._choice(count, overlapping=False)

    def _in_words(self, condition: Condition) -> GuardChoice:
        """Draw a condition and its opposite, as a person states them."""
        guards = [condition.holds, condition.fails]
        if self.rng.random() > 0.5:
            guards[self.rng.randrange(2)] = OTHERWISE
        self.rng.shuffle(guards)
        return GuardChoice(guards, [])

    def inclusive(self, count: int) -> GuardChoice:
        """Draw `count` guards of which at least one always holds, and sometimes several do."""
        return self._choice(count, overlapping=True)

    def mixed(self) -> GuardChoice:
        """Draw the single guard beside an unguarded link."""
        measure = self.measure()
        guard = f"{measure.name} {self.rng.choice(['<', '<=', '>', '>='])} {self._inside(measure, 1)[0]}"
        return GuardChoice([guard], [(measure.name, self.numbers(measure))])

    def loop(self) -> GuardChoice:
        """Draw the guard that goes back and the guard that goes on; the step mostly moves towards the end of the loop.

        Some loops go back until the parameter has one certain value, which a step of more than 1 may miss.
        """
        measure, rising = self.measure(), self.rng.random() <= 0.5
        middle = (measure.low + measure.high) // 2  # where a rising loop has room below its bound, another above
        bound = self.rng.choice(list(range(middle, measure.high) if rising else range(measure.low + 1, middle + 1)))
        strict = self.rng.random() <= 0.5
        back, on = (UPPER[strict], LOWER[not strict]) if rising else (LOWER[strict], UPPER[not strict])
        if self.rng.random() > 0.75:
            back, on = "!=", "="
        towards = self.rng.random() <= 0.7
        step = self.rng.choice(STEPS) * (1 if rising == towards else -1)
        guards = [f"{measure.name} {back} {bound}", f"{measure.name} {on} {bound}"]
        if self.rng.random() > 0.4:
            guards[self.rng.random() > 0.35] = OTHERWISE
        return GuardChoice(guards, [(measure.name, Domain("integer"))], step)

    def _choice(self, count: int, overlapping: bool) -> GuardChoice:
        mode = self.mode(count + 1) if self.rng.random() > 0.6 else None
        if mode is not None:
            guards, domain = self._of_words(count, *mode, overlapping), (mode[0], Domain("words", words=mode[1]))
        else:
            measure = self.measure(2 * count)
            guards, domain = self._of_numbers(count, measure, overlapping), (measure.name, self.numbers(measure))
        self.rng.shuffle(guards)
        return GuardChoice(guards, [domain])

    def _of_numbers(self, count: int, measure: Measure, overlapping: bool) -> list[str]:
        """Draw guards that each hold between two cuts; to overlap, some reach from below a cut to the next number."""
        points = self._inside(measure, 2 * (count - 1))
        cuts, ends = points[::2], points[1::2]
        rest = (
            self.rng.choice([0, count - 1]) if count >= (3 if overlapping else 2) and self.rng.random() > 0.65 else -1
        )
        free = [at for at in range(count - 1) if rest not in (at, at + 1)]
        reaching = self.rng.sample(free, 1 + self.rng.randrange(len(free))) if overlapping else []
        upper, lower = [], []
        for at, cut in enumerate(cuts):
            strict = self.rng.random() <= 0.5
            upper.append(f"{measure.name} {UPPER[strict]} {ends[at] if at in reaching else cut}")
            lower.append(f"{measure.name} {LOWER[not strict]} {cut}")
        between = [f"{low} and {high}" for low, high in zip(lower[:-1], upper[1:], strict=True)]
        guards = [upper[0], *between, lower[-1]]
        if rest >= 0:
            guards[rest] = OTHERWISE
        return guards

    def _inside(self, measure: Measure, count: int) -> list[int]:
        """Draw `count` different numbers inside the range, sorted."""
        return sorted(self.rng.sample(range(measure.low + 1, measure.high), count))

    def _of_words(self, count: int, name: str, words: Sequence[str], overlapping: bool) -> list[str]:
        """Draw guards that each name words, and a last guard for the words that they leave, or "otherwise".

        Two of them overlap by a word that both name, or by a word that the last guard does not exclude.
        """
        limit = min(len(words) - 1, MOST_NAMED * (count - 1))
        count_compared = self.rng.choice(list(range(min(limit, max(2, count - 1)), limit + 1)))
        compared_words = self.rng.sample(words, count_compared)
        groups = [compared_words[at :: count - 1] for at in range(count - 1)]
        left = list(compared_words)
        if overlapping and count > 2 and self.rng.random() > 0.5:
            groups[0] = [*groups[0], groups[1][0]]
        elif overlapping:
            left.remove(self.rng.choice(compared_words))
        guards = [" or ".join(f"{name} = {word}" for word in group) for group in groups]
        free = len(left) == len(compared_words) and self.rng.random() > 0.5
        return [*guards, OTHERWISE if free else " and ".join(f"{name} != {word}" for word in left)]


def words_in_use(links: Iterable[Link], workflow: Workflow) -> list[str]:
    """Return every word of the guards of some links, and of the effects and parameters of the workflow's tasks."""
    texts = [link.guard for link in links if link.guard is not None]
    texts += [f"{effect.parameter} {effect.expression}" for task in workflow.tasks for effect in task.effects]
    parameters = [parameter.name for task in workflow.tasks for parameter in task.parameters]
    return [*_WORD.findall(" ".join(texts)), *parameters]


def conditions_for(workflow: Workflow, taken: Iterable[str], rng: Random) -> Conditions:
    """Return a `Conditions` for further guards of a finished workflow, in its own vocabulary and with new names."""
    name = workflow.package if workflow.package in vocabulary_names() else "neutral"
    return Conditions(vocabulary(name), GuardNames(taken), rng)

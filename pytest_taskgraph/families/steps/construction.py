"""The questions of STEPS, built from recipes (Wang et al. 2023, sections 3.1 and 3.2).

For a recipe S_1 to S_N of 4 to 10 steps and every j from 2 to N-1, S_1 to S_{j-1} are given. In the classification, S_j
is Yes and each of S_{j+1} to S_N is No: N-2 Yes, (N-2)(N-1)/2 No. In the multiple choice, S_j stands against one of
S_{j+1} to S_N, drawn evenly by the seed. `ConstructionRule` varies that.

Real recipes say things twice, of which the paper says nothing. Two texts are the same step if they differ in nothing
but case, spaces and the full stop at the end. Then:

- A step without a letter or digit is no step: it is removed before N is counted.
- A later step that is the same as S_j, or as one of the steps before it, is no negative: the first would be wrong, the
  second is seen to be done already. Of later steps that are the same, one is asked about.
- Each S_j is asked for, also if the recipe has that step twice.
- A question for which no later step is left has no No, and is no multiple choice.
- Steps of one word are kept, unless the rule drops them.

All of this is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from ...benchmarks.data_sets.data_problems import step_key
from ...errors import UsageError
from .next_step_samples import ChoiceSample, NextStepSample, StepRecipe

Negatives = Literal["all", "one"]
OneWordSteps = Literal["keep", "drop"]


@dataclass(frozen=True, slots=True)
class ConstructionRule:
    """Which recipes are used, and which questions are built from one of N steps S_1 to S_N.

    The default is the rule of Wang et al. (2023), sections 3.1 and 3.2. Section 3.2 mixes the indices of the negative
    samples up; section 3.1 is followed.

    Args:
        first: The place j of the first step that is asked for. At least 2: a question has a step before it. A negative
            number counts from the end: -1 is N-1.
        last: The place of the last step that is asked for; None for N-1, the last one that has a later step. A negative
            number counts from the end: -1 is N-1, -2 is N-2. A larger place than N-1 is taken as N-1.
        negatives: What the classification asks about besides S_j: all later steps, or one of them, drawn evenly. The
            multiple choice always has one.
        shortest: The smallest N of a recipe that is used.
        longest: The largest; None for no limit.
        one_word: Whether steps of one word, such as "Stir" or "Enjoy", are steps like others, as in the paper, or are
            dropped before anything is counted.
    """

    first: int = 2
    last: int | None = None
    negatives: Negatives = "all"
    shortest: int = 4
    longest: int | None = 10
    one_word: OneWordSteps = "keep"

    def __post_init__(self) -> None:
        if self.first in (0, 1):
            raise UsageError(f"first: found {self.first}, expected at least 2, or a negative number from the end")
        if self.last in (0, 1):
            raise UsageError(f"last: found {self.last}, expected at least 2, or a negative number from the end")
        if self.negatives not in ("all", "one"):
            raise UsageError(f"negatives: found {self.negatives!r}, expected all or one")
        if self.one_word not in ("keep", "drop"):
            raise UsageError(f"one_word: found {self.one_word!r}, expected keep or drop")
        if self.shortest < 1 or (self.longest is not None and self.longest < self.shortest):
            raise UsageError(
                f"shortest, longest: found {self.shortest} and {self.longest}, expected at least 1, and no less than it"
            )

    def uses(self, count: int) -> bool:
        """Return True if recipes of so many steps are used."""
        return self.shortest <= count and (self.longest is None or count <= self.longest)

    def positions(self, count: int) -> range:
        """Return the places j, counted from 1, of the steps that are asked for in a recipe of so many steps.

        They lie between 2 and N-1, whatever the rule says.
        """
        first = self.first if self.first > 0 else count + self.first
        last = count - 1 if self.last is None else self.last if self.last > 0 else count + self.last
        return range(max(first, 2), min(last, count - 1) + 1)


PAPER_RULE: Final = ConstructionRule()
"""The rule of Wang et al. (2023), sections 3.1 and 3.2."""


@dataclass(slots=True)
class ConstructionCounts:
    """What came of building questions; the builders add to it while their samples are taken.

    Args:
        recipes: The recipes that were given.
        too_short: Those with fewer steps than the rule asks for.
        too_long: Those with more.
        empty_steps: Steps without a letter or digit, which are removed, over all recipes.
        one_word_steps: Steps of one word, kept or dropped, over all recipes.
        repeated_steps: Steps of used recipes that are the same as an earlier one.
        left_out: Negatives left out, as they are the same as another step of their question.
        without_negative: Questions without a negative, for that reason.
        yes: Samples of the classification whose candidate is the next step.
        no: Samples of the classification whose candidate is a later one.
        choices: Samples of the multiple choice.
    """

    recipes: int = 0
    too_short: int = 0
    too_long: int = 0
    empty_steps: int = 0
    one_word_steps: int = 0
    repeated_steps: int = 0
    left_out: int = 0
    without_negative: int = 0
    yes: int = 0
    no: int = 0
    choices: int = 0

    @property
    def used(self) -> int:
        """The recipes that questions are built from."""
        return self.recipes - self.too_short - self.too_long

    def lines(self) -> list[str]:
        """Return a line on the recipes, one on the samples, and one on what is odd about the steps, if anything is."""
        recipes = f"recipes: {self.used} of {self.recipes} used; {self.too_short} too short, {self.too_long} too long"
        samples = [f"{self.yes} Yes, {self.no} No"] if self.yes or self.no else []
        samples += [f"{self.choices} choices"] if self.choices else []
        odd = {
            "empty": self.empty_steps,
            "of one word": self.one_word_steps,
            "repeated": self.repeated_steps,
            "left out as negatives": self.left_out,
            "asked for without a negative": self.without_negative,
        }
        parts = [f"{number} {what}" for what, number in odd.items() if number]
        return [
            recipes,
            f"samples: {'; '.join(samples) or 'none'}",
            *([f"steps: {', '.join(parts)}"] if parts else []),
        ]


def build_classification(
    recipes: Iterable[StepRecipe],
    rule: ConstructionRule = PAPER_RULE,
    seed: int | str = 0,
    counts: ConstructionCounts | None = None,
) -> Iterator[NextStepSample]:
    """Yield the samples of the classification, in the order of recipes, places and candidates.

    Args:
        recipes: The recipes; those that the rule does not use are counted only.
        rule: Which samples to build.
        seed: Decides on the negatives, if the rule asks for one; each place of each recipe has a draw of its own.
        counts: What comes of it is added here.
    """
    counts = ConstructionCounts() if counts is None else counts
    for recipe, steps in _used_steps(recipes, rule, counts):
        for position, later in _places(steps, rule, counts):
            prefix = steps[: position - 1]
            counts.yes += 1
            yield NextStepSample(prefix, steps[position - 1], True, recipe.id, position)
            candidates = (
                [_draw(later, "negative", recipe, position, seed)] if rule.negatives == "one" and later else later
            )
            for candidate in candidates:
                counts.no += 1
                yield NextStepSample(prefix, candidate, False, recipe.id, position)


def build_choices(
    recipes: Iterable[StepRecipe],
    rule: ConstructionRule = PAPER_RULE,
    seed: int | str = 0,
    counts: ConstructionCounts | None = None,
) -> Iterator[ChoiceSample]:
    """Yield the samples of the multiple choice, in the order of recipes and places.

    Args:
        recipes: The recipes; those that the rule does not use are counted only.
        rule: Which samples to build; its `negatives` are of no account.
        seed: Decides on the wrong options; each place of each recipe has a draw of its own.
        counts: What comes of it is added here.
    """
    counts = ConstructionCounts() if counts is None else counts
    for recipe, steps in _used_steps(recipes, rule, counts):
        for position, later in _places(steps, rule, counts):
            if later:
                counts.choices += 1
                wrong = _draw(later, "choice", recipe, position, seed)
                yield ChoiceSample(steps[: position - 1], steps[position - 1], wrong, recipe.id, position)


def _used_steps(
    recipes: Iterable[StepRecipe], rule: ConstructionRule, counts: ConstructionCounts
) -> Iterator[tuple[StepRecipe, tuple[str, ...]]]:
    """Yield the recipes that the rule uses, with their steps as the rule counts them."""
    for recipe in recipes:
        steps = tuple(step for step in recipe.steps if any(letter.isalnum() for letter in step))
        short = sum(len(step_key(step).split()) == 1 for step in steps)
        counts.recipes += 1
        counts.empty_steps += len(recipe.steps) - len(steps)
        counts.one_word_steps += short
        if rule.one_word == "drop" and short:
            steps = tuple(step for step in steps if len(step_key(step).split()) > 1)
        if rule.uses(len(steps)):
            counts.repeated_steps += len(steps) - len({step_key(step) for step in steps})
            yield recipe, steps
        elif len(steps) < rule.shortest:
            counts.too_short += 1
        else:
            counts.too_long += 1


def _places(
    steps: tuple[str, ...], rule: ConstructionRule, counts: ConstructionCounts
) -> Iterator[tuple[int, list[str]]]:
    """Yield the places that are asked for, each with the later steps that are negatives."""
    keys = [step_key(step) for step in steps]
    for position in rule.positions(len(steps)):
        steps_so_far = set(keys[:position])
        later = []
        for step, key in zip(steps[position:], keys[position:], strict=True):
            if key not in steps_so_far:
                steps_so_far.add(key)
                later.append(step)
        counts.left_out += len(steps) - position - len(later)
        counts.without_negative += not later
        yield position, later


def _draw(later: Sequence[str], use: str, recipe: StepRecipe, position: int, seed: int | str) -> str:
    return Random(f"{seed}|steps {use}|{recipe.id}|{position}").choice(later)

"""The samples of STEPS: a candidate for the next step, and two options of which one is the next step."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class NextStepSample:
    """A sample of the classification: whether the candidate is a reasonable next step.

    Args:
        prefix: The steps done so far, S_1 to S_{j-1}.
        candidate: The step that is asked about.
        label: True if it is the next step, S_j.
        recipe: The id of the recipe; the samples of one recipe depend on each other.
        position: j, the place of the next step, counted from 1.
    """

    prefix: tuple[str, ...]
    candidate: str
    label: bool
    recipe: str
    position: int


@dataclass(frozen=True, slots=True)
class ChoiceSample:
    """A sample of the multiple choice: which of two steps comes next.

    Args:
        prefix: The steps done so far, S_1 to S_{j-1}.
        right: The next step, S_j.
        wrong: A later step.
        recipe: The id of the recipe; the samples of one recipe depend on each other.
        position: j, the place of the next step, counted from 1.
    """

    prefix: tuple[str, ...]
    right: str
    wrong: str
    recipe: str
    position: int

    def shuffled(self, seed: int | str) -> tuple[tuple[str, str], int]:
        """Return the two options in an order that the seed decides, and the index of the right one."""
        if Random(f"{seed}|steps options|{self.recipe}|{self.position}").random() < 0.5:
            return (self.right, self.wrong), 0
        return (self.wrong, self.right), 1

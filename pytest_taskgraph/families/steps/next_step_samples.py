"""What questions of STEPS are made of: recipes, samples of their steps, and the query of the paper.

A sample is a candidate for the next step, or two options of which one is the next step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Final

STEP_JOINT: Final = " . "
"""What stands between two steps, in the query of Wang et al. (2023), section 3.4, and in the published files."""
QUERY_MIDDLE: Final = f"{STEP_JOINT}Is the next step of "
"""What stands between the steps done so far and the candidate."""
QUERY_END: Final = " a reasonable step in this recipe ?"
"""What stands behind the candidate."""


@dataclass(frozen=True, slots=True)
class StepRecipe:
    """A recipe or another procedure: its title and its steps in order.

    Args:
        id: Unlike that of any other recipe of its set; letters, digits and hyphens.
        title: What is made or done, such as "Tomato soup".
        steps: The steps in the order in which they are done.
        split: "train", "dev" or "test"; empty if that is not known.
    """

    id: str
    title: str
    steps: tuple[str, ...]
    split: str = ""


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


def join_steps(steps: Iterable[str]) -> str:
    """Return the steps in one text."""
    return STEP_JOINT.join(steps)


def query_of(sample: NextStepSample) -> str:
    """Return the query of a sample: the text of the prompt `paper` without demonstrations."""
    return f"{join_steps(sample.prefix)}{QUERY_MIDDLE}{sample.candidate}{QUERY_END}"

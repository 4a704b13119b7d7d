"""A recipe or another procedure: what the questions of STEPS are built from."""

from __future__ import annotations

from dataclasses import dataclass


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

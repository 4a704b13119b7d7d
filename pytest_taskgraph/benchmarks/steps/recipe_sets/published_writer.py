"""Samples as lines of the published files, such that `published_files` reads the same samples back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from ...data_sets.data_problems import clean_text
from ..next_step_samples import ChoiceSample, NextStepSample
from ..step_query import STEP_JOINT, join_steps
from ..step_recipe import StepRecipe

CLASSIFICATION_FOLDER: Final = "next_step"
CHOICE_FOLDER: Final = "multi-choice"
_BYTE_ORDER_MARK: Final = "\ufeff"


def separable_steps(recipe: StepRecipe) -> tuple[StepRecipe, int]:
    """Return a recipe whose steps can be separated in a line, and the number of steps that had to be changed.

    Columns are separated by tabs, samples by line ends and steps by a full stop between spaces. A tab or a line end
    within a step becomes a space. A full stop between spaces is joined to the word before it.
    """
    steps = tuple(map(_separable_step, recipe.steps))
    changed = sum(ours != theirs for ours, theirs in zip(steps, recipe.steps, strict=True))
    if not changed:
        return recipe, 0  # a copy would hold all texts in memory twice
    return replace(recipe, steps=steps), changed


def _separable_step(step: str) -> str:
    words: list[str] = []
    for word in clean_text(step.replace(_BYTE_ORDER_MARK, " ")).split():
        if word != ".":
            words.append(word)
        elif words and not words[-1].endswith("."):
            words[-1] += "."
    return " ".join(words)


def classification_lines(samples: Iterable[NextStepSample]) -> Iterator[str]:
    """Yield a line for each sample: previous steps, candidate, and Yes or No. The steps must be separable."""
    for sample in samples:
        yield f"{join_steps(sample.prefix)}\t{sample.candidate}\t{'Yes' if sample.label else 'No'}\n"


def choice_lines(samples: Iterable[ChoiceSample]) -> Iterator[str]:
    """Yield a line for each sample: previous steps with an end mark, the next step, a later one."""
    for sample in samples:
        yield f"{join_steps(sample.prefix)}{STEP_JOINT}\t{sample.right}\t{sample.wrong}\n"

"""The settings of the family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...benchmarks.option import SPLIT, Split
from ...benchmarks.settings import Settings
from .steps_options import (
    ANSWER,
    DEMONSTRATIONS,
    METHOD,
    PROMPT,
    RECIPES_DATA,
    SAMPLES_DATA,
    SEEDS,
    AnswerKind,
    PromptName,
    RecipeSplit,
    SampleSource,
)

_FIELDS: Final = {
    "methods": METHOD,
    "prompt_name": PROMPT,
    "answer": ANSWER,
    "seeds": SEEDS,
}
"""The fields of StepsSettings that hold the value of an option, as it is."""


@dataclass(frozen=True, slots=True)
class StepsSettings(Settings):
    """The settings that decide which steps are asked about, by which methods, and how.

    Of each method there are questions about `instances` recipes.
    """

    methods: tuple[str, ...] = ("zero_shot", "perplexity", "letter")
    split: RecipeSplit = "test"
    source: SampleSource = "embedded"
    prompt_name: PromptName = "paper"
    answer: AnswerKind = "auto"
    seeds: int = 6  # draws of demonstrations

    @property
    def examples(self) -> int:
        """The number of demonstrations of few_shot."""
        return DEMONSTRATIONS if self.shots is None else self.shots

    @classmethod
    def of(cls, settings: Settings) -> StepsSettings:
        """Return the settings of a run with the family's own; those that are of the family already, as they are."""
        if isinstance(settings, cls):
            return settings
        split = _recipe_split(settings.value_of(SPLIT))
        return settings.extended(cls, _FIELDS, source=_source(settings), split=split)


def _recipe_split(split: Split) -> RecipeSplit:
    return "dev" if split == "validation" else split


def _source(settings: Settings) -> SampleSource:
    if SAMPLES_DATA in settings.data:
        return "published"
    return "food.com" if RECIPES_DATA in settings.data else "embedded"

"""The options of the family and the settings read from them. This module imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ...benchmarks.data_sets.splits import SPLIT, Split
from ...benchmarks.settings import Option, Settings

DEMONSTRATIONS: Final = 4
"""The number of demonstrations of few_shot, unless --taskgraph-shots is set."""
SAMPLES_DATA: Final = "steps"
"""The data set of published questions."""
RECIPES_DATA: Final = "steps-recipes"
"""The data set of Food.com's recipes."""

METHOD: Final = Option(
    "steps-method",
    "NAME[,NAME]",
    "methods of STEPS: zero_shot, one_shot, few_shot, perplexity, letter, or all of a kind: classification, "
    "multiple_choice",
    "zero_shot,perplexity,letter",
    kind="list",
)
PROMPT: Final = Option(
    "steps-prompt",
    "NAME",
    "prompt of the classification: paper (the paper's query) or question (numbered steps, yes or no)",
    "paper",
    choices=("paper", "question"),
)
ANSWER: Final = Option(
    "steps-answer",
    "KIND",
    "how Yes and No are distinguished: logprobs, text, or auto (logprobs where the model gives them, else text)",
    "auto",
    choices=("auto", "logprobs", "text"),
)
SEEDS: Final = Option(
    "steps-seeds", "N", "draws of demonstrations for one_shot and few_shot, each asked by itself", "6", kind="whole",
    least=1,
)  # fmt: skip
OPTIONS: Final = (METHOD, SPLIT, PROMPT, ANSWER, SEEDS)
HELP: Final = {"instances": "of N recipes per method", "shots": "recipes"}
"""The words of this family for the help of shared options."""

RecipeSplit = Literal["train", "dev", "test"]
SampleSource = Literal["embedded", "published", "food.com"]
PromptName = Literal["paper", "question"]
AnswerKind = Literal["auto", "logprobs", "text"]


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

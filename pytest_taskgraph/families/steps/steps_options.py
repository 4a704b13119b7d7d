"""The options of the family. An idle session imports this module."""

from __future__ import annotations

from typing import Final, Literal

from ...benchmarks.option import SPLIT, Option

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

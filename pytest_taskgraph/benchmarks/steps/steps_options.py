"""The options of the family and the settings read from them. This module imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ...errors import UsageError
from ..settings import Option, Settings
from ..workflow_options import NAMES, NOTATION, TASKS, WORKFLOW, Names

if TYPE_CHECKING:
    from .construction_rule import ConstructionRule, Negatives

DEMONSTRATIONS: Final = 4
"""The number of demonstrations of few_shot, unless --taskgraph-shots is set."""
SAMPLES_DATA: Final = "steps"
"""The data set of published questions."""
RECIPES_DATA: Final = "steps-recipes"
"""The data set of Food.com's recipes."""

METHOD: Final = Option(
    "steps-method",
    "NAME[,NAME]",
    "methods of STEPS: zero_shot, one_shot, few_shot, perplexity, letter, workflow_step, workflow_choice, or all of a "
    "kind: classification, multiple_choice, workflows",
    "zero_shot,perplexity,letter,workflow_step",
    kind="list",
)
SPLIT: Final = Option(
    "steps-split",
    "NAME",
    "split of the recipes that are asked about: train, dev or test",
    "test",
    choices=("train", "dev", "test"),
)
SOURCE: Final = Option(
    "steps-source",
    "NAME",
    "where questions of STEPS come from: embedded, published (--taskgraph-data=steps=PATH) or food.com (steps-recipes)",
    choices=("embedded", "published", "food.com"),
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
FIRST: Final = Option(
    "steps-first", "N", "place of the first step of a recipe that is asked for; -1: the last but one", "2", kind="whole"
)
LAST: Final = Option(
    "steps-last", "N", "place of the last step that is asked for; -2: the last but two", "-1", kind="whole"
)
NEGATIVES: Final = Option(
    "steps-negatives",
    "WHICH",
    "wrong candidates of the classification: all later steps of the recipe, or one of them",
    "all",
    choices=("all", "one"),
)
OPTIONS: Final = (
    METHOD, SPLIT, SOURCE, PROMPT, ANSWER, SEEDS, FIRST, LAST, NEGATIVES, TASKS, NOTATION, NAMES, WORKFLOW
)  # fmt: skip
HELP: Final = {"instances": "of N recipes per method", "shots": "recipes"}
"""The words of this family for the help of shared options."""

RecipeSplit = Literal["train", "dev", "test"]
SampleSource = Literal["embedded", "published", "food.com"]
PromptName = Literal["paper", "question"]
AnswerKind = Literal["auto", "logprobs", "text"]


_FIELDS: Final = {
    "methods": METHOD,
    "split": SPLIT,
    "prompt_name": PROMPT,
    "answer": ANSWER,
    "seeds": SEEDS,
    "first": FIRST,
    "last": LAST,
    "negatives": NEGATIVES,
    "tasks": TASKS,
    "notations": NOTATION,
    "names": NAMES,
    "workflows": WORKFLOW,
}
"""The fields of StepsSettings that hold the value of an option, as it is."""


@dataclass(frozen=True, slots=True)
class StepsSettings(Settings):
    """The settings that decide which steps are asked about, by which methods, and how.

    Of each method there are questions about `instances` recipes or workflows.
    """

    methods: tuple[str, ...] = ("zero_shot", "perplexity", "letter", "workflow_step")
    split: RecipeSplit = "test"
    source: SampleSource = "embedded"
    prompt_name: PromptName = "paper"
    answer: AnswerKind = "auto"
    seeds: int = 6  # draws of demonstrations
    first: int = 2
    last: int = -1
    negatives: Negatives = "all"
    tasks: tuple[int, ...] = (12,)  # sizes of generated workflows
    notations: tuple[str, ...] = ("wadl",)
    names: Names = "mixed"
    workflows: tuple[str, ...] = ()  # the user's own files and folders
    convert: bool = False  # whether own files are shown in `notations` instead of verbatim

    @property
    def examples(self) -> int:
        """The number of demonstrations of few_shot."""
        return DEMONSTRATIONS if self.shots is None else self.shots

    @property
    def rule(self) -> ConstructionRule:
        """The rule by which samples are built from recipes. Raises UsageError."""
        from .construction_rule import ConstructionRule

        try:
            return ConstructionRule(self.first, self.last, self.negatives)
        except UsageError as error:
            raise UsageError(f"--taskgraph-steps-{error}") from None

    @classmethod
    def of(cls, settings: Settings) -> StepsSettings:
        """Return the settings of a run with the family's own; those that are of the family already, as they are."""
        if isinstance(settings, cls):
            return settings
        return settings.extended(
            cls,
            _FIELDS,
            source=settings.value_of(SOURCE) or _default_source(settings),
            convert=NOTATION.name in settings.own,
        )


def _default_source(settings: Settings) -> SampleSource:
    if SAMPLES_DATA in settings.data:
        return "published"
    return "food.com" if RECIPES_DATA in settings.data else "embedded"

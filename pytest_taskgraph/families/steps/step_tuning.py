"""What models are tuned for: the classification of STEPS, as in Wang et al. (2023), section 3.4.

The paper fine-tunes all weights on the query with its answer. The answer that is rarer is repeated until both are
learned as often. A validation compares P(Yes) with P(No) behind the query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from ...benchmarks.settings import Settings
from ...benchmarks.tuning_task import (
    TuningData,
    TuningParameters,
    TuningSample,
    TuningTask,
    chosen_share,
    draw_samples,
)
from ...errors import UsageError
from ...results.aggregates import geometric_mean
from .construction import PAPER_RULE, build_classification
from .next_step_samples import NextStepSample, StepRecipe, query_of
from .recipe_sets import RecipeSet, load
from .steps_settings import StepsSettings

ANSWERS: Final = (" Yes", " No")


def tuning_sample(sample: NextStepSample) -> TuningSample:
    """Return the query of a sample with its answer."""
    return TuningSample(query_of(sample), ANSWERS[0 if sample.label else 1], ANSWERS)


def tuning_data(settings: Settings, stated: TuningParameters) -> TuningData:
    """Return the samples of the recipes that the settings name, as many Yes as No to learn.

    Recipes of the test split are not looked at. Where published questions are named, recipes that resemble theirs are
    left out.

    Raises:
        UsageError: if the data cannot be used, or a split has no Yes or no No.
    """
    own = StepsSettings.of(settings)
    recipes = load(own)
    if own.source == "published" and recipes.source == "embedded":
        recipes = _without_published(recipes, own)
    train = draw_samples(recipes.train, stated.train, stated.seed, "recipes")
    learned = _samples(train, "train", stated.seed)
    checked = draw_samples(_samples(recipes.dev, "dev", stated.seed), stated.dev, stated.seed, "dev")
    yes = sum(sample.target == ANSWERS[0] for sample in learned)
    facts = {
        "source": recipes.source,
        "train_recipes": len(train),
        "dev_recipes": len(recipes.dev),
        "yes": yes,
        "no": len(learned) - yes,
    }
    return TuningData(tuple(_balanced(learned, stated.seed)), tuple(checked), facts, recipes.problems)


def _without_published(recipes: RecipeSet, own: StepsSettings) -> RecipeSet:
    from .recipe_sets.published_files import read_published_samples
    from .recipe_sets.recipe_resemblance import without_published
    from .steps_options import SAMPLES_DATA

    return without_published(recipes, read_published_samples(own.data_path(SAMPLES_DATA)))


def _samples(recipes: Sequence[StepRecipe], split: str, seed: int) -> list[TuningSample]:
    samples = [tuning_sample(sample) for sample in build_classification(recipes, PAPER_RULE, seed)]
    if {sample.target for sample in samples} != {*ANSWERS}:
        raise UsageError(
            f"STEPS: the {split} split of the recipes has {len(samples)} samples, and not both Yes and No; name "
            "recipes of 4 to 10 steps with --data=steps-recipes=PATH"
        )
    return samples


def _balanced(samples: Sequence[TuningSample], seed: int) -> list[TuningSample]:
    """Return the samples with those of the rarer answer repeated until there are as many of both.

    Each is repeated as often as the others, but for one time more of those that the seed draws.
    """
    by_answer = {answer: [sample for sample in samples if sample.target == answer] for answer in ANSWERS}
    most = max(map(len, by_answer.values()))
    balanced: list[TuningSample] = []
    for answer, group in by_answer.items():
        times, more = divmod(most, len(group))
        balanced += group * times + Random(f"{seed}|steps tuning|{answer}").sample(group, more)
    return balanced


def score_choices(samples: Sequence[TuningSample], replies: Sequence[str]) -> Mapping[str, float | None]:
    """Return G-mean, sensitivity and specificity, by which the paper compares models; a tie is wrong."""
    shares = []
    for answer in ANSWERS:
        group = [(sample, reply) for sample, reply in zip(samples, replies, strict=True) if sample.target == answer]
        shares.append(chosen_share([sample for sample, _ in group], [reply for _, reply in group]))
    defined = [share for share in shares if share is not None]
    g_mean = geometric_mean(defined) if len(defined) == len(ANSWERS) else None
    return {"g_mean": g_mean, "sensitivity": shares[0], "specificity": shares[1]}


_FULL: Final = TuningParameters(
    updates=6000, batch=8, tokens=1024, learning_rate=3e-4, beta1=0.9, beta2=0.98, every=300, dev=1000
)
"""Those of the paper; of the numbers below, the learning rates and what is LoRA's or a soft prompt's are ours."""
TASKS: Final = (
    TuningTask(
        name="steps",
        title="next steps of recipes",
        ask="suites/steps --taskgraph-steps-method=zero_shot",
        data=tuning_data,
        score=score_choices,
        parameters={
            "full": _FULL,
            "lora": TuningParameters(updates=6000, learning_rate=2e-4, every=300, dev=1000),
            "soft-prompt": TuningParameters(
                updates=2000, learning_rate=1e-2, every=200, dev=1000, prompt_tokens=(20, 50, 100)
            ),
        },
        chat=False,
        packed=True,
    ),
)

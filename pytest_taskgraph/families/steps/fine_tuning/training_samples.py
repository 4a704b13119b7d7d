"""What is learned: the samples of the classification, as many Yes as No, in the order of a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from ....errors import UsageError
from ..construction import PAPER_RULE, ConstructionRule, build_classification
from ..next_step_samples import NextStepSample, query_of
from ..recipe_sets import RecipeSet

ANSWERS: Final = (" Yes", " No")


@dataclass(frozen=True, slots=True)
class TuningSamples:
    """The samples of a fine-tuning.

    Args:
        train: Those that are learned, balanced, in the order in which they are.
        dev: Those that a validation compares.
        yes: The samples of the train split that are Yes, each counted once.
        no: Those that are No.
    """

    train: tuple[NextStepSample, ...]
    dev: tuple[NextStepSample, ...]
    yes: int
    no: int


def learned_text(sample: NextStepSample) -> str:
    """Return the query of a sample with its answer."""
    return query_of(sample) + ANSWERS[0 if sample.label else 1]


def tuning_samples(recipes: RecipeSet, seed: int, dev: int, rule: ConstructionRule = PAPER_RULE) -> TuningSamples:
    """Return the samples of a fine-tuning on the recipes of a set; those of its test split are not looked at.

    Args:
        recipes: The set.
        seed: Decides on the repeated samples, on the order, and on those of dev.
        dev: The number of samples of a validation; all if there are no more.
        rule: Which samples are built.

    Raises:
        UsageError: if a split has no Yes or no No.
    """
    train = list(build_classification(recipes.train, rule, seed))
    checked = list(build_classification(recipes.dev, rule, seed))
    for name, samples in (("train", train), ("dev", checked)):
        if len({sample.label for sample in samples}) < 2:
            raise UsageError(
                f"fine-tuning: the {name} split of the recipes has {len(samples)} samples, and not both Yes and No; "
                "name recipes of 4 to 10 steps with --recipes"
            )
    if dev < len(checked):
        chosen = sorted(Random(f"{seed}|steps fine-tuning dev").sample(range(len(checked)), dev))
        checked = [checked[at] for at in chosen]
    yes = sum(sample.label for sample in train)
    return TuningSamples(tuple(_balanced(train, seed)), tuple(checked), yes, len(train) - yes)


def _balanced(samples: Sequence[NextStepSample], seed: int) -> list[NextStepSample]:
    """Return the samples with those of the rarer answer repeated until there are as many of both, shuffled.

    Each is repeated as often as the others, but for one time more of those that the seed draws.
    """
    by_label = {label: [sample for sample in samples if sample.label == label] for label in (True, False)}
    most = max(map(len, by_label.values()))
    balanced: list[NextStepSample] = []
    for label, group in by_label.items():
        times, more = divmod(most, len(group))
        balanced += group * times + Random(f"{seed}|steps fine-tuning|{label}").sample(group, more)
    Random(f"{seed}|steps fine-tuning order").shuffle(balanced)
    return balanced

"""What a fine-tuning learns: its samples, their texts and segments. torch is not needed."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.steps.construction import build_classification
from pytest_taskgraph.families.steps.fine_tuning.fine_tuning_parameters import FineTuningParameters
from pytest_taskgraph.families.steps.fine_tuning.training_samples import learned_text, tuning_samples
from pytest_taskgraph.families.steps.fine_tuning.training_segments import TrainingSegments, cut_segments
from pytest_taskgraph.families.steps.next_step_samples import StepRecipe, query_of
from pytest_taskgraph.families.steps.prompts import PROMPTS
from pytest_taskgraph.families.steps.recipe_sets import RecipeSet
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes
from pytest_taskgraph.families.steps.steps_settings import StepsSettings


def recipe(number: int, length: int, split: str = "train") -> StepRecipe:
    return StepRecipe(f"r{number}", f"Dish {number}", tuple(f"Do {number} x{at}" for at in range(length)), split)


def recipe_set(lengths: Sequence[int], dev: Sequence[int] = (6,)) -> RecipeSet:
    train = [recipe(at, length) for at, length in enumerate(lengths)]
    return RecipeSet.of("embedded", {"train": train, "dev": [recipe(90 + at, n, "dev") for at, n in enumerate(dev)],
                                     "test": [recipe(99, 7, "test")]})  # fmt: skip


class Letters:
    """A tokenizer whose tokens are the letters; 0 stands for the end of a text."""

    def __init__(self, eos_token_id: int | None = 0) -> None:
        self.eos_token_id = eos_token_id

    def __call__(self, text: str | list[str], **_: bool) -> dict[str, list[int] | list[list[int]]]:
        if isinstance(text, str):
            return {"input_ids": [ord(letter) for letter in text]}
        return {"input_ids": [[ord(letter) for letter in text] for text in text]}


def test_query_is_that_of_the_prompt_template() -> None:
    for sample in islice(build_classification(read_embedded_recipes().dev), 60):
        fields = {"previous": list(sample.prefix), "candidate": sample.candidate, "examples": []}
        assert query_of(sample) == PROMPTS.render("paper", fields, StepsSettings())


def test_learned_text_ends_in_the_answer() -> None:
    for sample in build_classification([recipe(1, 5)]):
        assert learned_text(sample) == query_of(sample) + (" Yes" if sample.label else " No")


@given(st.lists(st.integers(3, 12), min_size=1, max_size=6), st.integers(0, 3))
def test_samples_are_balanced_and_each_is_kept(lengths: list[int], seed: int) -> None:
    built = Counter(build_classification([recipe(at, length) for at, length in enumerate(lengths)]))
    if not built:
        with pytest.raises(UsageError, match="the train split of the recipes has 0 samples"):
            tuning_samples(recipe_set(lengths), seed, 10)
        return
    samples = tuning_samples(recipe_set(lengths), seed, 10)
    learned = Counter(samples.train)
    assert learned.keys() == built.keys()
    assert sum(sample.label for sample in samples.train) * 2 == len(samples.train)
    assert {learned[sample] for sample in built if not sample.label} == {1}
    times = {learned[sample] for sample in built if sample.label}
    assert max(times) - min(times) <= 1
    assert (samples.yes, samples.no) == (sum(s.label for s in built), sum(not s.label for s in built))


def test_samples_are_decided_by_the_seed() -> None:
    recipes = recipe_set([5, 8, 9], dev=[9, 10])
    first = tuning_samples(recipes, 1, 20)
    assert tuning_samples(recipes, 1, 20) == first
    other = tuning_samples(recipes, 2, 20)
    assert other.train != first.train
    assert other.dev != first.dev
    assert len(first.dev) == 20
    assert set(tuning_samples(recipes, 1, 10**6).dev) == set(build_classification(recipes.dev))


def test_samples_are_of_no_test_recipe() -> None:
    samples = tuning_samples(recipe_set([5, 8]), 0, 100)
    assert {sample.recipe for sample in samples.train} == {"r0", "r1"}
    assert {sample.recipe for sample in samples.dev} == {"r90"}


def test_segments_hold_the_texts_with_the_end_between_them() -> None:
    segments = cut_segments(["abc", "de", "fghij"], Letters(), 4, 100, 0)
    (batch,) = islice(segments.batches(3), 1)
    assert "".join(chr(token or ord("|")) for segment in batch for token in segment) == "abc|de|fghij"[:12]
    assert [len(segment) for segment in batch] == [4, 4, 4]


def test_segments_without_a_token_of_the_end_have_line_breaks() -> None:
    segments = cut_segments(["abc", "de"], Letters(None), 7, 100, 0)
    assert [chr(token) for token in next(segments.batches(1))[0]] == list("abc\nde\n")


def test_segments_are_cut_from_no_more_texts_than_needed() -> None:
    def texts() -> object:
        yield from ["abcdefg"] * 3000
        raise AssertionError("not needed")

    segments = cut_segments(texts(), Letters(), 8, 5, 0)  # type: ignore[arg-type]
    assert segments.count == 5


def test_segments_of_too_few_tokens_are_a_usage_error() -> None:
    with pytest.raises(UsageError, match="segment: found 9 tokens, but all texts have 8; state fewer"):
        cut_segments(["abc", "def"], Letters(), 9, 5, 0)


@given(st.integers(1, 7), st.integers(1, 9), st.integers(0, 3))
def test_batches_take_each_segment_once_a_round(count: int, size: int, seed: int) -> None:
    segments = TrainingSegments(array("I", range(2 * count)), 2, seed)
    taken = [segment[0] // 2 for batch in islice(segments.batches(size), 4 * count) for segment in batch]
    assert taken[:count] == list(range(count))
    rounds = [taken[at : at + count] for at in range(0, len(taken) - count + 1, count)]
    assert all(sorted(batch) == list(range(count)) for batch in rounds)
    again = TrainingSegments(array("I", range(2 * count)), 2, seed)
    assert [s[0] // 2 for b in islice(again.batches(size), 4 * count) for s in b] == taken


@pytest.mark.parametrize(
    ("name", "value"),
    [("updates", 0), ("batch", 0), ("segment", 1), ("every", 0), ("dev", 0), ("at_once", -1), ("learning_rate", 0.0),
     ("learning_rate", float("nan")), ("beta1", 1.0), ("beta2", -0.1)],
)  # fmt: skip
def test_parameters_out_of_range_are_a_usage_error(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"{name}: found"):
        FineTuningParameters(**{name: value})  # type: ignore[arg-type]


def test_parameters_unless_stated_are_those_of_the_paper() -> None:
    stated = FineTuningParameters()
    assert (stated.updates, stated.batch, stated.segment, stated.every) == (6000, 8, 1024, 300)
    assert (stated.learning_rate, stated.beta1, stated.beta2) == (0.0003, 0.9, 0.98)

"""What models are tuned for in STEPS: its samples, balanced, and the scores of a validation. torch is not needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph import Settings
from pytest_taskgraph.benchmarks.tuning_task import TuningData, TuningParameters, TuningSample
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.steps import step_tuning
from pytest_taskgraph.families.steps.construction import build_classification
from pytest_taskgraph.families.steps.next_step_samples import StepRecipe, query_of
from pytest_taskgraph.families.steps.prompts import PROMPTS
from pytest_taskgraph.families.steps.recipe_sets import RecipeSet
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes
from pytest_taskgraph.families.steps.step_tuning import ANSWERS, TASKS, score_choices, tuning_data, tuning_sample
from pytest_taskgraph.families.steps.steps_settings import StepsSettings

QUICK = TuningParameters(updates=1)


def recipe(number: int, length: int, split: str = "train") -> StepRecipe:
    return StepRecipe(f"r{number}", f"Dish {number}", tuple(f"Do {number} x{at}" for at in range(length)), split)


def data_of(lengths: Sequence[int], dev: Sequence[int] = (6,), stated: TuningParameters = QUICK) -> TuningData:
    train = [recipe(at, length) for at, length in enumerate(lengths)]
    splits = {"train": train, "dev": [recipe(90 + at, n, "dev") for at, n in enumerate(dev)]}
    recipes = RecipeSet.of("embedded", {**splits, "test": [recipe(99, 7, "test")]})  # type: ignore[dict-item]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_tuning, "load", lambda settings: recipes)
        return tuning_data(Settings(), stated)


def test_query_is_that_of_the_prompt_template() -> None:
    for sample in islice(build_classification(read_embedded_recipes().dev), 60):
        fields = {"previous": list(sample.prefix), "candidate": sample.candidate, "examples": []}
        assert query_of(sample) == PROMPTS.render("paper", fields, StepsSettings())


def test_target_is_the_answer_among_both_choices() -> None:
    for sample in build_classification([recipe(1, 5)]):
        assert tuning_sample(sample) == TuningSample(query_of(sample), " Yes" if sample.label else " No", ANSWERS)


@given(st.lists(st.integers(3, 12), min_size=1, max_size=6), st.integers(0, 3))
def test_samples_are_balanced_and_each_is_kept(lengths: list[int], seed: int) -> None:
    built = Counter(map(tuning_sample, build_classification([recipe(at, n) for at, n in enumerate(lengths)])))
    stated = replace(QUICK, seed=seed)
    if not built:
        with pytest.raises(UsageError, match="the train split of the recipes has 0 samples"):
            data_of(lengths, stated=stated)
        return
    data = data_of(lengths, stated=stated)
    learned = Counter(data.train)
    assert learned.keys() == built.keys()
    assert sum(sample.target == " Yes" for sample in data.train) * 2 == len(data.train)
    assert {learned[sample] for sample in built if sample.target == " No"} == {1}
    times = {learned[sample] for sample in built if sample.target == " Yes"}
    assert max(times) - min(times) <= 1
    assert data.facts["yes"] == sum(sample.target == " Yes" for sample in built)


def test_samples_are_decided_by_the_seed() -> None:
    stated = replace(QUICK, dev=20, seed=1)
    first = data_of([5, 8, 9], [9, 10], stated)
    assert data_of([5, 8, 9], [9, 10], stated) == first
    assert len(first.dev) == 20
    assert data_of([5, 8, 9], [9, 10], replace(stated, seed=2)).dev != first.dev
    everything = {tuning_sample(sample) for sample in build_classification([recipe(90, 9), recipe(91, 10)])}
    assert set(data_of([5], [9, 10]).dev) == everything


def test_samples_are_of_so_many_recipes_and_none_of_test() -> None:
    data = data_of([5, 8, 9], stated=replace(QUICK, train=2))
    assert data.facts["train_recipes"] == 2
    shown = " ".join(sample.prompt for sample in (*data.train, *data.dev))
    assert "Do 99 " not in shown
    assert len({number for number in ("0", "1", "2") if f"Do {number} " in shown}) == 2


def test_recipes_of_published_questions_are_left_out(tmp_path: Path) -> None:
    asked = read_embedded_recipes().train[0]
    (tmp_path / "next_step").mkdir()
    line = f"{' . '.join(asked.steps[:2])} .\t{asked.steps[2]}\tYes\n"
    (tmp_path / "next_step" / "test.txt").write_text(line)
    data = tuning_data(Settings(data={"steps": str(tmp_path)}), QUICK)
    recipes = data.facts["train_recipes"]
    assert isinstance(recipes, int)
    assert recipes < 150
    assert any("resemble those of the published questions" in problem for problem in data.problems)


def test_score_is_g_mean_of_both_shares_with_ties_wrong() -> None:
    samples = [TuningSample("q", answer, ANSWERS) for answer in (" Yes", " Yes", " No", " No", " No", " No")]
    scores = score_choices(samples, [" Yes", "", " No", " No", " No", " Yes"])
    assert (scores["sensitivity"], scores["specificity"]) == (0.5, 0.75)
    assert scores["g_mean"] == pytest.approx(0.375**0.5)
    assert next(iter(scores)) == "g_mean"
    assert score_choices(samples[:2], [" Yes", " Yes"]) == {"g_mean": None, "sensitivity": 1.0, "specificity": None}


def test_parameters_of_full_tuning_are_those_of_the_paper() -> None:
    stated = TASKS[0].parameters["full"]
    assert (stated.updates, stated.batch, stated.tokens, stated.every, stated.dev) == (6000, 8, 1024, 300, 1000)
    assert (stated.learning_rate, stated.beta1, stated.beta2) == (0.0003, 0.9, 0.98)


@pytest.mark.parametrize(
    ("name", "value"),
    [("updates", 0), ("updates", -1), ("batch", 0), ("tokens", 1), ("every", -1), ("at_once", 3), ("dropout", 1.0),
     ("learning_rate", 0.0), ("learning_rate", float("nan")), ("beta2", -0.1), ("prompt_tokens", (4, 0))],
)  # fmt: skip
def test_parameters_out_of_range_are_a_usage_error(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"{name}.*: found"):
        replace(QUICK, **{name: value})  # type: ignore[arg-type]

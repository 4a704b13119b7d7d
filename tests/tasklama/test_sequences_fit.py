from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.tasklama.sequences.filter_fit import (
    ONE_GROUP_PENALTY,
    PENALTIES,
    SampledTask,
    distinct_tasks,
    fit_ridge,
)
from pytest_taskgraph.families.tasklama.sequences.filter_model import (
    FEATURES,
    FilterModel,
    begins_with_verb,
    features_of,
    read_filter,
)

GOOD = {"format": 1, "features": ["steps", "agreement"], "mean": [7, 0.5], "scale": [2, 0.1]}
GOOD |= {"coefficients": [0.1, -0.2], "intercept": 0.4}


def planted(rows: int, noise: float, seed: int = 0) -> tuple[list[list[float]], list[float], list[str]]:
    """Rows of three features, the last of which is constant, and 2 a - 0.5 b + 3 of them, with noise."""
    rng = Random(f"{seed}|planted")
    features = [[rng.gauss(5, 2), rng.gauss(-1, 0.1), 4.0] for _ in range(rows)]
    targets = [2 * a - 0.5 * b + 3 + rng.gauss(0, noise) for a, b, _ in features]
    return features, targets, [f"g{at % 10}" for at in range(rows)]


def by_augmented_rows(rows: list[list[float]], targets: list[float], penalty: float) -> list[float]:
    """Return ridge coefficients as the least squares of rows with sqrt(penalty) times the identity below them."""
    features = np.asarray(rows)
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1)
    below = np.sqrt(penalty) * np.eye(features.shape[1])
    right = np.concatenate([np.asarray(targets) - np.mean(targets), np.zeros(features.shape[1])])
    return [float(coefficient) for coefficient in np.linalg.lstsq(np.vstack([scaled, below]), right, rcond=None)[0]]


def test_fit_ridge_planted_relation_is_recovered() -> None:
    rows, targets, groups = planted(400, noise=1e-6)
    fit = fit_ridge(rows, targets, groups)
    slopes = [coefficient / scale for coefficient, scale in zip(fit.coefficients, fit.scale, strict=True)]
    assert slopes == pytest.approx([2, -0.5, 0], abs=0.01)
    assert fit.penalty == min(PENALTIES)
    assert fit.predictions == pytest.approx(targets, abs=0.05)


def test_fit_ridge_equal_targets_take_the_largest_penalty() -> None:
    rows, _, groups = planted(60, noise=0)
    fit = fit_ridge(rows, [0.25] * 60, groups)
    assert fit.penalty == max(PENALTIES)
    assert fit.coefficients == pytest.approx([0, 0, 0])


@given(st.integers(0, 50), st.integers(4, 40))
def test_fit_ridge_equals_least_squares_of_augmented_rows(seed: int, number: int) -> None:
    rows, targets, groups = planted(number, noise=2.0, seed=seed)
    fit = fit_ridge(rows, targets, groups)
    assert fit.coefficients == pytest.approx(by_augmented_rows(rows, targets, fit.penalty), abs=1e-8)


def test_fit_ridge_predictions_are_those_without_the_group() -> None:
    rows, targets, groups = planted(40, noise=1.0)
    fit = fit_ridge(rows, targets, groups)
    rest = [at for at, group in enumerate(groups) if group != "g3"]
    other_rows, kept_targets = [rows[at] for at in rest], [targets[at] for at in rest]
    own = by_augmented_rows(other_rows, kept_targets, fit.penalty)
    mean, spread = np.mean(other_rows, axis=0), np.std(other_rows, axis=0)
    for at in (at for at, group in enumerate(groups) if group == "g3"):
        terms = [(rows[at][column] - mean[column]) / spread[column] * own[column] for column in (0, 1)]
        assert fit.predictions[at] == pytest.approx(np.mean(kept_targets) + sum(terms))


def test_fit_ridge_penalty_has_the_least_error_of_all() -> None:
    rows, targets, groups = planted(40, noise=30.0)
    chosen = fit_ridge(rows, targets, groups)
    error = sum((first - other) ** 2 for first, other in zip(chosen.predictions, targets, strict=True))
    for penalty in PENALTIES:
        held_out = 0.0
        for group in set(groups):
            rest = [at for at, first in enumerate(groups) if first != group]
            other_rows, kept_targets = [rows[at] for at in rest], [targets[at] for at in rest]
            own = by_augmented_rows(other_rows, kept_targets, penalty)
            mean, spread = np.mean(other_rows, axis=0), np.std(other_rows, axis=0)
            for at in (at for at, first in enumerate(groups) if first == group):
                terms = [(rows[at][first] - mean[first]) / spread[first] * own[first] for first in (0, 1)]
                held_out += (np.mean(kept_targets) + sum(terms) - targets[at]) ** 2
        assert error <= held_out * (1 + 1e-9)


def test_fit_ridge_one_group_predicts_nothing() -> None:
    rows, targets, _ = planted(20, noise=1.0)
    fit = fit_ridge(rows, targets, ["all"] * 20)
    assert fit.predictions == ()
    assert fit.penalty == ONE_GROUP_PENALTY


def test_fit_ridge_single_row_gives_its_target() -> None:
    fit = fit_ridge([[1.0, 2.0]], [0.7], ["a"])
    assert fit.intercept == 0.7
    assert fit.coefficients == (0.0, 0.0)


def test_features_of_two_samples_follow_their_definitions() -> None:
    sequences = [["Buy the red paint", "Paint it", "Paint them slowly", "paint it"], ["The end"]]
    first, second = features_of("Paint a wall", ["In red", "On Sunday"], sequences)
    assert tuple(sorted(first)) == tuple(sorted(FEATURES))
    assert first["steps"] == 4
    assert first["relative_steps"] == 4 / 2.5
    assert first["mean_words"] == 11 / 4
    assert first["words_variance"] == pytest.approx((1.25**2 + 0.75**2 * 2 + 0.25**2) / 4)
    assert first["imperative_share"] == 1
    assert first["anaphora_share"] == 0.75
    assert first["distinct_words"] == 6 / 10  # buy red paint it them slowly, of 3 + 2 + 3 + 2
    assert first["title_overlap"] == 0.5
    assert first["context_overlap"] == 0.5
    assert first["near_duplicates"] == 0.25
    assert first["agreement"] == 0
    assert second["imperative_share"] == 0
    assert second["mean_words"] == 2


def test_features_agreement_is_the_mean_over_the_other_samples() -> None:
    features = features_of("", [], [["wash rice"], ["wash rice"], ["boil rice"]])
    assert [entry["agreement"] for entry in features] == [0.75, 0.75, 0.5]
    assert features_of("", [], [["wash rice"]])[0]["agreement"] == 0


@pytest.mark.parametrize(
    ("step", "verb"),
    [
        ("Boil the water", True),
        ("bring rice to a boil", True),
        ("apply glue", True),
        ("washing the rice", False),
        ("You wash rice", False),
        ("Then wash rice", False),
        ("carefully wash rice", False),
        ("the rice is washed", False),
        ("3 cups of rice", False),
        ("...", False),
        ("", False),
        ("洗米", True),
    ],
)
def test_begins_with_verb_of_a_step_follows_its_first_word(step: str, verb: bool) -> None:
    assert begins_with_verb(step) is verb


def test_features_of_sequences_do_not_depend_on_other_order() -> None:
    sequences = [["wash rice", "cook rice"], ["boil water"], ["wash pan", "fry egg", "eat egg"]]
    forward = features_of("Cook", ["Now"], sequences)
    assert features_of("Cook", ["Now"], sequences[::-1]) == forward[::-1]


def test_filter_model_scores_are_linear_in_the_standardised_features() -> None:
    model = FilterModel.from_json(GOOD, "x")
    (score,) = model.scores("Cook rice", [], [["wash rice", "cook rice", "eat rice"]])
    assert score == pytest.approx(0.4 + 0.1 * (3 - 7) / 2 - 0.2 * (0 - 0.5) / 0.1)
    assert FilterModel.from_json(json.loads(json.dumps(model.to_json())), "x") == model


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{\n  'format': 1}", ":2: malformed JSON"),
        ("", ":1: malformed JSON"),
        ("[" * 100_000, "the JSON cannot be read"),
        ("[]", r"found \[\]; expected a JSON object"),
        ({"format": 2}, "format: found 2; expected 1"),
        ({"format": True}, "format: found True; expected 1"),
        ({"features": []}, r"features: found \[\]; expected a list of names"),
        ({"features": ["steps", "colour"]}, r"features\[1\]: unknown feature 'colour'; known: steps, relative_steps"),
        ({"features": ["steps", ["steps"]]}, r"features\[1\]: unknown feature \['steps'\]"),
        ({"features": ["steps", "steps"]}, r"features\[1\]: found steps twice"),
        ({"mean": [1.0]}, "mean: found 1 values; expected 2 numbers, one for each feature"),
        ({"mean": None}, "mean: found nothing; expected a list of 2 numbers"),
        ({"mean": [1, float("nan")]}, r"mean\[1\]: found nan; expected a number"),
        ({"coefficients": [True, 1]}, r"coefficients\[0\]: found True"),
        ({"coefficients": ["1", 1]}, r"coefficients\[0\]: found '1'"),
        ({"coefficients": [10**400, 1]}, r"coefficients\[0\]: found 1000"),
        ({"scale": [1, 0]}, r"scale\[1\]: found 0; expected at least 1e-09"),
        ({"scale": [1, -1]}, r"scale\[1\]: found -1; expected at least 1e-09"),
        ({"intercept": float("inf")}, "intercept: found inf; expected a number"),
    ],
)
def test_read_filter_mistake_is_told_with_its_place(tmp_path: Path, text: object, message: str) -> None:
    path = tmp_path / "filter.json"
    path.write_text(text if isinstance(text, str) else json.dumps({**GOOD, **text}), encoding="utf-8")  # type: ignore[dict-item]
    with pytest.raises(UsageError, match=f"filter.json.*{message}"):
        read_filter(path)


def test_read_filter_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "filter.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"filter\.json: cannot be read"):
        read_filter(tmp_path / "filter.json")


def test_distinct_tasks_of_two_models_count_once_and_contexts_apart() -> None:
    sampled = [SampledTask("Cook", context, "c", "train", None, ()) for context in ((), (), ("Outdoors",))]
    assert distinct_tasks(sampled) == 2

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UnknownNameError
from pytest_taskgraph.scoring.measurement import measure_answer
from pytest_taskgraph.scoring.metrics import METRICS, metric
from pytest_taskgraph.scoring.metrics.agreement import correctness, jaccard, matching, precision, recall
from pytest_taskgraph.scoring.schedules import Schedule
from pytest_taskgraph.trial import Json

NAMES = st.lists(st.sampled_from("ABCDE"), max_size=6).map(list[Json])
GROUPS = st.lists(NAMES, max_size=4).map(list[Json])

GRAPH_METRICS = ("hungarian_f1", "in_degree_rouge1", "graph_f1", "pairwise_accuracy")


@pytest.mark.parametrize(
    ("given_names", "reference", "index"),
    [("AB", "AC", 1 / 3), ("AAB", "A", 1 / 2), ("", "", 1.0), ("A", "", 0.0), ("", "A", 0.0), ("ABC", "CBA", 1.0)],
)
def test_jaccard_of_worked_examples(given_names: str, reference: str, index: float) -> None:
    assert jaccard(list(given_names), list(reference)) == index


@given(NAMES, NAMES)
def test_jaccard_is_symmetric_and_that_of_sets(one: list[Json], other: list[Json]) -> None:
    letters = [letter for letter in "ABCDE" if letter in one or letter in other]
    shared = [letter for letter in letters if letter in one and letter in other]
    assert jaccard(one, other) == jaccard(other, one) == (len(shared) / len(letters) if letters else 1.0)


@given(NAMES, NAMES)
def test_precision_and_recall_swap_and_bound_jaccard(one: list[Json], other: list[Json]) -> None:
    p, r = precision(one, other), recall(one, other)
    assert p == recall(other, one)
    assert (p is None) == (not one)
    assert (r is None) == (not other)
    if p is not None and r is not None:
        assert jaccard(one, other) <= min(p, r) + 1e-12


def test_correctness_is_case_sensitive() -> None:
    assert correctness("Brew", "Brew") == 1.0
    assert correctness("brew", "Brew") == 0.0


def by_brute_force(first: list[list[str]], second: list[list[str]]) -> float:
    """Return the best matching of all permutations."""
    small, large = sorted((first, second), key=len)
    if not large:
        return 1.0
    best = max(
        sum(jaccard(list(a), list(b)) for a, b in zip(small, chosen, strict=True))
        for chosen in permutations(large, len(small))
    )
    return best / len(large)


@given(GROUPS, GROUPS)
def test_matching_is_best_of_all_assignments(one: list[Json], other: list[Json]) -> None:
    assert matching(one, other) == pytest.approx(by_brute_force(one, other))  # type: ignore[arg-type]
    assert matching(one, other) == pytest.approx(matching(other, one))


@pytest.mark.parametrize(
    ("given_groups", "reference", "score"),
    [
        ([], [], 1.0),
        ([], [["A"]], 0.0),
        ([["A", "B"], ["C"]], [["C"], ["B", "A"]], 1.0),
        ([["A", "B"]], [["A", "B"], ["C", "D"]], 1 / 2),
        ([["A", "B"], ["A", "B"]], [["A", "B"]], 1 / 2),
        ([["A", "B"], ["A", "B"]], [["A", "B"], ["A", "B"]], 1.0),
        ([["A", "B"], ["A"]], [["A"], ["B", "C"]], (1 + 1 / 3) / 2),
    ],
)
def test_matching_of_worked_examples(given_groups: Json, reference: Json, score: float) -> None:
    assert matching(given_groups, reference) == pytest.approx(score)


@pytest.mark.parametrize("name", sorted(METRICS))
@given(st.recursive(st.none() | st.booleans() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3)), GROUPS)
def test_metrics_of_any_answer_lie_within_0_and_1(name: str, answer: Json, reference: list[Json]) -> None:
    stated: dict[str, Json] = {
        "order": {"tasks": [str(group) for group in reference], "before": []},
        "constraints": Schedule(("A", "B"), (2, 1), ((0, 1),), 1, 3, "hours", (0, 2)).to_json(),
        "equivalence": {"condition": "n < 3", "domains": {"n": None}},
        **{key: {"steps": [str(group) for group in reference], "dependencies": []} for key in GRAPH_METRICS},
        "procedural_f1": {"flows": []},
    }
    value = measure_answer(name, metric(name), answer, stated.get(name, reference)).value
    assert value is None or 0.0 <= value <= 1.0


def test_metric_unknown_name_lists_known_names() -> None:
    with pytest.raises(
        UnknownNameError,
        match="unknown metric 'vibes'; known: bertscore, choice_accuracy, class_accuracy, constraints, correctness, ",
    ):
        metric("vibes")

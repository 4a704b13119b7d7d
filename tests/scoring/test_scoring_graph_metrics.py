"""The metrics of task graphs, as a question names them."""

from __future__ import annotations

from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_reference import rouge_reference

from pytest_taskgraph.errors import UnknownNameError, UsageError
from pytest_taskgraph.scoring.measurement import Measurement, measure_answer, measure_unparseable
from pytest_taskgraph.scoring.metrics import TEXT_METRICS, measured_names, metric
from pytest_taskgraph.scoring.task_graphs.step_graphs import transitive_closure
from pytest_taskgraph.trial import Json

NAMES = ("hungarian_f1", "in_degree_rouge1", "graph_f1", "pairwise_accuracy")
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.floats() | st.sampled_from(["wash rice", "boil", "", "煮饭"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["steps", "dependencies", "similarity"]), inner, min_size=1)
    ),
)
ANSWERS: st.SearchStrategy[Json] = VALUES | st.fixed_dictionaries(
    {"steps": st.lists(VALUES, max_size=5), "dependencies": VALUES | st.lists(VALUES), "similarity": VALUES}
)


def stated(steps: list[str], dependencies: list[tuple[int, int]], **further: Json) -> Json:
    return {"steps": [*steps], "dependencies": [[a, b] for a, b in dependencies], **further}


RICE = stated(["wash rice", "boil water", "cook rice"], [(0, 2), (1, 2)], similarity="lexical")
PHRASES = ("wash rice", "boil the water", "cook rice slowly", "add some sea salt", "serve it hot")


@st.composite
def gold_graphs(draw: st.DrawFn) -> Json:
    """Draw a graph whose steps have two words or more, some of them alike; every edge leads forward."""
    steps = draw(st.lists(st.sampled_from(PHRASES), min_size=2, max_size=6))
    pairs = [(a, b) for a in range(len(steps)) for b in range(a + 1, len(steps))]
    return stated(steps, draw(st.lists(st.sampled_from(pairs), unique=True)), similarity="lexical")


def measure(name: str, answer: Json, reference: Json) -> Measurement:
    return measure_answer(name, metric(name), answer, reference)


def test_measured_names_are_those_that_families_name() -> None:
    assert measured_names(NAMES) == (
        "hungarian_f1", "hungarian_precision", "hungarian_recall", "hungarian_f2", "relaxed_precision",
        "relaxed_recall", "relaxed_f1", "relaxed_f2", "unlimited_precision", "unlimited_recall", "unlimited_f1",
        "steps_rouge1_f1", "steps_rouge1_f2", "steps_rouge2_f1", "steps_rouge2_f2", "steps_rouge_l_f1",
        "steps_rouge_l_f2",
        "in_degree_rouge1", "in_degree_rouge2", "in_degree_rouge_l", "out_degree_rouge1", "out_degree_rouge2",
        "out_degree_rouge_l", "step_proximity_rouge1", "step_proximity_rouge2", "step_proximity_rouge_l",
        "graph_f1", "chain_f1",
        "pairwise_accuracy", "majority_class",
    )  # fmt: skip
    assert not set(NAMES) & set(TEXT_METRICS)


@given(gold_graphs())
def test_metrics_of_an_identical_graph_are_one(gold: Json) -> None:
    for name in NAMES[:3]:
        measurement = measure(name, gold, gold)
        assert {measurement.value, *measurement.values.values()} == {1.0}


@given(gold_graphs())
def test_pairwise_accuracy_of_the_closure_is_one(gold: Json) -> None:
    assert isinstance(gold, dict)
    steps, pairs = gold["steps"], gold["dependencies"]
    assert isinstance(steps, list)
    assert isinstance(pairs, list)
    whole = transitive_closure(len(steps), [(pair[0], pair[1]) for pair in pairs])  # type: ignore[index, misc]
    assert measure("pairwise_accuracy", {**gold, "dependencies": [[*pair] for pair in sorted(whole)]}, gold).value == 1


@pytest.mark.parametrize("name", NAMES)
@given(similarity=st.sampled_from(["lexical", "embeddings"]), answer=ANSWERS)
def test_metrics_of_any_answer_are_within_0_and_1(name: str, similarity: str, answer: Json) -> None:
    assert isinstance(RICE, dict)
    measurement = measure(name, answer, {**RICE, "similarity": similarity})
    assert all(value is None or 0 <= value <= 1 for value in (measurement.value, *measurement.values.values()))


@pytest.mark.parametrize("answer", [None, [], "wash rice", {"steps": 3}, {"dependencies": [[0, 1]]}])
@pytest.mark.parametrize("name", NAMES)
def test_metrics_of_an_answer_without_steps_are_those_of_no_answer(name: str, answer: Json) -> None:
    measurement = measure(name, answer, RICE)
    assert measurement == measure_unparseable(name, metric(name), RICE)
    assert measurement.value == 0.0


def test_hungarian_f1_of_a_worked_answer() -> None:
    measurement = measure("hungarian_f1", stated(["wash rice", "cook rice well", "wash rice"], []), RICE)
    # one-to-one: wash 1, cook 4/5, and the duplicate gets boil water, 0
    assert measurement.value == pytest.approx(0.6)
    assert measurement.values == pytest.approx(
        {
            "hungarian_precision": 0.6,
            "hungarian_recall": 0.6,
            "hungarian_f2": 0.6,
            "relaxed_precision": 2.8 / 3,
            "relaxed_recall": 0.6,
            "relaxed_f1": 2 * 2.8 * 1.8 / (2.8 + 1.8) / 3,
            "relaxed_f2": 5 * 2.8 * 1.8 / (4 * 2.8 + 1.8) / 3,
            "unlimited_precision": 2.8 / 3,
            "unlimited_recall": 0.6,
            "unlimited_f1": 2 * 2.8 * 1.8 / (2.8 + 1.8) / 3,
            # wash rice cook rice well wash rice / wash rice boil water cook rice: 4 of 7, 4 of 6
            "steps_rouge1_f1": 2 * 4 / 13,
            "steps_rouge1_f2": 5 * 4 / (4 * 6 + 7),
            # wash rice, cook rice
            "steps_rouge2_f1": 2 * 2 / 11,
            "steps_rouge2_f2": 5 * 2 / (4 * 5 + 6),
            "steps_rouge_l_f1": 2 * 4 / 13,
            "steps_rouge_l_f2": 5 * 4 / (4 * 6 + 7),
        }
    )


@pytest.mark.parametrize(
    ("steps", "gold", "f1", "f2"),
    [
        (["add some sea salt"], ["add salt"], (2 / 3, 0.0, 2 / 3), (5 / 6, 0.0, 5 / 6)),
        (["peel onion", "slice onion"], ["slice onion", "peel onion"], (1.0, 2 / 3, 1 / 2), (1.0, 2 / 3, 1 / 2)),
    ],
)
def test_hungarian_f1_documents_of_worked_example(
    steps: list[str], gold: list[str], f1: tuple[float, ...], f2: tuple[float, ...]
) -> None:
    values = measure("hungarian_f1", stated(steps, []), stated(gold, [])).values
    assert tuple(values[f"steps_{name}_f1"] for name in ("rouge1", "rouge2", "rouge_l")) == pytest.approx(f1)
    assert tuple(values[f"steps_{name}_f2"] for name in ("rouge1", "rouge2", "rouge_l")) == pytest.approx(f2)


TEXTS = st.lists(st.lists(st.sampled_from(["add", "Sea", "salt", "don't", "10"]), max_size=4).map(" ".join), max_size=4)


@given(TEXTS, TEXTS)
def test_hungarian_f1_documents_are_scored_as_by_rouge_score(steps: list[str], gold: list[str]) -> None:
    values = measure("hungarian_f1", stated(steps, []), stated(gold, [])).values
    peer = rouge_reference().score("\n".join(gold), "\n".join(steps))
    for name, theirs in (("rouge1", "rouge1"), ("rouge2", "rouge2"), ("rouge_l", "rougeL")):
        precision, recall, f1 = peer[theirs]
        f2 = 5 * precision * recall / (4 * precision + recall) if precision + recall else 0.0
        assert values[f"steps_{name}_f1"] == pytest.approx(f1)
        assert values[f"steps_{name}_f2"] == pytest.approx(f2)


def test_in_degree_of_worked_example() -> None:
    measurement = measure("in_degree_rouge1", stated(["wash rice", "cook rice"], [(0, 1)]), RICE)
    assert measurement.value == pytest.approx(5 / 9)
    assert measurement.values["in_degree_rouge2"] == pytest.approx(0.5)
    assert measurement.values["out_degree_rouge1"] == pytest.approx(2 / 3)
    assert measurement.values["step_proximity_rouge1"] == pytest.approx(5 / 9)


def test_graph_f1_of_a_turned_dependency() -> None:
    measurement = measure("graph_f1", stated(["cook rice", "wash rice", "boil water", "sing"], [(0, 1), (2, 0)]), RICE)
    assert measurement.value == pytest.approx(2 * 2 / 7)  # cook and boil, or wash and boil
    assert measurement.values == {"chain_f1": pytest.approx(2 * 2 / 7)}  # wash, boil


def test_graph_f1_of_steps_below_the_threshold_is_zero() -> None:
    measurement = measure("graph_f1", stated(["wash the brown rice"], []), stated(["wash rice now"], []))
    assert (measurement.value, measurement.values) == (0.0, {"chain_f1": 0.0})


def test_pairwise_accuracy_of_worked_chain() -> None:
    chain = stated(["a b", "c d", "e f"], [(0, 1), (1, 2)])
    measurement = measure("pairwise_accuracy", chain, chain)
    assert measurement.value == pytest.approx(5 / 6)
    assert measurement.values == {"majority_class": 0.5}
    assert measurement.parts == {"pairs": (5, 6), "majority_pairs": (3, 6)}


def test_pairwise_accuracy_of_other_steps_has_no_pair_right() -> None:
    for steps in (["wash rice", "cook rice", "boil water"], ["wash rice", "boil water"], []):
        measurement = measure("pairwise_accuracy", stated(steps, [(0, 1)]), RICE)
        assert measurement.value == 0.0
        assert measurement.values == {"majority_class": pytest.approx(4 / 6)}
        assert measurement.parts == {"pairs": (0, 6), "majority_pairs": (4, 6)}


def test_pairwise_accuracy_ignores_punctuation_of_steps() -> None:
    answer = stated(["Wash rice.", "“boil water”", "cook  rice"], [(0, 2), (1, 2)])
    assert measure("pairwise_accuracy", answer, RICE).value == 1.0


def test_pairwise_accuracy_of_a_single_step_is_undefined() -> None:
    single = stated(["wash rice"], [])
    measurement = measure("pairwise_accuracy", single, single)
    assert (measurement.value, measurement.values) == (None, {"majority_class": None})
    assert measurement.parts == {"pairs": (0, 0), "majority_pairs": (0, 0)}


@pytest.mark.parametrize("matrix", [None, [[1.0]], [[1.0, 0.0, nan], [0.0, 1.0, 0.0]]])
@pytest.mark.parametrize("name", NAMES[:3])
def test_metrics_without_the_matrix_of_an_embedder_are_undefined(name: str, matrix: Json) -> None:
    assert isinstance(RICE, dict)
    answer = stated(["wash rice", "cook rice"], [(0, 1)], similarity=matrix)
    measurement = measure(name, answer, {**RICE, "similarity": "embeddings"})
    assert measurement.value is None
    lexical = {key: value for key, value in measurement.values.items() if value is not None}
    assert all(key.startswith("steps_rouge") for key in lexical)
    assert (name == "hungarian_f1") == bool(lexical)


def test_metrics_with_the_matrix_of_an_embedder_use_it() -> None:
    assert isinstance(RICE, dict)
    answer = stated(["riz", "cuire"], [(0, 1)], similarity=[[0.9, -0.1, 0.2], [0.3, 0.1, 0.8]])
    gold: Json = {**RICE, "similarity": "embeddings"}
    assert measure("hungarian_f1", answer, gold).value == pytest.approx(2 * 1.7 / 5)
    assert measure("graph_f1", answer, gold).value == pytest.approx(2 * 2 / 5)


@pytest.mark.parametrize("name", NAMES)
def test_metrics_of_a_malformed_reference_raise_usage_error(name: str) -> None:
    with pytest.raises(UsageError, match=r'reference of a question about steps: found no list of texts "steps"'):
        metric(name)(RICE, ["wash rice"])


@pytest.mark.parametrize("name", NAMES[:3])
def test_metrics_of_an_unknown_similarity_raise_unknown_name_error(name: str) -> None:
    with pytest.raises(UnknownNameError, match="unknown similarity of steps 'vibes'; known: embeddings, lexical"):
        metric(name)(RICE, stated(["wash rice"], [], similarity="vibes"))


def test_metrics_of_200_answered_steps_are_defined() -> None:
    gold = stated([f"turn screw {at}" for at in range(60)], [(at, at + 1) for at in range(59)])
    every = [(a, b) for a in range(200) for b in range(200) if (a * 7 + b) % 3 == 0]
    hostile = stated([f"turn screw {199 - at}" for at in range(200)], every)
    for name in NAMES[:3]:
        assert measure(name, hostile, gold).value is not None

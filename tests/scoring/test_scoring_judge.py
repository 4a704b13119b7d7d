from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UnknownNameError, UsageError
from pytest_taskgraph.scoring.grade import grade, read_answer
from pytest_taskgraph.scoring.metrics import METRICS, MODEL_METRICS, TEXT_METRICS, metric
from pytest_taskgraph.scoring.metrics.texts import _scorer, bertscore, require_bertscore
from pytest_taskgraph.trial import Question, Reply

MODULE = sys.modules[require_bertscore.__module__]  # the package has a function of the module's name


def make_question(main: str = "judge", *further: str, judged: tuple[str, ...] = ("judge",)) -> Question:
    return Question(
        "q", "understanding", "p", "custom", "Why?", "Why?", "task", "Cook", main, list(further), judged=list(judged)
    )


RIGHT, EMPTY = Reply("Final answer: Cook"), Reply("Final answer:")


@pytest.mark.parametrize("value", [0.0, 0.25, 1.0])
def test_grade_judged_metric_value_is_score(value: float) -> None:
    score = grade(make_question("judge", "correctness"), RIGHT, {"judge": value})
    assert (score.value, score.metrics, score.remark) == (value, {"correctness": 1.0}, "")


def test_grade_judged_further_metric_stands_beside_score() -> None:
    score = grade(make_question("correctness", "judge"), RIGHT, {"judge": 0.5})
    assert (score.value, score.metrics) == (1.0, {"judge": 0.5})


def test_grade_judged_value_absent_counts_0_with_remark() -> None:
    score = grade(make_question(), RIGHT, {"judge": None})
    assert (score.value, score.status) == (0.0, "read")
    assert score.remark == "judge is undefined for this answer, counted 0: the model that measures it gave no value"


def test_grade_judged_further_value_absent_is_undefined() -> None:
    assert grade(make_question("correctness", "judge"), RIGHT, {"judge": None}).metrics == {"judge": None}


@pytest.mark.parametrize("measured", [None, {}, {"cosine": 1.0}])
def test_grade_judged_metric_unmeasured_raises_error(measured: dict[str, float | None] | None) -> None:
    with pytest.raises(UsageError, match="metric 'judge': no value"):
        grade(make_question(), RIGHT, measured)


def test_grade_judged_unparseable_needs_no_value() -> None:
    score = grade(make_question("judge", "correctness"), EMPTY)
    assert (score.value, score.status, score.metrics) == (0.0, "unparseable", {"correctness": 0.0})


def test_grade_other_metrics_ignore_judged_values() -> None:
    assert grade(make_question("correctness", judged=()), RIGHT, {"correctness": 0.0}).value == 1.0
    with pytest.raises(UnknownNameError, match="judge"):
        grade(make_question("judge", judged=()), RIGHT, {"judge": 1.0})


def test_read_answer_equals_graded_answer() -> None:
    assert read_answer(make_question(), RIGHT) == grade(make_question(), RIGHT, {"judge": 1.0}).given == "Cook"


@pytest.mark.parametrize(
    "reply",
    [EMPTY, Reply("I'm sorry, but I can't help with that."), Reply("Let me think", finish_reason="length"), Reply("")],
)
def test_read_answer_of_reply_without_answer_is_none(reply: Reply) -> None:
    assert read_answer(make_question(), reply) is None


def test_text_metrics_are_computed_or_measured() -> None:
    assert set(TEXT_METRICS) <= METRICS.keys() | MODEL_METRICS.keys()
    assert not METRICS.keys() & MODEL_METRICS.keys()
    assert metric("bertscore") is bertscore


@pytest.fixture
def no_scorer_yet() -> Iterator[None]:
    _scorer.cache_clear()
    yield
    _scorer.cache_clear()


@pytest.mark.usefixtures("no_scorer_yet")
def test_bertscore_without_extra_names_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "find_spec", lambda name: None)
    command = r"pip install pytest-taskgraph-bench\[bertscore\]"
    with pytest.raises(UsageError, match=command):
        require_bertscore()
    with pytest.raises(UsageError, match=command):
        bertscore("a", "b")


@pytest.mark.usefixtures("no_scorer_yet")
@pytest.mark.parametrize(("f1", "value"), [(0.8, 0.8), (-0.1, 0.0), (1.0000001, 1.0)])
def test_bertscore_is_the_clipped_f1_of_the_package(monkeypatch: pytest.MonkeyPatch, f1: float, value: float) -> None:
    calls: list[tuple[list[str], list[str]]] = []

    class Scorer:
        def __init__(self, lang: str) -> None:
            assert lang == "en"

        def score(self, given: list[str], references: list[str]) -> tuple[list[float], list[float], list[float]]:
            calls.append((given, references))
            return [0.3], [0.4], [f1]

    package = ModuleType("bert_score")
    package.__dict__["BERTScorer"] = Scorer
    monkeypatch.setitem(sys.modules, "bert_score", package)
    monkeypatch.setattr(MODULE, "find_spec", lambda name: package)
    assert bertscore("the answer", "the reference") == value
    assert calls == [(["the answer"], ["the reference"])]


@given(st.sampled_from([None, "", "  ", 3, ["a"]]), st.sampled_from(["", "a text"]))
def test_bertscore_of_text_without_words_is_undefined(odd: object, text: str) -> None:
    assert bertscore(odd, text) is None  # type: ignore[arg-type]
    assert bertscore(text, odd) is None  # type: ignore[arg-type]

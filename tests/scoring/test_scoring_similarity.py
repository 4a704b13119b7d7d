"""How alike two steps are: by words, by a package, as an embedder measured it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from math import inf, nan, sqrt
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UnknownNameError, UnmeasuredError, UsageError
from pytest_taskgraph.scoring.metrics.texts import rouge1
from pytest_taskgraph.scoring.task_graphs import step_matching
from pytest_taskgraph.scoring.task_graphs.step_matching import (
    SENTENCE_MODEL,
    SIMILARITIES,
    check_similarity,
    similarity_matrix,
)
from pytest_taskgraph.trial import Json


def reference(*steps: str, similarity: str = "lexical") -> Json:
    return {"steps": [*steps], "dependencies": [], "similarity": similarity}


def answer(*steps: str, **further: Json) -> Json:
    return {"steps": [*steps], "dependencies": [], **further}


def lexical_similarity(first: str, second: str) -> float:
    ((value,),) = similarity_matrix(answer(first), reference(second))
    return value


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("Add salt", "add some sea salt!", 2 / 3),
        ("stir stir", "stir", 2 / 3),
        ("Reis waschen", "REIS WASCHEN", 1.0),
        ("Straße", "STRASSE", 1.0),
        ("caf\u00e9", "cafe\u0301", 1.0),
        ("помыть рис", "сварить рис", 1 / 2),
        ("洗米", "洗米", 1.0),
        ("洗米", "煮饭", 0.0),
        ("चावल धोना", "चावल धोनी", 1 / 2),
        ("!!!", "!!!", 1.0),
        ("!!!", "???", 0.0),
        ("", "", 0.0),
        ("", "salt", 0.0),
    ],
)
def test_lexical_similarity_of_two_texts_is_the_f1_of_their_words(first: str, second: str, expected: float) -> None:
    assert lexical_similarity(first, second) == lexical_similarity(second, first) == pytest.approx(expected)


@given(st.lists(st.sampled_from(["add", "Salt", "to", "2", "pots"]), max_size=6).map(" ".join), st.data())
def test_lexical_similarity_of_latin_words_is_rouge1(first: str, data: st.DataObject) -> None:
    second = data.draw(st.permutations(first.split()).map(lambda words: " ".join(words[1:])))
    assert lexical_similarity(first, second) == pytest.approx(rouge1(first, second))


@given(st.text(max_size=20), st.text(max_size=20))
def test_lexical_similarity_of_any_texts_is_within_0_and_1(first: str, second: str) -> None:
    assert 0.0 <= lexical_similarity(first, second) <= 1.0
    assert lexical_similarity(first, first) == (1.0 if first.strip() else 0.0)


def test_similarity_matrix_has_a_row_for_each_given_step() -> None:
    assert similarity_matrix(answer("add salt", "stir"), reference("stir", "salt", "boil")) == [
        [0.0, pytest.approx(2 / 3), 0.0],
        [1.0, 0.0, 0.0],
    ]


def test_similarity_matrix_without_name_is_lexical() -> None:
    assert similarity_matrix(answer("stir"), {"steps": ["stir"], "dependencies": []}) == [[1.0]]


@pytest.mark.parametrize("name", SIMILARITIES[:1] + SIMILARITIES[2:])
def test_similarity_matrix_without_steps_is_empty(name: str) -> None:
    assert similarity_matrix(None, reference("stir", similarity=name)) == []
    assert similarity_matrix(answer("stir"), reference(similarity=name)) == [[]]


@pytest.mark.parametrize("name", ["cosine", ""])
def test_similarity_matrix_unknown_name_raises_unknown_name_error(name: str) -> None:
    message = "known: embeddings, lexical, sentence-transformers"
    with pytest.raises(UnknownNameError, match=f"unknown similarity of steps '{name}'; {message}"):
        similarity_matrix(answer("stir"), reference("stir", similarity=name))


def test_similarity_matrix_of_embeddings_is_that_of_the_answer() -> None:
    gold = reference("stir", "boil", similarity="embeddings")
    assert similarity_matrix(answer("a", similarity=[[0.25, -0.5]]), gold) == [[0.25, 0.0]]
    assert similarity_matrix(answer("a", similarity=[[1, 1 + 1e-7]]), gold) == [[1.0, 1.0]]


@pytest.mark.parametrize(
    "matrix",
    [None, [], [[0.5]], [[0.5, 0.5], [0.5, 0.5]], [0.5, 0.5], [[0.5, "1"]], [[0.5, True]], [[0.5, nan]], [[0.5, inf]],
     [[0.5, 1.5]], [[0.5, -2]], [[0.5, None]], {"0": [0.5, 0.5]}, [[0.5, 10**400]]],
)  # fmt: skip
def test_similarity_matrix_of_embeddings_malformed_is_unmeasured(matrix: Json) -> None:
    with pytest.raises(UnmeasuredError, match='carries no "similarity" of 1 rows of 2 numbers'):
        similarity_matrix(answer("a", similarity=matrix), reference("stir", "boil", similarity="embeddings"))


class Encoder:
    """Stands in for the package: vectors by text, and the calls."""

    vectors: dict[str, list[float]]
    calls: list[list[str]]

    def __init__(self, name: str) -> None:
        assert name == SENTENCE_MODEL

    def encode(self, texts: list[str], *, show_progress_bar: bool) -> list[list[float]]:
        assert not show_progress_bar
        Encoder.calls.append(texts)
        return [Encoder.vectors[text] for text in texts]


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Encoder]]:
    Encoder.calls = []
    package = ModuleType("sentence_transformers")
    package.__dict__["SentenceTransformer"] = Encoder
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    monkeypatch.setattr(step_matching, "find_spec", lambda name: package)
    for cached in (step_matching._sentence_encoder, step_matching._cosines):
        cached.cache_clear()
    yield Encoder
    for cached in (step_matching._sentence_encoder, step_matching._cosines):
        cached.cache_clear()


def test_similarity_matrix_of_sentence_vectors_is_their_cosine(encoder: type[Encoder]) -> None:
    encoder.vectors = {"a": [3, 0], "b": [1, 1], "c": [-2, 0], "d": [0, 0]}
    gold = reference("b", "c", "a", similarity="sentence-transformers")
    expected = [[1 / sqrt(2), 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    assert similarity_matrix(answer("a", "c", "d"), gold) == [pytest.approx(row) for row in expected]
    assert similarity_matrix(answer("a", "c", "d"), gold)[0][2] == pytest.approx(1.0)
    assert encoder.calls == [["a", "c", "d", "b"]]


def test_check_similarity_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_matching, "find_spec", lambda name: None)
    check_similarity("lexical")
    check_similarity("embeddings")
    with pytest.raises(UsageError, match=r"pip install pytest-taskgraph-bench\[sentence-transformers\]"):
        check_similarity("sentence-transformers")
    with pytest.raises(UsageError, match=r"pip install pytest-taskgraph-bench\[sentence-transformers\]"):
        similarity_matrix(answer("stir"), reference("stir", similarity="sentence-transformers"))

"""The cosines of steps that an embedder gives vectors for."""

from __future__ import annotations

import pytest

from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.families.tasklama.embedded_similarity import measure_similarity
from pytest_taskgraph.trial import Json, Question, Reply

VECTORS = {"wash": [1.0, 0.0], "rinse": [0.6, 0.8], "boil": [0.0, 2.0], "freeze": [0.0, -1.0]}


def question(similarity: str) -> Question:
    reference: dict[str, Json] = {"steps": ["wash", "boil"], "dependencies": [], "similarity": similarity}
    return Question("q", "f", "g", "s", "?", "?", "task-graph", reference, "hungarian_f1")


def answered(vectors: list[list[float]] | None = None) -> list[Json] | None:
    turns = measure_similarity(question("embeddings"), ["rinse", "freeze", "rinse"])
    (request,) = next(turns)
    assert (request.kind, request.role, request.texts) == ("embed", "embedder", ["rinse", "freeze", "wash", "boil"])
    vectors_of_texts = [VECTORS[text] for text in request.texts] if vectors is None else vectors
    with pytest.raises(StopIteration) as ended:
        turns.send([Reply("", embeddings=vectors_of_texts)])
    matrix: list[Json] | None = ended.value.value
    return matrix


def test_measure_similarity_vectors_give_a_row_for_each_given_step() -> None:
    assert answered() == [[0.6, 0.8], [0.0, 0.0], [0.6, 0.8]]


def test_measure_similarity_misfit_vectors_are_a_provider_error() -> None:
    for vectors in ([], [[1.0]] * 3, [[1.0], [1.0], [1.0], [1.0, 2.0]]):
        with pytest.raises(ProviderError, match="expected 4 vectors"):
            answered(vectors)


def test_measure_similarity_of_words_asks_nothing() -> None:
    with pytest.raises(StopIteration) as ended:
        next(measure_similarity(question("lexical"), ["rinse"]))
    assert ended.value.value is None

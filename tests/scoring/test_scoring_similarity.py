"""How alike two steps are: by words, by a package, as an embedder measured it."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from math import inf, nan, sqrt
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentence_stand_in import Encoder, forget_models, save_sentence_model, sentence_stand_in

from pytest_taskgraph import local_weights
from pytest_taskgraph.errors import UnknownNameError, UnmeasuredError, UsageError
from pytest_taskgraph.scoring.metrics.texts import rouge1
from pytest_taskgraph.scoring.task_graphs import sentence_models
from pytest_taskgraph.scoring.task_graphs.step_matching import (
    SIMILARITIES,
    resolve_similarity,
    similarity_label,
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


@pytest.mark.parametrize(
    "name", ["cosine", "", "lexical:", "embeddings:gpt", "sentence-transformers:", "sentence-transformers: "]
)
def test_similarity_matrix_unknown_name_raises_unknown_name_error(name: str) -> None:
    message = "known: embeddings, lexical, sentence-transformers, sentence-transformers:MODEL"
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


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Encoder]]:
    with sentence_stand_in(monkeypatch):
        yield Encoder


def test_similarity_matrix_of_sentence_vectors_is_their_cosine(encoder: type[Encoder], tmp_path: Path) -> None:
    encoder.vectors.update({"a": [3, 0], "b": [1, 1], "c": [-2, 0], "d": [0, 0]})
    name = resolve_similarity(f"sentence-transformers:{save_sentence_model(tmp_path / 'mini')}")
    gold = reference("b", "c", "a", similarity=name)
    expected = [[1 / sqrt(2), 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    assert similarity_matrix(answer("a", "c", "d"), gold) == [pytest.approx(row) for row in expected]
    assert similarity_matrix(answer("a", "c", "d"), gold)[0][2] == pytest.approx(1.0)
    assert encoder.calls == [["a", "c", "d", "b"]]
    assert encoder.loaded == [str(tmp_path / "mini")]


def test_resolved_similarity_names_folder_without_path(encoder: type[Encoder], tmp_path: Path) -> None:
    first = resolve_similarity(f"sentence-transformers:{save_sentence_model(tmp_path / 'one' / 'mini')}")
    assert re.fullmatch("sentence-transformers:mini@[0-9a-f]{16}", first)
    assert resolve_similarity(f"sentence-transformers:{save_sentence_model(tmp_path / 'two' / 'mini')}") == first
    other = save_sentence_model(tmp_path / "three" / "mini", "other numbers")
    assert resolve_similarity(f"sentence-transformers:{other}") != first


def test_resolved_similarity_is_resolved_again_to_itself(encoder: type[Encoder], tmp_path: Path) -> None:
    first = resolve_similarity(f"sentence-transformers:{save_sentence_model(tmp_path / 'mini')}")
    assert resolve_similarity(first) == first


def test_resolved_similarity_in_other_process_needs_its_folder(
    encoder: type[Encoder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder.vectors["stir"] = [1.0]
    name = resolve_similarity(f"sentence-transformers:{save_sentence_model(tmp_path / 'mini')}")
    forget_models()
    with pytest.raises(UsageError, match=r"'mini' with the digest .*: it is not on this machine .* --sentence-model"):
        similarity_matrix(answer("stir"), reference("stir", similarity=name))
    sentence_models.add_sentence_model(str(tmp_path / "mini"))
    assert similarity_matrix(answer("stir"), reference("stir", similarity=name)) == [[1.0]]


def test_resolved_similarity_of_other_weights_is_usage_error(
    encoder: type[Encoder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_sentence_model(tmp_path / "mini")
    monkeypatch.chdir(tmp_path)
    gold = reference("stir", similarity=f"sentence-transformers:mini@{'0' * 16}")
    with pytest.raises(UsageError, match=f"'mini' with the digest {'0' * 16}, .*: found the digest [0-9a-f]+ in "):
        similarity_matrix(answer("stir"), gold)


def test_resolve_similarity_missing_model_says_how_to_get_it(
    encoder: type[Encoder], monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = ModuleType("huggingface_hub")

    def snapshot_download(name: str, *, local_files_only: bool, **_: object) -> str:
        assert local_files_only
        raise OSError("not there")

    hub.__dict__["snapshot_download"] = snapshot_download
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    monkeypatch.setattr(local_weights, "find_spec", lambda name: ModuleSpec(name, None))
    message = r"all-mpnet-base-v2': there is no such folder, .* hf download sentence-transformers/all-mpnet-base-v2"
    with pytest.raises(UsageError, match=message):
        resolve_similarity("sentence-transformers")


@pytest.mark.parametrize(
    ("further", "message"),
    [
        ({"2_Own": "own.Module"}, r"it names own\.Module, code that is not of sentence-transformers"),
        ({"2_Own": "sentence_transformers_own.Module"}, r"it names sentence_transformers_own\.Module"),
    ],
)
def test_resolve_similarity_of_model_with_code_is_usage_error(
    further: dict[str, str], message: str, encoder: type[Encoder], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        resolve_similarity(f"sentence-transformers:{save_sentence_model(tmp_path, **further)}")


def test_resolve_similarity_of_model_with_foreign_function_is_usage_error(
    encoder: type[Encoder], tmp_path: Path
) -> None:
    save_sentence_model(tmp_path, **{"2_Dense": "sentence_transformers.models.Dense"})
    config = tmp_path / "2_Dense" / "config.json"
    config.write_text(json.dumps({"activation_function": "torch.nn.modules.activation.Tanh"}))
    resolve_similarity(f"sentence-transformers:{tmp_path}")
    config.write_text(json.dumps({"activation_function": "os.abort"}))
    forget_models()
    with pytest.raises(UsageError, match=r"it names os\.abort, code"):
        resolve_similarity(f"sentence-transformers:{tmp_path}")


def test_resolve_similarity_of_pickled_module_is_usage_error(encoder: type[Encoder], tmp_path: Path) -> None:
    save_sentence_model(tmp_path, **{"2_Dense": "sentence_transformers.models.Dense"})
    (tmp_path / "2_Dense" / "pytorch_model.bin").touch()
    message = re.escape(f"{Path('2_Dense', 'pytorch_model.bin')} can run code")
    with pytest.raises(UsageError, match=message):
        resolve_similarity(f"sentence-transformers:{tmp_path}")
    (tmp_path / "2_Dense" / "model.safetensors").touch()
    resolve_similarity(f"sentence-transformers:{tmp_path}")


@pytest.mark.parametrize("content", ["", "{}", "[1]", "[" * 100_000])
def test_resolve_similarity_of_other_folder_is_usage_error(
    content: str, encoder: type[Encoder], tmp_path: Path
) -> None:
    (save_sentence_model(tmp_path) / "modules.json").write_text(content or "no JSON")
    with pytest.raises(UsageError, match=r"modules\.json, or what it names, cannot be read .*; expected a folder that"):
        resolve_similarity(f"sentence-transformers:{tmp_path}")


def test_resolve_similarity_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_models, "find_spec", lambda name: None)
    assert resolve_similarity("lexical") == "lexical"
    assert resolve_similarity("embeddings") == "embeddings"
    with pytest.raises(UsageError, match=r"pip install pytest-taskgraph-bench\[sentence-transformers\]"):
        resolve_similarity("sentence-transformers")
    with pytest.raises(UsageError, match=r"pip install pytest-taskgraph-bench\[sentence-transformers\]"):
        similarity_matrix(answer("stir"), reference("stir", similarity="sentence-transformers"))


def test_similarity_label_names_model_without_path(tmp_path: Path) -> None:
    assert similarity_label("lexical") == "lexical"
    assert similarity_label(f"sentence-transformers:{tmp_path}{os.sep}") == f"sentence-transformers:{tmp_path.name}"
    name = "sentence-transformers:sentence-transformers/all-mpnet-base-v2"
    assert similarity_label("sentence-transformers") == similarity_label(name) == name

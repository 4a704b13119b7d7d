"""Steps compared by a real sentence model of random weights, as sentence-transformers saves it."""

from __future__ import annotations

import json
import shutil
import socket
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra local is not installed")
transformers = pytest.importorskip("transformers", reason="the extra local is not installed")
if find_spec("sentence_transformers") is None:
    pytest.skip("the extra sentence-transformers is not installed", allow_module_level=True)

from plugin_project import Project  # noqa: E402
from sentence_stand_in import forget_models  # noqa: E402
from tiny_language_model import whole_words  # noqa: E402

from pytest_taskgraph.errors import UsageError  # noqa: E402
from pytest_taskgraph.scoring.task_graphs.step_matching import resolve_similarity, similarity_matrix  # noqa: E402
from pytest_taskgraph.trial import Json  # noqa: E402

MODULES = {"": "sentence_transformers.models.Transformer", "1_Pooling": "sentence_transformers.models.Pooling"}
SUITE = """
from pytest_taskgraph import suite, tasklama

@suite(tasklama)
def test_tasklama(trial):
    trial.check()
"""


def save_sentence_model(folder: Path) -> Path:
    config = transformers.BertConfig(
        vocab_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    transformers.BertModel(config).save_pretrained(str(folder))
    words = whole_words(["[PAD]", "boil", "stir", "water", "rice"])
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="[UNK]", pad_token="[PAD]", model_max_length=64
    ).save_pretrained(str(folder))
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    modules = enumerate(MODULES.items())
    stated = [{"idx": at, "name": str(at), "path": path, "type": kind} for at, (path, kind) in modules]
    (folder / "modules.json").write_text(json.dumps(stated))
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_sentence_model(tmp_path_factory.mktemp("models") / "tiny-sentences")


def test_similarity_of_real_model_uses_no_network(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    name = resolve_similarity(f"sentence-transformers:{model}")
    gold: dict[str, Json] = {"steps": ["stir rice", "boil water"], "dependencies": [], "similarity": name}
    ((same, other),) = similarity_matrix({"steps": ["stir rice"], "dependencies": []}, gold)
    assert same == pytest.approx(1.0)
    assert 0.0 <= other < 1.0


def test_similarity_of_damaged_model_is_usage_error(model: Path, tmp_path: Path) -> None:
    broken = Path(shutil.copytree(model, tmp_path / "broken"))
    (broken / "model.safetensors").write_bytes(b"no tensors")
    name = resolve_similarity(f"sentence-transformers:{broken}")
    gold: dict[str, Json] = {"steps": ["stir rice"], "dependencies": [], "similarity": name}
    with pytest.raises(UsageError, match=r"the sentence model .*broken cannot be loaded: SafetensorError"):
        similarity_matrix({"steps": ["boil"], "dependencies": []}, gold)


def test_run_with_sentence_model_names_it_in_record_and_tables(model: Path, pytester: pytest.Pytester) -> None:
    project = Project(pytester)
    project.write("test_tasks.py", SUITE)
    option = f"--taskgraph-tasklama-similarity=sentence-transformers:{model}"
    forget_models()
    ran = project.spawn(option, "--taskgraph-instances=1", "-v", "--taskgraph-report=json=record.json")
    assert ran.code == 0, ran.output
    assert "similarity: sentence-transformers:tiny-sentences (not comparable with the paper)" in ran.output
    text = (project.path / "record.json").read_text("utf-8")
    name = resolve_similarity(f"sentence-transformers:{model}")
    assert f'"similarity": "{name}"' in text
    assert '"tasklama-similarity": "sentence-transformers:tiny-sentences"' in text

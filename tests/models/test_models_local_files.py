"""Folders of local models, as they are looked for before anything is loaded; torch is not needed."""

from __future__ import annotations

import json
import re
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from pytest_taskgraph import local_weights
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.local_weights import find_language_model, find_weights, fingerprint_weights
from pytest_taskgraph.models import open_model
from pytest_taskgraph.models.prices import Price, price_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize("missing", [["torch"], ["transformers"], ["torch", "transformers"]])
def test_open_local_without_extra_names_install_command(
    missing: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = ModuleSpec("any", None)
    monkeypatch.setattr(local_weights, "find_spec", lambda name: None if name in missing else spec)
    message = f"local models need {' and '.join(missing)}, which this extra installs: "
    with pytest.raises(UsageError, match=re.escape(f"{message}pip install pytest-taskgraph-bench[local]")):
        open_model(f"local:{folder}", {})


def test_find_weights_in_folder_returns_it(folder: Path) -> None:
    assert find_weights(str(folder)) == folder


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("config.json", r"has no config\.json; expected a folder that transformers saved"),
        ("model.safetensors", r"has no \*\.safetensors, and no other weights are read"),
    ],
)
def test_find_weights_in_incomplete_folder_names_missing_files(file: str, message: str, folder: Path) -> None:
    (folder / file).rename(folder / "pytorch_model.bin")
    with pytest.raises(UsageError, match=message):
        find_weights(str(folder))


def adapter_of(folder: Path, **stated: str) -> Path:
    adapter = folder / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(json.dumps({"peft_type": "PROMPT_TUNING", **stated}))
    return adapter


def test_find_weights_in_adapter_folder_needs_its_base(folder: Path) -> None:
    adapter = adapter_of(folder, base_model_name_or_path=str(folder))
    assert find_weights(str(adapter)) == adapter
    (folder / "config.json").unlink()
    with pytest.raises(UsageError, match=r"is an adapter of .*, which cannot be used: .* has no config\.json"):
        find_weights(str(adapter))


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"peft_type": "IA3"}, "peft_type: found 'IA3', expected PROMPT_TUNING or LORA; merge other adapters"),
        ({}, "base_model_name_or_path: found None, expected the folder of the base model"),
        ({"base_model_name_or_path": "."}, "holds an adapter as well"),
    ],
)
def test_find_weights_in_odd_adapter_folder_is_usage_error(stated: dict[str, str], message: str, folder: Path) -> None:
    with pytest.raises(UsageError, match=message):
        find_weights(str(adapter_of(folder, **stated)))


def test_fingerprint_depends_on_content_and_names_of_files(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first = fingerprint_weights(folder)
    other = tmp_path_factory.mktemp("other")
    for path in folder.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    (other / "README.md").write_text("not read")
    assert fingerprint_weights(other) == first
    (other / "model.safetensors").write_text("model.safetensorS")
    assert fingerprint_weights(other) != first
    (other / "model.safetensors").rename(other / "config.json")
    assert fingerprint_weights(other) != first


def test_price_of_local_model_is_zero_unless_stated() -> None:
    assert price_of("local:models/gpt2") == Price(0.0, 0.0)
    stated = price_of("local:models/gpt2", ["local:models/gpt2=1/2"])
    assert stated is not None
    assert (stated.input, stated.output) == (1e-6, 2e-6)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(local_weights, "find_spec", lambda name: ModuleSpec("any", None))
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00")
    return path


def test_find_language_model_returns_gguf_file_or_folder(file: Path, folder: Path) -> None:
    assert find_language_model(str(file)) == file
    assert find_language_model(str(folder)) == folder


def test_find_language_model_missing_gguf_file_is_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.gguf' cannot be read: No such file or directory"):
        find_language_model(str(tmp_path / "none.gguf"))


def test_find_language_model_of_other_content_states_what_it_found(file: Path) -> None:
    file.write_bytes(b"PK\x03\x04")
    with pytest.raises(UsageError, match=r"tiny\.gguf': no GGUF file: it starts with b'PK.*, expected b'GGUF'"):
        find_language_model(str(file))


def test_find_language_model_in_folder_of_gguf_files_names_one(file: Path) -> None:
    (file.parent / "other.gguf").touch()
    message = f"a folder of GGUF files; name a file: {file.parent / 'other.gguf'}, or one of 1 more"
    with pytest.raises(UsageError, match=re.escape(message)):
        find_language_model(str(file.parent))


@pytest.mark.parametrize("missing", [["gguf"], ["accelerate"], ["gguf", "accelerate"]])
def test_find_language_model_without_reader_names_install_command(
    missing: list[str], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = ModuleSpec("any", None)
    monkeypatch.setattr(local_weights, "find_spec", lambda name: None if name in missing else spec)
    message = f"GGUF files need {' and '.join(missing)}, which this extra installs: "
    with pytest.raises(UsageError, match=re.escape(f"{message}pip install pytest-taskgraph-bench[local]")):
        find_language_model(str(file))


def test_fingerprint_of_gguf_file_depends_on_its_content_alone(file: Path) -> None:
    first = fingerprint_weights(file)
    (file.parent / "config.json").write_text("{}")
    assert fingerprint_weights(file) == first
    file.write_bytes(b"GGUF\x03\x00\x00\x01")
    assert fingerprint_weights(file) != first


def test_fingerprint_nested_depends_on_files_of_inner_folders(folder: Path) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text("{}")
    first, nested = fingerprint_weights(folder), fingerprint_weights(folder, nested=True)
    (folder / "1_Pooling" / "config.json").write_text("[]")
    assert fingerprint_weights(folder) == first
    assert fingerprint_weights(folder, nested=True) != nested

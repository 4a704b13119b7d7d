"""A stand-in for the package sentence-transformers, and folders that its models would lie in."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest

from pytest_taskgraph.scoring.task_graphs import sentence_models, step_matching


class Encoder:
    """Stands in for the class of models: vectors by text, and the calls."""

    vectors: ClassVar[dict[str, list[float]]] = {}
    calls: ClassVar[list[list[str]]] = []
    loaded: ClassVar[list[str]] = []

    def __init__(
        self, name: str, *, model_kwargs: dict[str, bool], local_files_only: bool, trust_remote_code: bool
    ) -> None:
        assert (model_kwargs, local_files_only, trust_remote_code) == ({"use_safetensors": True}, True, False)
        Encoder.loaded.append(name)

    def encode(self, texts: list[str], *, show_progress_bar: bool) -> list[list[float]]:
        assert not show_progress_bar
        Encoder.calls.append(texts)
        return [Encoder.vectors[text] for text in texts]


@contextmanager
def sentence_stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the stand-in in the place of the package, in a process that knows no model."""
    for kept in (Encoder.vectors, Encoder.calls, Encoder.loaded):
        kept.clear()
    package = ModuleType("sentence_transformers")
    package.__dict__["SentenceTransformer"] = Encoder
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    monkeypatch.setattr(sentence_models, "find_spec", lambda name: ModuleSpec(name, None))
    monkeypatch.setattr(sentence_models, "quiet_transformers", nullcontext)
    forget_models()
    yield
    forget_models()


def forget_models() -> None:
    """Forget which models there are, as a new process does."""
    sentence_models._PLACES.clear()
    for cached in (sentence_models.sentence_encoder, sentence_models._open, step_matching._cosines):
        cached.cache_clear()


def save_sentence_model(folder: Path, weights: str = "numbers", **further: str) -> Path:
    """Write the files of a sentence model: its modules, by the names of their folders, of these types."""
    modules = {"": "sentence_transformers.models.Transformer", "1_Pooling": "sentence_transformers.models.Pooling"}
    for name in modules | further:
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "config.json").write_text("{}")
    (folder / "model.safetensors").write_text(weights)
    stated = [{"path": name, "type": kind} for name, kind in (modules | further).items()]
    (folder / "modules.json").write_text(json.dumps(stated))
    return folder

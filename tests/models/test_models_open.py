from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.models import MODELS, open_model
from pytest_taskgraph.models.clients.litellm_client import LiteLLMModel
from pytest_taskgraph.models.clients.openai_compatible import OpenAICompatibleModel
from pytest_taskgraph.models.clients.recorded import RecordedModel


@pytest.mark.parametrize(
    "name",
    [
        "gpt-4o",
        "anthropic/claude-x",
        "ollama_chat/llama3:8b",
        "bedrock/anthropic.claude-v2:1",
        "replay:x",
        "C:\\models",
    ],
)
def test_open_without_known_scheme_is_litellm_name(name: str) -> None:
    model = open_model(f" {name} ", {"temperature": 0})
    assert isinstance(model, LiteLLMModel)
    assert (model.name, model.settings) == (name, {"temperature": 0})


def test_open_known_scheme_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "a:b.jsonl"
    path.write_text('{"prompt": "p", "reply": "r"}')
    assert isinstance(open_model(f"recorded:{path}", {}), RecordedModel)
    assert open_model(f"recorded:{path}", {}).name == f"recorded:{path}"
    assert open_model("litellm:ollama/llama3:8b", {}).name == "ollama/llama3:8b"


def test_open_address_is_openai_compatible_model() -> None:
    assert isinstance(open_model("https://host/v1#any", {}), OpenAICompatibleModel)
    assert isinstance(open_model("http/any", {}), LiteLLMModel)


@pytest.mark.parametrize("spec", ["", "  ", *(f"{scheme}:" for scheme in MODELS), "recorded: "])
def test_open_empty_name_is_usage_error(spec: str) -> None:
    with pytest.raises(UsageError, match="has no name"):
        open_model(spec, {})


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("app.py", "python:app:answer"),
        ("./src/app.py:reply", "python:src.app:reply"),
        ("python:app.py:reply", "python:app:reply"),
    ],
)
def test_open_python_file_is_refused_with_its_function(spec: str, named: str) -> None:
    with pytest.raises(
        UsageError, match=re.escape(f"the model {spec!r} is a Python file; name the function in it")
    ) as end:
        open_model(spec, {})
    assert str(end.value).endswith(f": {named}")


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("simulatd:0.9", "simulated:0.9"),
        ("pyton:app:answer", "python:app:answer"),
        ("basline:reader", "baseline:reader"),
        ("recored:replies.jsonl", "recorded:replies.jsonl"),
        ("app:answer", "python:app:answer"),
    ],
)
def test_misspelt_kind_is_refused_at_once(
    spec: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.py").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(f"the model {spec!r} is of no known kind; did you mean {meant}?")):
        open_model(spec, {})


@pytest.mark.parametrize("spec", ["ollama/llama3:8b", "bedrock/any:0", "qwen:answer", "gpt-4o"])
def test_name_that_resembles_no_kind_is_taken_as_it_is(spec: str) -> None:
    assert open_model(spec, {}).name == spec

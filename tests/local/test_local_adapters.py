"""Soft prompts, LoRA, and encoders with a decoder, as `--model=local:DIR` asks them."""

from __future__ import annotations

import asyncio
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra local is not installed")
transformers = pytest.importorskip("transformers", reason="the extra local is not installed")
peft = pytest.importorskip("peft", reason="the extra local is not installed")

from tiny_language_model import save_lora, save_soft_prompt, save_tiny, save_tiny_pair  # noqa: E402

from pytest_taskgraph.errors import ProviderError, UsageError  # noqa: E402
from pytest_taskgraph.local_weights import fingerprint_weights, load_weights  # noqa: E402
from pytest_taskgraph.models import open_model  # noqa: E402
from pytest_taskgraph.redaction import scrub  # noqa: E402
from pytest_taskgraph.trial import Reply, Request, TextScore  # noqa: E402

PROMPT = "Boil water . What comes next ?"


@pytest.fixture(scope="module")
def soft(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_soft_prompt(tmp_path_factory.mktemp("adapters") / "soft", tiny)


@pytest.fixture(scope="module")
def lora(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_lora(tmp_path_factory.mktemp("adapters") / "lora", tiny)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_pair(tmp_path_factory.mktemp("models") / "pair")


def chat(folder: Path, tokens: int = 12) -> Reply:
    client = open_model(f"local:{folder}", {"max_tokens": tokens})
    return asyncio.run(client.answer(Request([{"role": "user", "content": PROMPT}])))


def scores(folder: Path, context: str = PROMPT, *texts: str) -> list[TextScore]:
    request = Request(kind="score", context=context, texts=list(texts or (" Yes", " No stir")))
    return asyncio.run(open_model(f"local:{folder}", {}).answer(request)).scores


def by_peft(base: Path, adapter: Path) -> Any:  # noqa: ANN401
    model = transformers.AutoModelForCausalLM.from_pretrained(str(base))
    with warnings.catch_warnings(action="ignore"):
        return peft.PeftModel.from_pretrained(model, str(adapter)).eval()


@pytest.mark.parametrize("kind", ["soft", "lora"])
def test_adapter_replies_as_peft_computes(kind: str, tiny: Path, request: pytest.FixtureRequest) -> None:
    adapter: Path = request.getfixturevalue(kind)
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(tiny))
    ids = tokenizer(PROMPT)["input_ids"]
    start, model = len(ids), by_peft(tiny, adapter)
    with torch.no_grad():
        for _ in range(12):
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    reply = chat(adapter)
    assert reply.text == scrub(tokenizer.decode(ids[start:]))
    assert reply.text != chat(tiny).text


@pytest.mark.parametrize("kind", ["soft", "lora"])
def test_adapter_scores_as_peft_computes(kind: str, tiny: Path, request: pytest.FixtureRequest) -> None:
    adapter: Path = request.getfixturevalue(kind)
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(tiny))
    model = by_peft(tiny, adapter)
    for text, score in zip((" Yes", " No stir"), scores(adapter), strict=True):
        ids = tokenizer(PROMPT + text, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            logits = torch.log_softmax(model(ids).logits[0, -ids.shape[1] :], dim=-1)
        places = range(ids.shape[1] - score.tokens, ids.shape[1])
        expected = sum(float(logits[at - 1, ids[0, at]]) for at in places)
        assert score.logprob == pytest.approx(expected, abs=1e-3)


def test_soft_prompt_leaves_less_room_for_input(tiny: Path, soft: Path) -> None:
    assert (load_weights(tiny).longest, load_weights(soft).longest) == (128, 123)
    with pytest.raises(ProviderError, match="the model takes at most 123"):
        scores(soft, "Boil " * 200)


def test_fingerprint_of_adapter_covers_base(tiny: Path, tmp_path: Path) -> None:
    base = Path(shutil.copytree(tiny, tmp_path / "base"))
    adapter = save_soft_prompt(tmp_path / "soft", base)
    first = fingerprint_weights(adapter)
    assert first != fingerprint_weights(base)
    save_tiny(base, seed=5)
    assert fingerprint_weights(adapter) != first


def test_adapter_with_moved_base_says_where_to_name_it(soft: Path, tmp_path: Path) -> None:
    adapter = Path(shutil.copytree(soft, tmp_path / "soft"))
    config = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps(config | {"base_model_name_or_path": "/no/such/base"}))
    with pytest.raises(UsageError, match=r"adapter of '/no/such/base', which cannot be used: .*name its place in"):
        open_model(f"local:{adapter}", {})


def test_adapter_finds_base_relative_to_its_folder(tiny: Path, soft: Path, tmp_path: Path) -> None:
    adapter = Path(shutil.copytree(soft, tmp_path / "soft"))
    shutil.copytree(tiny, tmp_path / "base")
    config = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps(config | {"base_model_name_or_path": "../base"}))
    assert chat(adapter).text == chat(soft).text


def test_soft_prompt_for_other_base_is_refused(soft: Path, pair: Path, tmp_path: Path) -> None:
    adapter = Path(shutil.copytree(soft, tmp_path / "soft"))
    import safetensors.torch

    safetensors.torch.save_file({"prompt_embeddings": torch.zeros(3, 8)}, str(adapter / "adapter_model.safetensors"))
    with pytest.raises(UsageError, match="found embeddings of 8 numbers, but the base model has 32"):
        load_weights(adapter)


def test_encoder_with_decoder_replies_as_transformers_generates(pair: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(pair))
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(str(pair)).eval()
    with torch.no_grad():
        written = model.generate(
            tokenizer(PROMPT, return_tensors="pt")["input_ids"], max_new_tokens=12, do_sample=False
        )
    reply = chat(pair)
    assert reply.text == scrub(tokenizer.decode(written[0], skip_special_tokens=True))
    assert (reply.tokens_out or 0) > 1


def test_encoder_with_decoder_takes_more_than_its_tokenizer_states(pair: Path) -> None:
    assert load_weights(pair).longest is None
    assert scores(pair, "Boil " * 200)[0].logprob is not None


def test_encoder_with_decoder_scores_every_token_of_text(pair: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(pair))
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(str(pair)).eval()
    for text, score in zip((" Yes", " No stir"), scores(pair), strict=True):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            output = model(tokenizer(PROMPT, return_tensors="pt")["input_ids"], labels=torch.tensor([ids]))
        assert score.tokens == len(ids)
        assert score.logprob == pytest.approx(-float(output.loss) * len(ids), abs=1e-3)

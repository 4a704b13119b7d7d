"""A model in a GGUF file: the same scores as its folder, its chat template, and what is refused."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra local is not installed")
transformers = pytest.importorskip("transformers", reason="the extra local is not installed")
gguf = pytest.importorskip("gguf", reason="the extra local is not installed")

from tiny_language_model import END, byte_pairs  # noqa: E402

from pytest_taskgraph.benchmarks.tuning_task import TuningParameters  # noqa: E402
from pytest_taskgraph.errors import ProviderError  # noqa: E402
from pytest_taskgraph.local_weights import find_language_model, load_weights, save_weights  # noqa: E402
from pytest_taskgraph.models import open_model  # noqa: E402
from pytest_taskgraph.trial import Request, TextScore  # noqa: E402
from pytest_taskgraph.tuning.tuned_model import TunedModel  # noqa: E402

SCORE = Request(kind="score", context="Boil water . Is it ?", texts=[" Yes", " No", " Cook the rice ."])
TEMPLATE = "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}{% endfor %}"
HEADS = 2


def tiny_llama() -> Any:  # noqa: ANN401 - of a package without types here
    config = transformers.LlamaConfig(
        vocab_size=512, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=HEADS,
        num_key_value_heads=HEADS, max_position_embeddings=128, initializer_range=0.3, rms_norm_eps=1e-5,
    )  # fmt: skip
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(config).eval()


def interleaved(weight: Any) -> Any:  # noqa: ANN401
    """Return a projection of queries or keys with its rows in the order of llama.cpp."""
    size = weight.shape[0] // HEADS // 2
    return weight.reshape(HEADS, 2, size, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


def tensors_of(model: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the weights under their names in a GGUF file."""
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, model.config.num_hidden_layers)
    weights = {name: tensor.float().numpy() for name, tensor in model.state_dict().items()}
    return {
        f"{names.get_name(name, try_suffixes=('.weight',))}.weight".replace(".weight.weight", ".weight"): (
            interleaved(weight) if ".q_proj" in name or ".k_proj" in name else weight
        )
        for name, weight in weights.items()
    }


def write_gguf(path: Path, model: Any, *, architecture: str = "llama") -> Path:  # noqa: ANN401
    """Write the model with the tokenizer of `byte_pairs` and a chat template."""
    config, tokenizer = model.config, byte_pairs()
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_name("tiny")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([token for token, _ in vocabulary])
    writer.add_token_types([3 if token == END else 1 for token, _ in vocabulary])
    writer.add_token_merges(merges_of(tokenizer))
    writer.add_eos_token_id(tokenizer.token_to_id(END))
    writer.add_chat_template(TEMPLATE)
    for name, tensor in tensors_of(model).items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def merges_of(tokenizer: Any) -> list[str]:  # noqa: ANN401
    import json

    stated = json.loads(tokenizer.to_str())["model"]["merges"]
    return [merge if isinstance(merge, str) else " ".join(merge) for merge in stated]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("files") / "tiny.gguf", tiny_llama())


def ask(place: Path) -> list[TextScore]:
    return asyncio.run(open_model(f"local:{place}", {}).answer(SCORE)).scores


def logprobs(place: Path) -> list[float | None]:
    return [score.logprob for score in ask(place)]


def test_gguf_gives_scores_of_its_model(file: Path, tmp_path: Path) -> None:
    model = tiny_llama()
    model.save_pretrained(str(tmp_path))
    transformers.PreTrainedTokenizerFast(tokenizer_object=byte_pairs(), eos_token=END).save_pretrained(str(tmp_path))
    assert logprobs(file) == pytest.approx(logprobs(tmp_path), rel=1e-5)


def test_gguf_chat_uses_template_of_file(file: Path) -> None:
    client = open_model(f"local:{file}", {"max_tokens": 3})
    reply = asyncio.run(client.answer(Request([{"role": "user", "content": "Boil"}])))
    assert reply.tokens_in == len(byte_pairs().encode("<user>Boil").ids)
    assert reply.tokens_out == 3


def test_gguf_saved_as_folder_gives_equal_scores(file: Path, tmp_path: Path) -> None:
    weights = load_weights(file)
    save_weights(weights, tmp_path)
    assert any(tmp_path.glob("*.safetensors"))
    assert load_weights(tmp_path).tokenizer.chat_template == TEMPLATE
    assert ask(tmp_path) == ask(file)


def test_gguf_is_read_without_files_beside_it(file: Path, tmp_path: Path) -> None:
    alone = tmp_path / file.name
    os.link(file, alone)
    expected = ask(alone)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=byte_pairs(300), eos_token=END, chat_template="other"
    ).save_pretrained(str(tmp_path))
    assert ask(alone) == expected
    assert load_weights(alone).tokenizer.chat_template == TEMPLATE


def test_gguf_shows_no_progress_bars(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load_weights(file)
    assert capfd.readouterr() == ("", "")


def test_gguf_truncated_is_provider_error_with_advice(file: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(
        ProviderError, match=r"not-found: the local model .*broken\.gguf cannot be loaded: .*llama\.cpp"
    ):
        ask(broken)


def test_gguf_of_unknown_architecture_is_provider_error_with_advice(tmp_path: Path) -> None:
    other = write_gguf(tmp_path / "other.gguf", tiny_llama(), architecture="kitchen")
    with pytest.raises(
        ProviderError, match=r"cannot be loaded: .*kitchen.*; transformers reads some kinds of GGUF only"
    ):
        ask(other)


def test_gguf_without_tensor_is_provider_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_llama()
    fewer = {name: tensor for name, tensor in tensors_of(model).items() if name != "blk.1.ffn_up.weight"}
    monkeypatch.setitem(globals(), "tensors_of", lambda _: fewer)
    with pytest.raises(ProviderError, match=r"the weights lack model\.layers\.1\.mlp\.up_proj\.weight"):
        ask(write_gguf(tmp_path / "fewer.gguf", model))


def test_gguf_tuned_adapter_names_the_file(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("peft", reason="the extra local is not installed")
    parameters = TuningParameters(epochs=1, batch=1, learning_rate=0.1, prompt_tokens=(2,))
    tuned = TunedModel.of(load_weights(file), file, "soft-prompt", parameters, [1, 2])
    tuned.save(tmp_path)
    assert find_language_model(str(tmp_path)) == tmp_path
    assert load_weights(tmp_path).prefix.shape == (2, 32)

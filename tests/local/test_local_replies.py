"""Replies that a model on this machine writes."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra local is not installed")
transformers = pytest.importorskip("transformers", reason="the extra local is not installed")

from tiny_language_model import END, save_tiny, whole_words  # noqa: E402

from pytest_taskgraph.errors import NotAskedError, ProviderError, UsageError  # noqa: E402
from pytest_taskgraph.local_weights import load_weights  # noqa: E402
from pytest_taskgraph.models import open_model  # noqa: E402
from pytest_taskgraph.models.clients import local_model  # noqa: E402
from pytest_taskgraph.models.clients.local_model import WritingSettings, write_reply  # noqa: E402
from pytest_taskgraph.redaction import scrub  # noqa: E402
from pytest_taskgraph.trial import Json, Reply, Request  # noqa: E402

PROMPT = "Boil water . What comes next ?"


def chat(folder: Path, prompt: str = PROMPT, repetition: int = 1, **settings: Json) -> Reply:
    request = Request([{"role": "user", "content": prompt}], repetition=repetition)
    return asyncio.run(open_model(f"local:{folder}", settings).answer(request))


def most_probable(folder: Path, prompt: str, tokens: int) -> list[int]:
    """The tokens of the greedy reply, each of which is computed from the whole text before it."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
    model = transformers.AutoModelForCausalLM.from_pretrained(str(folder)).eval()
    ids: list[int] = tokenizer(prompt)["input_ids"]
    start = len(ids)
    with torch.no_grad():
        for _ in range(tokens):
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    return ids[start:]


def greedy_text(folder: Path, prompt: str, tokens: int) -> str:
    """The text of the greedy reply, as replies are cleaned."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
    return scrub(str(tokenizer.decode(most_probable(folder, prompt, tokens))))


class Ending:
    """A model whose third token in a row is its end, and never one before it."""

    def __init__(self, model: Any, end: int) -> None:  # noqa: ANN401
        self._model, self._end, self._calls, self.forward = model, end, 0, model.forward

    def __call__(self, *args: Any, **keywords: Any) -> Any:  # noqa: ANN401
        self._calls += 1
        output = self._model(*args, **keywords)
        output.logits[..., self._end] = 1e9 if self._calls == 3 else -1e9
        return output


def test_reply_without_settings_is_greedy(tiny: Path) -> None:
    reply = chat(tiny, max_tokens=12)
    assert reply.text == greedy_text(tiny, PROMPT, 12)
    assert (reply.tokens_out, reply.finish_reason, reply.cost) == (12, "length", 0.0)
    assert reply == replace(chat(tiny, max_tokens=12), latency=reply.latency)


def test_reply_ends_at_length_of_model(tmp_path: Path) -> None:
    reply = chat(save_tiny(tmp_path / "words", whole_words(["boil", "mix"]), positions=16), "boil mix boil")
    assert (reply.tokens_in, reply.tokens_out, reply.finish_reason) == (3, 14, "length")


def test_reply_ends_before_end_token(tiny: Path) -> None:
    weights = load_weights(tiny)
    (end,) = weights.ends
    assert weights.tokenizer.decode([end]) == END
    ids = weights.tokenizer(PROMPT)["input_ids"]
    ending = replace(weights, model=Ending(weights.model, end))
    text, count, finish = write_reply(ending, ids, WritingSettings(), 1, threading.Event())
    assert text == weights.tokenizer.decode(most_probable(tiny, PROMPT, 2))
    assert (count, finish) == (3, "stop")


def test_sampled_reply_depends_on_seed_and_repetition(tiny: Path) -> None:
    def sample_reply(repetition: int = 1, **stated: Json) -> str:
        return chat(tiny, PROMPT, repetition, **{"max_tokens": 12, "temperature": 1.0, "seed": 7, **stated}).text

    assert sample_reply() == sample_reply()
    assert len({sample_reply(), sample_reply(seed=8), sample_reply(2), sample_reply(temperature=0)}) == 4
    assert sample_reply(top_p=1e-9) == sample_reply(temperature=0)


def test_sampled_tokens_follow_probabilities(tmp_path: Path) -> None:
    words = ["boil", "cut", "mix"]
    folder = save_tiny(tmp_path / "words", whole_words(words), positions=16)
    weights = load_weights(folder)
    ids = weights.tokenizer("boil mix")["input_ids"]
    with torch.no_grad():
        shares = torch.softmax(weights.model(torch.tensor([ids])).logits[0, -1] / 2.0, dim=-1).tolist()
    settings = WritingSettings(max_tokens=1, temperature=2.0)
    sampled = Counter(
        write_reply(weights, ids, settings, repetition, threading.Event())[0] for repetition in range(1, 1501)
    )
    for word, share in zip(words, shares[1:], strict=True):
        assert sampled[word] / 1500 == pytest.approx(share, abs=0.05)


def test_sampled_tokens_are_within_top_p(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "words", whole_words(["boil", "cut", "mix"]), positions=16)
    weights = load_weights(folder)
    ids = weights.tokenizer("boil mix")["input_ids"]
    with torch.no_grad():
        order = torch.softmax(weights.model(torch.tensor([ids])).logits[0, -1], dim=-1).sort(descending=True)
    settings = WritingSettings(max_tokens=1, temperature=1.0, top_p=float(order.values[:2].sum()) - 1e-4)
    sampled = {write_reply(weights, ids, settings, repetition, threading.Event())[0] for repetition in range(1, 301)}
    allowed = {weights.tokenizer.decode([token], skip_special_tokens=True) for token in order.indices[:2].tolist()}
    assert sampled == allowed


def test_reply_follows_chat_template(tmp_path: Path) -> None:
    template = (
        "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}>{% endif %}"
    )
    folder = save_tiny(tmp_path / "chat", chat_template=template)
    assert chat(folder, max_tokens=8).text == greedy_text(folder, f"[user] {PROMPT}\n>", 8)


def test_reply_to_several_messages_reads_their_texts(tiny: Path) -> None:
    messages = [{"role": "system", "content": "Be brief ."}, {"role": "user", "content": PROMPT}]
    reply = asyncio.run(open_model(f"local:{tiny}", {"max_tokens": 6}).answer(Request(messages)))
    assert reply.text == greedy_text(tiny, f"Be brief .\n\n{PROMPT}", 6)


def test_prompt_of_too_many_tokens_is_context_too_long(tiny: Path) -> None:
    assert chat(tiny, " a" * 128).tokens_out == 1
    with pytest.raises(ProviderError, match="context-too-long: 129 tokens; the model takes at most 128"):
        chat(tiny, " a" * 129)


def test_settings_of_request_override_model(tiny: Path) -> None:
    request = Request([{"role": "user", "content": PROMPT}], settings={"max_completion_tokens": 2})
    assert asyncio.run(open_model(f"local:{tiny}", {"max_tokens": 9}).answer(request)).tokens_out == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_token": 3}, "unknown model option 'max_token' of a local model; known: device, max_completion_tokens,"),
        ({"max_tokens": 0}, "max_tokens: found 0, expected a whole number from 1"),
        ({"temperature": "hot"}, "temperature: found 'hot', expected a number from 0"),
        ({"temperature": -1}, "temperature: found -1"),
        ({"top_p": 0}, "top_p: found 0, expected a number above 0"),
        ({"seed": 1.5}, "seed: found 1.5, expected a whole number"),
        ({"network": "yes"}, "network: found 'yes', expected true or false"),
        ({"precision": "float8"}, "precision: found 'float8', expected auto, float32"),
        ({"device": 0}, "device: found 0, expected cpu"),
    ],
)
def test_open_with_invalid_option_is_usage_error(settings: dict[str, Json], message: str, tiny: Path) -> None:
    with pytest.raises(UsageError, match=message):
        open_model(f"local:{tiny}", settings)


@pytest.mark.parametrize(
    "request_",
    [
        Request([{"role": "user", "content": "?"}], settings={"response_format": {"type": "json_object"}}),
        Request([{"role": "user", "content": "?"}], tools=[{"type": "function"}]),
        Request([{"role": "user", "content": [{"type": "image_url"}]}]),
        Request(kind="embed", texts=["a"]),
    ],
    ids=["setting", "tools", "image", "embed"],
)
def test_unsupported_request_is_not_asked(request_: Request, tiny: Path) -> None:
    with pytest.raises(NotAskedError):
        asyncio.run(open_model(f"local:{tiny}", {}).answer(request_))


def test_reasoning_in_tags_is_kept_apart_from_reply(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_model, "write_reply", lambda *_: ("<think>So.</think>\nBoil", 9, "stop"))
    assert (chat(tiny).reasoning, chat(tiny).text) == ("So.", "\nBoil")
    monkeypatch.setattr(local_model, "write_reply", lambda *_: ("<think>So", 9, "length"))
    assert (chat(tiny).reasoning, chat(tiny).text, chat(tiny).cut_off) == ("So", "", True)

"""A model on this machine as a client: its files, its thread, its place in a run."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra local is not installed")
transformers = pytest.importorskip("transformers", reason="the extra local is not installed")

from plugin_project import Project  # noqa: E402
from tiny_language_model import byte_pairs, save_tiny  # noqa: E402

from pytest_taskgraph.errors import ProviderError, UsageError  # noqa: E402
from pytest_taskgraph.local_weights import load_weights  # noqa: E402
from pytest_taskgraph.models import open_model  # noqa: E402
from pytest_taskgraph.models.clients.local_model import LocalModel  # noqa: E402
from pytest_taskgraph.models.request_key import request_key  # noqa: E402
from pytest_taskgraph.trial import Reply, Request, TextScore  # noqa: E402

SCORE = Request(kind="score", context="Boil water . Is it ?", texts=[" Yes", " No"])
WAIT = 60.0  # seconds, after which a test that hangs fails


@pytest.fixture
def copied(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "copy"))


def ask(folder: Path) -> list[TextScore]:
    return asyncio.run(open_model(f"local:{folder}", {}).answer(SCORE)).scores


class Watched:
    """A model that notes how many computations are under way, and waits in each for an event."""

    def __init__(self, folder: Path) -> None:
        self.client = LocalModel(str(folder))
        self.go_on, self.begun = threading.Event(), threading.Event()
        self.under_way, self.most, self.computed = 0, 0, 0
        weights = load_weights(folder)
        self._model = weights.model
        self.client._loaded = replace(weights, model=self)
        self.forward = self._model.forward

    def __call__(self, *args: Any, **keywords: Any) -> Any:  # noqa: ANN401
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        self.begun.set()
        assert self.go_on.wait(WAIT)
        output = self._model(*args, **keywords)
        self.under_way -= 1
        self.computed += 1
        return output


def test_answer_leaves_event_loop_free(tiny: Path) -> None:
    watched = Watched(tiny)

    async def run() -> Reply:
        task = asyncio.create_task(watched.client.answer(SCORE))
        while not watched.begun.is_set():
            await asyncio.sleep(0.001)
        watched.go_on.set()  # which nobody could do, were the loop to wait for the computation
        return await asyncio.wait_for(task, WAIT)

    assert asyncio.run(run()).scores == ask(tiny)


def test_answers_are_computed_one_at_a_time(tiny: Path) -> None:
    watched = Watched(tiny)
    watched.go_on.set()

    async def run() -> None:
        await asyncio.gather(*(watched.client.answer(replace(SCORE, context=f"Step {number}")) for number in range(6)))

    asyncio.run(run())
    assert (watched.computed, watched.most) == (6, 1)


def test_answer_cancelled_stops_writing(tiny: Path) -> None:
    watched = Watched(tiny)

    async def run() -> None:
        task = asyncio.create_task(watched.client.answer(Request([{"role": "user", "content": "Boil"}])))
        while not watched.begun.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        watched.go_on.set()
        await watched.client.answer(SCORE)

    asyncio.run(run())
    assert watched.computed == 2  # one token of the reply, and the scores


def test_score_texts_of_one_token_needs_one_computation(tiny: Path) -> None:
    watched = Watched(tiny)
    watched.go_on.set()
    asyncio.run(watched.client.answer(replace(SCORE, texts=[" Yes", " No"])))
    assert watched.computed == 1


def test_answer_uses_no_network(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = ask(tiny)

    def refuse(*_: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert ask(tiny) == expected


def test_model_code_is_not_run(copied: Path) -> None:
    config = json.loads((copied / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModelForCausalLM": "own.Own"}}
    (copied / "config.json").write_text(json.dumps(config))
    (copied / "own.py").write_text(f"open({str(copied / 'ran')!r}, 'w').close()\n")
    with pytest.raises(ProviderError, match=r"not-found: the local model .* cannot be loaded"):
        ask(copied)
    assert not (copied / "ran").exists()


def test_gpt2_folder_of_hub_gives_equal_scores(tiny: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    whole = transformers.AutoModelForCausalLM.from_pretrained(str(tiny))
    whole.transformer.save_pretrained(str(tmp_path))  # names of tensors without the prefix, no head
    config = json.loads((tmp_path / "config.json").read_text()) | {"architectures": ["GPT2LMHeadModel"]}
    (tmp_path / "config.json").write_text(json.dumps(config))
    tensors = load_file(tmp_path / "model.safetensors")
    save_file(tensors | {"h.0.attn.bias": torch.ones(1, 1, 128, 128)}, tmp_path / "model.safetensors", {"format": "pt"})
    byte_pairs().model.save(str(tmp_path))  # vocab.json and merges.txt
    assert ask(tmp_path) == ask(tiny)


def test_pickled_weights_are_refused(copied: Path) -> None:
    (copied / "model.safetensors").unlink()
    torch.save({}, copied / "pytorch_model.bin")
    with pytest.raises(UsageError, match=r"has no \*\.safetensors, and no other weights are read"):
        ask(copied)


def test_weights_without_tensor_are_refused(copied: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(copied / "model.safetensors")
    del tensors["transformer.h.1.mlp.c_fc.weight"]
    save_file(tensors, copied / "model.safetensors", {"format": "pt"})
    with pytest.raises(ProviderError, match=r"the weights lack transformer\.h\.1\.mlp\.c_fc\.weight"):
        ask(copied)


def test_bidirectional_model_is_refused(copied: Path) -> None:
    config = transformers.BertConfig(
        vocab_size=512, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        initializer_range=0.5, is_decoder=True,
    )  # fmt: skip
    transformers.BertLMHeadModel(config).save_pretrained(str(copied))
    stated = json.loads((copied / "config.json").read_text()) | {"is_decoder": False}
    (copied / "config.json").write_text(json.dumps(stated))
    with pytest.raises(ProviderError, match="BertLMHeadModel reads ahead; expected a causal language model"):
        ask(copied)


def test_damaged_weights_fail_each_request_with_reason(copied: Path) -> None:
    (copied / "model.safetensors").write_bytes(b"no tensors")
    client = open_model(f"local:{copied}", {})

    async def failure() -> str:
        with pytest.raises(ProviderError) as failed:
            await client.answer(SCORE)
        return str(failed.value)

    first, second = asyncio.run(failure()), asyncio.run(failure())
    assert first == second
    assert first.startswith("not-found: the local model")


def test_name_in_local_cache_is_opened(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached = tmp_path / "models--kitchen--tiny"
    shutil.copytree(tiny, cached / "snapshots" / ("0" * 40))
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("0" * 40)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    client = open_model("local:kitchen/tiny", {})
    assert client.name == "local:kitchen/tiny"
    assert asyncio.run(client.answer(SCORE)).scores == ask(tiny)


@pytest.mark.parametrize("name", ["kitchen/none", "no folder at all", "a/b/c"])
def test_missing_model_error_names_download_option(name: str) -> None:
    with pytest.raises(UsageError, match=r"there is no such folder, and the local cache holds .* network=true"):
        open_model(f"local:{name}", {})


def test_other_weights_in_same_place_have_other_key(copied: Path) -> None:
    first = LocalModel(str(copied))
    key = request_key(first.name, first.settings, SCORE)
    same = LocalModel(str(copied), {"network": True})
    assert request_key(same.name, same.settings, SCORE) == key
    save_tiny(copied, seed=1)
    other = LocalModel(str(copied))
    assert request_key(other.name, other.settings, SCORE) != key


def test_precision_follows_option(tiny: Path) -> None:
    assert load_weights(tiny).model.dtype == torch.float32
    assert load_weights(tiny, precision="bfloat16").model.dtype == torch.bfloat16


SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["parallel_pair"], instances=4)
def test_graph(trial):
    trial.check()
"""
CONFTEST = """
from dataclasses import replace

from pytest_taskgraph.asking import Transcript
from pytest_taskgraph.benchmarks.episodes import EPISODES
from pytest_taskgraph.trial import Request


def choose(question):
    (reply,) = yield [Request(kind="score", context=question.prompt, texts=[" yes", " no"])]
    yes, no = reply.scores
    chosen = "yes" if yes.perplexity < no.perplexity else "no"
    return Transcript(replace(reply, text=f"Final answer: {chosen}"))


EPISODES["single"] = choose
"""


@pytest.fixture
def choosing(pytester: pytest.Pytester) -> Project:
    project = Project(pytester)
    project.write("test_graph.py", SUITE)
    project.write("conftest.py", CONFTEST)
    save_tiny(project.path / "tiny", positions=4096)
    return project


def test_run_with_local_model_is_stored_and_replayed(choosing: Project) -> None:
    args = ["--model=local:tiny", "--taskgraph-report=json=record.json"]
    first = choosing.spawn(*args, "--taskgraph-max-calls=4", "--taskgraph-fail-on=answers")
    assert first.counts.get("passed", 0) + first.counts.get("failed", 0) == 5, first.output  # and the budget
    rows = [trial["reply"]["logprobs"] for trial in choosing.record()["trials"]]
    assert all(logprob < 0 for row in rows for logprob, _, _ in row)
    assert {trial["reply"]["cost"] for trial in choosing.record()["trials"]} == {0.0}
    again = choosing.spawn(*args, "--taskgraph-replay", "-n", "2", plugins=("taskgraph", "xdist"))
    assert sum(again.counts.values()) == 4, again.output
    assert [trial["reply"]["logprobs"] for trial in choosing.record()["trials"]] == rows


def test_run_over_workers_costs_nothing(choosing: Project) -> None:
    ran = choosing.spawn("--model=local:tiny", "--taskgraph-max-cost=0", "-n", "2", plugins=("taskgraph", "xdist"))
    assert ran.counts.get("passed", 0) + ran.counts.get("failed", 0) == 5, ran.output
    assert "cost $0.0000" in " ".join(ran.output.split())


def test_run_with_too_long_prompt_reports_error(choosing: Project) -> None:
    save_tiny(choosing.path / "tiny", positions=16)
    ran = choosing.spawn("--model=local:tiny")
    assert ran.counts == {"error": 4}, ran.output
    assert "no reply: context-too-long:" in ran.output
    assert "the model takes at most 16" in ran.output


def test_run_with_missing_local_model_is_usage_error(choosing: Project) -> None:
    ran = choosing.spawn("--model=local:elsewhere")
    assert ran.code == pytest.ExitCode.USAGE_ERROR, ran.output
    assert "there is no such folder" in ran.output

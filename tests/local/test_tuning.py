"""Tuning of tiny models: what is learned, validated, kept, gone on with and written. The data are of a toy task."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra local is not installed")
pytest.importorskip("peft", reason="the extra local is not installed")

from tiny_language_model import END, save_tiny, save_tiny_pair  # noqa: E402

from pytest_taskgraph.benchmarks.tuning_task import (  # noqa: E402
    TuningData,
    TuningMethod,
    TuningParameters,
    TuningSample,
    TuningTask,
    chosen_share,
)
from pytest_taskgraph.errors import UsageError  # noqa: E402
from pytest_taskgraph.local_weights import LocalWeights, fingerprint_weights, load_weights  # noqa: E402
from pytest_taskgraph.models import open_model  # noqa: E402
from pytest_taskgraph.trial import Reply, Request  # noqa: E402
from pytest_taskgraph.tuning.learned_tokens import learn_samples, learn_segments, sample_tokens  # noqa: E402
from pytest_taskgraph.tuning.tuning_run import TuningPlan, TuningResult, tune  # noqa: E402
from pytest_taskgraph.tuning.validation import DevScores, validate  # noqa: E402

ANSWERS = (" Yes", " No")
QUICK = TuningParameters(updates=6, every=3, batch=4, tokens=64, learning_rate=0.01, prompt_tokens=(4,))
CHOSEN = tuple(
    TuningSample(f"{verb} the {thing} ?", ANSWERS[at % 2], ANSWERS)
    for at, (verb, thing) in enumerate((verb, thing) for verb in ("Boil", "Cut", "Mix") for thing in ("egg", "oil"))
)
WRITTEN = (TuningSample("Boil", "Stir egg"), TuningSample("Cut", "Mix oil"))


def share_right(samples: Sequence[TuningSample], replies: Sequence[str]) -> Mapping[str, float | None]:
    return {"right": chosen_share(samples, replies)}


def task_of(samples: Sequence[TuningSample] = CHOSEN, name: str = "toy", **stated: Any) -> TuningTask:  # noqa: ANN401
    data = data_of(samples)
    return TuningTask(name, "a toy", "suites", lambda *_: data, share_right, {}, **stated)


def data_of(samples: Sequence[TuningSample] = CHOSEN) -> TuningData:
    return TuningData(tuple(samples) * 4, tuple(samples), {"source": "toy"})


def plan_of(
    folder: Path,
    method: TuningMethod = "full",
    samples: Sequence[TuningSample] = CHOSEN,
    task: TuningTask | None = None,
    **stated: Any,  # noqa: ANN401
) -> TuningPlan:
    tasks = [(task or task_of(samples), data_of(samples))]
    return TuningPlan("toy", tasks, method, replace(QUICK, **stated), folder, fingerprint_weights(folder))


def run(plan: TuningPlan, out: Path) -> tuple[TuningResult, list[str]]:
    lines: list[str] = []
    return tune(plan, out, lines.append), lines


def ask(folder: Path, request: Request, **options: Any) -> Reply:  # noqa: ANN401
    return asyncio.run(open_model(f"local:{folder}", options).answer(request))


def weights_of(out: Path) -> bytes:
    (path,) = out.glob("*.safetensors")
    return path.read_bytes()


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model without dropout."""
    return save_tiny(tmp_path_factory.mktemp("models") / "calm", dropout=0.0)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_pair(tmp_path_factory.mktemp("models") / "pair")


LEARNING: dict[TuningMethod, dict[str, Any]] = {
    "full": {"updates": 30, "every": 15},
    "lora": {"updates": 60, "every": 30, "learning_rate": 0.05},
    "soft-prompt": {"updates": 60, "every": 30, "learning_rate": 0.3, "prompt_tokens": (8,)},
}


@pytest.mark.parametrize("kind", ["calm", "pair"])
@pytest.mark.parametrize("method", LEARNING)
def test_tuned_model_has_lower_dev_loss_and_answers_as_validated(
    method: TuningMethod, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    out = tmp_path / "out"
    result, _ = run(plan_of(request.getfixturevalue(kind), method, **LEARNING[method]), out)
    assert result.best.scores.loss < result.before.scores.loss - 0.2
    losses = []
    for sample in CHOSEN:
        question = [{"role": "user", "content": sample.prompt}]
        reply = ask(out, Request(question, kind="score", texts=[*ANSWERS]))
        losses.append(-(reply.scores[ANSWERS.index(sample.target)].logprob or 0.0))
    assert sum(losses) / len(losses) == pytest.approx(result.best.scores.loss, abs=1e-3)


def test_tuned_model_writes_learned_replies(calm: Path, tmp_path: Path) -> None:
    plan = plan_of(calm, samples=WRITTEN, updates=60, every=20)
    result, _ = run(plan, tmp_path / "out")
    assert result.best.scores.scores == {"right": 1.0}
    for sample in WRITTEN:
        reply = ask(tmp_path / "out", Request([{"role": "user", "content": sample.prompt}]))
        assert (reply.text, reply.finish_reason) == (sample.target, "stop")


def test_best_validation_is_kept_of_equal_ones_by_lower_loss(calm: Path, tmp_path: Path) -> None:
    result, lines = run(plan_of(calm, updates=12), tmp_path / "out")
    about = json.loads((tmp_path / "out" / "tuning.json").read_text())
    (candidate,) = about["candidates"]
    assert [one["update"] for one in candidate["validations"]] == [3, 6, 9, 12]
    ranks = {one["update"]: DevScores(**one["scores"]).rank for one in candidate["validations"]}
    assert result.best.update == max(ranks, key=lambda update: ranks[update]) == about["kept"]["update"]
    again = validate(load_weights(tmp_path / "out"), [(task_of(), CHOSEN)], 64)
    assert again.loss == pytest.approx(result.best.scores.loss, abs=1e-5)
    assert sum("the best so far" in line for line in lines) >= 1


def test_facts_beside_the_weights(calm: Path, tmp_path: Path) -> None:
    result, _ = run(plan_of(calm, "soft-prompt", prompt_tokens=(2, 5)), tmp_path / "out")
    about = json.loads((tmp_path / "out" / "tuning.json").read_text())
    assert (about["task"], about["method"], about["model"]) == ("toy", "soft-prompt", str(calm))
    assert about["model_weights"] == fingerprint_weights(calm)
    assert about["data"]["toy"].keys() == {"source", "train", "dev", "digest"}
    assert about["parameters"]["prompt_tokens"] == [2, 5]
    assert about["versions"].keys() == {"torch", "transformers", "peft"}
    assert about["before"]["scores"]["scores"].keys() == {"right"}
    assert [one["prompt_tokens"] for one in about["candidates"]] == [2, 5]
    assert about["kept"]["prompt_tokens"] == result.parameters.prompt_tokens[0]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "adapter_config.json", "adapter_model.safetensors", "tuning.json",
    }  # fmt: skip


def test_length_of_soft_prompt_is_chosen_on_dev_samples(calm: Path, tmp_path: Path) -> None:
    result, _ = run(plan_of(calm, "soft-prompt", prompt_tokens=(1, 6), learning_rate=0.3), tmp_path / "out")
    about = json.loads((tmp_path / "out" / "tuning.json").read_text())
    best = {
        one["prompt_tokens"]: max(DevScores(**each["scores"]).rank for each in one["validations"])
        for one in about["candidates"]
    }
    assert result.parameters.prompt_tokens == (max(best, key=lambda length: best[length]),)
    config = json.loads((tmp_path / "out" / "adapter_config.json").read_text())
    assert (config["num_virtual_tokens"],) == result.parameters.prompt_tokens


def test_two_tunings_with_one_seed_are_equal(tiny: Path, tmp_path: Path) -> None:
    for name, seed in (("one", 0), ("two", 0), ("other", 1)):
        torch.manual_seed(len(name) * 7)
        run(plan_of(tiny, seed=seed), tmp_path / name)
    assert weights_of(tmp_path / "one") == weights_of(tmp_path / "two") != weights_of(tmp_path / "other")


@pytest.mark.parametrize("method", ["full", "lora", "soft-prompt"])
def test_interrupted_tuning_goes_on_to_the_same_weights(method: TuningMethod, tiny: Path, tmp_path: Path) -> None:
    plan = plan_of(tiny, method, updates=12, every=3, prompt_tokens=(2, 4))
    whole, _ = run(plan, tmp_path / "whole")

    def interrupt(at: str) -> Callable[[str], None]:
        def report(line: str) -> None:
            if line.startswith(at):
                raise KeyboardInterrupt

        return report

    for line in ("update 4 ", "update 9 ", "update 11 "):  # the second one before the checkpoint of its validation
        with pytest.raises(KeyboardInterrupt):
            tune(plan, tmp_path / "parts", interrupt(line))
    parts, lines = run(plan, tmp_path / "parts")
    assert "goes on after update 9 of 12" in lines
    assert weights_of(tmp_path / "parts") == weights_of(tmp_path / "whole")
    assert replace(parts.best, seconds=0) == replace(whole.best, seconds=0)


def test_other_plan_in_begun_folder_names_the_difference(calm: Path, tmp_path: Path) -> None:
    def interrupt(line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(plan_of(calm), tmp_path / "out", interrupt)
    with pytest.raises(UsageError, match=r"another tuning was begun: parameters\.batch was 4, and is 2 now"):
        run(plan_of(calm, batch=2), tmp_path / "out")


def test_used_folder_is_usage_error(calm: Path, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    with pytest.raises(UsageError, match=r"--out: .* exists already and is not an empty folder"):
        run(plan_of(calm), tmp_path)


def test_parts_of_a_batch_give_the_same_losses(calm: Path, tmp_path: Path) -> None:
    whole, parts = (run(plan_of(calm, at_once=n), tmp_path / f"at{n}")[0] for n in (0, 2))
    assert whole.best.scores.loss == pytest.approx(parts.best.scores.loss, abs=1e-3)


def test_excessive_learning_rate_is_usage_error(calm: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"loss is no finite number after update .*; state a lower one"):
        run(plan_of(calm, learning_rate=1e30, updates=20), tmp_path / "out")


def test_estimates_stand_before_the_first_update(calm: Path, tmp_path: Path) -> None:
    _, lines = run(plan_of(calm), tmp_path / "out")
    first = next(at for at, line in enumerate(lines) if line.startswith("update 1 "))
    assert any(line.startswith("estimated memory: ") for line in lines[:first])
    assert any(line.startswith("estimated time: ") for line in lines[:first])
    assert lines[first].endswith(" left")


def test_soft_prompt_longer_than_model_is_usage_error(calm: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="prompt_tokens: found 127, but the model takes 128 tokens"):
        run(plan_of(calm, "soft-prompt", prompt_tokens=(127,)), tmp_path / "out")


def test_epochs_count_rounds_and_validate_once_each(calm: Path, tmp_path: Path) -> None:
    _, lines = run(plan_of(calm, updates=0, epochs=2, every=0, batch=8), tmp_path / "out")  # of 24 samples
    assert any("6 updates of 8" in line for line in lines)
    about = json.loads((tmp_path / "out" / "tuning.json").read_text())
    assert [one["update"] for one in about["candidates"][0]["validations"]] == [3, 6]


@pytest.fixture
def weights(tiny: Path) -> LocalWeights:
    return load_weights(tiny)


def test_validation_counts_ties_as_wrong(weights: LocalWeights) -> None:
    with torch.no_grad():
        for parameter in weights.model.parameters():
            parameter.zero_()  # every token is as probable as any other
    scores = validate(weights, [(task_of(), CHOSEN)], 64)
    assert (scores.ties, scores.scores, scores.score) == (len(CHOSEN), {"right": 0.0}, 0.0)


def test_validation_of_several_tasks_decides_by_their_mean(weights: LocalWeights) -> None:
    other = task_of(WRITTEN, "other")
    scores = validate(weights, [(task_of(), CHOSEN), (other, WRITTEN)], 64)
    assert scores.scores.keys() == {"toy.right", "other.right"}
    assert scores.score == (scores.scores["toy.right"] + scores.scores["other.right"]) / 2  # type: ignore[operator]


def test_long_sample_keeps_its_target_and_the_end_of_its_prompt(weights: LocalWeights) -> None:
    tokens = sample_tokens(weights, task_of(), "Boil the water " * 20 + "now ?", " Yes", 12)
    assert (len(tokens.ids), tokens.cut) == (12, True)
    assert weights.tokenizer.decode(tokens.ids).endswith("now ? Yes")


def test_samples_by_themselves_learn_the_target_alone(weights: LocalWeights) -> None:
    (example,) = learn_samples(weights, task_of(), CHOSEN[:1], 64).examples
    learned = [token for token in example["labels"] if token != -100]
    assert weights.tokenizer.decode(learned) == f" Yes{END}"
    assert weights.tokenizer.decode(example["input_ids"]) == f"Boil the egg ? Yes{END}"


def test_segments_hold_whole_texts_with_the_end_between_them(weights: LocalWeights) -> None:
    learned = learn_segments(weights, CHOSEN, 16, 10, 0)
    tokens = [token for example in learned.examples for token in example["input_ids"]]
    assert {len(example["input_ids"]) for example in learned.examples} == {16}
    texts = weights.tokenizer.decode(tokens).split(END)[:-1]
    assert set(texts) <= {sample.prompt + sample.target for sample in CHOSEN}
    assert len(texts) > 2
    assert learn_segments(weights, CHOSEN, 16, 10, 1).examples != learned.examples
    assert len(learn_segments(weights, CHOSEN * 9, 16, 2, 0).examples) == 2


def test_segments_of_too_few_tokens_are_usage_error(weights: LocalWeights) -> None:
    with pytest.raises(UsageError, match=r"tokens: found 5000 for a segment, but all samples have \d+; state fewer"):
        learn_segments(weights, CHOSEN, 5000, 10, 0)

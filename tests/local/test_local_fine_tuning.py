"""Fine-tuning of a tiny model: its validations, its checkpoints, its command."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra local is not installed")
pytest.importorskip("transformers", reason="the extra local is not installed")

from tiny_language_model import END, save_tiny  # noqa: E402

from pytest_taskgraph.errors import UsageError  # noqa: E402
from pytest_taskgraph.families.steps.construction import build_classification  # noqa: E402
from pytest_taskgraph.families.steps.fine_tuning import finetune_command  # noqa: E402
from pytest_taskgraph.families.steps.fine_tuning.answer_scores import AnswerScores, validate  # noqa: E402
from pytest_taskgraph.families.steps.fine_tuning.fine_tuning_parameters import FineTuningParameters  # noqa: E402
from pytest_taskgraph.families.steps.fine_tuning.training_loop import FineTuned, fine_tune  # noqa: E402
from pytest_taskgraph.families.steps.fine_tuning.training_samples import (  # noqa: E402
    TuningSamples,
    learned_text,
    tuning_samples,
)
from pytest_taskgraph.families.steps.next_step_samples import NextStepSample, query_of  # noqa: E402
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes  # noqa: E402
from pytest_taskgraph.local_weights import LocalWeights, load_weights  # noqa: E402
from pytest_taskgraph.models import open_model  # noqa: E402
from pytest_taskgraph.trial import Request  # noqa: E402

QUICK = FineTuningParameters(updates=6, batch=4, segment=64, learning_rate=0.01, every=3, dev=12)


@pytest.fixture
def samples() -> TuningSamples:
    return tuning_samples(read_embedded_recipes(), 0, 12)


@pytest.fixture
def weights(tiny: Path) -> LocalWeights:
    return load_weights(tiny)


def tuned(
    folder: Path,
    samples: TuningSamples,
    out: Path,
    **stated: Any,  # noqa: ANN401
) -> tuple[FineTuned, list[str]]:
    lines: list[str] = []
    out.mkdir()
    outcome = fine_tune(load_weights(folder), samples, replace(QUICK, **stated), out, {"model": "tiny"}, lines.append)
    return outcome, lines


def answered(folder: Path, samples: list[NextStepSample]) -> list[tuple[float, float]]:
    """The log-probabilities of Yes and No, as the model of that folder is asked in a run."""
    client = open_model(f"local:{folder}", {})

    async def ask() -> list[Any]:
        requests = [Request(kind="score", context=query_of(sample), texts=[" Yes", " No"]) for sample in samples]
        return [await client.answer(request) for request in requests]

    return [(yes.logprob, no.logprob) for yes, no in (reply.scores for reply in asyncio.run(ask()))]


def test_validate_agrees_with_run(tiny: Path, weights: LocalWeights) -> None:
    samples = list(build_classification(read_embedded_recipes().dev))[:40]
    samples = [sample for sample in samples if len(weights.tokenizer(query_of(sample))["input_ids"]) < 120]
    pairs = answered(tiny, samples)
    right = [(yes > no) == sample.label for sample, (yes, no) in zip(samples, pairs, strict=True)]
    expected = {
        label: sum(r for r, sample in zip(right, samples, strict=True) if sample.label is label)
        / sum(sample.label is label for sample in samples)
        for label in (True, False)
    }
    outcome = validate(weights, samples)
    assert (outcome.sensitivity, outcome.specificity) == (expected[True], expected[False])
    assert outcome.g_mean == pytest.approx((expected[True] * expected[False]) ** 0.5)
    losses = [-(yes if sample.label else no) for sample, (yes, no) in zip(samples, pairs, strict=True)]
    assert outcome.loss == pytest.approx(sum(losses) / len(losses), abs=1e-3)
    assert (outcome.cut, outcome.ties) == (0, 0)


def test_validate_counts_ties_as_wrong(weights: LocalWeights, samples: TuningSamples) -> None:
    with torch.no_grad():
        for parameter in weights.model.parameters():
            parameter.zero_()  # every token is as probable as any other
    outcome = validate(weights, samples.dev)
    assert (outcome.ties, outcome.sensitivity, outcome.specificity, outcome.g_mean) == (len(samples.dev), 0.0, 0.0, 0.0)


def test_validate_keeps_end_of_long_query(weights: LocalWeights) -> None:
    long = NextStepSample(tuple(["Boil the water in a pot"] * 40), "Add salt", True, "r", 41)
    long_outcome = validate(weights, [long])
    assert long_outcome.cut == 1
    assert validate(weights, [replace(long, prefix=("Something else", *long.prefix))]).loss == long_outcome.loss


def test_validate_with_single_class_has_no_g_mean(weights: LocalWeights) -> None:
    outcome = validate(weights, [NextStepSample(("Boil",), "Stir", True, "r", 2)])
    assert (outcome.specificity, outcome.g_mean) == (None, None)
    assert outcome.rank < AnswerScores(99.0, 0.0, 0.0, 0.0, 0, 0).rank


def test_fine_tune_on_few_samples_learns_answers(samples: TuningSamples, tmp_path: Path) -> None:
    calm = save_tiny(tmp_path / "calm", dropout=0.0)
    short = [sample for sample in samples.train[:400] if len(query_of(sample)) < 150]
    few = [*[sample for sample in short if sample.label][:3], *[sample for sample in short if not sample.label][:3]]
    many = few * 60
    Random(1).shuffle(many)
    learned = TuningSamples(tuple(many), tuple(few), 3, 3)
    outcome, _ = tuned(calm, learned, tmp_path / "out", updates=80, every=20, segment=32)
    assert outcome.best is not None
    first, last = outcome.validations[1], outcome.validations[-1]
    assert outcome.best.scores.loss < 0.75 * outcome.validations[0].scores.loss
    assert (last.training_loss or 9.0) < 0.75 * (first.training_loss or 0.0)
    assert outcome.best.scores.g_mean == 1.0
    assert all(
        (yes > no) == sample.label for sample, (yes, no) in zip(few, answered(tmp_path / "out", few), strict=True)
    )


def test_fine_tune_saves_best_checkpoint_with_facts(tiny: Path, samples: TuningSamples, tmp_path: Path) -> None:
    outcome, lines = tuned(tiny, samples, tmp_path / "out", updates=12)
    assert [validation.update for validation in outcome.validations] == [0, 3, 6, 9, 12]
    assert outcome.best == max(outcome.validations[1:], key=lambda validation: validation.scores.rank)
    again = validate(load_weights(tmp_path / "out"), samples.dev)
    assert again.g_mean == outcome.best.scores.g_mean
    assert again.loss == pytest.approx(outcome.best.scores.loss, abs=1e-5)
    about = json.loads((tmp_path / "out" / "fine-tuning.json").read_text())
    assert about["best"]["update"] == outcome.best.update
    assert (about["updates_made"], about["interrupted"], about["model"]) == (12, False, "tiny")
    assert about["parameters"]["segment"] == 64
    assert [validation["update"] for validation in about["validations"]] == [0, 3, 6, 9, 12]
    assert sum(line.endswith("saved as the best") for line in lines) >= 1
    assert not any(path.name.startswith(".") for path in (tmp_path / "out").iterdir())


def test_fine_tune_twice_gives_equal_weights(tiny: Path, samples: TuningSamples, tmp_path: Path) -> None:
    for name in ("one", "two"):
        torch.manual_seed(len(name) * 7)
        tuned(tiny, samples, tmp_path / name)
    tuned(tiny, samples, tmp_path / "other", seed=1)
    first, second, other = ((tmp_path / n / "model.safetensors").read_bytes() for n in ("one", "two", "other"))
    assert first == second
    assert first != other


def test_fine_tune_in_parts_of_batch_gives_equal_weights(tmp_path: Path, samples: TuningSamples) -> None:
    folder = save_tiny(tmp_path / "calm", dropout=0.0)
    whole, parts = (tuned(folder, samples, tmp_path / f"at{n}", at_once=n)[0] for n in (0, 3))
    for first, other in zip(whole.validations, parts.validations, strict=True):
        assert first.training_loss == pytest.approx(other.training_loss, abs=1e-4)
        assert first.scores.loss == pytest.approx(other.scores.loss, abs=1e-3)


def test_fine_tune_cuts_segments_to_model_length(tiny: Path, samples: TuningSamples, tmp_path: Path) -> None:
    _, lines = tuned(tiny, samples, tmp_path / "out", segment=1024, updates=1)
    assert "8 segments of 128 tokens" not in lines[0]
    assert re.search(r"; 4 segments of 128 tokens, 1 updates of 4$", lines[0])


def test_fine_tune_interrupted_keeps_best_checkpoint(tiny: Path, samples: TuningSamples, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()

    def interrupt(line: str) -> None:
        if line.startswith("update 5 "):
            raise KeyboardInterrupt

    parameters = replace(QUICK, every=4, updates=40)
    outcome = fine_tune(load_weights(tiny), samples, replace(parameters, every=4), tmp_path / "out", {}, interrupt)
    assert (outcome.interrupted, outcome.updates) == (True, 5)
    assert outcome.best is not None
    assert outcome.best.update == 4
    about = json.loads((tmp_path / "out" / "fine-tuning.json").read_text())
    assert (about["interrupted"], about["updates_made"]) == (True, 5)
    assert validate(load_weights(tmp_path / "out"), samples.dev).g_mean == outcome.best.scores.g_mean


def test_fine_tune_with_excessive_learning_rate_is_usage_error(
    tiny: Path, samples: TuningSamples, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=r"loss is no finite number after update .*; state a lower one"):
        tuned(tiny, samples, tmp_path / "out", learning_rate=1e30, updates=20)


def command(*arguments: str | Path) -> int:
    parser = argparse.ArgumentParser()
    finetune_command.arguments(parser)
    return finetune_command.run(parser.parse_args(list(map(str, arguments))))


SMALL = ("--updates=4", "--every=2", "--batch=2", "--segment=64", "--dev=10")


def test_command_fine_tunes_on_embedded_recipes(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "made" / "out"
    assert command(f"--model={tiny}", f"--out={out}", *SMALL) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = printed.out.splitlines()
    assert lines[0].endswith(": embedded recipes, 150 train, 23 dev")
    assert [line.partition(":")[0] for line in lines if line.startswith("update ")] == [
        f"update {at} of 4" for at in (0, 1, 2, 3, 4)
    ]
    assert lines[-1] == f"ask it: pytest suites/steps --model=local:{out}"
    about = json.loads((out / "fine-tuning.json").read_text())
    assert (about["data"]["source"], about["data"]["train_recipes"], about["samples"]["dev"]) == ("embedded", 150, 10)
    reply = asyncio.run(open_model(f"local:{out}", {}).answer(Request(kind="score", context="Boil ?", texts=[" Yes"])))
    assert reply.scores[0].tokens >= 1


def test_command_fine_tunes_on_food_com_file(tiny: Path, tmp_path: Path) -> None:
    rows = ["name,id,n_steps,steps"]
    for number in range(120):
        steps = ", ".join(f"'{verb} the thing {number}'" for verb in ("boil", "cut", "dry", "eat", "fill"))
        rows.append(f'dish {number},{number},5,"[{steps}]"')
    (tmp_path / "RAW_recipes.csv").write_text("\n".join(rows) + "\n")
    recipes = f"--recipes={tmp_path / 'RAW_recipes.csv'}"
    assert command(f"--model={tiny}", f"--out={tmp_path / 'out'}", recipes, "--most-recipes=40", *SMALL) == 0
    data = json.loads((tmp_path / "out" / "fine-tuning.json").read_text())["data"]
    assert (data["source"], data["train_recipes"], data["most_recipes"]) == ("food.com", 40, 40)


def test_command_omits_recipes_of_published_questions(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked_recipe = read_embedded_recipes().train[0]
    line = f"{' . '.join(asked_recipe.steps[:2])} .\t{asked_recipe.steps[2]}\tYes\n"
    (tmp_path / "next_step").mkdir()
    (tmp_path / "next_step" / "test.txt").write_text(line)
    published = f"--published={tmp_path / 'next_step' / 'test.txt'}"
    assert command(f"--model={tiny}", f"--out={tmp_path / 'out'}", published, *SMALL) == 0
    data = json.loads((tmp_path / "out" / "fine-tuning.json").read_text())["data"]
    assert data["train_recipes"] < 150
    assert "resemble those of the published questions" in capsys.readouterr().out


def test_command_with_missing_recipes_names_option(tiny: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.csv"
    with pytest.raises(UsageError, match=re.escape(f"--recipes={missing}")):
        command(f"--model={tiny}", f"--out={tmp_path / 'out'}", f"--recipes={missing}", *SMALL)
    with pytest.raises(UsageError, match=re.escape(f"--published={missing}")):
        command(f"--model={tiny}", f"--out={tmp_path / 'out'}", f"--published={missing}", *SMALL)


def test_command_interrupted_reports_kept_checkpoint(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    step, steps_done = torch.optim.Adam.step, []

    def interrupted(self: Any, *args: Any) -> Any:  # noqa: ANN401
        steps_done.append(1)
        if len(steps_done) == 4:
            raise KeyboardInterrupt
        return step(self, *args)

    monkeypatch.setattr(torch.optim.Adam, "step", interrupted)
    assert command(f"--model={tiny}", f"--out={tmp_path / 'out'}", *SMALL) == 130
    assert "interrupted after 3 updates\nbest checkpoint: update 2, saved to" in capsys.readouterr().out
    steps_done[:] = [1, 1, 1]
    assert command(f"--model={tiny}", f"--out={tmp_path / 'none'}", *SMALL) == 130
    assert "no checkpoint is saved: no validation followed an update" in capsys.readouterr().out
    assert not (tmp_path / "none").exists()


def test_command_with_used_folder_is_usage_error(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    with pytest.raises(UsageError, match=r"--out: .* exists already and is not an empty folder"):
        command(f"--model={tiny}", f"--out={tmp_path}", *SMALL)


def test_training_texts_are_whole_between_end_tokens(weights: LocalWeights, samples: TuningSamples) -> None:
    from pytest_taskgraph.families.steps.fine_tuning.training_segments import cut_segments

    segments = cut_segments(map(learned_text, samples.train), weights.tokenizer, 500, 4, 0)
    tokens = [token for segment in next(segments.batches(4)) for token in segment]
    texts = weights.tokenizer.decode(tokens).split(END)
    assert texts[:-1] == [learned_text(sample) for sample in samples.train[: len(texts) - 1]]
    assert len(texts) > 5

"""`tune` for each task of the families, on their embedded data: what it prints, writes, and what a run then asks."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra local is not installed")
pytest.importorskip("peft", reason="the extra local is not installed")

from tiny_language_model import save_tiny, save_tiny_pair  # noqa: E402

from pytest_taskgraph import local_weights  # noqa: E402
from pytest_taskgraph.__main__ import main  # noqa: E402
from pytest_taskgraph.families import FAMILIES  # noqa: E402
from pytest_taskgraph.models import open_model  # noqa: E402
from pytest_taskgraph.trial import Request  # noqa: E402
from pytest_taskgraph.tuning import training  # noqa: E402

SMALL = ("--updates=2", "--every=1", "--batch=2", "--tokens=96", "--train=2", "--dev=4", "--learning-rate=0.01")
TASKS = [f"{family}.{task.name}" for family in FAMILIES for task in FAMILIES[family].tuning_tasks()]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "model", positions=512)


@pytest.mark.parametrize("task", TASKS)
def test_command_tunes_for_every_task(
    task: str, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "made" / "out"
    small = [*SMALL, "--prompt-tokens=3"]
    assert main(["tune", task, f"--model={model}", f"--out={out}", "--method=soft-prompt", *small]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = printed.out.splitlines()
    assert [line.partition(":")[0] for line in lines if line.startswith("update ")] == [
        "update 0", "update 1 of 2", "update 2 of 2",
    ]  # fmt: skip
    family, _, name = task.partition(".")
    assert lines[-1].startswith(f"ask it: pytest suites/{family}")
    assert lines[-1].endswith(f"--model=local:{out}")
    about = json.loads((out / "tuning.json").read_text())
    assert about["data"][name]["dev"] == 4
    assert local_weights.load_weights(out).prefix.shape[0] == 3


def test_command_tunes_encoder_with_decoder_by_lora(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, out = save_tiny_pair(tmp_path / "base"), tmp_path / "out"
    assert main(["tune", "paged", f"--model={base}", f"--out={out}", "--method=lora", "--epochs=2", *SMALL[3:]]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    about = json.loads((out / "tuning.json").read_text())
    assert [one["update"] for one in about["candidates"][0]["validations"]] == [1, 2]  # a round each
    graph = Request([{"role": "user", "content": "Document: Boil the egg."}])
    reply = asyncio.run(open_model(f"local:{out}", {"max_tokens": 4}).answer(graph))
    assert reply.tokens_out == 4
    assert local_weights.load_weights(out).start is not None


def test_command_interrupted_says_how_to_go_on(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = training.CandidateTraining.log

    def interrupted(self: training.CandidateTraining, update: int, loss: float) -> None:
        if update == 2:
            raise KeyboardInterrupt
        log(self, update, loss)

    command = ["tune", "steps", f"--model={model}", f"--out={tmp_path / 'out'}", "--method=full", *SMALL]
    with monkeypatch.context() as patch:
        patch.setattr(training.CandidateTraining, "log", interrupted)
        assert main(command) == 2
    assert "interrupted; the same command goes on from the last validation" in capsys.readouterr().out
    assert main(command) == 0
    assert "goes on after update 1 of 2" in capsys.readouterr().out


def test_command_tunes_on_food_com_file(model: Path, tmp_path: Path) -> None:
    rows = ["name,id,n_steps,steps"]
    for number in range(120):
        steps = ", ".join(f"'{verb} the thing {number}'" for verb in ("boil", "cut", "dry", "eat", "fill"))
        rows.append(f'dish {number},{number},5,"[{steps}]"')
    (tmp_path / "RAW_recipes.csv").write_text("\n".join(rows) + "\n")
    data = f"--data=steps-recipes={tmp_path / 'RAW_recipes.csv'}"
    out = tmp_path / "out"
    assert main(["tune", "steps", f"--model={model}", f"--out={out}", "--method=full", data, *SMALL]) == 0
    about = json.loads((out / "tuning.json").read_text())["data"]["steps"]
    assert (about["source"], about["train_recipes"]) == ("food.com", 2)

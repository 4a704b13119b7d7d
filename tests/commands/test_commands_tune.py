"""The command `tune` until it trains: tasks, parameters and data; torch is not needed."""

from __future__ import annotations

import argparse
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from pytest_taskgraph import local_weights
from pytest_taskgraph.benchmarks.tuning_task import TUNING_METHODS, TuningParameters
from pytest_taskgraph.commands import tune
from pytest_taskgraph.commands.tune import find_tasks, stated_parameters
from pytest_taskgraph.errors import UnknownNameError, UsageError
from pytest_taskgraph.families import FAMILIES


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    tune.arguments(parser)
    return parser.parse_args(["steps", "--model=no-such", "--out=out", "--method=full", *arguments])


def test_task_is_found_by_family_and_name() -> None:
    for family, task in [(name, each) for name, found in FAMILIES.items() for each in found.tuning_tasks()]:
        assert find_tasks(f"{family}.{task.name}") == [task]
        assert task in find_tasks(family)
        assert task.parameters.keys() == {*TUNING_METHODS}
        assert all(not task.parameters[method].prompt_tokens for method in ("full", "lora"))
        assert task.parameters["soft-prompt"].prompt_tokens


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("understanding", "states nothing that a model can be tuned for; these do: .*steps"),
        ("steps.letter", "unknown tuning task of steps 'letter'"),
        ("stepz", "unknown benchmark family 'stepz'"),
    ],
)
def test_unknown_task_is_usage_error(name: str, message: str) -> None:
    with pytest.raises((UsageError, UnknownNameError), match=message):
        find_tasks(name)


def test_parameters_are_those_of_the_task_unless_stated() -> None:
    (task,) = find_tasks("steps")
    assert stated_parameters(options(), task, False) == task.parameters["full"]
    stated = stated_parameters(options("--epochs=3", "--learning-rate=0.5", "--at-once=2"), task, False)
    assert (stated.updates, stated.epochs, stated.learning_rate, stated.at_once) == (0, 3, 0.5, 2)
    assert stated_parameters(options("--prompt-tokens=9,2"), task, False).prompt_tokens == (2, 9)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--updates=0", "--updates, epochs: found 0 and 0"),
        ("--batch=0", "--batch: found 0, expected at least 1"),
        ("--learning-rate=-1", "--learning-rate: found -1.0, expected a number above 0"),
        ("--at-once=3", "--at-once: found 3, expected a divisor of the batch, 8"),
    ],
)
def test_parameter_out_of_range_names_its_option(argument: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        stated_parameters(options(argument), find_tasks("steps")[0], False)


def test_every_parameter_has_an_option() -> None:
    stated = vars(options())
    assert [name for name in TuningParameters.__dataclass_fields__ if name not in stated] == [
        "beta1", "beta2", "dropout",
    ]  # fmt: skip


def test_missing_extra_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_weights, "find_spec", lambda name: None if name == "peft" else ModuleSpec(name, None))
    with pytest.raises(UsageError, match=r"need peft, which .*: pip install pytest-taskgraph-bench\[local\]"):
        tune.run(options())


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like a model, where torch seems to be installed."""
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_text("{}")
    monkeypatch.setattr(local_weights, "find_spec", lambda name: ModuleSpec(name, None))
    return tmp_path


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--data=recipes", "--data: 'recipes'; expected NAME=PATH"),
        ("--data=steps-recipes=no-such.csv", r"--data=steps-recipes=no-such\.csv"),
    ],
)
def test_data_that_cannot_be_read_are_usage_error(argument: str, message: str, model: Path) -> None:
    with pytest.raises(UsageError, match=message):
        tune.run(options(f"--model={model}", argument))


def test_adapter_as_beginning_is_refused(model: Path, tmp_path: Path) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    config = f'{{"peft_type": "LORA", "base_model_name_or_path": "{model}"}}'
    (adapter / "adapter_config.json").write_text(config)
    with pytest.raises(UsageError, match=r"--model: .* holds an adapter; name the base model"):
        tune.run(options(f"--model={adapter}"))


def test_parameters_for_encoder_with_decoder_are_its_own() -> None:
    (task,) = find_tasks("paged")
    stated = options("--method=lora")
    rates = [stated_parameters(stated, task, paired).learning_rate for paired in (False, True)]
    assert rates == [0.0002, 0.0001]

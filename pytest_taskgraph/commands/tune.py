"""`tune`: change the weights of a local model for what a family asks, as the papers do."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..benchmarks.asked_models import with_command_options
from ..benchmarks.settings import Settings
from ..benchmarks.tuning_task import TUNING_METHODS, TuningParameters, TuningTask
from ..errors import UnknownNameError, UsageError
from ..families import FAMILIES
from ..local_adapters import adapter_kind
from ..local_weights import PRECISIONS, check_local_extra, find_language_model, fingerprint_weights, is_paired
from ..reports.escape import one_line

if TYPE_CHECKING:
    from ..tuning.tuning_run import TuningPlan, TuningResult

SUMMARY: Final = "tune a local model for a family: all weights, LoRA or a soft prompt"
_NUMBERS: Final = {
    "updates": "updates of the weights",
    "epochs": "rounds over all samples, instead of --updates",
    "every": "updates between two validations; 0: once a round",
    "batch": "samples, or segments, of an update",
    "at-once": "of these, computed at a time: a divisor; 0 for all. Fewer need less memory",
    "tokens": "tokens of a segment, or at most of a sample",
    "train": "items of the train split at most; 0: all",
    "dev": "samples of a validation at most; 0: all",
    "rank": "rank of LoRA's matrices",
    "alpha": "scale of LoRA",
    "seed": "decides on order, draws, initial adapter and dropout",
}
_OWN: Final = "that of the task"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("task", metavar="FAMILY[.TASK]", help="what the model is tuned for (docs/how-to/tuning.md)")
    parser.add_argument(
        "--model", metavar="PATH", required=True, help="folder of the model to begin with, or a name in the local cache"
    )
    parser.add_argument("--method", choices=TUNING_METHODS, required=True, help="which weights change")
    parser.add_argument(
        "--out", metavar="DIR", required=True, type=Path, help="new folder of the tuned model, or one to go on in"
    )
    parser.add_argument(
        "--data", metavar="NAME=PATH", action="append", default=[], help="a data set, as --taskgraph-data. Repeatable"
    )
    for name, text in _NUMBERS.items():
        parser.add_argument(f"--{name}", metavar="N", type=int, help=f"{text} (default: {_OWN})")
    parser.add_argument("--learning-rate", metavar="X", type=float, help=f"of Adam, constant (default: {_OWN})")
    parser.add_argument(
        "--prompt-tokens", metavar="N[,N]", type=_lengths, help=f"lengths of the soft prompt to try (default: {_OWN})"
    )
    parser.add_argument(
        "--precision", choices=PRECISIONS, default="float32", help="of the model (default: %(default)s)"
    )
    parser.add_argument("--device", metavar="NAME", default="", help="cpu, or the first GPU of CUDA if there is one")
    parser.add_argument("--network", action="store_true", help="allow the download of a model by its name")


def _lengths(text: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}; expected whole numbers with commas between them") from None


def run(options: argparse.Namespace) -> int:
    """Tune the model, and print the progress.

    Returns:
        0.

    Raises:
        KeyboardInterrupt: if Ctrl-C ended it; the same command then goes on.
        UsageError: if the extra `local` is missing, an argument is out of its range, or the folder, the model or the
            data cannot be used.
    """
    tasks = find_tasks(options.task)
    check_local_extra(("accelerate", "peft"))
    plan = _plan(options, tasks)
    report = partial(print, flush=True)
    report(f"{one_line(options.model)}: {', '.join(task.title for task in tasks)}; {options.method}")
    for task, data in plan.tasks:
        facts = ", ".join(f"{name} {value}" for name, value in data.facts.items())
        report(f"{task.name}: {facts}; {len(data.train)} samples to learn, {len(data.dev)} dev samples")
        for problem in data.problems:
            report(problem)
    from ..tuning.tuning_run import tune

    try:
        result = tune(plan, options.out, report)
    except KeyboardInterrupt:
        report("interrupted; the same command goes on from the last validation")
        raise
    for line in _result_lines(result, tasks, options.out):
        report(line)
    return 0


def find_tasks(name: str) -> list[TuningTask]:
    """Return the tasks that FAMILY or FAMILY.TASK names.

    Raises:
        UnknownNameError: if there is no such family or task.
        UsageError: if the family has none.
    """
    family, _, wanted = name.partition(".")
    tasks = [*FAMILIES[family].tuning_tasks()]
    if not tasks:
        able = ", ".join(each for each in FAMILIES if FAMILIES[each].tuning_tasks())
        raise UsageError(f"the family {family} states nothing that a model can be tuned for; these do: {able}")
    if not wanted:
        return tasks
    if not (named := [task for task in tasks if task.name == wanted]):
        raise UnknownNameError(f"tuning task of {family}", wanted, [task.name for task in tasks])
    return named


def _plan(options: argparse.Namespace, tasks: Sequence[TuningTask]) -> TuningPlan:
    """Return what the options state. Raises UsageError."""
    from ..tuning.tuning_run import TuningPlan

    folder = find_language_model(options.model, network=options.network)
    if adapter_kind(folder):
        raise UsageError(f"--model: {folder} holds an adapter; name the base model, or merge the adapter into it")
    parameters = stated_parameters(options, tasks[0], is_paired(folder))
    data = dict(pair.partition("=")[::2] for pair in options.data)
    if wrong := [name for name, path in data.items() if not path]:
        raise UsageError(f"--data: {wrong[0]!r}; expected NAME=PATH")
    settings = Settings(seed=parameters.seed, data=data)
    try:
        samples = [(task, task.data(settings, parameters)) for task in tasks]
    except UsageError as error:
        raise UsageError(with_command_options(str(error))) from None
    for task, own in samples:
        for split, found in (("train", own.train), ("dev", own.dev)):
            if not found:
                raise UsageError(f"{task.name}: the data have no sample of the {split} split; name others with --data")
    name, fingerprint = options.task, fingerprint_weights(folder)
    return TuningPlan(name, samples, options.method, parameters, folder, fingerprint, options.precision, options.device)


def stated_parameters(options: argparse.Namespace, task: TuningTask, paired: bool) -> TuningParameters:
    """Return the parameters of the task, with what the options state in their place.

    Args:
        options: The options.
        task: The task; of several, the first one.
        paired: Whether the model is an encoder with a decoder.

    Raises:
        UsageError: if one is out of its range.
    """
    own: dict[str, Any] = {
        name: value
        for name in (each.name for each in fields(TuningParameters))
        if (value := getattr(options, name, None)) is not None
    }
    for name, other in (("updates", "epochs"), ("epochs", "updates")):
        if name in own and other not in own:
            own[other] = 0
    parameters = {**task.parameters, **(task.paired if paired else {})}[options.method]
    try:
        return replace(parameters, **own)
    except UsageError as error:
        name, colon, rest = str(error).partition(":")
        raise UsageError(f"--{name.replace('_', '-')}{colon}{rest}") from None


def _result_lines(result: TuningResult, tasks: Sequence[TuningTask], out: Path) -> list[str]:
    from ..tuning.training import validation_text
    from ..tuning.tuning_run import ABOUT

    where = one_line(str(out))
    lines = [f"before: {validation_text(result.before)}", f"kept, of update {result.best.update}: "
             f"{validation_text(result.best)}"]  # fmt: skip
    if result.best.scores.rank <= result.before.scores.rank:
        lines.append("the dev samples show no gain over the model as it was")
    lines.append(f"saved to {where} with {ABOUT}")
    return [*lines, *(f"ask it: pytest {task.ask} --model=local:{where}" for task in tasks)]

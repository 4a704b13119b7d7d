"""The training of one candidate by transformers' Trainer: updates, validations between them, the best result on disk.

A checkpoint follows each validation. A training that was interrupted goes on from the last one, with the same result.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..errors import UsageError
from .learned_tokens import LearnedTokens, batch_examples
from .tuned_model import TunedModel, quiet_training
from .validation import DevScores, Part, validate

if TYPE_CHECKING:
    from ..benchmarks.tuning_task import TuningParameters

_LINES: Final = 10  # about the training between two validations
_JOURNAL: Final = "validations.json"
_BEST: Final = "best"
_STATE: Final = "trainer_state.json"  # what the Trainer writes last into a checkpoint


@dataclass(frozen=True, slots=True)
class Validation:
    """A validation after some updates.

    Args:
        update: The number of updates before it.
        training_loss: The mean loss of a token over the updates since the last validation.
        scores: What was found.
        seconds: What the updates and validations until then took, without what was interrupted.
    """

    update: int
    training_loss: float | None
    scores: DevScores
    seconds: float = 0.0

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Validation:
        """Return the validation that `asdict` gave."""
        return cls(data["update"], data["training_loss"], DevScores(**data["scores"]), data["seconds"])


@dataclass(slots=True)
class CandidateTraining:
    """The training of a model with one set of parameters, in a folder of its own.

    Args:
        tuned: The model.
        learned: What it learns.
        parts: What validations measure.
        stated: The parameters.
        most: The most tokens of a dev sample.
        folder: Where checkpoints and the best result are kept.
        report: Takes lines on the progress.
    """

    tuned: TunedModel
    learned: LearnedTokens
    parts: Sequence[Part]
    stated: TuningParameters
    most: int
    folder: Path
    report: Callable[[str], None]
    validations: list[Validation] = field(default_factory=list)
    _since: float = 0.0
    _begun: int = 0
    _losses: list[float] = field(default_factory=list)

    @property
    def updates(self) -> int:
        """Return the number of updates."""
        return self.stated.updates or self.stated.epochs * self._a_round

    @property
    def every(self) -> int:
        """Return the number of updates between two validations."""
        return min(self.updates, self.stated.every or self._a_round)

    @property
    def _a_round(self) -> int:
        return -(-len(self.learned.examples) // self.stated.batch)

    @property
    def at_once(self) -> int:
        """Return the number of examples that are computed at a time."""
        return self.stated.at_once or self.stated.batch

    @property
    def best(self) -> Validation | None:
        """Return the validation of the result that is kept: the best one, of equal ones the first."""
        return max(self.validations, key=lambda one: one.scores.rank, default=None)

    @property
    def best_folder(self) -> Path:
        """Return the folder of the best result."""
        return self.folder / _BEST

    def run(self) -> None:
        """Make all updates, from the last checkpoint on if there is one.

        Raises:
            UsageError: if a loss is no finite number, or a checkpoint cannot be written or read.
        """
        import torch

        self.folder.mkdir(parents=True, exist_ok=True)
        last = self._last_checkpoint()
        self._begun = 0 if last is None else int(last.name.rpartition("-")[2])
        self._read_journal()
        if last is not None:
            self.report(f"goes on after update {self._begun} of {self.updates}")
        if self._begun >= self.updates:
            return
        with quiet_training():
            trainer = _trainer(self)
            torch.manual_seed(self.stated.seed)
            self._since = time.monotonic()
            try:
                trainer.train(resume_from_checkpoint=None if last is None else str(last))
            except OSError as error:
                raise UsageError(f"{self.folder}: a checkpoint cannot be written or read: {error}") from error

    def measure_update(self) -> float:
        """Return about how many seconds an update takes, from the largest examples; nothing is changed by it."""
        model = self.tuned.model
        largest = sorted(self.learned.examples, key=lambda example: -len(example["input_ids"]))[: self.at_once]
        batch = {name: rows.to(self.tuned.base.device) for name, rows in batch_examples(largest).items()}
        start = time.monotonic()
        with quiet_training():
            model.train()
            model(**batch).loss.backward()
            model.zero_grad(set_to_none=True)
            model.eval()
        return (time.monotonic() - start) * (self.stated.batch / self.at_once)

    def log(self, update: int, loss: float) -> None:
        """Take the mean training loss of the last updates, and report it."""
        self._finite(loss, "training", update)
        self._losses.append(loss)
        if update % self.every and update != self.updates:
            self.report(f"update {update} of {self.updates}: training loss {loss:.4f}{self._left(update)}")

    def validate(self, update: int) -> None:
        """Validate the model of now, keep it if it is the best, and report it."""
        scores = validate(self.tuned.asked, self.parts, self.most)
        self._finite(scores.loss, "dev", update)
        loss = sum(self._losses) / len(self._losses) if self._losses else None
        self._losses.clear()
        before = self.validations[-1].seconds if self.validations else 0.0
        now = time.monotonic()
        validation = Validation(update, loss, scores, round(before + now - self._since, 1))
        self._since = now
        self.validations.append(validation)
        better = self.best is validation
        if better:
            self._save_best()
        self._write_journal()
        end = "; the best so far" if better else ""
        self.report(f"update {update} of {self.updates}: {validation_text(validation)}{end}{self._left(update)}")

    def _left(self, update: int) -> str:
        """Return the time that is left, from what this process did since it began or last validated."""
        made = (self.validations[-1].seconds if self.validations else 0.0) + time.monotonic() - self._since
        left = made / max(1, update) * (self.updates - update)
        return f", about {duration(left)} left" if left else ""

    def _finite(self, loss: float, name: str, update: int) -> None:
        if not isfinite(loss):
            raise UsageError(
                f"learning_rate: found {self.stated.learning_rate}, with which the {name} loss is no finite number "
                f"after update {update}; state a lower one, and another folder"
            )

    def _save_best(self) -> None:
        part = self.folder / f"{_BEST}.part"
        try:
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            self.tuned.save(part)
            shutil.rmtree(self.best_folder, ignore_errors=True)
            os.replace(part, self.best_folder)
        except OSError as error:
            raise UsageError(f"{self.folder}: the result cannot be written: {error.strerror or error}") from error

    def _last_checkpoint(self) -> Path | None:
        """Return the folder of the last checkpoint that is whole."""
        whole = [path.parent for path in self.folder.glob(f"checkpoint-*/{_STATE}")]
        return max(whole, key=lambda path: int(path.name.rpartition("-")[2]), default=None)

    def _read_journal(self) -> None:
        path = self.folder / _JOURNAL
        rows = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
        self.validations = [Validation.from_json(row) for row in rows if row["update"] <= self._begun]

    def _write_journal(self) -> None:
        write_json(self.folder / _JOURNAL, [asdict(validation) for validation in self.validations])


def _trainer(training: CandidateTraining) -> Any:  # noqa: ANN401 - of a package without types here
    """Return the Trainer of a candidate: it logs, validates and saves where `_steps` tells it to."""
    import transformers

    stated = training.stated
    arguments = transformers.TrainingArguments(
        output_dir=str(training.folder), max_steps=training.updates,
        per_device_train_batch_size=training.at_once, gradient_accumulation_steps=stated.batch // training.at_once,
        learning_rate=stated.learning_rate, adam_beta1=stated.beta1, adam_beta2=stated.beta2, optim="adamw_torch",
        weight_decay=0.0, max_grad_norm=0.0, lr_scheduler_type="constant", seed=stated.seed,
        eval_strategy="no", save_strategy="no", logging_strategy="no", logging_nan_inf_filter=False,
        save_total_limit=1, report_to="none", disable_tqdm=True, remove_unused_columns=False, label_names=["labels"],
        dataloader_pin_memory=False, use_cpu=training.tuned.base.device == "cpu",
    )  # fmt: skip
    _ = arguments.device  # which also counts the GPUs
    arguments._n_gpu = min(1, arguments.n_gpu)  # several would each get a batch

    class Training(transformers.Trainer):  # type: ignore[misc]
        def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:  # noqa: ANN401
            self.model.eval()
            training.validate(self.state.global_step)
            self.model.train()
            return {}

    trainer = Training(
        model=training.tuned.model, args=arguments, train_dataset=training.learned.examples,
        data_collator=batch_examples, callbacks=[_steps(training)],
    )  # fmt: skip
    trainer.remove_callback(transformers.PrinterCallback)
    return trainer


def _steps(training: CandidateTraining) -> Any:  # noqa: ANN401
    """Return the callback that tells the Trainer behind which updates to log, to validate and to save."""
    import transformers

    def mark_due(_: Any, args: Any, state: Any, control: Any, **__: Any) -> None:  # noqa: ANN401
        due = state.global_step >= training.updates or state.global_step % training.every == 0
        control.should_log = due or state.global_step % max(1, training.every // _LINES) == 0
        control.should_evaluate = control.should_save = due

    def mark_done(_: Any, args: Any, state: Any, control: Any, **__: Any) -> None:  # noqa: ANN401
        control.should_log = control.should_evaluate = control.should_save = False  # done behind the last update

    def log(_: Any, args: Any, state: Any, control: Any, logs: Any = None, **__: Any) -> None:  # noqa: ANN401
        if logs and "loss" in logs:
            training.log(state.global_step, float(logs["loss"]))

    on = {"on_step_end": mark_due, "on_epoch_end": mark_done, "on_log": log}
    return type("Steps", (transformers.TrainerCallback,), on)()


def validation_text(validation: Validation) -> str:
    """Return losses and scores in a line."""
    scores = validation.scores
    parts = [] if validation.training_loss is None else [f"training loss {validation.training_loss:.4f}"]
    parts.append(f"dev loss {scores.loss:.4f}")
    parts += [
        f"{name} {'undefined' if value is None else format(100 * value, '.1f')}"
        for name, value in scores.scores.items()
    ]
    parts += [f"{scores.ties} ties"] if scores.ties else []
    parts += [f"{scores.cut} dev samples cut"] if scores.cut else []
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Return a duration in words, such as "2 h 5 min"."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def write_json(path: Path, content: Any) -> None:  # noqa: ANN401
    """Write a file of JSON; it is whole at any time."""
    part = path.with_name(f".{path.name}")
    try:
        part.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error

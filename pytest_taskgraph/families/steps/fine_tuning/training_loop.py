"""The updates of a fine-tuning: Adam on segments of tokens, validations between them, the best checkpoint on disk.

After section 3.4 of Wang et al. (2023). The paper saves the "checkpoint with best performance on validation set"; here
that of the highest G-mean, by which the paper compares models, and of several that of the lowest loss.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, Final

from ....errors import UsageError
from ....local_weights import LocalWeights, save_weights
from .answer_scores import AnswerScores, validate
from .fine_tuning_parameters import FineTuningParameters
from .training_samples import TuningSamples, learned_text
from .training_segments import TrainingSegments, cut_segments

ABOUT: Final = "fine-tuning.json"
_LINES: Final = 10  # about the training between two validations


@dataclass(frozen=True, slots=True)
class Validation:
    """A validation after some updates.

    Args:
        update: The number of updates before it; 0 for the model as it was.
        training_loss: The mean loss of a token over the updates since the last validation; None before the first.
        scores: What was found.
    """

    update: int
    training_loss: float | None
    scores: AnswerScores


@dataclass(frozen=True, slots=True)
class FineTuned:
    """What came of a fine-tuning.

    Args:
        validations: All of them, in order; the first is of the model as it was.
        best: The validation of the checkpoint that is saved; None if none is.
        updates: The updates made.
        interrupted: True if Ctrl-C ended it.
    """

    validations: tuple[Validation, ...]
    best: Validation | None
    updates: int
    interrupted: bool


def fine_tune(
    weights: LocalWeights,
    samples: TuningSamples,
    parameters: FineTuningParameters,
    out: Path,
    about: Mapping[str, Any],
    report: Callable[[str], None],
) -> FineTuned:
    """Fine-tune a model in place, and keep the best checkpoint in a folder with what is known of it.

    The same model, samples and parameters give the same weights on one machine with the same number of threads.

    Args:
        weights: The model, in single precision.
        samples: What is learned, and what a validation compares.
        parameters: The parameters.
        out: The folder; it exists.
        about: What `fine-tuning.json` states besides, such as the model that this began with.
        report: Takes lines on the progress.

    Raises:
        UsageError: if there are too few tokens for a segment, the folder cannot be written, or a loss is no finite
            number.
    """
    length = parameters.segment if weights.longest is None else min(parameters.segment, weights.longest)
    texts = map(learned_text, samples.train)
    most = parameters.updates * parameters.batch
    segments = cut_segments(texts, weights.tokenizer, length, most, parameters.seed)
    stated = _about_run(about, samples, segments, parameters)
    report(
        f"{samples.yes} Yes and {samples.no} No, balanced: {len(samples.train)} samples; "
        f"{segments.count} segments of {length} tokens, {parameters.updates} updates of {parameters.batch}"
    )
    training = _Training(weights, samples, parameters, out, stated, report)
    with _seed_torch(parameters.seed):
        try:
            training.run(segments)
        except KeyboardInterrupt:
            training.interrupted = True
    if training.best is not None:
        _write_about(out, training.about())
    return FineTuned(tuple(training.validations), training.best, training.updates, training.interrupted)


class _Training:
    """A fine-tuning under way."""

    def __init__(
        self,
        weights: LocalWeights,
        samples: TuningSamples,
        parameters: FineTuningParameters,
        out: Path,
        stated: dict[str, Any],
        report: Callable[[str], None],
    ) -> None:
        self._weights, self._samples, self._parameters = weights, samples, parameters
        self._out, self._stated, self._report = out, stated, report
        self.validations: list[Validation] = []
        self.best: Validation | None = None
        self.updates, self.interrupted = 0, False
        self._losses: list[float] = []

    def run(self, segments: TrainingSegments) -> None:
        """Make all updates."""
        import torch

        stated = self._parameters
        self._weights.model.eval()
        self._validate()
        adam = torch.optim.Adam(
            self._weights.model.parameters(), lr=stated.learning_rate, betas=(stated.beta1, stated.beta2)
        )
        self._weights.model.train()
        for batch in segments.batches(stated.batch):
            adam.zero_grad(set_to_none=True)
            self._losses.append(self._finite(self._backward(batch), "training"))
            adam.step()
            self.updates += 1
            if self.updates % stated.every == 0 or self.updates == stated.updates:
                self._weights.model.eval()
                self._validate()
                self._weights.model.train()
            elif self.updates % max(1, stated.every // _LINES) == 0:
                self._report(f"update {self.updates} of {stated.updates}: training loss {self._losses[-1]:.4f}")
            if self.updates == stated.updates:
                break
        self._weights.model.eval()

    def _backward(self, batch: list[list[int]]) -> float:
        """Add the gradients of a batch, and return its loss."""
        import torch

        size = self._parameters.at_once or len(batch)
        total = 0.0
        for start in range(0, len(batch), size):
            ids = torch.tensor(batch[start : start + size], device=self._weights.device)
            logits = self._weights.model(ids, use_cache=False).logits[:, :-1]
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())
            share = loss * (len(ids) / len(batch))
            share.backward()
            total += float(share.detach())
        return total

    def _validate(self) -> None:
        scores = validate(self._weights, self._samples.dev)
        self._finite(scores.loss, "dev")
        loss = sum(self._losses) / len(self._losses) if self._losses else None
        self._losses.clear()
        validation = Validation(self.updates, loss, scores)
        self.validations.append(validation)
        better = self.updates > 0 and (self.best is None or scores.rank > self.best.scores.rank)
        if better:
            previous, self.best = self.best, validation
            try:
                _save(self._weights, self._out, self.about())
            except BaseException:
                self.best = previous
                raise
        self._report(_validation_line(validation, self._parameters.updates, better))

    def _finite(self, loss: float, name: str) -> float:
        if isfinite(loss):
            return loss
        best_kept = "" if self.best is None else f"; the checkpoint of update {self.best.update} is kept in {self._out}"
        raise UsageError(
            f"learning_rate: found {self._parameters.learning_rate}, with which the {name} loss is no finite number "
            f"after update {self.updates}; state a lower one{best_kept}"
        )

    def about(self) -> dict[str, Any]:
        """Return what `fine-tuning.json` states now."""
        return {
            **self._stated,
            "updates_made": self.updates,
            "interrupted": self.interrupted,
            "best": None if self.best is None else asdict(self.best),
            "validations": [asdict(validation) for validation in self.validations],
        }


def _about_run(
    about: Mapping[str, Any], samples: TuningSamples, segments: TrainingSegments, parameters: FineTuningParameters
) -> dict[str, Any]:
    import torch
    import transformers

    return {
        **about,
        "parameters": asdict(replace(parameters, segment=segments.length)),
        "samples": {
            "yes": samples.yes,
            "no": samples.no,
            "balanced": len(samples.train),
            "segments": segments.count,
            "dev": len(samples.dev),
        },
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }


def _validation_line(validation: Validation, updates: int, better: bool) -> str:
    scores = validation.scores
    shares = {"sensitivity": scores.sensitivity, "specificity": scores.specificity, "G-mean": scores.g_mean}
    parts = [f"{name} {'undefined' if share is None else f'{100 * share:.1f}'}" for name, share in shares.items()]
    training = [] if validation.training_loss is None else [f"training loss {validation.training_loss:.4f}"]
    parts = [*training, f"dev loss {scores.loss:.4f}", *parts]
    parts += [f"{scores.ties} ties"] if scores.ties else []
    parts += [f"{scores.cut} queries cut"] if scores.cut else []
    return f"update {validation.update} of {updates}: {', '.join(parts)}{'; saved as the best' if better else ''}"


@contextmanager
def _seed_torch(seed: int) -> Iterator[None]:
    """Seed torch for the dropout; its state of before is restored."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def _save(weights: LocalWeights, out: Path, about: dict[str, Any]) -> None:
    """Save a checkpoint in place of the last, which stays whole until the new checkpoint is written."""
    part = out / ".part"
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        save_weights(weights, part)
        for path in sorted(part.iterdir()):
            os.replace(path, out / path.name)
    except OSError as error:
        raise UsageError(f"{out}: the checkpoint cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    _write_about(out, about)


def _write_about(out: Path, about: dict[str, Any]) -> None:
    part = out / f".{ABOUT}"
    part.write_text(json.dumps(about, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    os.replace(part, out / ABOUT)

"""A tuning from its plan to the folder of the tuned model: candidates, the best of them, and `tuning.json`.

While it goes on, the folder holds `.tuning`: the plan and a folder for each candidate. The same plan again goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..errors import UsageError
from ..local_weights import LocalWeights, load_weights
from .learned_tokens import LearnedTokens, learn_samples, learn_segments, sample_tokens
from .training import CandidateTraining, Validation, duration, validation_text, write_json
from .tuned_model import TunedModel
from .validation import validate

if TYPE_CHECKING:
    from ..benchmarks.tuning_task import TuningData, TuningMethod, TuningParameters, TuningTask

ABOUT: Final = "tuning.json"
_WORK: Final = ".tuning"
_PLAN: Final = "plan.json"
_BEFORE: Final = "before.json"


@dataclass(frozen=True, slots=True)
class TuningPlan:
    """What a tuning does.

    Args:
        name: The tasks, as the command names them.
        tasks: What the model is tuned for, each with its samples.
        method: Which weights change.
        parameters: The parameters.
        model: The folder of the model that it begins with.
        fingerprint: The digest of that model.
        precision: The precision in which it is loaded.
        device: A device of torch; the first GPU of CUDA, else the processor, if empty.
    """

    name: str
    tasks: Sequence[tuple[TuningTask, TuningData]]
    method: TuningMethod
    parameters: TuningParameters
    model: Path
    fingerprint: str
    precision: str = "float32"
    device: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return what decides on the result, and where it came from."""
        return {
            "task": self.name,
            "method": self.method,
            "model": str(self.model),
            "model_weights": self.fingerprint,
            "precision": self.precision,
            "parameters": {**asdict(self.parameters), "prompt_tokens": [*self.parameters.prompt_tokens]},
            "data": {task.name: _about_data(data) for task, data in self.tasks},
        }

    @property
    def candidates(self) -> list[TuningParameters]:
        """Return the parameters of each candidate: one for each length of a soft prompt, else one."""
        if self.method != "soft-prompt":
            return [self.parameters]
        return [replace(self.parameters, prompt_tokens=(length,)) for length in self.parameters.prompt_tokens]


@dataclass(frozen=True, slots=True)
class TuningResult:
    """What came of a tuning.

    Args:
        before: The validation of the model as it was.
        best: The validation of the result that is kept.
        parameters: The parameters of that candidate.
    """

    before: Validation
    best: Validation
    parameters: TuningParameters


def _about_data(data: TuningData) -> dict[str, Any]:
    digest = hashlib.sha256()
    for split, samples in (("train", data.train), ("dev", data.dev)):
        for sample in samples:
            row = json.dumps([split, sample.prompt, sample.target])
            digest.update(f"{row}\n".encode("utf-8", "surrogatepass"))
    return {**data.facts, "train": len(data.train), "dev": len(data.dev), "digest": digest.hexdigest()}


def tune(plan: TuningPlan, out: Path, report: Callable[[str], None]) -> TuningResult:
    """Tune a model, and write the best result to a folder with what is known of it.

    The same plan gives the same weights on one machine with the same versions and number of threads, whether it was
    interrupted or not.

    Args:
        plan: What is done.
        out: The folder: new, empty, or one in which the same plan was begun.
        report: Takes lines on the progress.

    Raises:
        UsageError: if the folder is used otherwise or cannot be written, or the model cannot be tuned so.
    """
    work = out / _WORK
    _begin(plan, out, work)
    weights = load_weights(plan.model, precision=plan.precision, device=plan.device)
    before = _validate_before(plan, weights, work, report)
    trained: list[CandidateTraining] = []
    for number, stated in enumerate(plan.candidates):
        base = weights if not number else load_weights(plan.model, precision=plan.precision, device=plan.device)
        trained.append(_train(plan, stated, base, work, before, report))
    best = max(trained, key=lambda each: each.best.scores.rank if each.best else (-2.0, 0.0))
    if best.best is None:  # never: each candidate is validated behind its last update
        raise UsageError(f"{out}: no validation followed an update")
    try:
        for path in sorted(best.best_folder.iterdir()):
            os.replace(path, out / path.name)
        write_json(out / ABOUT, _about(plan, before, trained, best))
        shutil.rmtree(work)
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror or error}") from error
    return TuningResult(before, best.best, best.stated)


def _begin(plan: TuningPlan, out: Path, work: Path) -> None:
    """Check the folder, and write the plan into it or compare it with the one that is there. Raises UsageError."""
    stated = plan.to_json()
    path = work / _PLAN
    if path.is_file():
        begun = json.loads(path.read_text(encoding="utf-8"))
        if differing := next(_differences(begun, json.loads(json.dumps(stated))), ""):
            raise UsageError(
                f"--out: in {out} another tuning was begun: {differing}; state the same to go on, or another folder"
            )
        return
    if out.exists() and (not out.is_dir() or any(each for each in out.iterdir() if each.name != _WORK)):
        raise UsageError(f"--out: {out} exists already and is not an empty folder; name another one")
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out: {out} cannot be made: {error.strerror or error}") from None
    write_json(path, stated)


def _differences(begun: Mapping[str, Any], stated: Mapping[str, Any], within: str = "") -> Iterator[str]:
    for name in {**begun, **stated}:
        old, new = begun.get(name), stated.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new, f"{within}{name}.")
        elif old != new:
            yield f"{within}{name} was {old!r}, and is {new!r} now"


def _validate_before(plan: TuningPlan, weights: LocalWeights, work: Path, report: Callable[[str], None]) -> Validation:
    """Return the validation of the model as it was, which is kept."""
    import time

    path = work / _BEFORE
    if path.is_file():
        return Validation.from_json(json.loads(path.read_text(encoding="utf-8")))
    report(f"validating the model as it is on {sum(len(data.dev) for _, data in plan.tasks)} dev samples")
    start = time.monotonic()
    scores = validate(weights, [(task, data.dev) for task, data in plan.tasks], _most(plan.parameters, weights))
    before = Validation(0, None, scores, round(time.monotonic() - start, 1))
    write_json(path, asdict(before))
    report(f"update 0: {validation_text(before)}")
    return before


def _most(stated: TuningParameters, weights: LocalWeights) -> int:
    return stated.tokens if weights.longest is None else min(stated.tokens, weights.longest)


def _train(
    plan: TuningPlan,
    stated: TuningParameters,
    weights: LocalWeights,
    work: Path,
    before: Validation,
    report: Callable[[str], None],
) -> CandidateTraining:
    """Train a candidate, and return it with its validations. Raises UsageError."""
    prompt = stated.prompt_tokens[0] if plan.method == "soft-prompt" else 0
    most = _most(stated, weights)
    if prompt and weights.longest is not None:
        most = min(most, weights.longest - prompt)
    if most < 2:
        raise UsageError(f"prompt_tokens: found {prompt}, but the model takes {weights.longest} tokens; state fewer")
    learned = _learned(plan, stated, weights, most)
    tuned = TunedModel.of(weights, plan.model, plan.method, stated, _opening(plan, weights))
    parts = [(task, data.dev) for task, data in plan.tasks]
    folder = work / (f"prompt-{prompt}" if prompt else plan.method)
    training = CandidateTraining(tuned, learned, parts, stated, most, folder, report)
    kind = "segments" if _packed(plan, weights) else "samples"
    report(
        (f"soft prompt of {prompt} tokens: " if prompt else "")
        + f"{len(learned.examples)} {kind} of {learned.tokens} tokens, {training.updates} updates of {stated.batch}"
        + (f"; {learned.cut} samples cut" if learned.cut else "")
    )
    longest = max(len(example["input_ids"]) for example in learned.examples) + prompt
    report(tuned.memory_line(longest * training.at_once))
    update = training.measure_update()
    validations = -(-training.updates // training.every)
    report(
        f"estimated time: {duration(update * training.updates + before.seconds * validations)} "
        f"(an update {update:.2f} s, each of {validations} validations {duration(before.seconds)})"
    )
    training.run()
    return training


def _packed(plan: TuningPlan, weights: LocalWeights) -> bool:
    """Return True if samples are learned in segments: by a causal model, whose prompt has no soft beginning."""
    causal = weights.start is None and plan.method != "soft-prompt"
    return causal and all(task.packed for task, _ in plan.tasks)


def _learned(plan: TuningPlan, stated: TuningParameters, weights: LocalWeights, most: int) -> LearnedTokens:
    if _packed(plan, weights):
        samples = [sample for _, data in plan.tasks for sample in data.train]
        needed = stated.updates * stated.batch if stated.updates else 10**9
        return learn_segments(weights, samples, most, needed, stated.seed)
    parts = [learn_samples(weights, task, data.train, most) for task, data in plan.tasks]
    largest = max(len(part.examples) for part in parts)
    times = [largest // len(part.examples) for part in parts]  # so that each task is learned about as often
    examples = [example for part, often in zip(parts, times, strict=True) for example in part.examples * often]
    tokens = sum(part.tokens * often for part, often in zip(parts, times, strict=True))
    return LearnedTokens(examples, tokens, sum(part.cut for part in parts))


def _opening(plan: TuningPlan, weights: LocalWeights) -> list[int]:
    """Return the tokens of the first training samples, of each task in turn: in-context examples to begin with."""
    opening: list[int] = []
    for samples in zip(*(data.train[:4] for _, data in plan.tasks), strict=False):
        for (task, _), sample in zip(plan.tasks, samples, strict=True):
            opening += sample_tokens(weights, task, sample.prompt, sample.target, 10**9).ids
    return opening


def _about(
    plan: TuningPlan, before: Validation, trained: Iterable[CandidateTraining], best: CandidateTraining
) -> dict[str, Any]:
    """Return what `tuning.json` states."""
    from importlib.metadata import version

    packages = ("torch", "transformers", *(("peft",) if plan.method != "full" else ()))
    return {
        **plan.to_json(),
        "before": asdict(before),
        "candidates": [
            {
                **({"prompt_tokens": each.stated.prompt_tokens[0]} if plan.method == "soft-prompt" else {}),
                "examples": len(each.learned.examples),
                "cut": each.learned.cut,
                "updates": each.updates,
                "validations": [asdict(validation) for validation in each.validations],
            }
            for each in trained
        ],
        "kept": {
            **({"prompt_tokens": best.stated.prompt_tokens[0]} if plan.method == "soft-prompt" else {}),
            **(asdict(best.best) if best.best else {}),
        },
        "versions": {name: version(name) for name in packages},
    }

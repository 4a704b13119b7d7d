"""The coefficients by which the methods `filter` rank sequences, fitted to sampled sequences and their score.

What is predicted is the Hungarian F1 of a sequence against gold; Yuan et al. (2024) leave the "single number" open. The
penalty is chosen, and the fit evaluated, by leaving out the sequences of one cluster of tasks at a time.

Ridge regression in closed form, its penalty chosen by leaving out one group of rows at a time.

The features are standardised: less their mean, over their standard deviation. The coefficients b minimise
|y - mean(y) - X b|² + penalty · |b|². The intercept is the mean of y and is not penalised (Hoerl and Kennard 1970).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import TYPE_CHECKING, Final

from ....trial import Json, Question, Reply, Trial
from .filter_model import FEATURES, FilterModel, features_of
from .multiple_sequences import read_sequence
from .sample_filter import sequence_f1, stated_task
from .step_methods import SAMPLING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Rows = NDArray[np.intp]

PENALTIES: Final = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
"""The penalties that are tried; of equally good ones the largest is taken."""
ONE_GROUP_PENALTY: Final = 1.0
"""The penalty where there is one group alone, and none can be left out."""
_CONSTANT: Final = 1e-12  # the standard deviation up to which a feature counts as constant
_NO_VARIANCE = 1e-18
_DIGITS = ".12g"  # of a number in the file: what no machine computes otherwise


@dataclass(frozen=True, slots=True)
class RidgeFit:
    """A fitted regression.

    Args:
        mean: The mean of each feature.
        scale: Its standard deviation; 1 for a feature that is the same in all rows.
        coefficients: The coefficient of each standardised feature.
        intercept: The mean of the targets.
        penalty: The penalty that was chosen.
        predictions: For each row what a fit without its group predicts; empty where there is one group alone.
    """

    mean: tuple[float, ...]
    scale: tuple[float, ...]
    coefficients: tuple[float, ...]
    intercept: float
    penalty: float
    predictions: tuple[float, ...]


def fit_ridge(rows: Sequence[Sequence[float]], targets: Sequence[float], groups: Sequence[str]) -> RidgeFit:
    """Fit a ridge regression.

    Args:
        rows: The features of each row; at least one row.
        targets: What is to be predicted for it.
        groups: The group of each row: rows of a group are not independent, and are left out together.
    """
    import numpy as np

    features, target = np.asarray(rows, dtype=float), np.asarray(targets, dtype=float)
    members: dict[str, list[int]] = {}
    for at, group in enumerate(groups):
        members.setdefault(group, []).append(at)
    penalty, predictions = ONE_GROUP_PENALTY, np.empty(0)
    if len(members) > 1:
        tried = _predict_held_out(features, target, [np.asarray(rows) for rows in members.values()])
        errors = [float(((predicted - target) ** 2).sum()) for predicted in tried]
        best = min(range(len(PENALTIES)), key=lambda at: (round(errors[at], 12), at))
        penalty, predictions = PENALTIES[best], tried[best]
    mean, scale = _mean_and_scale(features)
    coefficients = _solve((features - mean) / scale, target - target.mean(), [penalty])[0]
    return RidgeFit(
        tuple(mean.tolist()),
        tuple(scale.tolist()),
        tuple(coefficients.tolist()),
        float(target.mean()),
        penalty,
        tuple(predictions.tolist()),
    )


def _predict_held_out(features: Array, target: Array, groups: Sequence[Rows]) -> list[Array]:
    """Return, for each penalty, what the fits without its group predict for each row."""
    import numpy as np

    predictions_by_penalty = [np.zeros(len(target)) for _ in PENALTIES]
    for some in groups:
        rest = np.setdiff1d(np.arange(len(target)), some, assume_unique=True)
        mean, scale = _mean_and_scale(features[rest])
        center = float(target[rest].mean())
        fits = _solve((features[rest] - mean) / scale, target[rest] - center, PENALTIES)
        for predictions, coefficients in zip(predictions_by_penalty, fits, strict=True):
            predictions[some] = center + (features[some] - mean) / scale @ coefficients
    return predictions_by_penalty


def _mean_and_scale(features: Array) -> tuple[Array, Array]:
    """Return the mean and the standard deviation of each feature; 1 for one that does not vary."""
    import numpy as np

    mean, deviation = features.mean(axis=0), features.std(axis=0)
    return mean, np.where(deviation > _CONSTANT * (1 + np.abs(mean)), deviation, 1.0)


def _solve(features: Array, target: Array, penalties: Sequence[float]) -> list[Array]:
    """Return the coefficients for each penalty, from the normal equations."""
    import numpy as np

    gram, moments, identity = features.T @ features, features.T @ target, np.eye(features.shape[1])
    return [np.asarray(np.linalg.solve(gram + penalty * identity, moments), dtype=float) for penalty in penalties]


@dataclass(frozen=True, slots=True)
class SampledTask:
    """The sequences that a model wrote for one task, and what they are compared with.

    Args:
        title: The title of the task.
        context: Its context.
        cluster: What tasks that resemble each other share.
        split: The split that the task is of; empty if that is not known.
        reference: The gold graph.
        sequences: The steps of each sequence that can be read; at least one.
    """

    title: str
    context: tuple[str, ...]
    cluster: str
    split: str
    reference: Json
    sequences: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class FilterFit:
    """A fitted model, and how good it is on sequences of clusters that it was not fitted to.

    Args:
        model: The model.
        penalty: The penalty of the ridge regression.
        tasks: The number of tasks.
        sequences: The number of sequences.
        r2: The share of the variance of scores that is explained, at most 1; None if it is undefined.
        correlation: The correlation of predicted and true scores; None if it is undefined.
        picked: The mean score of the sequences that are picked, one for each task; None without a second cluster.
        mean: The mean score of a sequence of a task.
        best: The mean score of the best sequence of each task.
    """

    model: FilterModel
    penalty: float
    tasks: int
    sequences: int
    r2: float | None
    correlation: float | None
    picked: float | None
    mean: float
    best: float

    def to_json(self) -> dict[str, Json]:
        """Return the content of the file of coefficients."""
        return self.model.to_json() | {
            "ridge": self.penalty,
            "tasks": self.tasks,
            "sequences": self.sequences,
            "cross_validated_r2": self.r2,
            "correlation": self.correlation,
            "picked_f1": self.picked,
            "mean_f1": self.mean,
            "best_f1": self.best,
        }


def sampled_tasks(trials: Iterable[Trial], family: str) -> list[SampledTask]:
    """Return the tasks with the sequences that trials hold; of several trials of a task, that with the most.

    Trials of other families and methods, and those without a reply, are left out. A model counts by itself, as does a
    context or a repetition.

    Args:
        trials: The trials of a record.
        family: The name of the family.

    Raises:
        UsageError: if a trial does not state its task.
    """
    tasks: dict[tuple[object, ...], SampledTask] = {}
    for trial in trials:
        question = trial.question
        if question.family != family or question.group not in SAMPLING or trial.reply is None:
            continue
        title, context = stated_task(question)
        sequences = _read_sequences(trial)
        key = (trial.model, title, *context, question.repetition)
        if sequences and (key not in tasks or len(tasks[key].sequences) < len(sequences)):
            split, cluster = str(question.episode_settings.get("split") or ""), question.cluster or title
            tasks[key] = SampledTask(title, tuple(context), cluster, split, _measurable_reference(question), sequences)
    return list(tasks.values())


def _read_sequences(trial: Trial) -> tuple[tuple[str, ...], ...]:
    """Return the steps of each sampled reply that the exchanges of a trial hold."""
    texts = [
        Reply(
            trial.reply.text if exchange.get("final") and trial.reply else str(exchange.get("text") or ""),
            finish_reason=str(exchange.get("finish_reason") or "stop"),
        )
        for exchange in trial.exchanges
        if exchange.get("role") == "subject" and "kind" not in exchange and "failure" not in exchange
    ]
    read = (read_sequence(trial.question, reply) for reply in texts)
    return tuple(tuple(steps) for steps in read if steps is not None)


def _measurable_reference(question: Question) -> Json:
    """Return the gold graph, with lexical similarity where an embedder measures it: samples have no vectors."""
    reference = question.reference
    if isinstance(reference, dict) and reference.get("similarity") == "embeddings":
        return {**reference, "similarity": "lexical"}
    return reference


def distinct_tasks(tasks: Iterable[SampledTask]) -> int:
    """Return the number of different tasks; what several models or repetitions wrote for one counts once."""
    return len({(task.title, task.context) for task in tasks})


def fit_filter(tasks: Sequence[SampledTask]) -> FilterFit:
    """Fit the coefficients to the sequences of at least one task.

    Raises:
        UsageError: if a gold graph is malformed, or a package that its similarity needs is missing.
    """
    rows = [
        [values[name] for name in FEATURES]
        for task in tasks
        for values in features_of(task.title, task.context, task.sequences)
    ]
    scores = [[sequence_f1(steps, task.reference) for steps in task.sequences] for task in tasks]
    targets = [score for of_task in scores for score in of_task]
    fit = fit_ridge(rows, targets, [task.cluster for task in tasks for _ in task.sequences])
    mean, scale, coefficients = (tuple(map(_round, values)) for values in (fit.mean, fit.scale, fit.coefficients))
    model = FilterModel(FEATURES, mean, scale, coefficients, _round(fit.intercept))
    r2, correlation = _agreement(fit, targets)
    return FilterFit(
        model,
        fit.penalty,
        distinct_tasks(tasks),
        len(targets),
        r2,
        correlation,
        _mean_picked(fit, scores),
        _round(_mean([_mean(of_task) for of_task in scores])),
        _round(_mean([max(of_task) for of_task in scores])),
    )


def _agreement(fit: RidgeFit, targets: Sequence[float]) -> tuple[float | None, float | None]:
    """Return R² and correlation of the predictions for left out sequences; None where they are undefined."""
    if not fit.predictions:
        return None, None
    mean, predicted_mean = _mean(targets), _mean(fit.predictions)
    variance = fsum((target - mean) ** 2 for target in targets)
    predicted_variance = fsum((value - predicted_mean) ** 2 for value in fit.predictions)
    if variance <= _NO_VARIANCE:
        return None, None
    both = list(zip(targets, fit.predictions, strict=True))
    r2 = 1 - fsum((target - value) ** 2 for target, value in both) / variance
    if predicted_variance <= _NO_VARIANCE:
        return _round(r2), None
    shared = fsum((target - mean) * (value - predicted_mean) for target, value in both)
    return _round(r2), _round(shared / sqrt(variance * predicted_variance))


def _mean_picked(fit: RidgeFit, scores: Sequence[Sequence[float]]) -> float | None:
    """Return the mean score of the sequences of the largest prediction, one a task."""
    if not fit.predictions:
        return None
    left, picked = iter(fit.predictions), []
    for of_task in scores:
        predicted = [next(left) for _ in of_task]
        picked.append(of_task[predicted.index(max(predicted))])
    return _round(_mean(picked))


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def _round(value: float) -> float:
    return float(format(value, _DIGITS))

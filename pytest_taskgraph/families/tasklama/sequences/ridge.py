"""Ridge regression in closed form, its penalty chosen by leaving out one group of rows at a time.

The features are standardised: less their mean, over their standard deviation. The coefficients b minimise
|y - mean(y) - X b|² + penalty · |b|². The intercept is the mean of y and is not penalised (Hoerl and Kennard 1970).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

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

"""The file of coefficients by which the methods `filter` rank sequences: written by `tasklama fit`, read by runs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from ....errors import UsageError
from ....trial import Json
from .sequence_features import FEATURES, features_of

FORMAT: Final = 1
_LARGEST: Final = 1e100  # of a number in the file: sums of products stay finite
_SMALLEST_SCALE: Final = 1e-9
_LISTS: Final = ("mean", "scale", "coefficients")
_FIT_AGAIN: Final = "write the file anew: python -m pytest_taskgraph tasklama fit RECORD --out FILE"


@dataclass(frozen=True, slots=True)
class FilterModel:
    """A linear model of how good a sequence is.

    Args:
        features: Names of features, in the order of the three lists.
        mean: What is taken from each feature.
        scale: What it is then divided by; at least 1e-9.
        coefficients: What it is then multiplied by.
        intercept: What is added to the sum.
    """

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    coefficients: tuple[float, ...]
    intercept: float

    def scores(self, title: str, context: Sequence[str], sequences: Sequence[Sequence[str]]) -> list[float]:
        """Return the predicted quality of each of the sequences that were sampled for a task."""
        terms = list(zip(self.features, self.mean, self.scale, self.coefficients, strict=True))
        return [
            math.fsum([self.intercept, *((values[name] - mean) / scale * by for name, mean, scale, by in terms)])
            for values in features_of(title, context, sequences)
        ]

    def to_json(self) -> dict[str, Json]:
        """Return the model as plain JSON values, for a file; `from_json` gives it back."""
        return {
            "format": FORMAT,
            "features": [*self.features],
            "mean": [*self.mean],
            "scale": [*self.scale],
            "coefficients": [*self.coefficients],
            "intercept": self.intercept,
        }

    @classmethod
    def from_json(cls, data: object, where: str) -> FilterModel:
        """Return the model that JSON states; values that it does not need are ignored.

        Args:
            data: The JSON value.
            where: Where it stands, for messages.

        Raises:
            UsageError: if it does not state a model.
        """
        if not isinstance(data, Mapping):
            _refuse(where, f"found {_excerpt(data)}; expected a JSON object")
        if data.get("format") != FORMAT or isinstance(data.get("format"), bool):
            _refuse(f"{where}: format", f"found {_excerpt(data.get('format'))}; expected {FORMAT}")
        features = _names(data.get("features"), where)
        lists = {name: _numbers(data.get(name), len(features), f"{where}: {name}") for name in _LISTS}
        if (low := next((at for at, scale in enumerate(lists["scale"]) if scale < _SMALLEST_SCALE), None)) is not None:
            _refuse(f"{where}: scale[{low}]", f"found {lists['scale'][low]:g}; expected at least {_SMALLEST_SCALE:g}")
        intercept = _number(data.get("intercept"), f"{where}: intercept")
        return cls(features, lists["mean"], lists["scale"], lists["coefficients"], intercept)


def read_filter(path: str | Path) -> FilterModel:
    """Return the model of a file of coefficients.

    Raises:
        UsageError: if the file cannot be read, or does not state a model.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        _refuse(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}")
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        _refuse(f"{path}:{error.lineno}", f"malformed JSON: {error.msg}")
    except (ValueError, RecursionError) as error:
        _refuse(str(path), f"the JSON cannot be read: {error}")
    return FilterModel.from_json(data, str(path))


def _names(names: object, where: str) -> tuple[str, ...]:
    if not isinstance(names, list) or not names:
        _refuse(f"{where}: features", f"found {_excerpt(names)}; expected a list of names")
    for at, name in enumerate(names):
        if name not in FEATURES:
            _refuse(f"{where}: features[{at}]", f"unknown feature {_excerpt(name)}; known: {', '.join(FEATURES)}")
        if name in names[:at]:
            _refuse(f"{where}: features[{at}]", f"found {name} twice; expected each feature once")
    return tuple(map(str, names))


def _numbers(values: object, expected: int, where: str) -> tuple[float, ...]:
    if not isinstance(values, list):
        _refuse(where, f"found {_excerpt(values)}; expected a list of {expected} numbers, one for each feature")
    if len(values) != expected:
        _refuse(where, f"found {len(values)} values; expected {expected} numbers, one for each feature")
    return tuple(_number(value, f"{where}[{at}]") for at, value in enumerate(values))


def _number(value: Any, where: str) -> float:  # noqa: ANN401 - any JSON value
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
    except OverflowError:
        number = math.inf
    if not abs(number) <= _LARGEST:
        _refuse(where, f"found {_excerpt(value)}; expected a number from -{_LARGEST:g} to {_LARGEST:g}")
    return number


def _excerpt(value: object) -> str:
    return "nothing" if value is None else f"{value!r:.60}"


def _refuse(where: str, what: str) -> NoReturn:
    raise UsageError(f"{where}: {what}; {_FIT_AGAIN}")

"""The result of a metric: a value, further named values, and parts that are summed over questions.

A metric takes the parsed answer and the reference. Its value lies between 0 and 1, or is None if it is undefined. A
`Measurement` adds named values, which are metrics of their own, and parts: numerators and denominators, which ratio
aggregates (`family_description.Aggregate`) sum before they divide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import UsageError
from ..trial import Json, is_part

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Measurement:
    """The result of a metric for one answer.

    Args:
        value: The value of the metric itself, 0.0 to 1.0; None if it is undefined.
        values: Further values by name, each 0.0 to 1.0 or None; the names are those that the metric declares.
        parts: Numerator and denominator by the name of the part: both finite and at most 1e100 in magnitude, the
            denominator 0 or at least 1e-9.
        remark: A note about the answer for people, such as which part of it was ignored; may be empty.
    """

    value: float | None
    values: Mapping[str, float | None] = field(default_factory=dict)
    parts: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    remark: str = ""


MetricResult = float | None | Measurement
Metric = Callable[[Json, Json], MetricResult]


@dataclass(frozen=True, slots=True)
class DeclaredMetric:
    """A callable metric that declares its named values, or its result for a reply without an answer.

    Args:
        function: The function that measures an answer.
        values: The names of its further values.
        unparseable: From a reference to the result for an unparseable or refused reply. None: 0.0 in the metric and in
            each of its values, no parts.
    """

    function: Metric
    values: tuple[str, ...] = ()
    unparseable: Callable[[Json], MetricResult] | None = None

    def __call__(self, given: Json, reference: Json) -> MetricResult:
        """Return the result of the metric for the answer."""
        return self.function(given, reference)


def declares(
    *values: str, unparseable: Callable[[Json], MetricResult] | None = None
) -> Callable[[Metric], DeclaredMetric]:
    """Return a decorator for metrics that return a `Measurement`; the arguments are those of `DeclaredMetric`."""
    return lambda function: DeclaredMetric(function, values, unparseable)


def values_of(metric: Metric) -> tuple[str, ...]:
    """Return the names of the further values that the metric declares."""
    return metric.values if isinstance(metric, DeclaredMetric) else ()


def measure_answer(name: str, metric: Metric, given: Json, reference: Json) -> Measurement:
    """Return the measurement of an answer by the metric of that name.

    Raises:
        UsageError: if a value is out of range or undeclared, or a part is not a numerator with a denominator.
    """
    return _validated(name, metric(given, reference), values_of(metric))


def measure_unparseable(name: str, metric: Metric, reference: Json) -> Measurement:
    """Return the measurement of a reply without an answer by the metric of that name.

    Raises:
        UsageError: as `measure_answer` does.
    """
    names = values_of(metric)
    if not isinstance(metric, DeclaredMetric) or metric.unparseable is None:
        return Measurement(0.0, dict.fromkeys(names, 0.0))
    return _validated(name, metric.unparseable(reference), names)


def _validated(name: str, result: MetricResult, names: tuple[str, ...]) -> Measurement:
    if not (names or isinstance(result, Measurement)):
        return Measurement(_validated_value(name, result))
    measurement = result if isinstance(result, Measurement) else Measurement(result)
    for value_name in sorted(set(measurement.values) - set(names)):
        raise UsageError(
            f"metric {name!r}: returned the value {value_name!r}, which it does not declare; declare it with "
            f"@declares({value_name!r}), so that replies without an answer count 0 in it"
        )
    values = {
        further: _validated_value(f"{name}, value {further!r}", measurement.values.get(further)) for further in names
    }
    parts = {part: _validated_part(f"metric {name!r}", part, pair) for part, pair in measurement.parts.items()}
    return Measurement(_validated_value(name, measurement.value), values, parts, measurement.remark)


def _validated_value(where: str, value: float | None) -> float | None:
    if value is None or 0.0 <= value <= 1.0:
        return value
    if not -_ROUNDING <= value <= 1 + _ROUNDING:
        raise UsageError(f"metric {where}: returned {value!r}; expected a number from 0 to 1, or None for undefined")
    return min(1.0, max(0.0, value))


def episode_measurement(
    episode: str, metrics: Mapping[str, float | None], parts: Mapping[str, Sequence[float]]
) -> Measurement:
    """Return the measurement of an episode besides the metrics of its question.

    Raises:
        UsageError: as `measure_answer` does.
    """
    where = f"episode {episode!r}"
    values = {name: _validated_value(f"{name!r} of the {where}", value) for name, value in metrics.items()}
    return Measurement(None, values, {name: _validated_part(where, name, pair) for name, pair in parts.items()})


def _validated_part(where: str, name: str, pair: Sequence[float]) -> tuple[float, float]:
    if not is_part(pair):
        raise UsageError(
            f"{where}, part {name!r}: returned {pair!r:.80}; expected a finite numerator and a finite denominator of "
            "at least 0"
        )
    return float(pair[0]), float(pair[1])

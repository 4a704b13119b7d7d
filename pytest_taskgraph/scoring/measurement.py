"""What a metric may return besides one number: further named values, and parts that are summed over questions.

A metric takes the parsed answer and the reference. Its value lies between 0 and 1, or is None where it is undefined. A
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
    """What a metric measures about one answer.

    Args:
        value: The value of the metric itself, 0.0 to 1.0; None where it is undefined.
        values: Further values by name, each 0.0 to 1.0 or None; the names are those that the metric declares.
        parts: Numerator and denominator by the name of the part, as `trial.is_part` demands them.
        remark: What a person should know of the answer, such as what of it was left out; empty for nothing.
    """

    value: float | None
    values: Mapping[str, float | None] = field(default_factory=dict)
    parts: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    remark: str = ""


Result = float | None | Measurement
Metric = Callable[[Json, Json], Result]


@dataclass(frozen=True, slots=True)
class DeclaredMetric:
    """A metric that declares its named values, or what a reply without an answer comes to; called as its function.

    Args:
        function: What measures an answer.
        values: The names of its further values.
        unparseable: From a reference to what an unparseable or refused reply comes to. None: 0.0 in the metric and in
            each of its values, no parts.
    """

    function: Metric
    values: tuple[str, ...] = ()
    unparseable: Callable[[Json], Result] | None = None

    def __call__(self, given: Json, reference: Json) -> Result:
        """Return what the answer measures."""
        return self.function(given, reference)


def declares(*values: str, unparseable: Callable[[Json], Result] | None = None) -> Callable[[Metric], DeclaredMetric]:
    """Return a decorator for metrics that return a `Measurement`; the arguments are those of `DeclaredMetric`."""
    return lambda function: DeclaredMetric(function, values, unparseable)


def values_of(metric: Metric) -> tuple[str, ...]:
    """Return the names of the further values that the metric declares."""
    return metric.values if isinstance(metric, DeclaredMetric) else ()


def measure_answer(name: str, metric: Metric, given: Json, reference: Json) -> Measurement:
    """Return what the metric of that name measures about an answer.

    Raises:
        UsageError: if a value is out of range or undeclared, or a part is no numerator with a denominator.
    """
    return _checked(name, metric(given, reference), values_of(metric))


def measure_unparseable(name: str, metric: Metric, reference: Json) -> Measurement:
    """Return what a reply without an answer comes to by the metric of that name.

    Raises:
        UsageError: as `measure_answer` does.
    """
    names = values_of(metric)
    if not isinstance(metric, DeclaredMetric) or metric.unparseable is None:
        return Measurement(0.0, dict.fromkeys(names, 0.0))
    return _checked(name, metric.unparseable(reference), names)


def _checked(name: str, result: Result, names: tuple[str, ...]) -> Measurement:
    measured = result if isinstance(result, Measurement) else Measurement(result)
    for undeclared in sorted(set(measured.values) - set(names)):
        raise UsageError(
            f"metric {name!r}: returned the value {undeclared!r}, which it does not declare; declare it with "
            f"@declares({undeclared!r}), so that replies without an answer count 0 in it"
        )
    values = {further: _value(f"{name}, value {further!r}", measured.values.get(further)) for further in names}
    parts = {part: _part(f"metric {name!r}", part, pair) for part, pair in measured.parts.items()}
    return Measurement(_value(name, measured.value), values, parts, measured.remark)


def _value(where: str, value: float | None) -> float | None:
    if value is None or 0.0 <= value <= 1.0:
        return value
    if not -_ROUNDING <= value <= 1 + _ROUNDING:
        raise UsageError(f"metric {where}: returned {value!r}; expected a number from 0 to 1, or None for undefined")
    return min(1.0, max(0.0, value))


def episode_measurement(
    episode: str, metrics: Mapping[str, float | None], parts: Mapping[str, Sequence[float]]
) -> Measurement:
    """Return what an episode measured beside the metrics of its question.

    Raises:
        UsageError: as `measure_answer` does.
    """
    where = f"episode {episode!r}"
    values = {name: _value(f"{name!r} of the {where}", value) for name, value in metrics.items()}
    return Measurement(None, values, {name: _part(where, name, pair) for name, pair in parts.items()})


def _part(where: str, name: str, pair: Sequence[float]) -> tuple[float, float]:
    if not is_part(pair):
        raise UsageError(
            f"{where}, part {name!r}: returned {pair!r:.80}; expected a finite numerator and a finite denominator of "
            "at least 0"
        )
    return float(pair[0]), float(pair[1])

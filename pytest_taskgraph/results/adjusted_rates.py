"""Rates by the values of a label, adjusted for the mix of groups.

Hard values often have other groups than easy ones, so that pooled rates mix two differences: that of the values and
that of the groups. Adjusted rates compare as if the mix of groups were the same at each value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ..trial import Trial
from .statistics.intervals import mean
from .statistics.standardisation import (
    Cells,
    Method,
    Observation,
    StandardisedRate,
    cells_of,
    clip,
    estimate_rates,
    standardise,
)
from .tally import ANSWERED, Tally

Adjustment = Literal["none", "direct", "within"]
LEAST: Final = 2  # questions of a group at each value for its part in direct standardisation
SHARED: Final = 0.5  # share of the questions that such groups must hold; else groups are compared within themselves


@dataclass(frozen=True, slots=True)
class AdjustedRate:
    """The answers of one model at one value; a number is None if it is not determined."""

    questions: int  # answered questions, each counted once
    rate: float | None  # of the questions that pass
    interval: tuple[float, float] | None  # 95 %
    mean: float | None  # of the main score


@dataclass(frozen=True, slots=True)
class AdjustedRates:
    """The adjusted rates of all models over the values of one label.

    Args:
        label: Name of the label.
        values: Its values, or ranges of them, in their order.
        adjustment: "none" for a single group, "direct" for direct standardisation, "within" for differences within
            groups.
        groups: Number of groups that enter.
        all_groups: Number of groups that were answered.
        cells: Of each model, the questions and the summed passes of each group at each value.
        models: The rates of each model at each value, None where it answered nothing; empty for "none".
        alike: True if the groups that enter are the same for all models, so that their levels can be compared.
    """

    label: str
    values: tuple[str, ...]
    adjustment: Adjustment
    groups: int
    all_groups: int
    cells: Mapping[str, Cells]
    models: Mapping[str, tuple[AdjustedRate | None, ...]]
    alike: bool = True


def adjusted_rates(tally: Tally, label: str, most: int) -> AdjustedRates:
    """Return the adjusted rates by the values of a label.

    Args:
        tally: The trials of one family.
        label: Name of the label.
        most: Greatest number of values; a label with more numbers is divided into ranges.
    """
    answered = answered_by_value(tally, label, most)
    values = tuple(dict.fromkeys(name for _, name in answered))
    by_model: dict[str, list[tuple[int, Trial]]] = {}
    for (model, name), trials in answered.items():
        by_model.setdefault(model, []).extend((values.index(name), trial) for trial in trials)
    passes = {model: _observations(some, passed=True) for model, some in by_model.items()}
    scores = {model: _observations(some, passed=False) for model, some in by_model.items()}
    cells = {model: cells_of(some, len(values)) for model, some in passes.items()}
    all_groups = set[str]().union(*cells.values())
    adjustment, entering = _choose(cells, len(all_groups))
    weights = Counter(each.group for some in passes.values() for each in some)
    models = {
        model: _model_rates(values, passes[model], scores[model], adjustment, _part(weights, entering[model]))
        for model in sorted(passes)
        if adjustment != "none"
    }
    used = set[str]().union(*entering.values())
    alike = len({frozenset(groups) for groups in entering.values()}) < 2
    return AdjustedRates(label, values, adjustment, len(used), len(all_groups), cells, models, alike)


def answered_by_value(tally: Tally, label: str, most: int) -> dict[tuple[str, str], list[Trial]]:
    """Return the answered trials of each model and value, values in their order.

    Args:
        tally: The trials of one family.
        label: Name of the label.
        most: As for `adjusted_rates`.
    """
    order = [group.name for group in tally.groups(label, most=most, pooled=True)]
    groups = {(group.model, group.name): group for group in tally.groups(label, most=most)}
    rows = ((model, name) for name in order for model in tally.models if (model, name) in groups)
    answered = {row: [trial for trial in groups[row].trials if trial.outcome in ANSWERED] for row in rows}
    return {row: trials for row, trials in answered.items() if trials}


def _observations(trials: Iterable[tuple[int, Trial]], passed: bool) -> list[Observation]:
    """Return the mean outcome of each question: of its passes, or of its scores."""
    outcomes: dict[tuple[int, str], list[float]] = {}
    first: dict[tuple[int, str], Trial] = {}
    for at, trial in trials:
        key = (at, trial.question.once)
        score = 0.0 if trial.score is None else trial.score.value
        outcomes.setdefault(key, []).append(float(trial.passed) if passed else score)
        first.setdefault(key, trial)
    return [
        Observation(
            first[key].question.group,
            key[0],
            mean(values) or 0.0,
            first[key].question.cluster or key[1],
            first[key].question.unit,
        )
        for key, values in outcomes.items()
    ]


def _choose(cells: Mapping[str, Cells], all_groups: int) -> tuple[Adjustment, dict[str, list[str]]]:
    """Return how the rates are adjusted, and the groups of each model that enter."""
    everything = {model: list(some) for model, some in cells.items()}
    if all_groups < 2:
        return "none", everything
    complete = {model: [name for name, row in some.items() if _is_complete(row)] for model, some in cells.items()}
    for groups in (_in_all_models(complete), complete):
        if all(_share(some, groups[model]) >= SHARED for model, some in cells.items()):
            return "direct", groups
    common = _in_all_models(everything)
    enough = all(_share(some, common[model]) >= SHARED for model, some in cells.items())
    return "within", common if enough else everything


def _is_complete(row: Sequence[tuple[int, float]]) -> bool:
    return all(n >= LEAST for n, _ in row)


def _in_all_models(groups: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the groups of each model without those that another model lacks."""
    return {
        model: [name for name in own if all(name in some for some in groups.values())] for model, own in groups.items()
    }


def _share(cells: Cells, groups: Sequence[str]) -> float:
    """Return the share of the questions that belong to the groups."""
    sizes = {name: sum(n for n, _ in row) for name, row in cells.items()}
    return sum(sizes[name] for name in groups) / sum(sizes.values())


def _part(weights: Mapping[str, int], groups: Sequence[str]) -> dict[str, float]:
    return {name: float(weights[name]) for name in groups}


def _model_rates(
    values: Sequence[str],
    passes: Sequence[Observation],
    scores: Sequence[Observation],
    adjustment: Adjustment,
    weights: Mapping[str, float],
) -> tuple[AdjustedRate | None, ...]:
    method: Method = "direct" if adjustment == "direct" else "within"
    rates = standardise(passes, len(values), weights, method)
    means = estimate_rates(cells_of(scores, len(values)), weights, method)
    counts = Counter(each.at for each in passes if each.group in weights)
    answered = {each.at for each in passes}
    return tuple(
        _adjusted_rate(counts[at], rate, score) if at in answered else None
        for at, (rate, score) in enumerate(zip(rates, means, strict=True))
    )


def _adjusted_rate(questions: int, rate: StandardisedRate | None, score: float | None) -> AdjustedRate:
    if rate is None or score is None:
        return AdjustedRate(questions, None, None, None)
    return AdjustedRate(questions, rate.rate, rate.interval, clip(score))

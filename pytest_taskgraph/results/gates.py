"""Gates: minimum values for a rate or a mean of the whole run, and the verdict over each.

    NAME[.NAME ...][.METRIC|.AGGREGATE]>=THRESHOLD[@LEVEL%]

NAME is a group, a section, a family, or the value of a label (`size=20`, `prompt="ask.v2"`). A question counts if
all of them match. Without a metric the gate compares the pass rate, or the mean score if all questions are graded.
`score` is the mean of the main score; any other metric is the mean over the questions that have it; an aggregate of
the family is computed over its questions. Graded questions are never pooled with others: if a gate matches both, the
graded ones are left out and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from types import MappingProxyType
from typing import Final, Literal

from ..errors import UsageError
from ..trial import Trial
from .aggregates import AggregatesByName, aggregate_leaves, estimate_aggregate, is_spread
from .case import INCONCLUSIVE, RunCase
from .population import DeclaredQuestion, Population, quote_part, suggest_names
from .statistics.certainty import AnsweredQuestion, Ends, Sample
from .tally import metrics_of

SCORE = "score"
NO_AGGREGATES: Final[AggregatesByName] = MappingProxyType({})
_COMPARISON = re.compile(r">=(?P<threshold>[^<>@]+)(?:@(?P<level>[^<>@%]+)%)?")
# A word of a name, quoted or bare. A quote ends the word where a word can end; doubled, it stands for itself.
_WORD = re.compile(
    r"""\s*+(?P<quote>["'])(?P<quoted>(?:(?!(?P=quote)).|(?P=quote){2})*+)(?P=quote)\s*+(?=[.=]|>=)"""
    r"""|(?P<bare>[^.=<>@]*+)""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Gate:
    """A parsed gate."""

    text: str
    parts: tuple[str, ...]  # names and label values; a question must have all of them
    metric: str  # "" for the pass rate
    threshold: float
    confidence: float | None  # level of the interval; None: the estimate alone is compared
    aggregate: str = ""  # aggregate of a family instead of a metric

    @property
    def name(self) -> str:
        """Return the name of what the gate decides on: the expression up to the comparison."""
        return ".".join([*map(quote_part, self.parts), *filter(None, (self.metric, self.aggregate))])


def parse_gate(text: str, metrics: Collection[str], aggregates: Collection[str] = ()) -> Gate:
    """Parse a gate.

    Args:
        text: The gate.
        metrics: Names that the last part may have as a metric.
        aggregates: Names that the last part may have as an aggregate.

    Raises:
        UsageError: if the text is no gate; the message states what was expected.
    """
    parts, end = _parse_name(text.strip())
    comparison = _COMPARISON.fullmatch(text.strip(), end)
    if not comparison or not any(parts):
        raise UsageError(
            f"--taskgraph-gate: {text!r}; expected NAME>=X, NAME.METRIC>=X, LABEL=VALUE>=X or NAME>=X@95%, "
            "such as prompt=direct>=0.8 or prompt=direct.score>=0.8@95%; quote a value that contains . > < or @"
        )
    if not all(parts):
        raise UsageError(f"--taskgraph-gate: {text!r}; a name is missing; expected names separated by single dots")
    measure_name = parts.pop() if len(parts) > 1 and (parts[-1] in metrics or parts[-1] in aggregates) else ""
    metric, aggregate = (measure_name, "") if measure_name in metrics else ("", measure_name)
    threshold = _parse_number(text, comparison["threshold"], "threshold", 0.0, 1.0)
    level = comparison["level"] and _parse_number(text, comparison["level"], "level", 50.0, 100.0) / 100
    if level and not (0.5 < level < 1.0 and 0.0 < threshold < 1.0):
        raise UsageError(
            f"--taskgraph-gate: {text!r}; to be certain takes a level above 50% and below 100%, and a threshold above "
            "0 and below 1: no number of questions decides about others"
        )
    return Gate(text.strip(), tuple(parts), metric, threshold, level or None, aggregate)


def _parse_name(text: str) -> tuple[list[str], int]:
    """Return the parts of the name that a gate begins with, and the position at which it ends."""
    parts, at = [""], 0
    while word := _WORD.match(text, at):
        quote, at = word["quote"], word.end()
        parts[-1] += word["quoted"].replace(quote * 2, quote) if quote else word["bare"].strip()
        sign = text[at : at + 1]
        if sign == ".":
            parts.append("")
        elif sign == "=":
            parts[-1] += sign
        else:
            break
        at += 1
    return parts, at


def _parse_number(text: str, number: str, noun: str, least: float, most: float) -> float:
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if not (isfinite(value) and least <= value <= most):
        raise UsageError(
            f"--taskgraph-gate: {text!r}; the {noun} is {number.strip()!r}; expected a number from {least:g} to "
            f"{most:g}"
        )
    return value


def gate_titles(gates: Sequence[Gate]) -> list[str]:
    """Return a unique name for each gate: what it decides on, or its whole text where several decide on the same."""
    name_counts = Counter(gate.name for gate in gates)
    return [gate.name if name_counts[gate.name] == 1 else gate.text for gate in gates]


def aggregate_refusal(gate: Gate, aggregates: AggregatesByName) -> str:
    """Return why the gate cannot use its aggregate; "" if it can or has none.

    Args:
        gate: The gate.
        aggregates: The aggregates of the families whose questions the gate matches, by name.
    """
    if not gate.aggregate:
        return ""
    if gate.aggregate not in aggregates:
        name = ".".join(map(quote_part, gate.parts))
        problem = f"no question of {name!r} has the aggregate {gate.aggregate!r}"
        return f"{problem}; {suggest_names(gate.aggregate, sorted(aggregates), 'available')}"
    if is_spread(aggregates[gate.aggregate], aggregates):
        return (
            f"{gate.aggregate!r} is a deviation, for which a gate cannot set a minimum: a smaller value is no worse; "
            "set the gate on a mean"
        )
    return ""


def comparable_questions(
    gate: Gate,
    trials: Iterable[Trial],
    declared: Iterable[DeclaredQuestion],
    aggregates: AggregatesByName = NO_AGGREGATES,
) -> tuple[list[Trial], list[DeclaredQuestion], int]:
    """Return the trials and the unanswered questions that the gate pools, and how many graded questions it leaves out.

    Graded questions are left out if others are right or wrong. A metric or a part is the same measure in all questions,
    so a mean or an aggregate of it includes every question.

    Args:
        gate: The gate.
        trials: Trials of the matching questions.
        declared: Matching questions without a trial.
        aggregates: The aggregates of their families, by name.
    """
    present_trials, unasked = list(trials), list(declared)
    graded = {trial.question.once for trial in present_trials if trial.question.graded} | {
        question.id for question in unasked if question.graded
    }
    others = (
        [trial for trial in present_trials if not trial.question.graded],
        [question for question in unasked if not question.graded],
    )
    if not _is_about_main_score(gate, aggregates) or not graded or not any(others):
        return present_trials, unasked, 0
    return (*others, len(graded))


def evaluate_gate(
    gate: Gate,
    title: str,
    model: str,
    population: Population,
    max_errors: float = 0.0,
    aggregates: AggregatesByName = NO_AGGREGATES,
) -> RunCase:
    """Return the verdict over the questions of one model that match the gate.

    If questions are unanswered, the verdict is "skipped" where the user selected, else "failed". Otherwise the estimate
    decides, or the two-sided interval at the gate's level. If that interval contains the threshold, the gate is
    inconclusive and fails.

    Args:
        gate: The gate.
        title: Name of the verdict.
        model: Name of the model.
        population: The model's questions that match.
        max_errors: Share of the requests that may fail, 0.0 to 1.0.
        aggregates: The aggregates of their families, by name.
    """
    gate_value = _gate_value(gate, population, aggregates)
    estimate, threshold = gate_value.value, gate.threshold
    low, high = gate_value.ends or (None, None)

    def verdict(outcome: Literal["passed", "failed", "skipped"], reason: str) -> RunCase:
        return RunCase(title, outcome, reason, model, estimate, low, high, threshold)

    reason_undecided = describe_missing(population, max_errors)
    if reason_undecided:
        return verdict("failed", f"not decided: {reason_undecided}")
    if population.left_out:
        return verdict("skipped", f"not decided: {_describe_left_out(population)}")
    if estimate is None:
        return verdict(
            "failed", f"not decided: {gate_value.undefined if population.answered else 'no question was answered'}"
        )
    description = f"{gate_value.description}, threshold {threshold:g}"
    description += f"; {population.graded_left_out} graded left out" if population.graded_left_out else ""
    if gate.confidence is None:
        return verdict("passed" if estimate >= threshold else "failed", description)
    if low is not None and high is not None and low >= threshold:
        return verdict("passed", description)
    if low is not None and high is not None and high < threshold:
        return verdict("failed", description)
    return verdict("failed", f"{INCONCLUSIVE}: {description}; {gate_value.describe_needed(threshold)}")


def describe_missing(population: Population, max_errors: float = 0.0) -> str:
    """Return why the gate cannot be decided, apart from the user's selection; "" if it can be.

    What ended the run comes first.

    Args:
        population: The questions that match the gate.
        max_errors: Share of the requests that may fail, 0.0 to 1.0.
    """
    reasons = [f"{count} of {population.size} questions {reason}" for reason, count in population.not_asked.items()]
    request_count = len(population.answered) + len(population.errors)
    if len(population.errors) > max_errors * request_count + 1e-9:
        kinds = Counter(trial.failure.kind if trial.failure else "no reply" for trial in population.errors)
        kinds_listed = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
        reasons.insert(0, f"{len(population.errors)} of {request_count} replies missing ({kinds_listed})")
    if reasons and population.left_out:
        reasons.append(_describe_left_out(population))
    reasons[:0] = [population.stop_reason] if population.stop_reason else []
    return "; ".join([*reasons[:3], *([f"{len(reasons) - 3} more reasons"] if len(reasons) > 3 else [])])


def _describe_left_out(population: Population) -> str:
    return f"{population.left_out} of {population.size} questions left out by {population.selection}"


@dataclass(frozen=True, slots=True)
class _GateValue:
    """The value that a gate compares with its threshold."""

    title: str  # "pass rate", "mean jaccard", or the name of an aggregate
    value: float | None
    ends: Ends | None
    n: int
    confidence: float
    about: str
    describe_needed: Callable[[float], str]  # threshold -> how many questions decide, in words
    undefined: str  # why there is no value

    @property
    def description(self) -> str:
        """Return the value with its interval, in words."""
        level_text = f"{100 * self.confidence:g}%"
        interval = f"no {level_text} interval" + (": a single question" if self.n == 1 else "")
        if self.ends:
            interval = f"{level_text} {self.ends[0]:.3f}-{self.ends[1]:.3f} {self.about}".rstrip()
        return f"{self.title} {self.value:.3f} of {self.n} answered ({interval})"


def _gate_value(gate: Gate, population: Population, aggregates: AggregatesByName) -> _GateValue:
    answered, confidence = population.answered, gate.confidence or 0.95
    if gate.aggregate and aggregates[gate.aggregate].kind != "mean":
        estimate = estimate_aggregate(aggregates[gate.aggregate], aggregates, answered, confidence, population.noun)
        undefined = f"{gate.aggregate} is undefined over {len(answered)} answered: a part of it has no question"
        describe_needed = partial(estimate.describe_needed, confidence=confidence, noun=population.noun)
        return _GateValue(
            gate.aggregate,
            estimate.value,
            estimate.ends,
            estimate.n,
            confidence,
            estimate.about,
            describe_needed,
            undefined,
        )
    metric = _metric_of(gate, aggregates)
    rates = not metric and not any(trial.question.graded for trial in answered)
    sample = Sample(_questions_with(metric, answered), confidence, rates, population.noun)
    title = gate.aggregate or ("pass rate" if rates else f"mean {metric or SCORE}")
    value, undefined = sample.mean if sample.questions else None, f"no question has the metric {metric!r}"
    return _GateValue(
        title, value, sample.ends, len(sample.questions), confidence, sample.about, sample.describe_needed, undefined
    )  # fmt: skip


def _metric_of(gate: Gate, aggregates: AggregatesByName) -> str:
    """Return the metric whose mean the gate compares; "" for the pass rate."""
    if not gate.aggregate:
        return gate.metric
    return next(name for _, name in aggregate_leaves(aggregates[gate.aggregate], aggregates)) or SCORE


def _is_about_main_score(gate: Gate, aggregates: AggregatesByName) -> bool:
    if gate.aggregate:
        return gate.aggregate in aggregates and ("mean", "") in aggregate_leaves(aggregates[gate.aggregate], aggregates)
    return gate.metric in ("", SCORE)


def _questions_with(metric: str, answered: Sequence[Trial]) -> list[AnsweredQuestion]:
    by_question: dict[str, AnsweredQuestion] = {}
    for trial in answered:
        value, question = _value_of(metric, trial), trial.question
        if value is not None:
            question_values = AnsweredQuestion(question.once, question.cluster or question.once, [], question.unit)
            by_question.setdefault(question.once, question_values).values.append(value)
    return list(by_question.values())


def _value_of(metric: str, trial: Trial) -> float | None:
    score = 0.0 if trial.score is None else trial.score.value
    if metric == SCORE or (trial.question.graded and not metric):
        return score
    return metrics_of(trial).get(metric) if metric else float(trial.passed)

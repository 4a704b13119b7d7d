"""Gates: what a rate or a mean of the whole run must reach, and the verdict over it.

    NAME[.NAME ...][.METRIC]>=THRESHOLD[@LEVEL%]

NAME is a pattern, a category, a family, or the value of a label (`size=20`); a question counts where all of them hold.
Without a metric the gate is about the pass rate, graded questions (those whose pass mark is 0) by their main score;
`score` is the mean of the main score, any other metric the mean of that metric over the questions that have it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import ceil, isfinite
from typing import Literal

from ..errors import UsageError
from ..trial import Trial
from .case import Case
from .metric_means import metrics_of
from .population import Population
from .statistics import clustered_interval, mean, wilson

SCORE = "score"
_GATE = re.compile(r"(?P<name>[^<>@]+)>=(?P<threshold>[^<>@]+)(?:@(?P<level>[^<>@%]+)%)?")
_MOST = 10_000_000  # questions; more are not worth a number


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate, read."""

    text: str
    parts: tuple[str, ...]  # names, all of which a question must have
    metric: str  # "" for the pass rate
    threshold: float
    confidence: float | None  # None: the estimate is compared

    @property
    def name(self) -> str:
        """What is judged: the expression up to the comparison."""
        return ".".join([*self.parts, *([self.metric] if self.metric else [])])


def parse(text: str, metrics: Collection[str]) -> Gate:
    """The gate that is written so. Raises UsageError, with what was expected, for anything else."""
    found = _GATE.fullmatch(text.strip())
    if not found:
        raise UsageError(
            f"--taskgraph-gate: {text!r}; expected NAME>=X, such as structure>=0.8, next_tasks.jaccard>=0.7, "
            "size=20>=0.6, or structure>=0.8@95%"
        )
    parts = [part.strip() for part in found["name"].split(".")]
    if not all(parts):
        raise UsageError(f"--taskgraph-gate: {text!r}; a name is missing; expected names parted by single dots")
    metric = parts.pop() if len(parts) > 1 and parts[-1] in metrics else ""
    threshold = _number(text, found["threshold"], "threshold", 0.0, 1.0)
    level = found["level"] and _number(text, found["level"], "level", 50.0, 100.0) / 100
    if level and not (0.5 < level < 1.0 and 0.0 < threshold < 1.0):
        raise UsageError(
            f"--taskgraph-gate: {text!r}; to be certain takes a level above 50% and below 100%, and a threshold above "
            "0 and below 1: no number of questions decides about others"
        )
    return Gate(text.strip(), tuple(parts), metric, threshold, level or None)


def _number(text: str, written: str, what: str, least: float, most: float) -> float:
    try:
        value = float(written)
    except ValueError:
        value = float("nan")
    if not (isfinite(value) and least <= value <= most):
        raise UsageError(
            f"--taskgraph-gate: {text!r}; the {what} is {written.strip()!r}; expected a number from {least:g} to "
            f"{most:g}"
        )
    return value


def titles(gates: Sequence[Gate]) -> list[str]:
    """A name for each gate that no other has: what it judges, and all of it where that alone is not enough."""
    often = Counter(gate.name for gate in gates)
    return [gate.name if often[gate.name] == 1 else gate.text for gate in gates]


def judge(gate: Gate, title: str, model: str, asked: Population, max_errors: float = 0.0) -> Case:
    """The verdict over the questions of one model that the gate is about.

    Where not all were answered: skipped if the user selected, failed for any other reason. Otherwise the estimate
    decides, or the two-sided interval at the gate's level; where that holds the threshold nothing is decided, and
    the gate fails.
    """
    values = _values(gate, asked.answered)
    estimate = mean([sum(ones) / len(ones) for _, ones in values])
    ends = _interval(gate, values, gate.confidence or 0.95)
    low, high = ends or (None, None)

    def verdict(outcome: Literal["passed", "failed", "skipped"], reason: str) -> Case:
        return Case(title, outcome, reason, model, estimate, low, high, gate.threshold)

    lacking = missing(asked, max_errors)
    if lacking:
        return verdict("failed", f"not judged: {lacking}")
    if asked.left_out:
        return verdict("skipped", f"not judged: {_left_out(asked)}")
    if estimate is None:
        what = f"has the metric {gate.metric!r}" if asked.answered else "was answered"
        return verdict("failed", f"not judged: no question {what}")
    told = _told(gate, estimate, len(values), ends)
    if gate.confidence is None:
        return verdict("passed" if estimate >= gate.threshold else "failed", told)
    if low is not None and high is not None and low >= gate.threshold:
        return verdict("passed", told)
    if low is not None and high is not None and high < gate.threshold:
        return verdict("failed", told)
    return verdict("failed", f"cannot tell: {told}; {_enough(gate, values, estimate, ends)}")


def missing(asked: Population, max_errors: float = 0.0) -> str:
    """Why the questions cannot be judged, for another reason than the user's selection; "" where they can. What ended
    the run comes first.
    """
    reasons = [f"{count} of {asked.size} questions {reason}" for reason, count in asked.unasked.items()]
    sent = len(asked.answered) + len(asked.errors)
    if len(asked.errors) > max_errors * sent + 1e-9:
        kinds = Counter(one.error.partition(":")[0] or "no reply" for one in asked.errors)
        told = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
        reasons.insert(0, f"{len(asked.errors)} of {sent} replies missing ({told})")
    if reasons and asked.left_out:
        reasons.append(_left_out(asked))
    reasons[:0] = [asked.ended] if asked.ended else []
    return "; ".join([*reasons[:3], *([f"{len(reasons) - 3} reasons more"] if len(reasons) > 3 else [])])


def _left_out(asked: Population) -> str:
    return f"{asked.left_out} of {asked.size} questions left out by {asked.selection}"


Values = list[tuple[str, list[float]]]  # of each question: its workflow, and the value of each repetition


def _values(gate: Gate, answered: Sequence[Trial]) -> Values:
    found: dict[str, tuple[str, list[float]]] = {}
    for one in answered:
        value = _value(gate, one)
        if value is not None:
            once = one.question.once
            found.setdefault(once, (one.question.cluster or once, []))[1].append(value)
    return list(found.values())


def _value(gate: Gate, one: Trial) -> float | None:
    score = 0.0 if one.score is None else one.score.value
    if gate.metric == SCORE:
        return score
    if gate.metric:
        return metrics_of(one).get(gate.metric)
    return float(one.passed) if one.question.pass_mark > 0 else score


def _counted(gate: Gate, values: Values) -> bool:
    """Whether each question was answered once, rightly or wrongly: then Wilson's interval holds."""
    return not gate.metric and all(len(ones) == 1 and ones[0] in (0.0, 1.0) for _, ones in values)


def _interval(gate: Gate, values: Values, confidence: float) -> tuple[float, float] | None:
    if _counted(gate, values):
        return wilson(sum(ones[0] for _, ones in values), len(values), confidence) if values else None
    clusters: dict[str, list[float]] = {}
    for cluster, ones in values:
        clusters.setdefault(cluster, []).append(sum(ones) / len(ones))
    return clustered_interval(clusters, confidence)


def _told(gate: Gate, estimate: float, n: int, ends: tuple[float, float] | None) -> str:
    what = f"mean {gate.metric}" if gate.metric else "pass rate"
    level = f"{100 * (gate.confidence or 0.95):g}%"
    between = f"{level} {ends[0]:.3f}-{ends[1]:.3f}" if ends else f"no {level} interval: all are about one workflow"
    return f"{what} {estimate:.3f} of {n} answered ({between}), threshold {gate.threshold:g}"


def _enough(gate: Gate, values: Values, estimate: float, ends: tuple[float, float] | None) -> str:
    """How many questions would decide, if the estimate stayed what it is."""
    distance = abs(estimate - gate.threshold)
    if ends is None:
        return "ask about more workflows"
    if distance < 1e-9:
        return "while it stays at the threshold, no number of questions decides"
    if _counted(gate, values):
        need = _enough_rates(estimate, gate.threshold, gate.confidence or 0.95, len(values))
    else:
        half = ends[1] - estimate if estimate < gate.threshold else estimate - ends[0]
        need = ceil(len(values) * (half / distance) ** 2)
    return f"about {need:,} questions would decide" if need < _MOST else "more questions than can be asked would decide"


def _enough_rates(rate: float, threshold: float, confidence: float, n: int) -> int:
    """The least number of questions from `n` on at which Wilson's interval of that rate leaves the threshold out."""

    def decides(count: int) -> bool:
        low, high = wilson(rate * count, count, confidence)
        return low >= threshold or high < threshold

    undecided = n
    while not decides(top := undecided * 2) and top < _MOST:
        undecided = top
    while top - undecided > 1:
        middle = (top + undecided) // 2
        undecided, top = (undecided, middle) if decides(middle) else (middle, top)
    return top

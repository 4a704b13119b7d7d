"""Gates: what a rate or a mean of the whole run must reach, and the verdict over it.

    NAME[.NAME ...][.METRIC|.AGGREGATE]>=THRESHOLD[@LEVEL%]

NAME is a group, a section, a family, or the value of a label (`size=20`, `prompt="ask.v2"`); a question counts where
all of them hold. Without a metric the gate is about the pass rate, or about the mean score where all questions are
graded; `score` is the mean of the main score, any other metric the mean of that metric over the questions that have
it, and an aggregate of their family what they are pooled to. Graded questions are never put together with others: where
both are meant, the former are left out, and counted.
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
from .aggregates import AggregatesByName, aggregate_leaves, is_spread
from .aggregates import estimate_aggregate as pooled
from .case import INCONCLUSIVE, RunCase
from .population import DeclaredQuestion, Population, quote_part, suggest_names
from .statistics.certainty import AnsweredQuestion, Ends, Sample
from .tally import metrics_of

SCORE = "score"
NO_AGGREGATES: Final[AggregatesByName] = MappingProxyType({})
_BOUND = re.compile(r">=(?P<threshold>[^<>@]+)(?:@(?P<level>[^<>@%]+)%)?")
# A word of a name: in quotes, which end where a word can end, and stand twice for themselves; or without them.
_WORD = re.compile(
    r"""\s*+(?P<quote>["'])(?P<quoted>(?:(?!(?P=quote)).|(?P=quote){2})*+)(?P=quote)\s*+(?=[.=]|>=)"""
    r"""|(?P<bare>[^.=<>@]*+)""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate, read."""

    text: str
    parts: tuple[str, ...]  # names, all of which a question must have
    metric: str  # "" for the pass rate
    threshold: float
    confidence: float | None  # None: the estimate is compared
    aggregate: str = ""  # of a family, in place of a metric

    @property
    def name(self) -> str:
        """What is decided on: the expression up to the comparison."""
        return ".".join([*map(quote_part, self.parts), *filter(None, (self.metric, self.aggregate))])


def parse_gate(text: str, metrics: Collection[str], aggregates: Collection[str] = ()) -> Gate:
    """The gate that is written so. Raises UsageError, with what was expected, for anything else.

    Args:
        text: The gate.
        metrics: The names that its last part may have as a metric.
        aggregates: The names that its last part may have as an aggregate.
    """
    parts, end = _name(text.strip())
    found = _BOUND.fullmatch(text.strip(), end)
    if not found or not any(parts):
        raise UsageError(
            f"--taskgraph-gate: {text!r}; expected NAME>=X, NAME.METRIC>=X, LABEL=VALUE>=X or NAME>=X@95%, "
            "such as prompt=direct>=0.8 or prompt=direct.score>=0.8@95%; a value with one of . > < @ stands in quotes"
        )
    if not all(parts):
        raise UsageError(f"--taskgraph-gate: {text!r}; a name is missing; expected names parted by single dots")
    last = parts.pop() if len(parts) > 1 and (parts[-1] in metrics or parts[-1] in aggregates) else ""
    metric, aggregate = (last, "") if last in metrics else ("", last)
    threshold = _number(text, found["threshold"], "threshold", 0.0, 1.0)
    level = found["level"] and _number(text, found["level"], "level", 50.0, 100.0) / 100
    if level and not (0.5 < level < 1.0 and 0.0 < threshold < 1.0):
        raise UsageError(
            f"--taskgraph-gate: {text!r}; to be certain takes a level above 50% and below 100%, and a threshold above "
            "0 and below 1: no number of questions decides about others"
        )
    return Gate(text.strip(), tuple(parts), metric, threshold, level or None, aggregate)


def _name(text: str) -> tuple[list[str], int]:
    """The parts of the name that a gate begins with, and where it ends."""
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


def gate_titles(gates: Sequence[Gate]) -> list[str]:
    """A name for each gate that no other has: what it decides on, and all of it where that alone is not enough."""
    often = Counter(gate.name for gate in gates)
    return [gate.name if often[gate.name] == 1 else gate.text for gate in gates]


def aggregate_refusal(gate: Gate, known: AggregatesByName) -> str:
    """Return why the gate cannot be about its aggregate; "" if it can, and for a gate about none.

    Args:
        gate: The gate.
        known: The aggregates of the families whose questions it is about, by name.
    """
    if not gate.aggregate:
        return ""
    if gate.aggregate not in known:
        name = ".".join(map(quote_part, gate.parts))
        has = f"no question of {name!r} has the aggregate {gate.aggregate!r}"
        return f"{has}; {suggest_names(gate.aggregate, sorted(known), 'they have')}"
    if is_spread(known[gate.aggregate], known):
        return (
            f"{gate.aggregate!r} is a deviation, of which a gate can demand no least value: a smaller one is no worse; "
            "set a gate on a mean"
        )
    return ""


def comparable_questions(
    gate: Gate, trials: Iterable[Trial], declared: Iterable[DeclaredQuestion], known: AggregatesByName = NO_AGGREGATES
) -> tuple[list[Trial], list[DeclaredQuestion], int]:
    """Return the trials and the questions without one that the gate puts together, and how many graded questions it
    leaves out, as other questions are right or wrong.

    A metric or a part is the same measure in all of them, so none is left out of a mean or an aggregate of it.
    """
    came, missing = list(trials), list(declared)
    apart = {one.question.once for one in came if one.question.graded} | {one.id for one in missing if one.graded}
    others = [one for one in came if not one.question.graded], [one for one in missing if not one.graded]
    if not _of_main_score(gate, known) or not apart or not any(others):
        return came, missing, 0
    return (*others, len(apart))


def evaluate_gate(
    gate: Gate,
    title: str,
    model: str,
    asked: Population,
    max_errors: float = 0.0,
    known: AggregatesByName = NO_AGGREGATES,
) -> RunCase:
    """The verdict over the questions of one model that the gate is about.

    Where not all were answered: skipped if the user selected, failed for any other reason. Otherwise the estimate
    decides, or the two-sided interval at the gate's level; where that holds the threshold nothing is decided, and
    the gate fails.
    """
    found = _measured(gate, asked, known)
    estimate, threshold = found.value, gate.threshold
    low, high = found.ends or (None, None)

    def verdict(outcome: Literal["passed", "failed", "skipped"], reason: str) -> RunCase:
        return RunCase(title, outcome, reason, model, estimate, low, high, threshold)

    lacking = describe_missing(asked, max_errors)
    if lacking:
        return verdict("failed", f"not decided: {lacking}")
    if asked.left_out:
        return verdict("skipped", f"not decided: {_left_out(asked)}")
    if estimate is None:
        return verdict("failed", f"not decided: {found.undefined if asked.answered else 'no question was answered'}")
    told = f"{found.told}, threshold {threshold:g}"
    told += f"; {asked.graded_left_out} graded left out" if asked.graded_left_out else ""
    if gate.confidence is None:
        return verdict("passed" if estimate >= threshold else "failed", told)
    if low is not None and high is not None and low >= threshold:
        return verdict("passed", told)
    if low is not None and high is not None and high < threshold:
        return verdict("failed", told)
    return verdict("failed", f"{INCONCLUSIVE}: {told}; {found.describe_needed(threshold)}")


def describe_missing(asked: Population, max_errors: float = 0.0) -> str:
    """Why the gate cannot be decided, for another reason than the user's selection; "" where they can. What ended
    the run comes first.
    """
    reasons = [f"{count} of {asked.size} questions {reason}" for reason, count in asked.not_asked.items()]
    sent = len(asked.answered) + len(asked.errors)
    if len(asked.errors) > max_errors * sent + 1e-9:
        kinds = Counter(one.failure.kind if one.failure else "no reply" for one in asked.errors)
        told = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
        reasons.insert(0, f"{len(asked.errors)} of {sent} replies missing ({told})")
    if reasons and asked.left_out:
        reasons.append(_left_out(asked))
    reasons[:0] = [asked.stop_reason] if asked.stop_reason else []
    return "; ".join([*reasons[:3], *([f"{len(reasons) - 3} reasons more"] if len(reasons) > 3 else [])])


def _left_out(asked: Population) -> str:
    return f"{asked.left_out} of {asked.size} questions left out by {asked.selection}"


@dataclass(frozen=True, slots=True)
class _Measured:
    """What a gate compares with its threshold."""

    what: str  # "pass rate", "mean jaccard", or the name of an aggregate
    value: float | None
    ends: Ends | None
    n: int
    confidence: float
    about: str
    describe_needed: Callable[[float], str]  # from the threshold to how many questions would decide
    undefined: str  # why there is no value

    @property
    def told(self) -> str:
        """The value with its interval, in words."""
        level = f"{100 * self.confidence:g}%"
        between = f"no {level} interval" + (": it is one question" if self.n == 1 else "")
        if self.ends:
            between = f"{level} {self.ends[0]:.3f}-{self.ends[1]:.3f} {self.about}".rstrip()
        return f"{self.what} {self.value:.3f} of {self.n} answered ({between})"


def _measured(gate: Gate, asked: Population, known: AggregatesByName) -> _Measured:
    answered, confidence = asked.answered, gate.confidence or 0.95
    if gate.aggregate and known[gate.aggregate].kind != "mean":
        found = pooled(known[gate.aggregate], known, answered, confidence, asked.noun)
        undefined = f"{gate.aggregate} is undefined over {len(answered)} answered: a part of it has no question"
        enough = partial(found.describe_needed, confidence=confidence, noun=asked.noun)
        return _Measured(
            gate.aggregate, found.value, found.ends, found.n, confidence, found.about, enough, undefined
        )  # fmt: skip
    metric = _metric(gate, known)
    rates = not metric and not any(one.question.graded for one in answered)
    sample = Sample(_questions(metric, answered), confidence, rates, asked.noun)
    what = gate.aggregate or ("pass rate" if rates else f"mean {metric or SCORE}")
    value, undefined = sample.mean if sample.questions else None, f"no question has the metric {metric!r}"
    return _Measured(
        what, value, sample.ends, len(sample.questions), confidence, sample.about, sample.describe_needed, undefined
    )  # fmt: skip


def _metric(gate: Gate, known: AggregatesByName) -> str:
    """The metric whose mean the gate is about, "" for the pass rate."""
    if not gate.aggregate:
        return gate.metric
    return next(name for _, name in aggregate_leaves(known[gate.aggregate], known)) or SCORE


def _of_main_score(gate: Gate, known: AggregatesByName) -> bool:
    if gate.aggregate:
        return gate.aggregate in known and ("mean", "") in aggregate_leaves(known[gate.aggregate], known)
    return gate.metric in ("", SCORE)


def _questions(metric: str, answered: Sequence[Trial]) -> list[AnsweredQuestion]:
    found: dict[str, AnsweredQuestion] = {}
    for one in answered:
        value, question = _value(metric, one), one.question
        if value is not None:
            made = AnsweredQuestion(question.once, question.cluster or question.once, [], question.unit)
            found.setdefault(question.once, made).values.append(value)
    return list(found.values())


def _value(metric: str, one: Trial) -> float | None:
    score = 0.0 if one.score is None else one.score.value
    if metric == SCORE or (one.question.graded and not metric):
        return score
    return metrics_of(one).get(metric) if metric else float(one.passed)

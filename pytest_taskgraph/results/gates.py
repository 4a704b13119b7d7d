"""Gates: what a rate or a mean of the whole run must reach, and the verdict over it.

    NAME[.NAME ...][.METRIC]>=THRESHOLD[@LEVEL%]

NAME is a pattern, a category, a family, or the value of a label (`size=20`, `frame="ask.v2"`); a question counts where
all of them hold. Without a metric the gate is about the pass rate, or about the mean score where all questions are
graded; `score` is the mean of the main score, any other metric the mean of that metric over the questions that have
it. Graded questions are never put together with others: where both are meant, the former are left out, and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from ..errors import UsageError
from ..trial import Trial
from .case import INCONCLUSIVE, Case
from .certainty import Answered, Sample
from .metric_means import metrics_of
from .nearest import quoted
from .population import Declared, Population

SCORE = "score"
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

    @property
    def name(self) -> str:
        """What is judged: the expression up to the comparison."""
        return ".".join([*map(quoted, self.parts), *([self.metric] if self.metric else [])])


def parse(text: str, metrics: Collection[str]) -> Gate:
    """The gate that is written so. Raises UsageError, with what was expected, for anything else."""
    parts, end = _name(text.strip())
    found = _BOUND.fullmatch(text.strip(), end)
    if not found or not any(parts):
        raise UsageError(
            f"--taskgraph-gate: {text!r}; expected NAME>=X, such as structure>=0.8, next_tasks.jaccard>=0.7, "
            "size=20>=0.6, or structure>=0.8@95%; a value with one of . > < @ stands in quotes"
        )
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


def titles(gates: Sequence[Gate]) -> list[str]:
    """A name for each gate that no other has: what it judges, and all of it where that alone is not enough."""
    often = Counter(gate.name for gate in gates)
    return [gate.name if often[gate.name] == 1 else gate.text for gate in gates]


def alike(gate: Gate, trials: Iterable[Trial], declared: Iterable[Declared]) -> tuple[list[Trial], list[Declared], int]:
    """Return the trials and the questions without one that the gate puts together, and how many graded questions it
    leaves out, as other questions are right or wrong.

    A metric that the gate names is the same measure in all of them, so none is left out of its mean.
    """
    came, missing = list(trials), list(declared)
    apart = {one.question.once for one in came if one.question.graded} | {one.id for one in missing if one.graded}
    others = [one for one in came if not one.question.graded], [one for one in missing if not one.graded]
    if gate.metric not in ("", SCORE) or not apart or not any(others):
        return came, missing, 0
    return (*others, len(apart))


def judge(gate: Gate, title: str, model: str, asked: Population, max_errors: float = 0.0) -> Case:
    """The verdict over the questions of one model that the gate is about.

    Where not all were answered: skipped if the user selected, failed for any other reason. Otherwise the estimate
    decides, or the two-sided interval at the gate's level; where that holds the threshold nothing is decided, and
    the gate fails.
    """
    rates = not gate.metric and not any(one.question.graded for one in asked.answered)
    sample = Sample(_questions(gate, asked.answered), gate.confidence or 0.95, rates)
    estimate = sample.mean if sample.questions else None
    low, high = sample.ends or (None, None)

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
    told = _told(gate, sample, "pass rate" if rates else f"mean {gate.metric or SCORE}")
    told += f"; {asked.apart} graded left out" if asked.apart else ""
    if gate.confidence is None:
        return verdict("passed" if estimate >= gate.threshold else "failed", told)
    if low is not None and high is not None and low >= gate.threshold:
        return verdict("passed", told)
    if low is not None and high is not None and high < gate.threshold:
        return verdict("failed", told)
    return verdict("failed", f"{INCONCLUSIVE}: {told}; {sample.enough(gate.threshold)}")


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


def _questions(gate: Gate, answered: Sequence[Trial]) -> list[Answered]:
    found: dict[str, Answered] = {}
    for one in answered:
        value, question = _value(gate, one), one.question
        if value is not None:
            made = Answered(question.once, question.cluster or question.once, [])
            found.setdefault(question.once, made).values.append(value)
    return list(found.values())


def _value(gate: Gate, one: Trial) -> float | None:
    score = 0.0 if one.score is None else one.score.value
    if gate.metric == SCORE or (one.question.graded and not gate.metric):
        return score
    return metrics_of(one).get(gate.metric) if gate.metric else float(one.passed)


def _told(gate: Gate, sample: Sample, measured: str) -> str:
    level = f"{100 * sample.confidence:g}%"
    between = f"no {level} interval: it is one question"
    if sample.ends:
        between = f"{level} {sample.ends[0]:.3f}-{sample.ends[1]:.3f} {sample.about}".rstrip()
    return f"{measured} {sample.mean:.3f} of {len(sample.questions)} answered ({between}), threshold {gate.threshold:g}"

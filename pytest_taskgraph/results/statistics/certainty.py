"""Certainty of a mean over questions: its interval, the clusters it is about, and the sample size for a decision.

Questions of one cluster may depend on each other. Six clusters or more represent others, and the interval is computed
over clusters. Five or fewer do not: there the interval is computed over questions, and if these share clusters, it is
about those clusters alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, fsum
from typing import Final

from .intervals import ENOUGH_CLUSTERS, clustered_interval, describe_restriction, rate_interval
from .power import MOST, clusters_needed, independent_needed, mean_needed

ASK_MORE: Final = "ask more questions"
AT_THRESHOLD: Final = "while it stays at the threshold, no number of questions decides"
_ROUNDING = 1e-9

Ends = tuple[float, float]


def describe_need(need: int | None, each: float, noun: str, value: str) -> str:
    """Return how many questions are needed for a decision, and what that assumes, in words.

    Args:
        need: Number of clusters that decides; None if no number does.
        each: Mean number of questions of a cluster.
        noun: What the family calls a cluster; "" to leave clusters out.
        value: What is assumed to stay as it is, such as "the rate".
    """
    if need is None:
        return "a decision needs more questions than can be asked"
    clusters = f" on {need:,} {noun}s" if each > 1 and noun else ""
    return f"about {ceil(need * each):,} questions{clusters} needed for a decision if {value} stays the same"


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """The scores of one question: a value for each repetition, 0.0 to 1.0."""

    question: str
    cluster: str
    values: list[float]
    unit: str = ""  # shared with the same question with other demonstrations

    @property
    def dependent(self) -> str:
        """Return the unit whose answers depend on each other even if clusters are few."""
        return self.unit or self.question

    @property
    def mean(self) -> float:
        """Return the mean of the repetitions, 0.0 to 1.0."""
        return fsum(self.values) / len(self.values)


class Sample:
    """Answered questions, and the mean, the interval and the sample size computed from them.

    Args:
        questions: The questions, each with a value from 0 to 1 for each repetition.
        confidence: Level of the two-sided interval, 0 to 1, both excluded.
        rates: True if every value is 1 (the answer passes) or 0 (it does not).
        noun: What the family calls a cluster.
    """

    def __init__(
        self, questions: Sequence[AnsweredQuestion], confidence: float, rates: bool, noun: str = "cluster"
    ) -> None:
        self.questions = questions
        self.confidence = confidence
        self._rates = rates
        self._noun = noun
        self._count = len({question.cluster for question in questions})

    @cached_property
    def mean(self) -> float:
        """Return the mean of all questions, 0.0 to 1.0; 0.0 without questions."""
        return fsum(question.mean for question in self.questions) / max(1, len(self.questions))

    @cached_property
    def ends(self) -> Ends | None:
        """Return the two-sided interval within 0 and 1; None for fewer than two units of questions."""
        if not self._rates:
            values = {name: [question.mean for question in questions] for name, questions in self._clusters.items()}
            return clustered_interval(values, self.confidence)
        answers = (
            (question.dependent, question.cluster, value == 1.0)
            for question in self.questions
            for value in question.values
        )
        return rate_interval(answers, self.confidence)

    @property
    def about(self) -> str:
        """Return the clusters that the interval is about if it says nothing of others, in words; else ""."""
        if self._count >= ENOUGH_CLUSTERS or self._count == len(self.questions):
            return ""
        return describe_restriction(self._count, self._noun)

    @cached_property
    def _clusters(self) -> dict[str, list[AnsweredQuestion]]:
        """Return the questions of each cluster; if clusters are few, each question with its draws is one."""
        by_cluster: dict[str, list[AnsweredQuestion]] = {}
        for question in self.questions:
            key = question.cluster if self._count >= ENOUGH_CLUSTERS else question.dependent
            by_cluster.setdefault(key, []).append(question)
        return by_cluster

    def describe_needed(self, threshold: float) -> str:
        """Return how many questions are needed for a decision in 4 of 5 runs at the same rate and spread.

        Args:
            threshold: Threshold that the mean is compared with, 0 to 1.
        """
        if self.ends is None:
            return ASK_MORE
        if abs(self.mean - threshold) < _ROUNDING:
            return AT_THRESHOLD
        each = len(self.questions) / len(self._clusters)
        noun = self._noun if self._count >= ENOUGH_CLUSTERS else ""
        value = "the rate" if self._rates else "the mean"
        return describe_need(self._needed(threshold, int(MOST / each)), each, noun, value)

    def _needed(self, threshold: float, most: int) -> int | None:
        """Return the number of clusters that decides; None if even `most` do not."""
        clusters = [[question.mean for question in questions] for questions in self._clusters.values()]
        answer_counts = [
            (
                sum(value == 1.0 for question in questions for value in question.values),
                sum(len(question.values) for question in questions),
            )
            for questions in self._clusters.values()
        ]
        if self._rates and any(answers > 1 for _, answers in answer_counts):
            return clusters_needed(answer_counts, self.mean, threshold, self.confidence, most)
        squares = fsum(fsum(value - self.mean for value in values) ** 2 for values in clusters)
        variance = squares * len(clusters) ** 2 / (len(clusters) - 1) / len(self.questions) ** 2 if squares else 0.0
        if self._rates or variance < _ROUNDING:
            return independent_needed(self.mean, threshold, self.confidence, len(clusters), most)
        return mean_needed(abs(self.mean - threshold), variance, self.confidence, len(clusters), most)

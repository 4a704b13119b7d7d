"""How certain a mean over questions is: its interval, which clusters that is about, how many questions would decide.

Questions of one cluster may depend on each other. From six clusters on these stand for others, and a mean is as
certain as they agree. So few as five say little of others: there the interval is one over questions, and where these
share clusters it is about those clusters alone.
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


def describe_need(need: int | None, each: float, noun: str) -> str:
    """Return how many questions would decide, in words.

    Args:
        need: Clusters that decide; None if no number does.
        each: Questions of a cluster, on average.
        noun: What the family calls a cluster; "" if these are not counted.
    """
    if need is None:
        return "more questions than can be asked would decide"
    clusters = f" on {need:,} {noun}s" if each > 1 and noun else ""
    return f"about {ceil(need * each):,} questions{clusters} would decide"


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """What one question came to: the value of each repetition, 0.0 to 1.0."""

    question: str
    cluster: str
    values: list[float]
    unit: str = ""  # what it shares with the same question behind other demonstrations

    @property
    def dependent(self) -> str:
        """What its answers depend on each other by, also where clusters are few."""
        return self.unit or self.question

    @property
    def mean(self) -> float:
        """One value, however often the question was asked."""
        return fsum(self.values) / len(self.values)


class Sample:
    """Answered questions, and what their mean says of questions that were not asked.

    Args:
        questions: Each with a value, 0 to 1, for each repetition.
        confidence: Level of the two-sided interval, 0 to 1, both excluded.
        rates: True if a value of 1 says that the answer passes, and one of 0 that it does not; there are no others.
        noun: What the family calls a cluster.
    """

    def __init__(
        self, questions: Sequence[AnsweredQuestion], confidence: float, rates: bool, noun: str = "cluster"
    ) -> None:
        self.questions = questions
        self.confidence = confidence
        self._rates = rates
        self._noun = noun
        self._count = len({one.cluster for one in questions})

    @cached_property
    def mean(self) -> float:
        """The mean of all questions; 0.0 where there are none."""
        return fsum(one.mean for one in self.questions) / max(1, len(self.questions))

    @cached_property
    def ends(self) -> Ends | None:
        """The two-sided interval, within 0 and 1; None of no question, and where the mean is that of a single one."""
        if not self._rates:
            values = {name: [one.mean for one in questions] for name, questions in self._clusters.items()}
            return clustered_interval(values, self.confidence)
        answers = ((one.dependent, one.cluster, value == 1.0) for one in self.questions for value in one.values)
        return rate_interval(answers, self.confidence)

    @property
    def about(self) -> str:
        """The clusters that the interval is about, where it says nothing of others; else ""."""
        if self._count >= ENOUGH_CLUSTERS or self._count == len(self.questions):
            return ""
        return describe_restriction(self._count, self._noun)

    @cached_property
    def _clusters(self) -> dict[str, list[AnsweredQuestion]]:
        """Return the questions of each cluster; where these are few, each question, with all its draws."""
        found: dict[str, list[AnsweredQuestion]] = {}
        for one in self.questions:
            key = one.cluster if self._count >= ENOUGH_CLUSTERS else one.dependent
            found.setdefault(key, []).append(one)
        return found

    def describe_needed(self, threshold: float) -> str:
        """Return how many questions would decide in 4 of 5 runs, if rate and spread stayed what they are."""
        if self.ends is None:
            return ASK_MORE
        if abs(self.mean - threshold) < _ROUNDING:
            return AT_THRESHOLD
        each = len(self.questions) / len(self._clusters)
        noun = self._noun if self._count >= ENOUGH_CLUSTERS else ""
        return describe_need(self._needed(threshold, int(MOST / each)), each, noun)

    def _needed(self, threshold: float, most: int) -> int | None:
        """Return how many clusters decide; None if even `most` do not."""
        clusters = [[one.mean for one in questions] for questions in self._clusters.values()]
        counts = [
            (sum(value == 1.0 for one in questions for value in one.values), sum(len(one.values) for one in questions))
            for questions in self._clusters.values()
        ]
        if self._rates and any(answers > 1 for _, answers in counts):
            return clusters_needed(counts, self.mean, threshold, self.confidence, most)
        squares = fsum(fsum(value - self.mean for value in values) ** 2 for values in clusters)
        variance = squares * len(clusters) ** 2 / (len(clusters) - 1) / len(self.questions) ** 2 if squares else 0.0
        if self._rates or variance < _ROUNDING:
            return independent_needed(self.mean, threshold, self.confidence, len(clusters), most)
        return mean_needed(abs(self.mean - threshold), variance, self.confidence, len(clusters), most)

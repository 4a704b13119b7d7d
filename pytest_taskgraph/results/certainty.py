"""How certain a mean over questions is: its interval, which workflows that is about, how many questions would decide.

Questions about one workflow may depend on each other. From six workflows on these stand for others, and a mean is as
certain as they agree. So few as five say little of others: there the interval is one over questions, as is Wilson's
for rates, and where questions share workflows it is about those workflows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, fsum, sqrt

from .statistics import ENOUGH_CLUSTERS, clustered_interval, wilson, within

_MOST = 10_000_000  # questions; more are not worth a number
_ROUNDING = 1e-9

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Answered:
    """What one question came to: the value of each repetition, 0.0 to 1.0."""

    question: str
    workflow: str
    values: list[float]

    @property
    def mean(self) -> float:
        """One value, however often the question was asked."""
        return fsum(self.values) / len(self.values)


class Sample:
    """Answered questions, and what their mean says of questions that were not asked.

    `rates`: whether values say that an answer passes. Where besides each question was asked once, and its value is 0
    or 1, the interval is Wilson's; else it is that of a mean.
    """

    def __init__(self, questions: Sequence[Answered], confidence: float, rates: bool) -> None:
        self.questions = questions
        self.confidence = confidence
        self._counted = rates and all(len(one.values) == 1 and one.values[0] in (0.0, 1.0) for one in questions)
        self._workflows = len({one.workflow for one in questions})

    @cached_property
    def mean(self) -> float:
        """The mean of all questions; 0.0 where there are none."""
        return fsum(one.mean for one in self.questions) / max(1, len(self.questions))

    @cached_property
    def ends(self) -> Ends | None:
        """The two-sided interval, within 0 and 1; None of no question, and where the mean is that of a single one."""
        if not self._counted:
            return clustered_interval(self._clusters, self.confidence)
        right = sum(one.values[0] for one in self.questions)
        return wilson(right, len(self.questions), self.confidence) if self.questions else None

    @property
    def about(self) -> str:
        """The workflows that the interval is about, where it says nothing of others; else ""."""
        if self._by_workflow or self._workflows == len(self.questions):
            return ""
        return within(self._workflows)

    @property
    def _by_workflow(self) -> bool:
        return not self._counted and self._workflows >= ENOUGH_CLUSTERS

    @cached_property
    def _clusters(self) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for one in self.questions:
            found.setdefault(one.workflow if self._by_workflow else one.question, []).append(one.mean)
        return found

    def enough(self, threshold: float) -> str:
        """How many questions would decide, if more of them came out as these did."""
        if self.ends is None:
            return "ask more questions"
        if abs(self.mean - threshold) < _ROUNDING:
            return "while it stays at the threshold, no number of questions decides"
        units = len(self.questions) if self._counted else len(self._clusters)
        each = len(self.questions) / units
        need = _least(units, int(_MOST / each), lambda count: _decides(self._ends_of(count), threshold))
        if need is None:
            return "more questions than can be asked would decide"
        workflows = f" on {need:,} workflows" if each > 1 else ""
        return f"about {ceil(need * each):,} questions{workflows} would decide"

    def _ends_of(self, count: int) -> Ends:
        """The interval of so many questions, or workflows, as there are here; it may leave 0 and 1.

        The error is that of `clustered_interval`, whose sum of squares grows as their number does.
        """
        squares = 0.0
        if not self._counted:
            squares = fsum(fsum(one - self.mean for one in ones) ** 2 for ones in self._clusters.values())
        if sqrt(squares) < _ROUNDING * len(self.questions):
            return wilson(min(1.0, self.mean) * count, count, self.confidence)
        from scipy.special import stdtrit  # of scipy.stats, which takes long to import, the part that is needed

        error = sqrt(squares * len(self._clusters) / (count - 1)) / len(self.questions)
        half = float(stdtrit(count - 1, (1 + self.confidence) / 2)) * error
        return self.mean - half, self.mean + half


def _decides(ends: Ends, threshold: float) -> bool:
    return ends[0] >= threshold or ends[1] < threshold


def _least(start: int, most: int, decides: Callable[[int], bool]) -> int | None:
    """The least number above `start`, which does not decide, that does; None where even `most` do not."""
    undecided = start
    while not decides(top := undecided * 2):
        if top >= most:
            return None
        undecided = top
    while top - undecided > 1:
        middle = (top + undecided) // 2
        undecided, top = (undecided, middle) if decides(middle) else (middle, top)
    return top

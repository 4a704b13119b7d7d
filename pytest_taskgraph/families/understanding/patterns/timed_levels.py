"""Levels with the times of their tasks, and how questions state situations, units and durations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from math import gcd
from typing import Any, Final

from ....notations.phrases import duration_phrase
from ....workflow.model import SECONDS, Duration, TimeUnit, Workflow
from ....workflow.references import expand
from ....workflow.semantics.run_times import Timing, timing, units_in
from ....workflow.semantics.situations import write_situation
from .behaviour.conditional_links import sample_situations

MOST_SITUATIONS: Final = 6
MOST_STEPS: Final = 3  # of a loop to its end
SITUATION: Final = (
    "{% if situation %}At the start, the parameters are '{{ situation }}', and tasks change them as their effects say. "
    "{% endif %}"
)
"""The first words of a phrasing; empty about levels without conditions."""


@dataclass(frozen=True)
class TimedLevel:
    """A level in a situation, with the times of its tasks and the units in which they are stated."""

    level: Workflow
    situation: str  # empty: nothing is conditional
    timing: Timing
    units: tuple[TimeUnit, ...]  # the smallest first

    @property
    def unit(self) -> TimeUnit:
        """Return the unit of the answers: the smallest that a task states, so that all are whole numbers."""
        return self.units[0]

    @property
    def fields(self) -> dict[str, Any]:
        """Return the variables of the phrasings that all patterns have."""
        return {"situation": self.situation, "unit": self.unit}

    @property
    def labels(self) -> dict[str, str | int]:
        """Return the labels by which reports group the questions."""
        return {"units": len(self.units)}

    @cached_property
    def grain(self) -> int:
        """Return the largest time of which all durations are multiples: delays that are no multiple stand out."""
        return gcd(*self.timing.lengths)

    def amount(self, seconds: int) -> int:
        """Return a time in the unit of the answers."""
        return seconds // SECONDS[self.unit]

    def phrase(self, seconds: int) -> str:
        """Return a time as a question states it: in the largest unit of the level in which it is a whole number."""
        unit = next(unit for unit in reversed(self.units) if seconds % SECONDS[unit] == 0)
        return duration_phrase(Duration(seconds // SECONDS[unit], unit))

    @cached_property
    def single(self) -> dict[str, int]:
        """Return the tasks that are executed once, with their executions, in the order of declaration."""
        places = self.timing.run.executions_by_task
        return {task: places[task][0] for task in self.level.task_names if len(places.get(task, ())) == 1}

    def work_before(self, place: int) -> int:
        """Return how long all that comes before an execution takes, one after the other, in seconds."""
        return sum(n for i, n in enumerate(self.timing.lengths) if self.timing.run.before[place] >> i & 1)

    @cached_property
    def crowded_starts(self) -> tuple[int, ...]:
        """Return when each execution would start if a path with the most tasks before it decided, in seconds.

        Of paths with as many tasks, the longer one counts.
        """
        chains: list[tuple[int, int]] = []
        for place in range(len(self.timing.lengths)):
            before = [chains[i] for i, j in self._pairs.get(place, ())]
            tasks, seconds = max(before, default=(0, 0))
            chains.append((tasks + 1, seconds + self.timing.lengths[place]))
        return tuple(seconds - length for (_, seconds), length in zip(chains, self.timing.lengths, strict=True))

    @cached_property
    def crowded_makespan(self) -> int:
        """Return how long the path with the most tasks takes, in seconds; of several, the longest."""
        counts: list[tuple[int, int]] = []
        for place, start in enumerate(self.crowded_starts):
            tasks = 1 + max((counts[i][0] for i, _ in self._pairs.get(place, ())), default=0)
            counts.append((tasks, start + self.timing.lengths[place]))
        return max(counts)[1]

    @cached_property
    def _pairs(self) -> Mapping[int, list[tuple[int, int]]]:
        pairs: dict[int, list[tuple[int, int]]] = {}
        for i, j in self.timing.run.pairs:
            pairs.setdefault(j, []).append((i, j))
        return pairs


@lru_cache(maxsize=64)
def timed_levels(workflow: Workflow) -> tuple[TimedLevel, ...]:
    """Return the level in each situation that decides its run; none if the durations do not tell its times."""
    return tuple(_timed_levels(workflow))


def _timed_levels(workflow: Workflow) -> Iterator[TimedLevel]:
    level = expand(workflow)
    if not units_in(level):
        return
    if all(link.guard is None for link in level.links):
        if timed := timing(level, {}):
            yield TimedLevel(level, "", timed, units_in(level))
        return
    for situation in islice(sample_situations(level, MOST_STEPS), MOST_SITUATIONS):
        if timed := timing(level, situation):
            yield TimedLevel(level, write_situation(situation), timed, units_in(level))

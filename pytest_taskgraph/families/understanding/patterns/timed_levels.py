"""Levels with the times of their tasks, and how questions state situations, units and durations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from math import gcd
from typing import Any, Final

from ....notations.phrases import duration_phrase
from ....workflow.guards.cells import Constant
from ....workflow.model import SECONDS, Duration, TimeUnit, Workflow
from ....workflow.references import expand
from ....workflow.semantics.run_times import Timing, timing, units_in, without_durations
from ....workflow.semantics.situations import write_situation
from .behaviour.conditional_links import sample_situations
from .shortcuts import RuleTimes, times_by_rule

MOST_SITUATIONS: Final = 3
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
    def by_rule(self) -> Mapping[str, RuleTimes]:
        """Return the times as rules tell them that do not look at all waiting."""
        return times_by_rule(self.timing)

    def rules_that(self, holds: Callable[[RuleTimes], bool]) -> tuple[str, ...]:
        """Return the names of the rules of which something holds."""
        return tuple([name for name, times in self.by_rule.items() if holds(times)])

    def rules_of_span(self, seconds: int) -> tuple[str, ...]:
        """Return the rules by which the whole takes so long."""
        return self.rules_that(lambda times: seconds in times.spans)

    def rules_of_longer(self, longer: Timing, extra: int) -> tuple[str, ...]:
        """Return the rules that tell how long the whole takes if an execution takes longer by `extra` seconds."""
        span = longer.makespan
        told = {*self.rules_of_span(span - extra), *self.rules_of_span(span)} - {"longest"}
        if span in times_by_rule(longer, ["longest"])["longest"].spans:
            told.add("longest")
        return tuple(sorted(told))

    def rules_of_start(self, place: int) -> tuple[str, ...]:
        """Return the rules that tell when an execution starts at the earliest."""
        return self.rules_that(lambda times: times.starts[place] == self.timing.starts[place])

    def rules_of_latest_start(self, place: int) -> tuple[str, ...]:
        """Return the rules that tell when an execution starts at the latest."""
        return self.rules_that(lambda times: times.latest_starts[place] == self.timing.latest_starts[place])

    def rules_of_slack(self, place: int) -> tuple[str, ...]:
        """Return the rules that tell by how much an execution can be late."""
        return self.rules_that(lambda times: times.slack(place) == self.timing.slacks[place])

    def rules_of_critical(self) -> tuple[str, ...]:
        """Return the rules that tell which executions must not be late."""
        slacks = self.timing.slacks
        return self.rules_that(lambda times: all((times.slack(i) <= 0) == (not n) for i, n in enumerate(slacks)))

    def rules_of_running(self, seconds: int) -> tuple[str, ...]:
        """Return the rules that tell which executions run at a time."""
        running, lengths = self.timing.running_at(seconds), self.timing.lengths
        return self.rules_that(
            lambda times: running == [i for i, n in enumerate(times.starts) if n <= seconds < n + lengths[i]]
        )

    def rules_of_waiting(self, place: int, last: int) -> tuple[str, ...]:
        """Return the rules by which an execution waits for another one."""
        return self.rules_that(lambda times: times.waits[place] == last)


@lru_cache(maxsize=64)
def timed_levels(workflow: Workflow) -> tuple[TimedLevel, ...]:
    """Return the level in each situation that decides its run; none if the durations do not tell its times."""
    return tuple(_timed_levels(workflow))


def _timed_levels(workflow: Workflow) -> Iterator[TimedLevel]:
    level = expand(workflow)
    if units := units_in(level):
        for situation in _situations(without_durations(level)):
            if timed := timing(level, situation):
                yield TimedLevel(level, write_situation(situation) if situation else "", timed, units)


@lru_cache(maxsize=64)
def _situations(level: Workflow) -> tuple[Mapping[str, Constant], ...]:
    """Return the situations that a level is asked about in: one that is empty if nothing is conditional."""
    if all(link.guard is None for link in level.links):
        return ({},)
    return tuple(islice(sample_situations(level, MOST_STEPS), MOST_SITUATIONS))

"""Times as rules tell them that do not look at all waiting: a question that no such rule answers is a hard one.

Each rule says when tasks start, how long the whole takes and, read from the end, when tasks start at the latest:

- most, fewest: a task waits for the path before it that has the most tasks, or the fewest
- longest: of the tasks directly before it, a task waits for the one that takes longest by itself
- first: a task starts when the first of the tasks directly before it has ended
- layers: tasks with as many tasks before them start together, when all with fewer have ended
- sum: all that comes before a task is done one after the other
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ....workflow.semantics.run_times import Timing, end_of_schedule, list_schedule

Before = Sequence[Sequence[int]]  # for each execution, those directly before it
Times = tuple[list[int], int, list[int]]  # when each execution starts, when all have ended, and whom each waits for


@dataclass(frozen=True, slots=True)
class RuleTimes:
    """Times as one rule tells them, in seconds."""

    starts: tuple[int, ...]
    latest_starts: tuple[int, ...]
    spans: frozenset[int]  # how long the whole takes, read from the start and from the end
    waits: tuple[int, ...]  # the execution that each waits for; -1 for none in particular

    def slack(self, place: int) -> int:
        """Return by how much an execution can be late."""
        return self.latest_starts[place] - self.starts[place]


def standing(told: Collection[str], later: int = 0, stratum: str = "", share: int = 1) -> dict[str, Any]:
    """Return rank, stratum and share of a case: those that no rule answers come first, then those of few rules.

    With few tasks, one rule or another is right of nearly every level. The path with the most tasks, which is most
    tempting, then is right least often.

    Args:
        told: The rules that answer it.
        later: What is added to the rank.
        stratum: What else divides the cases.
        share: The weight of that part.
    """
    weight = max(1, 4 - len(told)) * (1 if "most" in told else 5)
    return {"rank": bool(told) + later, "stratum": " ".join((stratum, *told)).strip(), "share": share * weight}


def times_by_rule(timing: Timing, names: Collection[str] = ()) -> Mapping[str, RuleTimes]:
    """Return what each rule tells of a level, or each of some rules."""
    count = len(timing.lengths)
    before: list[list[int]] = [[] for _ in range(count)]
    mirrored: list[list[int]] = [[] for _ in range(count)]
    for i, j in timing.run.pairs:
        before[j].append(i)
        mirrored[count - 1 - i].append(count - 1 - j)
    lengths = timing.lengths
    return {
        name: _rule_times(RULES[name](before, lengths), RULES[name](mirrored, lengths[::-1]), lengths)
        for name in names or RULES
    }


def _rule_times(times: Times, mirrored: Times, lengths: Sequence[int]) -> RuleTimes:
    (starts, span, waits), (rests, other_span, _) = times, mirrored
    latest = [span - rest - length for rest, length in zip(reversed(rests), lengths, strict=True)]
    return RuleTimes(tuple(starts), tuple(latest), frozenset({span, other_span}), tuple(waits))


def _by_chain(key: Callable[[int, int, int], int]) -> Callable[[Before, Sequence[int]], Times]:
    """Return the rule that each execution waits for one before it: that of the largest key.

    The key is of the number of tasks on the path up to there, of its end and of its own length.
    """

    def times(before: Before, lengths: Sequence[int]) -> Times:
        keys, counts, ends, starts, waits = list[int](), list[int](), list[int](), list[int](), list[int]()
        last = set(range(len(lengths)))
        for places, length in zip(before, lengths, strict=True):
            last.difference_update(places)
            chosen = max(places, key=keys.__getitem__, default=-1)
            waits.append(chosen)
            starts.append(ends[chosen] if places else 0)
            counts.append(1 + (counts[chosen] if places else 0))
            ends.append(starts[-1] + length)
            keys.append(key(counts[-1], ends[-1], length))
        return starts, ends[max(last, key=keys.__getitem__)], waits

    return times


def _layers(before: Before, lengths: Sequence[int]) -> Times:
    layers: list[int] = []
    longest: list[int] = []
    for places, length in zip(before, lengths, strict=True):
        layers.append(1 + max([layers[i] for i in places], default=-1))
        longest += [0] * (layers[-1] + 1 - len(longest))
        longest[layers[-1]] = max(longest[layers[-1]], length)
    return [sum(longest[:layer]) for layer in layers], sum(longest), [-1] * len(layers)


def _sum(before: Before, lengths: Sequence[int]) -> Times:
    ancestors: list[set[int]] = []
    for places in before:
        ancestors.append(set(places).union(*[ancestors[i] for i in places]))
    return [sum([lengths[i] for i in places]) for places in ancestors], sum(lengths), [-1] * len(lengths)


RULES: Final[Mapping[str, Callable[[Before, Sequence[int]], Times]]] = {
    "most": _by_chain(lambda count, end, length: count),
    "fewest": _by_chain(lambda count, end, length: -count),
    "longest": _by_chain(lambda count, end, length: length),
    "first": _by_chain(lambda count, end, length: -end),
    "layers": _layers,
    "sum": _sum,
}


def longest_first(timing: Timing, workers: int) -> int:
    """Return how long the whole takes if each free worker takes the longest task that can start.

    Args:
        timing: The level.
        workers: How many there are.
    """
    priorities = [(length, -place) for place, length in enumerate(timing.lengths)]
    return end_of_schedule(timing, list_schedule(timing, workers, priorities))

"""What the runs of a level can begin with: which task can come next after given ones.

A run is one execution of the level from START to END, in some situation: values of the parameters, and ways taken where
no parameter decides. Its tasks are in a partial order. A task is a possible next one after others if these and it, in
this order, begin a linear extension of some run.

The answer is known exactly, or the level is left out:

- A loop has infinitely many runs, and its end hangs on what tasks change. Levels with a loop are left out.
- Of guards that read a parameter which a task changes, finitely many values do not tell everything. Left out too.
- An exclusive choice takes one way, an inclusive one at least one. Where guards do not say which of both a choice is,
  or are prose that may depend on other conditions, the level is left out. A gateway without conditions takes any way.
- Where several branches of one run may come to a join that awaits one, the level is left out.
- In a situation in which a choice has no way open, there is no run.
- "Yes" is said only if a run is found whose partial order, by `execution.outcome`, begins so. "No" is said only if the
  search through everything that could be called a run finds none; where the domain of a parameter is not shown, over
  integers and reals. Anything else is undecided.
- The control flow alone orders tasks, not the data flow. Sub-workflows are not entered: a composite task is one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from ....errors import NoCaseError
from ....workflow.bounds import record_bound
from ....workflow.graph import cyclic_components, is_connected, reachable_from
from ....workflow.guards.cells import Constant
from ....workflow.model import Workflow
from ....workflow.semantics.concurrency import Regions, regions_of
from ....workflow.semantics.execution import Run, executions, outcome
from ....workflow.semantics.loop_nest import parts_of
from ....workflow.semantics.situations import representatives
from ....workflow.semantics.variables import Variables, variables_of
from .beginning_search import BeginningSearch, Cells, UnclearRunsError
from .open_choices import with_deciding_parameters

MOST_CHOICES: Final = 200
"""How many choices a level may have."""

DRAWS: Final = 20
"""How many situations are drawn for one run: some have none."""


class RunBeginnings:
    """The beginnings of the runs of one level.

    Raises:
        NoCaseError: if it is not known exactly what these are; it says why.
    """

    def __init__(self, level: Workflow) -> None:
        _check_shape(level)
        _check_joins(regions_of(level))
        self.level = with_deciding_parameters(level)
        self.variables = variables_of(self.level)
        _check_choices(self.variables)
        narrow, wide = representatives(self.level, wide=False), representatives(self.level, wide=True)
        parts = parts_of(self.level)
        if narrow is None or wide is None or parts is None:
            raise NoCaseError("a parameter is compared with words and with numbers")
        self.narrow: Cells = narrow
        self.wide: Cells = wide
        self.order = [part.head for part in parts]

    def draw(self, rng: Random) -> tuple[str, ...]:
        """Return the tasks of a run in one of their orders; () if none of the situations drawn has a run."""
        for _ in range(DRAWS):
            situation = {name: rng.choice(values) for name, values in self.narrow.items()}
            run = outcome(self.level, situation)
            if isinstance(run, Run):
                return _draw_order(run, rng)
        return ()

    def allow_next(self, prefix: Sequence[str], task: str) -> bool | None:
        """Return True if some run begins with the tasks of the prefix and then the task; None if that is undecided."""
        return self._begin([*prefix, task])

    def allow_later(self, prefix: Sequence[str], task: str) -> bool | None:
        """Return True if some run begins with the prefix and holds the task after it; None if that is undecided."""
        return False if task in prefix else self._begin(prefix, task)

    def _begin(self, sequence: Sequence[str], *also: str) -> bool | None:
        """Return True if some run begins with the sequence and holds the further tasks."""
        if len(set(sequence)) < len(sequence):
            return False  # without a loop, no task runs twice
        try:
            values = self._find(sequence, also, self.narrow)
            if values is not None:
                run = outcome(self.level, values)
                return True if isinstance(run, Run) and _begins(run, sequence, also) else None
            beyond = None if self.wide == self.narrow else self._find(sequence, also, self.wide)
        except UnclearRunsError:
            record_bound("steps")
            return None
        return False if beyond is None else None

    def _find(self, sequence: Sequence[str], also: Sequence[str], cells: Cells) -> dict[str, Constant] | None:
        return BeginningSearch(self.variables, self.order, sequence, also).find(cells)


def _check_shape(level: Workflow) -> None:
    """Raise NoCaseError for a level that is no way from START to END, or has a loop."""
    if not is_connected(level):
        raise NoCaseError("a task is not on a path from START to END, or there is none")
    if cyclic_components(regions_of(level).graph):
        raise NoCaseError("it has a loop")


def _check_joins(regions: Regions) -> None:
    """Raise NoCaseError for a level in which several branches of one run may come to a join that awaits one.

    Readers disagree whether what is behind such a join runs once or several times.
    """
    awaiting = [
        gateway.name
        for gateway in regions.flow.gateways.values()
        if (gateway.role, gateway.kind) == ("join", "exclusive")
    ]
    splits = [node for node in regions.flow.nodes if regions.flow.split(node) not in ("", "exclusive")]
    for node in splits if awaiting else ():
        end = regions.end(node)
        ways = [reachable_from(regions.after, [way], end) | {node} for way in regions.after[node]]
        for join in awaiting:
            entries = [[link for link in regions.flow.into[join] if link.source in way] for way in ways]
            if len({link for links in entries for link in links}) > 1 and sum(map(bool, entries)) > 1:
                raise NoCaseError(f"several branches may come to {join!r}, which awaits one")


def _check_choices(variables: Variables) -> None:
    """Raise NoCaseError for a level whose choices cannot be read, or hang on what tasks change."""
    if variables.relevant & variables.changed:
        raise NoCaseError(f"a task changes {min(variables.relevant & variables.changed)!r}, on which a choice depends")
    for node, ways in variables.ways.items():
        if variables.flow.split(node) not in ("", "parallel", "exclusive", "inclusive", "mixed"):
            raise NoCaseError(f"the ways out of {node!r} may exclude each other or not")
        if any(way.vague for way in ways):
            raise NoCaseError(f"a condition at {node!r} cannot be computed")
    choices = sum(any(way.guard is not None for way in ways) for ways in variables.ways.values())
    if choices > MOST_CHOICES:
        raise NoCaseError(f"it has {choices} choices; at most {MOST_CHOICES} are looked through")


def _draw_order(run: Run, rng: Random) -> tuple[str, ...]:
    """Draw a linear extension of a run."""
    done, left = 0, list(range(len(run.tasks)))
    order = []
    while left:
        at = rng.choice([at for at in left if not run.before[at] & ~done])
        left.remove(at)
        done |= 1 << at
        order.append(run.tasks[at])
    return tuple(order)


def _begins(run: Run, sequence: Sequence[str], also: Sequence[str]) -> bool:
    """Return True if the sequence begins a linear extension of a run, which also holds further tasks."""
    done = 0
    for task in sequence:
        places = executions(run, task)
        if not places or run.before[places[0]] & ~done:
            return False
        done |= 1 << places[0]
    return all(task in run.executions_by_task for task in also)

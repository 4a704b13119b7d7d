"""Search for a run of a level that begins with given tasks.

The nodes of the level are gone through in an order in which each comes after all that lead to it: first those that
lead to the given tasks, then the rest, so that what is found is a whole run. At a choice, every way is tried that the
values still possible for its parameters allow. A branch is given up as soon as a given task cannot run any more, would
have to wait for a task that is not before it, or no way is open.

A join takes what comes to it, also one that says that it awaits all: so nothing that could be called a run is missed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from ....workflow.graph import reachable_from
from ....workflow.guards.cells import Constant
from ....workflow.guards.solver import evaluate_guards
from ....workflow.model import START, Link
from ....workflow.semantics.variables import Variables
from .live_ways import LiveWays

MOST_VISITS: Final = 100_000
"""How many nodes one search looks at, counted once for every branch."""

MOST_COMBINATIONS: Final = 2000
"""How many combinations of values are tried at one choice."""

Cells = Mapping[str, tuple[Constant, ...]]
Sources = dict[Link, frozenset[str]]  # every link taken, with the tasks that run directly before it


class UnclearRunsError(Exception):
    """The search is too long, or meets what can be read in two ways; it never leaves `run_beginnings.py`."""


class BeginningSearch:
    """A search for a run that begins with some tasks in their order, and also holds others.

    Args:
        known: The variables of the level, which has no loop and no vague guard.
        order: The nodes behind START, each after all that lead to it.
        sequence: The tasks that it begins with.
        also: Further tasks that run.
    """

    def __init__(
        self, variables: Variables, order: Sequence[str], sequence: Sequence[str], also: Collection[str] = ()
    ) -> None:
        self.variables, self.flow = variables, variables.flow
        self.tasks = frozenset(variables.level.task_names)
        self.place = {task: at for at, task in enumerate(sequence)}
        self.required = frozenset([*sequence, *also])
        self.live = LiveWays(self.flow, self.required)
        before = {node: [link.source for link in links] for node, links in self.flow.into.items()}
        leading = reachable_from(before, self.required)
        self.order = [*(node for node in order if node in leading), *(node for node in order if node not in leading)]
        self.visits = 0

    def find(self, cells: Cells) -> dict[str, Constant] | None:
        """Return values with which the run begins so, from the values that are possible; None if there are none.

        Raises:
            UnclearRunsError: if that takes too many steps, or several ways are open at an exclusive choice.
        """
        ranges = self._search(0, {}, cells) if self._may_begin() else None
        return None if ranges is None else {name: values[0] for name, values in ranges.items()}

    def _search(self, at: int, sources: Sources, cells: Cells) -> Cells | None:
        """Return the values left when all nodes from a place of the order on have been gone through."""
        while at < len(self.order):
            node = self.order[at]
            at += 1
            left = self._run(node, sources)
            if left is None and node in self.required:
                return None
            if left is None:
                continue
            if node in self.tasks and not self._may_run(node, left):
                return None
            before = frozenset([node]) if node in self.tasks else left
            options = list(self._options(node, cells))
            if len(options) != 1:
                tried = (
                    self._search(at, sources | dict.fromkeys(taken, before), narrowed) for taken, narrowed in options
                )
                return next((result for result in tried if result is not None), None)
            sources.update(dict.fromkeys(options[0][0], before))
            cells = options[0][1]
        return cells

    def _may_begin(self) -> bool:
        """Return True if no task of the sequence always waits for one that does not come before it there."""
        tasks = list(self.place)
        later = [(task, self.tasks.difference(tasks[:at])) for at, task in enumerate(tasks)]
        return self.live.possible and not any(
            self.live.awaits(task, predecessor) for task, others in later for predecessor in others
        )

    def _run(self, node: str, sources: Sources) -> frozenset[str] | None:
        """Return the tasks that run directly before a node; None if the node does not run."""
        self.visits += 1
        if self.visits > MOST_VISITS:
            raise UnclearRunsError("too many steps")
        reached = [sources[link] for link in self.flow.into[node] if link in sources]
        if node != START and not reached:
            return None
        return frozenset().union(*reached)

    def _may_run(self, task: str, before: frozenset[str]) -> bool:
        """Return True if the run can still begin with the sequence when the task runs, directly after others."""
        end = len(self.place)
        at = self.place.get(task, end)
        if at < end and any(self.place.get(other, end) >= at for other in before):
            return False
        return not any(at > first and self.live.leads_to(task, other) for other, first in self.place.items())

    def _options(self, node: str, cells: Cells) -> Iterator[tuple[tuple[Link, ...], Cells]]:
        """Yield what can be taken out of a node, with the values for which it is."""
        ways = self.variables.ways[node]
        names = sorted(self.variables.read([node]))
        if not names:
            yield tuple(way.link for way in ways), cells
            return
        rows_by_links: dict[tuple[Link, ...], list[tuple[Constant, ...]]] = {}
        for count, row in enumerate(product(*(cells[name] for name in names))):
            if count == MOST_COMBINATIONS:
                raise UnclearRunsError(f"too many combinations of values at {node}")
            taken = self._taken(node, dict(zip(names, row, strict=True)))
            if taken and self.live.dead.isdisjoint(taken):
                rows_by_links.setdefault(taken, []).append(row)
        for taken, rows in rows_by_links.items():
            if len(names) == 1:
                yield taken, {**cells, names[0]: tuple(row[0] for row in rows)}
            else:
                yield from ((taken, {**cells, **dict(zip(names, zip(row), strict=True))}) for row in rows)

    def _taken(self, node: str, values: Mapping[str, Constant]) -> tuple[Link, ...]:
        """Return the links out of a choice that are taken; none where no way is open."""
        ways, kind = self.variables.ways[node], self.flow.split(node)
        guards = [way.guard for way in ways if way.guard is not None]
        held = iter(evaluate_guards(guards, values))
        taken = [(way, way.guard is None or next(held)) for way in ways]
        several = sum(is_taken for way, is_taken in taken if way.guard is not None)
        if several > 1 and kind not in ("inclusive", "mixed"):
            raise UnclearRunsError(f"several ways are open at {node}, and may exclude each other")
        return tuple(way.link for way, is_taken in taken if is_taken)

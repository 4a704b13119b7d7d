"""Plant references among the workflows of a project that form a cycle, or as many that do not (pattern S24).

The references are drawn anew: every workflow is reached, except sometimes one that only refers to others; several
references to one workflow and several ways to it (diamonds) occur. So the number of references does not reveal a cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

from ...errors import NoCaseError
from ...workflow.graph import shortest_path
from ...workflow.model import Flaw, Task, Workflow

ATTEMPTS = 100  # attempts to draw a net of references
LONGEST = 4  # workflows in a cycle
MOST_FURTHER = 3  # references beside those by which every workflow is reached
ASIDE = 5  # smallest number of workflows of which one may not be reached

INNER = 0.7  # share of the ways that leave out the first workflow and a last one, where there are others

Edge = tuple[int, int]  # the places in the project of a workflow and of the one that it refers to
Holder = tuple[int, tuple[str, ...]]  # the place of a workflow, and the path of a task in it


def close_cycle(workflow: Workflow, rng: Random) -> Workflow:
    """Draw references that form a cycle; every possible length of it up to 4 is equally likely.

    Raises:
        NoCaseError: if there are no references, or a workflow of the project is derived from another.
    """
    return _draw_references(workflow, rng, "close-cycle", _Net.lead_back)


def cut_cycle(workflow: Workflow, rng: Random) -> Workflow:
    """Draw as many references as `close_cycle` does, without a cycle.

    Raises:
        NoCaseError: as `close_cycle`.
    """
    return _draw_references(workflow, rng, "cut-cycle", _Net.lead_on)


def _draw_references(workflow: Workflow, rng: Random, flaw: str, lead: Callable[[_Net], Sequence[int]]) -> Workflow:
    """Return the project with the references of the first net, of several draws, for which there are enough tasks."""
    if not _has_references(workflow):
        raise NoCaseError(
            f"close-cycle, cut-cycle: workflow {workflow.name!r} has no references, or is derived; "
            "demand references and avoid derivation"
        )
    for _ in range(ATTEMPTS):
        try:
            net = _Net(workflow, rng)
            places = lead(net)
        except _NoTaskLeftError:
            continue
        return net.project(Flaw(flaw, tuple(str(net.whole[place].qualified) for place in places)))
    raise NoCaseError(f"close-cycle, cut-cycle: workflow {workflow.name!r} has no atomic task for a reference")


def _has_references(workflow: Workflow) -> bool:
    workflows = (workflow, *workflow.others)
    derived = any(root.base is not None or root.configurations for root in workflows)
    return (
        not derived
        and len(workflows) > 1
        and any(task.reference for root in workflows for _, task in _tasks_without_inline(root))
    )


class _NoTaskLeftError(Exception):
    """No task is left for a reference."""


class _Net:
    """The references of a project while they are drawn: forward only, in a drawn order that starts with the project."""

    def __init__(self, workflow: Workflow, rng: Random) -> None:
        self.whole, self.rng = (workflow, *workflow.others), rng
        holders_by_place = {place: list(_tasks_without_inline(root)) for place, root in enumerate(self.whole)}
        self.free = {
            place: rng.sample([path for path, _ in holders], len(holders))
            for place, holders in holders_by_place.items()
        }
        self.edges: dict[Holder, int] = {}
        further = list(range(1, len(self.whole)))
        rng.shuffle(further)
        self.aside = further.pop() if len(self.whole) >= ASIDE and rng.random() < 0.4 else None
        self.order = [0, *further]
        self.way = self._draw_way()
        self._reach_all()

    def lead_back(self) -> list[int]:
        """Add the reference that closes a cycle, and further ones; return the places along the shortest cycle.

        Raises:
            _NoTaskLeftError: if no task is left for it.
        """
        first, last = self.way[0], self.way[-1]
        if not self.free[last]:
            raise _NoTaskLeftError
        self._add(last, first)
        self._add_some()
        forward: dict[int, list[int]] = {}
        for (source, _), target in self.edges.items():
            if (source, target) != (last, first):
                forward.setdefault(source, []).append(target)
        return shortest_path(forward, first, last)

    def lead_on(self) -> list[int]:
        """Add a reference that closes no cycle, mostly where one could be closed, and further ones; return its places.

        Raises:
            _NoTaskLeftError: if no task is left for it.
        """
        edge = self._add_forward([self.way[-1]]) or self._add_forward(self.order)
        if edge is None:
            raise _NoTaskLeftError
        self._add_some()
        return [*edge]

    def project(self, flaw: Flaw) -> Workflow:
        """Return the project with these references and no other."""
        targets = {holder: self.whole[target] for holder, target in self.edges.items()}
        first, *others = (_with_references(workflow, place, targets) for place, workflow in enumerate(self.whole))
        return replace(first, others=tuple(others), flaw=flaw)

    def _draw_way(self) -> list[int]:
        """Draw the way that a reference from its last workflow to its first would close, of any length up to LONGEST.

        Mostly it leaves out the first workflow of the project, because the text could reveal that nothing refers to it.
        """
        size = len(self.order)
        begin, beyond = (1, 1) if self.rng.random() < INNER else (0, 0)
        lengths = range(1, min(LONGEST, size - begin - beyond) + 1) or range(1, min(LONGEST, size) + 1)
        # A self-reference is too easy to see, and small projects allow little else.
        length = self.rng.choice([length for length in lengths for _ in range(1 if length == 1 else 2)])
        starts = range(begin, size - length - beyond + 1) or range(size - length + 1)
        start = self.rng.choice(starts)
        return self.order[start : start + length]

    def _reach_all(self) -> None:
        """Refer to every workflow from an earlier one, along the drawn way; from that aside, to any."""
        before = dict(pairwise(self.way))
        for at, target in enumerate(self.order[1:], 1):
            sources_on_way = [source for source, following in before.items() if following == target]
            sources = [source for source in sources_on_way or self.order[:at] if self.free[source]]
            if not sources:
                raise _NoTaskLeftError
            self._add(self.rng.choice(sources), target)
        if self.aside is not None:
            self._add(self.aside, self.rng.choice([0, 0, self.aside, self.rng.choice(self.order)]))

    def _add_some(self) -> None:
        for _ in range(self.rng.randrange(MOST_FURTHER + 1)):
            self._add_forward(self.order)

    def _add_forward(self, sources: Sequence[int]) -> Edge | None:
        """Refer from one of the workflows to a later one; return the reference, or None if no task is free."""
        position = {place: at for at, place in enumerate(self.order)}
        pairs = [
            (source, target) for source in sources if self.free[source] for target in self.order[position[source] + 1 :]
        ]
        if not pairs:
            return None
        edge = self.rng.choice(pairs)
        self._add(*edge)
        return edge

    def _add(self, source: int, target: int) -> None:
        self.edges[source, self.free[source].pop()] = target


def _tasks_without_inline(workflow: Workflow) -> Iterator[tuple[tuple[str, ...], Task]]:
    """Yield the tasks that have no inline sub-workflow, at any depth, with their paths."""
    waiting: list[tuple[tuple[str, ...], Workflow]] = [((), workflow)]
    for path, level in waiting:
        for task in level.tasks:
            if task.subworkflow is None:
                yield (*path, task.name), task
            else:
                waiting.append(((*path, task.name), task.subworkflow))


def _with_references(level: Workflow, place: int, targets: Mapping[Holder, Workflow]) -> Workflow:
    """Return the workflow with references to the targets of its tasks, and no other."""

    def tasks(level_tasks: Iterable[Task], path: tuple[str, ...], package: str) -> Iterator[Task]:
        for task in level_tasks:
            here = (*path, task.name)
            inner, target = task.subworkflow, targets.get((place, here))
            if inner is not None:
                yield replace(task, subworkflow=replace(inner, tasks=tuple(tasks(inner.tasks, here, package))))
            elif target is None:
                yield replace(task, reference=None, bindings=())
            else:
                reference = replace(target.qualified, package="" if target.package == package else target.package)
                yield replace(task, reference=reference, implementation="", bindings=())

    return replace(level, tasks=tuple(tasks(level.tasks, (), level.package)))

"""Which resolutions of choices can hold together in one run, judged by the guards on the ways out of their nodes.

A parameter keeps its value through a run unless a task has an effect on it or a loop depends on it; for those, and for
prose, guards of different choices that speak of the same thing are undecided where it matters. Nothing is said of
situations in which a choice has no way open.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from .control_flow import ControlFlow
from .guard_syntax import renamed
from .guards import Comparison, Guard, Not, Or, Otherwise, comparisons, parse_guard, satisfiable
from .model import Link, Parameter, Workflow

Need = tuple[tuple[Link, ...], bool]  # one of these links out of one node is taken, or none of them is


class JointChoices:
    """Which ways out of several nodes of a level one run can take; at `loops`, it repeats or leaves a loop."""

    def __init__(self, flow: ControlFlow, loops: set[str]) -> None:
        self.flow = flow
        own = [
            Parameter(f"{task.name}.{one.name}", domain=one.domain)
            for task in flow.level.tasks
            for one in task.parameters
        ]
        self.domains = {one.name: one.domain for one in reversed([*flow.level.parameters, *own])}
        deciding = [self._formula(link) for node in sorted(loops) for link in flow.out[node]]
        self.unsteady = {*_names(*deciding), *_affected(flow.level)}
        self.answers: dict[frozenset[Need], bool | None] = {}
        whole = {
            node: Or(tuple(map(self._formula, links))) for node, links in flow.out.items() if self._measured(links)
        }
        self.gaps = {
            node: _names(guard) for node, guard in whole.items() if self._satisfiable([Not(guard)]) is not False
        }
        self.stuck = any(self._satisfiable([guard]) is not True for guard in whole.values()) or any(
            not one.isdisjoint(other) for one, other in combinations(self.gaps.values(), 2)
        )

    def possible(self, needs: frozenset[Need]) -> bool | None:
        """Whether some run needs just that; None where it hangs on values that may change, or on what prose means."""
        guarded = frozenset(need for need in needs if all(link.guard is not None for link in need[0]))
        if guarded not in self.answers:
            self.answers[guarded] = self._possible(guarded)
        return self.answers[guarded]

    def _possible(self, needs: frozenset[Need]) -> bool | None:
        apart = [self._need(need, apart=True) for need in needs]
        if self._satisfiable(apart) is False:
            return False
        steady = [self._need(need) for need in needs]
        nodes, names = {links[0].source for links, _ in needs}, _names(*steady)
        gap = any(node not in nodes and not names.isdisjoint(found) for node, found in self.gaps.items())
        return None if gap or self._untold(needs) or self._satisfiable(steady) is not True else True

    def _untold(self, needs: frozenset[Need]) -> bool:
        """Whether two ways out of one node are needed that may exclude each other."""
        taken = [links for links, positive in needs if positive]
        pairs = [(a, b) for a, b in combinations(taken, 2) if a[0].source == b[0].source and set(a).isdisjoint(b)]
        return any(not any(self.flow.together(one, other) for one in a for other in b) for a, b in pairs)

    def _need(self, need: Need, apart: bool = False) -> Guard:
        either = Or(tuple(self._formula(link, apart) for link in need[0]))
        return either if need[1] else Not(either)

    def _formula(self, link: Link, apart: bool = False) -> Guard:
        """The guard of a link over names of the whole level; `apart`: unsteady ones over names of its node alone."""
        own = {one.name for one in self.flow.parameters(link.source)} - {one.name for one in self.flow.level.parameters}

        def name(found: str) -> str:
            found = f"{link.source}.{found}" if found in own else found
            return f"{found}\0{link.source}" if apart and (found in self.unsteady or found[:1] == " ") else found

        others = tuple(one.guard for one in self.flow.out[link.source] if one.guard is not None)
        return renamed(_plain(link.guard or "", others), name)

    def _measured(self, links: list[Link]) -> bool:
        """Whether guards alone tell if a way is open: none of them is prose, or "otherwise"."""
        guards = [parse_guard(link.guard or "") for link in links]
        return bool(guards) and all(guard is not None and not isinstance(guard, Otherwise) for guard in guards)

    def _satisfiable(self, guards: list[Guard]) -> bool | None:
        named = [Parameter(name, domain=self.domains.get(name.split("\0")[0])) for name in sorted(_names(*guards))]
        return satisfiable(guards, [*named, *self.flow.level.parameters])


def _plain(guard: str, beside: tuple[str, ...]) -> Guard:
    """The guard, prose as a truth of its own, "otherwise" as none of those beside it."""
    parsed = parse_guard(guard)
    if isinstance(parsed, Otherwise):
        return Not(Or(tuple(_plain(one, ()) for one in beside if not isinstance(parse_guard(one), Otherwise))))
    return parsed or Comparison(" " + " ".join(guard.split()), "=", "true")


def _names(*guards: Guard) -> set[str]:
    return {comparison.parameter for guard in guards for comparison in comparisons(guard)}


def _affected(level: Workflow) -> Iterator[str]:
    """The names of the parameters on which tasks have effects, at any depth."""
    waiting = [level]
    while waiting:
        tasks = waiting.pop().tasks
        waiting.extend(task.subworkflow for task in tasks if task.subworkflow is not None)
        for task in tasks:
            yield from (name for one in task.effects for name in (one.parameter, f"{task.name}.{one.parameter}"))

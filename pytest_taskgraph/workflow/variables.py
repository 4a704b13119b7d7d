"""The parameters of a level as variables: which guards read, which effects change, and what a run must know of them.

A variable bears the name of its parameter; a parameter of a task's own, which the level has not, is `Task.parameter`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from .control_flow import ControlFlow
from .effects import Expression, Literally, Name, Operation, names, parse_expression
from .guard_syntax import renamed
from .guards import Guard, Otherwise, comparisons, parse_guard, unambiguous
from .model import Domain, Link, Task, Workflow
from .project import find


@dataclass(frozen=True, slots=True)
class Way:
    """A link out of a node. `guard` is None where it has none, or where what it has cannot be computed (`vague`)."""

    link: Link
    guard: Guard | None
    vague: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A variable that a task changes; `expression` is None where its new value cannot be computed."""

    variable: str
    expression: Expression | None


class Variables:
    """What the guards and the effects of a level speak of."""

    def __init__(self, level: Workflow) -> None:
        self.flow = ControlFlow(level)
        self.level = level
        self._shared = {parameter.name for parameter in level.parameters}
        self.domains: dict[str, Domain | None] = {}
        own = [(self.of(task.name, one.name), one.domain) for task in level.tasks for one in task.parameters]
        for name, domain in [(one.name, one.domain) for one in level.parameters] + own:
            self.domains.setdefault(name, domain)
        self.ways = {node: tuple(self._way(link) for link in links) for node, links in self.flow.out.items()}
        self.changes = {task.name: tuple(self._changes(task)) for task in level.tasks}

    def of(self, node: str, name: str) -> str:
        """The variable that a name means at a node."""
        own = {one.name for one in self.flow.parameters(node)} - self._shared
        return f"{node}.{name}" if name in own else name

    def read(self, nodes: Collection[str]) -> frozenset[str]:
        """The variables that the guards of links out of some nodes read."""
        guards = [way.guard for node in nodes for way in self.ways[node] if way.guard is not None]
        return frozenset(one.parameter for guard in guards for one in comparisons(guard))

    def needed(self, nodes: Collection[str]) -> frozenset[str]:
        """The variables that decide which way is taken at some nodes: those read, and those they are computed from."""
        return self.sources(self.read(nodes), nodes)

    def sources(self, read: Collection[str], nodes: Collection[str]) -> frozenset[str]:
        """Some variables, and those from which tasks among the nodes compute them."""
        found = list(read)
        changes = [change for node in nodes for change in self.changes.get(node, ())]
        for name in found:
            expressions = (change.expression for change in changes if change.variable == name)
            found += [one for expression in expressions if expression for one in names(expression) if one not in found]
        return frozenset(found)

    @cached_property
    def relevant(self) -> frozenset[str]:
        """The variables that decide which way is taken anywhere."""
        return self.needed(self.flow.nodes)

    @cached_property
    def changed(self) -> frozenset[str]:
        """The variables that some task changes."""
        return frozenset(change.variable for changes in self.changes.values() for change in changes)

    def _way(self, link: Link) -> Way:
        if link.guard is None:
            return Way(link, None)
        guard = parse_guard(link.guard)
        known = self.flow.parameters(link.source)
        if guard is None or not all(unambiguous(one, known) for one in comparisons(guard)):
            return Way(link, None, vague=True)
        return Way(
            link, guard if isinstance(guard, Otherwise) else renamed(guard, lambda name: self.of(link.source, name))
        )

    def _changes(self, task: Task) -> Iterator[Change]:
        """What a task changes. Unknown is what the tasks inside it change, and what could be read in two orders."""
        inside = sorted(_changed_inside(self.level, task))
        targets = [self.of(task.name, one.parameter) for one in task.effects]
        for target, effect in zip(targets, task.effects, strict=True):
            expression = self._expression(task.name, target, parse_expression(effect.expression))
            others = {*inside, *(one for one in targets if one != target)}
            clear = expression is not None and targets.count(target) == 1 and others.isdisjoint(names(expression))
            yield Change(target, expression if clear and target not in inside else None)
        yield from (Change(name, None) for name in inside if name not in targets)

    def _expression(self, task: str, target: str, found: Expression | None) -> Expression | None:
        """The expression over variables; a word of the target's domain, if no parameter, is a word."""
        domain = self.domains.get(target)
        if isinstance(found, Name) and domain is not None and found.name in domain.words:
            return None if self.of(task, found.name) in self.domains else Literally(found.name)
        return self._named(task, found) if found is not None else None

    def _named(self, task: str, found: Expression) -> Expression:
        match found:
            case Name(name):
                return Name(self.of(task, name))
            case Operation(operator, left, right):
                return Operation(operator, self._named(task, left), self._named(task, right))
        return found


@lru_cache(maxsize=128)
def variables(level: Workflow) -> Variables:
    """The variables of a level. Not to be changed."""
    return Variables(level)


def _changed_inside(level: Workflow, task: Task) -> set[str]:
    """The names that tasks of the sub-workflow change, at any depth, but parameters of those tasks' own."""
    found: set[str] = set()
    entered: set[str] = set()
    waiting = [(task, level.package)]
    while waiting:
        one, package = waiting.pop()
        inner = one.subworkflow or (find(level, one.reference, package) if one.reference is not None else None)
        if inner is None or (one.reference is not None and str(inner.qualified) in entered):
            continue
        entered.add(str(inner.qualified))
        for step in inner.tasks:
            own = {parameter.name for parameter in (*inner.parameters, *step.parameters)}
            found |= {effect.parameter for effect in step.effects} - own
            waiting.append((step, inner.package or package))
    return found

"""The parameters of a level as variables: what reads and changes them, and their values during a run.

n + 1      2 * (n - step)      -n      "fast"

All values are exact. An expression can also be followed over the passes of a loop: if parameters change by the same
amount each time, `slope` computes by how much the expression changes.

A variable has the name of its parameter; a task's own parameter, which the level has not, is `Task.parameter`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from typing import Any, Final, Literal

from ..guards.cells import Constant, in_domain, is_unbounded
from ..guards.solver import Comparison, Guard, Otherwise, compare, comparisons, holds, parse_guard, unambiguous
from ..guards.syntax import rename_parameters
from ..model import Domain, Link, Task, Workflow
from ..project import find
from .control_flow import ControlFlow

MAX_LENGTH = 200
"""Largest length of an expression; it bounds how deep an expression can nest."""

MAX_BITS = 2000
"""Largest number of bits of a numerator or denominator that is computed with."""


ZERO: Final = Fraction(0)


@dataclass(frozen=True, slots=True)
class Literally:
    """A number, or a word in quotes."""

    value: Constant


@dataclass(frozen=True, slots=True)
class Name:
    """The value of a parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class Operation:
    """Two expressions and what joins them."""

    operator: Literal["+", "-", "*"]
    left: Expression
    right: Expression


Expression = Literally | Name | Operation

_GRAMMAR = r"""
?start: sum | QUOTED -> quoted
?sum: product | sum "+" product -> plus | sum "-" product -> minus
?product: factor | product "*" factor -> times
?factor: "-" factor -> opposite | NUMBER -> number | NAME -> name | "(" sum ")"
NAME: /[^\W\d]\w*(\.[^\W\d]\w*)*/
NUMBER: /\d{1,100}(\.\d{1,100})?(?![\w.])/
QUOTED: /"[^"]*"|'[^']*'/
%import common.WS
%ignore WS
"""


@lru_cache(maxsize=4096)
def parse_expression(text: str) -> Expression | None:
    """Parse an expression; return None for any text outside the language."""
    from lark.exceptions import UnexpectedInput

    try:
        return _parser()(text) if len(text) <= MAX_LENGTH else None
    except UnexpectedInput:
        return None


def names(expression: Expression) -> Iterator[str]:
    """Yield the names of parameters in an expression, from left to right."""
    if isinstance(expression, Name):
        yield expression.name
    if isinstance(expression, Operation):
        yield from names(expression.left)
        yield from names(expression.right)


def evaluate(expression: Expression, values: Mapping[str, Constant]) -> Constant:
    """Return the value of an expression.

    Raises:
        KeyError: if a parameter has no value.
        TypeError: if it computes with a word.
        OverflowError: for numbers of more than MAX_BITS bits.
    """
    if isinstance(expression, Name):
        return values[expression.name]
    if isinstance(expression, Literally):
        return expression.value
    operator, first, second = expression.operator, evaluate(expression.left, values), evaluate(expression.right, values)
    if isinstance(first, str) or isinstance(second, str):
        raise TypeError(f"{first!r} {operator} {second!r}: a word is no number")
    result = first * second if operator == "*" else first + second if operator == "+" else first - second
    if max(abs(result.numerator), result.denominator).bit_length() > MAX_BITS:
        raise OverflowError(f"a number of more than {MAX_BITS} bits")
    return result


def slope(
    expression: Expression, values: Mapping[str, Constant], slopes: Mapping[str, Fraction | None]
) -> Fraction | None:
    """Return by how much an expression changes each time if every parameter changes by its slope each time.

    None if it does not change by the same amount each time. A parameter without a slope keeps its value.
    """
    match expression:
        case Literally():
            return ZERO
        case Name(name):
            return slopes.get(name, ZERO)
        case Operation(operator, left, right):
            left_slope, right_slope = slope(left, values, slopes), slope(right, values, slopes)
            if left_slope is None or right_slope is None:
                return None
            if operator != "*":
                return left_slope + right_slope if operator == "+" else left_slope - right_slope
            first, second = evaluate(left, values), evaluate(right, values)
            if (left_slope and right_slope) or isinstance(first, str) or isinstance(second, str):
                return None
            return left_slope * second + right_slope * first


def fixed_step(expression: Expression, name: str) -> Fraction | None:
    """Return what the expression adds to the parameter of that name; None if it does not just add a number to it."""
    if {*names(expression)} != {name}:
        return None
    zero = {name: Fraction(0)}
    step = evaluate(expression, zero) if slope(expression, zero, {name: Fraction(1)}) == 1 else None
    return None if isinstance(step, str) else step


@cache
def _parser() -> Callable[[str], Expression]:
    from lark import Lark, Transformer, v_args

    builder = v_args(inline=True)(type("Builder", (Transformer,), dict(_BUILD)))()
    parse: Callable[[str], Any] = Lark(_GRAMMAR, parser="lalr", transformer=builder).parse
    return parse


_BUILD: dict[str, Callable[..., Expression]] = {
    "plus": lambda _, left, right: Operation("+", left, right),
    "minus": lambda _, left, right: Operation("-", left, right),
    "times": lambda _, left, right: Operation("*", left, right),
    "opposite": lambda _, part: Operation("-", Literally(Fraction(0)), part),
    "number": lambda _, text: Literally(Fraction(str(text))),
    "name": lambda _, text: Name(str(text)),
    "quoted": lambda _, text: Literally(str(text[1:-1])),
}


@dataclass(frozen=True, slots=True)
class Way:
    """A link out of a node. `guard` is None if it has none, or if its guard cannot be computed (`vague`)."""

    link: Link
    guard: Guard | None
    vague: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A variable that a task changes; `expression` is None if its new value cannot be computed.

    `sources` are the variables in the expression, from left to right; `step` is what it adds to the variable if it does
    just that.
    """

    variable: str
    expression: Expression | None
    sources: tuple[str, ...] = ()
    step: Fraction | None = None


class Variables:
    """The variables that the guards and the effects of a level mention."""

    def __init__(self, level: Workflow) -> None:
        self.flow = ControlFlow(level)
        self.level = level
        self._shared = {parameter.name for parameter in level.parameters}
        self.domains: dict[str, Domain | None] = {}
        own_domains = [
            (self.of(task.name, parameter.name), parameter.domain)
            for task in level.tasks
            for parameter in task.parameters
        ]
        for name, domain in [(parameter.name, parameter.domain) for parameter in level.parameters] + own_domains:
            self.domains.setdefault(name, domain)
        self.ways = {node: tuple(self._way(link) for link in links) for node, links in self.flow.out.items()}
        self.changes = {task.name: tuple(self._changes(task)) for task in level.tasks}

    def of(self, node: str, name: str) -> str:
        """Return the variable that a name means at a node."""
        own_names = {parameter.name for parameter in self.flow.parameters(node)} - self._shared
        return f"{node}.{name}" if name in own_names else name

    def read(self, nodes: Collection[str]) -> frozenset[str]:
        """Return the variables that the guards of links out of some nodes read."""
        return frozenset().union(*(self._read_by_node[node] for node in nodes))

    def needed(self, nodes: Collection[str]) -> frozenset[str]:
        """Return the variables that decide the ways out of some nodes: those read, and those they are computed from."""
        return self.sources(self.read(nodes), nodes)

    def sources(self, read: Collection[str], nodes: Collection[str]) -> frozenset[str]:
        """Return some variables, and those from which tasks among the nodes compute them."""
        changes = [change for node in nodes for change in self.changes.get(node, ()) if change.sources]
        found = dict.fromkeys(read)
        waiting = list(found) if changes else []
        for name in waiting:
            for source in (source for change in changes if change.variable == name for source in change.sources):
                if source not in found:
                    found[source] = None
                    waiting.append(source)
        return frozenset(found)

    @cached_property
    def _read_by_node(self) -> dict[str, frozenset[str]]:
        guards = {node: [way.guard for way in ways if way.guard is not None] for node, ways in self.ways.items()}
        return {
            node: frozenset(comparison.parameter for guard in read for comparison in comparisons(guard))
            for node, read in guards.items()
        }

    @cached_property
    def relevant(self) -> frozenset[str]:
        """Return the variables that decide which way is taken anywhere."""
        return self.needed(self.flow.nodes)

    @cached_property
    def changed(self) -> frozenset[str]:
        """Return the variables that some task changes."""
        return frozenset(change.variable for changes in self.changes.values() for change in changes)

    def _way(self, link: Link) -> Way:
        if link.guard is None:
            return Way(link, None)
        guard = parse_guard(link.guard)
        parameters = self.flow.parameters(link.source)
        if guard is None or not all(unambiguous(comparison, parameters) for comparison in comparisons(guard)):
            return Way(link, None, vague=True)
        return Way(
            link,
            guard
            if isinstance(guard, Otherwise)
            else rename_parameters(guard, lambda name: self.of(link.source, name)),
        )

    def _changes(self, task: Task) -> Iterator[Change]:
        """Yield the changes of a task; those inside it, and those that depend on an order, have no expression."""
        inside = sorted(_changed_inside(self.level, task))
        targets = [self.of(task.name, effect.parameter) for effect in task.effects]
        for target, effect in zip(targets, task.effects, strict=True):
            expression = self._expression(task.name, target, parse_expression(effect.expression))
            others = {*inside, *(effect for effect in targets if effect != target)}
            clear = expression is not None and targets.count(target) == 1 and others.isdisjoint(names(expression))
            if expression is None or not clear or target in inside:
                yield Change(target, None)
            else:
                yield Change(target, expression, tuple(names(expression)), fixed_step(expression, target))
        yield from (Change(name, None) for name in inside if name not in targets)

    def _expression(self, task: str, target: str, expression: Expression | None) -> Expression | None:
        """Return the expression over variables; None if it cannot be computed.

        A name in the domain of the target is a word unless it is a parameter too.
        """
        domain = self.domains.get(target)
        if isinstance(expression, Name) and domain is not None and expression.name in domain.words:
            return None if self.of(task, expression.name) in self.domains else Literally(expression.name)
        return self._qualified(task, expression) if expression is not None else None

    def _qualified(self, task: str, expression: Expression) -> Expression:
        match expression:
            case Name(name):
                return Name(self.of(task, name))
            case Operation(operator, left, right):
                return Operation(operator, self._qualified(task, left), self._qualified(task, right))
        return expression


@lru_cache(maxsize=128)
def variables_of(level: Workflow) -> Variables:
    """Return the variables of a level. Do not change them."""
    return Variables(level)


def _changed_inside(level: Workflow, task: Task) -> set[str]:
    """Return the names that tasks of the sub-workflow change, at any depth, except parameters of those tasks' own."""
    names: set[str] = set()
    entered: set[str] = set()
    waiting = [(task, level.package)]
    while waiting:
        composite, package = waiting.pop()
        inner = composite.subworkflow or (
            find(level, composite.reference, package) if composite.reference is not None else None
        )
        if inner is None or (composite.reference is not None and str(inner.qualified) in entered):
            continue
        entered.add(str(inner.qualified))
        for step in inner.tasks:
            own = {parameter.name for parameter in (*inner.parameters, *step.parameters)}
            names |= {effect.parameter for effect in step.effects} - own
            waiting.append((step, inner.package or package))
    return names


class UndecidedError(Exception):
    """A run that cannot be determined; it never leaves `execution.py`."""

    def __init__(self, reason: str, missing: str = "", stuck: bool = False) -> None:
        super().__init__(reason)
        self.missing, self.stuck = missing, stuck


@dataclass(slots=True)
class VariableWatch:
    """One pass of a loop if every variable changes by its slope in each: `settled` if all guards keep their answers."""

    slopes: dict[str, Fraction | None]
    settled: bool = True


class Memory:
    """The values of a run's variables. `place` is the number of an execution; sets of them are bits of a number."""

    def __init__(self, variables: Variables, values: Mapping[str, Constant]) -> None:
        self.variables, self.values = variables, dict(values)
        self.readers: dict[str, int] = {}
        self.writers: dict[str, int] = {}
        self.watches: list[VariableWatch] = []

    def change(self, task: str, changes: Iterable[Change], place: int, before: int) -> None:
        """Apply the changes that a task makes to the variables that matter."""
        for change in changes:
            name = change.variable
            if change.expression is None:
                raise UndecidedError(f"what {task} makes of {name} cannot be computed")
            for source in change.sources:
                self._read(source, place, before)
            if (self.readers.get(name, 0) & ~(1 << place) | self.writers.get(name, 0)) & ~before:
                raise UndecidedError(f"{task} changes {name} while something beside it reads or changes it")
            self.writers[name] = self.writers.get(name, 0) | 1 << place
            self._set(task, name, change.expression, change.step)

    def holds(self, guard: Guard, compared: Iterable[Comparison], place: int, before: int) -> bool:
        """Return True if a guard, with its comparisons, holds in the execution `place`, after all of `before`."""
        try:
            for comparison in compared:
                value = self._read(comparison.parameter, place, before)
                for watch in self.watches:
                    if watch.settled:
                        watch.settled = _stays(comparison, value, watch.slopes.get(comparison.parameter, ZERO))
            return holds(guard, self.values)
        except TypeError as error:
            raise UndecidedError(str(error)) from None

    def _read(self, name: str, place: int, before: int) -> Constant:
        if name not in self.values:
            raise UndecidedError(f"{name} has no value", missing=name)
        if self.writers.get(name, 0) & ~before:
            raise UndecidedError(f"{name} is read while something beside it changes it")
        self.readers[name] = self.readers.get(name, 0) | 1 << place
        return self.values[name]

    def _set(self, task: str, name: str, expression: Expression, step: Fraction | None) -> None:
        try:
            value = evaluate(expression, self.values)
        except (TypeError, OverflowError) as error:
            raise UndecidedError(f"what {task} makes of {name} cannot be computed: {error}") from None
        domain = self.variables.domains.get(name)
        if domain is not None and not in_domain(value, domain):
            raise UndecidedError(f"{task} takes {name} out of its domain")
        for watch in self.watches:
            if name in watch.slopes:
                if step is None:
                    watch.slopes[name] = slope(expression, self.values, watch.slopes)
                move = watch.slopes[name]
                watch.settled = watch.settled and (domain is None or not move or is_unbounded(domain, move))
        self.values[name] = value


class LoopProgress:
    """The progress of a loop from pass to pass: whether it will ever end, judging by the variables that it reads.

    Without changes that tasks state (`unstated`), the return of an earlier state says nothing.
    """

    def __init__(self, names: Sequence[str], unstated: bool, memory: Memory) -> None:
        self.names, self.unstated, self.memory = names, unstated, memory
        self.states = [self._state()]
        self.seen = set(self.states)
        self.slopes: dict[str, Fraction | None] = dict.fromkeys(self.names)

    def begin(self) -> None:
        """Begin a pass."""
        self.memory.watches.append(VariableWatch(dict(self.slopes)))

    def never_ends(self, again: bool) -> bool:
        """Return True if the loop goes on for ever, now that a pass has ended; `again` if it repeats."""
        watch = self.memory.watches.pop()
        if not again:
            return False
        self.states = [self.states[-1], self._state()]
        if self.states[-1] in self.seen:
            if self.unstated:
                raise UndecidedError("no task states what it changes, so it is undecided when the loop ends")
            return True
        self.seen.add(self.states[-1])
        before, self.slopes = self.slopes, dict(self._moves())
        return watch.settled and None not in before.values() and watch.slopes == before == self.slopes

    def _state(self) -> tuple[Constant | None, ...]:
        return tuple([self.memory.values.get(name) for name in self.names])

    def _moves(self) -> Iterator[tuple[str, Fraction | None]]:
        """Yield by how much every variable has changed in the last pass; None for a changed word."""
        for name, old, new in zip(self.names, self.states[-2], self.states[-1], strict=True):
            both = isinstance(old, Fraction) and isinstance(new, Fraction)
            yield name, ZERO if old == new else new - old if both else None  # type: ignore[operator]


def _stays(comparison: Comparison, value: Constant, move: Fraction | None) -> bool:
    """Return True if the comparison keeps its answer for the value plus any multiple of the move."""
    if not move:
        return move is not None
    if isinstance(value, str) or isinstance(comparison.value, str):
        return False
    if comparison.operator in ("=", "!="):
        times = (comparison.value - value) / move
        return times < 0 or times.denominator != 1
    grows = comparison.operator in (">", ">=")
    return compare(value, comparison.operator, comparison.value) == (grows == (move > 0))

"""The parameters of a level as variables: who reads and changes them, and what a run remembers of them.

n + 1      2 * (n - step)      -n      "fast"

All is exact. An expression can also be followed over the passes of a loop: where parameters change by the same amount
each time, it tells by how much the expression does.

A variable bears the name of its parameter; a parameter of a task's own, which the level has not, is `Task.parameter`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from typing import Any, Literal

from ..guards.cells import Constant, in_domain, is_unbounded
from ..guards.solver import Comparison, Guard, Otherwise, compare, comparisons, holds, parse_guard, unambiguous
from ..guards.syntax import rename_parameters
from ..model import Domain, Link, Task, Workflow
from ..project import find
from .control_flow import ControlFlow
from .loop_nest import LoopPart

MAX_LENGTH = 200
"""A longer text is no expression; it bounds how deep one can nest."""

MAX_BITS = 2000
"""Numbers with a numerator or denominator of more bits are not computed with."""


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
    """The expression that a text says; None for any text outside the language."""
    from lark.exceptions import UnexpectedInput

    try:
        return _parser()(text) if len(text) <= MAX_LENGTH else None
    except UnexpectedInput:
        return None


def names(expression: Expression) -> Iterator[str]:
    """The names of parameters in an expression, from left to right."""
    if isinstance(expression, Name):
        yield expression.name
    if isinstance(expression, Operation):
        yield from names(expression.left)
        yield from names(expression.right)


def evaluate(expression: Expression, values: Mapping[str, Constant]) -> Constant:
    """The value of an expression.

    Raises KeyError where a parameter has no value, TypeError where it computes with a word, OverflowError for numbers
    of more than MAX_BITS bits.
    """
    match expression:
        case Literally(value):
            return value
        case Name(name):
            return values[name]
        case Operation(operator, left, right):
            one, other = evaluate(left, values), evaluate(right, values)
            if isinstance(one, str) or isinstance(other, str):
                raise TypeError(f"{one!r} {operator} {other!r}: a word is no number")
            found = one * other if operator == "*" else one + other if operator == "+" else one - other
            if max(abs(found.numerator), found.denominator).bit_length() > MAX_BITS:
                raise OverflowError(f"a number of more than {MAX_BITS} bits")
            return found


def slope(
    expression: Expression, values: Mapping[str, Constant], slopes: Mapping[str, Fraction | None]
) -> Fraction | None:
    """By how much an expression changes each time if every parameter changes by its slope each time.

    None where it does not change by the same amount. A parameter without a slope keeps its value.
    """
    match expression:
        case Literally():
            return Fraction(0)
        case Name(name):
            return slopes.get(name, Fraction(0))
        case Operation(operator, left, right):
            one, other = slope(left, values, slopes), slope(right, values, slopes)
            if one is None or other is None:
                return None
            if operator != "*":
                return one + other if operator == "+" else one - other
            first, second = evaluate(left, values), evaluate(right, values)
            if (one and other) or isinstance(first, str) or isinstance(second, str):
                return None
            return one * second + other * first


def fixed_step(expression: Expression, name: str) -> Fraction | None:
    """What the expression adds to the parameter of that name; None if it does not just add a number to it."""
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
            link,
            guard
            if isinstance(guard, Otherwise)
            else rename_parameters(guard, lambda name: self.of(link.source, name)),
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
def variables_of(level: Workflow) -> Variables:
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


Slopes = Mapping[str, Fraction | None]


class UndecidedError(Exception):
    """A run that cannot be told; it never leaves `execution.py`."""

    def __init__(self, reason: str, missing: str = "", stuck: bool = False) -> None:
        super().__init__(reason)
        self.missing, self.stuck = missing, stuck


@dataclass(slots=True)
class VariableWatch:
    """One pass of a loop, if every variable changes by its slope in each: whether all guards stay as they are."""

    slopes: dict[str, Fraction | None]
    settled: bool = True


class Memory:
    """The values of a run's variables. `place` is the number of an execution; sets of them are bits of a number."""

    def __init__(self, known: Variables, values: Mapping[str, Constant]) -> None:
        self.known, self.values = known, dict(values)
        self.readers: dict[str, int] = {}
        self.writers: dict[str, int] = {}
        self.watches: list[VariableWatch] = []

    def change(self, task: str, place: int, before: int) -> None:
        """Let a task do what it does to the variables that matter."""
        for change in self.known.changes[task]:
            name = change.variable
            if name not in self.known.relevant:
                continue
            if change.expression is None:
                raise UndecidedError(f"what {task} makes of {name} cannot be computed")
            for one in names(change.expression):
                self._read(one, place, before)
            if (self.readers.get(name, 0) & ~(1 << place) | self.writers.get(name, 0)) & ~before:
                raise UndecidedError(f"{task} changes {name} while something beside it reads or changes it")
            self.writers[name] = self.writers.get(name, 0) | 1 << place
            self._set(task, name, change.expression)

    def holds(self, guard: Guard, place: int, before: int) -> bool:
        """Whether a guard holds now. It is asked in the execution `place`, after all of `before`."""
        try:
            for comparison in comparisons(guard):
                value = self._read(comparison.parameter, place, before)
                for watch in self.watches:
                    move = watch.slopes.get(comparison.parameter, Fraction(0))
                    watch.settled = watch.settled and _stays(comparison, value, move)
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

    def _set(self, task: str, name: str, expression: Expression) -> None:
        try:
            value = evaluate(expression, self.values)
        except (TypeError, OverflowError) as error:
            raise UndecidedError(f"what {task} makes of {name} cannot be computed: {error}") from None
        domain = self.known.domains.get(name)
        if domain is not None and not in_domain(value, domain):
            raise UndecidedError(f"{task} takes {name} out of its domain")
        for watch in self.watches:
            if name in watch.slopes:
                move = watch.slopes[name] = slope(expression, self.values, watch.slopes)
                watch.settled = watch.settled and (domain is None or not move or is_unbounded(domain, move))
        self.values[name] = value


class LoopProgress:
    """A loop from pass to pass: whether it will ever end, told by the variables that its guards hang on."""

    def __init__(self, known: Variables, loop: LoopPart, memory: Memory) -> None:
        self.known, self.loop, self.memory = known, loop, memory
        self.names = sorted(known.needed(loop.nodes))
        self.states = [self._state()]
        self.seen = set(self.states)
        self.slopes: dict[str, Fraction | None] = {}

    def begin(self) -> None:
        """A pass begins."""
        self.slopes = dict(self._moves()) if len(self.states) > 1 else dict.fromkeys(self.names)
        self.memory.watches.append(VariableWatch(dict(self.slopes)))

    def stays(self, again: bool) -> bool:
        """Whether the loop goes on for ever, now that a pass has ended and it repeats or not."""
        watch = self.memory.watches.pop()
        if not again:
            return False
        self.states = [self.states[-1], self._state()]
        if self.states[-1] in self.seen:
            if self.known.read(self.loop.nodes) and not self.known.changed:
                raise UndecidedError("no task tells what it changes, so nothing tells when the loop ends")
            return True
        self.seen.add(self.states[-1])
        known = None not in self.slopes.values()
        return known and watch.settled and watch.slopes == self.slopes == dict(self._moves())

    def _state(self) -> tuple[Constant | None, ...]:
        return tuple(self.memory.values.get(name) for name in self.names)

    def _moves(self) -> Iterator[tuple[str, Fraction | None]]:
        """By how much every variable has changed in the last pass; None for a word that is another now."""
        for name, old, new in zip(self.names, self.states[-2], self.states[-1], strict=True):
            both = isinstance(old, Fraction) and isinstance(new, Fraction)
            yield name, Fraction(0) if old == new else new - old if both else None  # type: ignore[operator]


def _stays(comparison: Comparison, value: Constant, move: Fraction | None) -> bool:
    """Whether a comparison is as true of the value as of it plus once, twice, ... any number of times the move."""
    if not move:
        return move is not None
    if isinstance(value, str) or isinstance(comparison.value, str):
        return False
    if comparison.operator in ("=", "!="):
        times = (comparison.value - value) / move
        return times < 0 or times.denominator != 1
    grows = comparison.operator in (">", ">=")
    return compare(value, comparison.operator, comparison.value) == (grows == (move > 0))

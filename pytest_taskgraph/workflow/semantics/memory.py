"""What a run remembers: the values of variables, who has read and changed them, and how a loop moves them on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ..guards.cells import Constant, endless, within
from ..guards.solver import Comparison, Guard, compare, comparisons, holds
from .loop_nest import LoopPart
from .variables import Expression, Variables, evaluate, names, slope

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
        if domain is not None and not within(value, domain):
            raise UndecidedError(f"{task} takes {name} out of its domain")
        for watch in self.watches:
            if name in watch.slopes:
                move = watch.slopes[name] = slope(expression, self.values, watch.slopes)
                watch.settled = watch.settled and (domain is None or not move or endless(domain, move))
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

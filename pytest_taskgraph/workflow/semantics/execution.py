"""Execute the control flow of a level in a situation: which tasks run, how often, and which orders that allows.

The nodes are gone through in an order in which everything comes after all that leads to it (`loop_nest.py`), so one
pass tells the partial order of the whole run, whatever its branches do at the same time. A node runs if one of the
links into it is taken, and after all that can lead to it has run or is known not to run. A loop is gone through pass
by pass. It never ends if the variables it hangs on come back to values they had, or if every guard that a pass asked
gives the same answer ever after, because all variables move on by the same amounts (`memory.py`).

Nothing is guessed: what can be read in two ways ends as `Undecided`, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import compress

from ...errors import UnknownNameError
from ..guards.cells import Constant, Situation, exact_value
from ..guards.solver import Otherwise
from ..model import END, START, Link, Scalar, Workflow
from .loop_nest import LoopPart, parts_of
from .variables import LoopProgress, Memory, UndecidedError, Variables, Way, variables_of


def taken(known: Variables, node: str, memory: Memory, place: int, before: int) -> list[Link]:
    """The links out of a node that are taken; its execution has the number `place`, all of `before` has come before.

    Raises UndecidedError where a guard cannot be computed, the links contradict the gateway, no way is open, or more
    than one is and the choice is not known to be inclusive.
    """
    ways, kind = known.ways[node], known.flow.split(node)
    guarded = [way for way in ways if way.link.guard is not None]
    if kind == "unclear" or (not guarded and kind not in ("", "parallel")):
        raise UndecidedError(f"nothing tells which way is taken at {node}")
    for way in guarded:
        if way.vague:
            raise UndecidedError(f"the guard {way.link.guard!r} cannot be computed")
    free = [way.link for way in ways if way.link.guard is None]
    held = _open(guarded, memory, place, before)
    if guarded and kind != "mixed" and not held:
        raise UndecidedError(f"no way is open at {node}", stuck=True)
    if len(held) > 1 and kind not in ("inclusive", "mixed"):
        raise UndecidedError(f"several ways are open at {node}, and may exclude each other")
    return free + held


def _open(ways: Sequence[Way], memory: Memory, place: int, before: int) -> list[Link]:
    plain = [way for way in ways if way.guard is not None and not isinstance(way.guard, Otherwise)]
    held = [way.link for way in plain if way.guard is not None and memory.holds(way.guard, place, before)]
    others = [way.link for way in ways if isinstance(way.guard, Otherwise)]
    return held or others


MAX_EXECUTIONS = 2000
"""How many executions of nodes one run may have; beyond, it is undecided."""


@dataclass(frozen=True)
class Run:
    """A partial order of task executions: execution i is of `tasks[i]`; `before[i]` are, as bits, those before it.

    The executions stand in one of the orders in which they can happen.
    """

    tasks: tuple[str, ...]
    before: tuple[int, ...]
    links: tuple[tuple[int, int], ...]  # which execution comes directly after which, through gateways only

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The executions of each task, in their order."""
        places: dict[str, list[int]] = {}
        for i, task in enumerate(self.tasks):
            places.setdefault(task, []).append(i)
        return places

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Which execution comes before which other; all that follows from others left out."""
        found = []
        for i, mask in enumerate(self.before):
            direct, rest = mask, mask
            while rest:
                j = rest.bit_length() - 1
                direct &= ~self.before[j]
                rest &= ~(self.before[j] | 1 << j)
            found += [(j, i) for j in _ones(direct)]
        return tuple(found)


@dataclass(frozen=True)
class Endless:
    """An execution that never ends: the tasks that run, and the nodes of every loop that never ends."""

    tasks: frozenset[str]
    loops: tuple[frozenset[str], ...]


@dataclass(frozen=True)
class Undecided:
    """No answer, and why. `missing` is the variable whose value the situation should have told, "" if that is not why.

    `passed` are the tasks known not to run when it came to that, `stuck` tells that a choice had no way open.
    """

    reason: str
    missing: str = ""
    stuck: bool = False
    passed: frozenset[str] = frozenset()


Outcome = Run | Endless | Undecided


def run(level: Workflow, situation: Situation) -> Run | None:
    """The run of the level in a situation; None where it never ends or is undecided, which `outcome` tells apart."""
    found = outcome(level, situation)
    return found if isinstance(found, Run) else None


def outcome(level: Workflow, situation: Situation) -> Outcome:
    """What becomes of the level in a situation, a mapping of parameters (`Task.name` for a task's own) to values.

    Undecided where a guard is prose or can be read in two ways, a choice has no way open or, if it is exclusive, more
    than one; where a parameter is read while a task beside it may change it, leaves its domain, or has no value; where
    a loop is left and repeated at once; where a join waits for a branch that is not taken; where nothing in a level
    tells what it changes, so that a loop would repeat for ever; and beyond MAX_EXECUTIONS.
    """
    return _outcome(level, tuple(sorted(_told(name, value) for name, value in situation.items())))


def _told(name: str, value: Scalar | Fraction) -> tuple[str, str | int, int]:
    """Return a value as words and whole numbers, which are hashed much faster than fractions."""
    told = exact_value(value)
    return (name, told, 0) if isinstance(told, str) else (name, told.numerator, told.denominator)


@lru_cache(maxsize=4096)
def _outcome(level: Workflow, values: tuple[tuple[str, str | int, int], ...]) -> Outcome:
    told = {name: one if isinstance(one, str) else Fraction(one, below) for name, one, below in values}
    execution = _Execution(level, told)
    try:
        return execution.outcome()
    except UndecidedError as error:
        return Undecided(str(error), error.missing, error.stuck, frozenset(execution.idle))


class _Execution:
    """One execution. Executions of nodes are numbered; sets of them are bits of a number."""

    def __init__(self, level: Workflow, values: Mapping[str, Constant]) -> None:
        self.level = level
        self.known: Variables = variables_of(level)
        self.flow = self.known.flow
        self.names = frozenset(level.task_names)
        self.memory = Memory(self.known, values)
        self.nodes: list[str] = []  # of every execution
        self.before: list[int] = []
        self.tokens: dict[Link, tuple[int, int]] = {}  # links taken and not followed: all before, and tasks directly so
        self.sources: list[int] = []  # for every execution, the tasks directly before it
        self.ahead: dict[Link, int] = {}  # for every link, taken or not, what can lead to it
        self.never: set[Link] = set()  # links behind a loop that never ends
        self.endless: list[frozenset[str]] = []
        self.idle: set[str] = set()  # nodes that do not run
        self.depth = 0  # the number of loops around the node
        self.of_tasks = 0

    def outcome(self) -> Outcome:
        found = parts_of(self.level)
        if found is None:
            raise UndecidedError("a loop has more than one entry")
        for part in found:
            self._part(part)
        if self.endless:
            return Endless(frozenset(self.nodes) & self.names, tuple(self.endless))
        return self._run()

    def _run(self) -> Run:
        places = [i for i, node in enumerate(self.nodes) if node in self.names]
        if not places:
            raise UndecidedError("nothing runs")
        number = {i: k for k, i in enumerate(places)}
        tasks = [node in self.names for node in self.nodes]
        return Run(
            tuple(self.nodes[i] for i in places),
            tuple(_packed(self.before[i], tasks) for i in places),
            tuple((number[j], m) for m, i in enumerate(places) for j in _ones(self.sources[i])),
        )

    def _part(self, part: LoopPart) -> None:
        if part.loop:
            self._loop(part)
        else:
            self._node(part.head)

    def _node(self, node: str) -> None:
        into, out = self.flow.into[node], self.flow.out[node]
        came = [self.tokens.pop(link) for link in into if link in self.tokens]
        mask = _union(self.ahead.get(link, 0) for link in into)
        if any(link in self.never for link in into):
            self.never.update(out)
        elif came or node == START:
            self._joins(node, len(came))
            mask = self._execute(node, _union(one for one, _ in came), _union(one for _, one in came), mask)
        elif not self.depth:
            self.idle.add(node)
        for link in out:
            self.ahead[link] = mask

    def _execute(self, node: str, before: int, sources: int, ahead: int) -> int:
        """Run a node; what has come before all links out of it then."""
        if node in self.names and (before ^ ahead) & self.of_tasks:
            raise UndecidedError(f"{node} may or may not wait for a branch that does not come to it")
        place = len(self.nodes)
        if place >= MAX_EXECUTIONS:
            raise UndecidedError(f"more than {MAX_EXECUTIONS} steps")
        self.nodes.append(node)
        self.before.append(before)
        self.sources.append(sources)
        if node in self.names:
            self.of_tasks |= 1 << place
            self.memory.change(node, place, before)
        after = before | 1 << place
        for link in taken(self.known, node, self.memory, place, after):
            self.tokens[link] = after, (1 << place if node in self.names else sources)
        if not self.flow.out[node] and node != END and node not in self.names:
            raise UndecidedError(f"{node} leads nowhere")
        return after | ahead

    def _joins(self, node: str, ways: int) -> None:
        gateway = self.flow.gateways.get(node)
        if gateway is None or gateway.role != "join":
            return
        if gateway.kind == "exclusive" and ways > 1:
            raise UndecidedError(f"several branches come to {node}, which awaits one")
        if gateway.kind == "parallel" and ways < len(self.flow.into[node]):
            raise UndecidedError(f"not all branches come to {node}, which awaits them")

    def _loop(self, part: LoopPart) -> None:
        progress = LoopProgress(self.known, part, self.memory)
        began = len(self.nodes)
        self.depth += 1
        while True:
            progress.begin()
            again = self._pass(part, began)
            stays = progress.stays(again)
            if stays:
                self._give_up(part, began)
            if stays or not again:
                break
        self.depth -= 1
        if not self.depth:
            self.idle |= part.nodes.difference(self.nodes)

    def _pass(self, part: LoopPart, began: int) -> bool:
        """Go through the nodes of a loop, that began with execution `began`, once; whether it repeats then."""
        for one in part.inner:
            self._part(one)
        inside = [link for node in part.nodes for link in self.flow.out[node]]
        again = any(link in self.tokens for link in inside if link.target == part.head)
        left = any(link in self.tokens for link in inside if link.target not in part.nodes)
        if again and left:
            raise UndecidedError(f"the loop at {part.head} is left and repeated at once")
        if any(link in self.never for link in inside):
            self._give_up(part, began)
            return False
        return again

    def _give_up(self, part: LoopPart, began: int) -> None:
        """The loop never ends, or is never entered because one before it never ends: nothing behind it runs."""
        if part.head in self.nodes[began:]:
            self.endless.append(part.nodes)
        for link in (link for node in part.nodes for link in self.flow.out[node]):
            self.tokens.pop(link, None)
            self.never.add(link)


def _ones(mask: int) -> Iterator[int]:
    """Yield the places of the bits that are set, from the lowest on."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _packed(mask: int, kept: Sequence[bool]) -> int:
    """Return the kept bits of a mask side by side, the first of `kept` being the lowest bit."""
    bits = "".join(compress(f"{mask:b}"[::-1], kept))
    return int(bits[::-1], 2) if bits else 0


def _union(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def next_task(level: Workflow, task: str, situation: Situation) -> str | None:
    """The task directly after a task in the run of the situation, through gateways.

    None where there is no run, the task does not run, or what comes after it is not always one and the same task.
    Raises UnknownNameError.
    """
    check_task_names(level, [task])
    found = run(level, situation)
    if found is None:
        return None
    after = [[found.tasks[j] for one, j in found.links if one == i] for i in executions(found, task)]
    return after[0][0] if after and len(after[0]) == 1 and all(one == after[0] for one in after) else None


def can_occur(level: Workflow, situation: Situation, trace: Sequence[str]) -> bool | None:
    """Whether the complete trace can occur: exactly the executions of the run, in one of its orders.

    None where the situation has no run. Raises UnknownNameError.
    """
    check_task_names(level, trace)
    found = run(level, situation)
    return None if found is None else allows(found, trace)


def allows(found: Run, trace: Sequence[str]) -> bool:
    """Whether the trace is one of the orders of the whole run."""
    waiting = {task: iter(executions(found, task)) for task in trace}
    done = 0
    for task in trace:
        place = next(waiting[task], None)
        if place is None or found.before[place] & ~done:
            return False
        done |= 1 << place
    return len(trace) == len(found.tasks)


def allows_among_others(found: Run, tasks: Sequence[str]) -> bool:
    """Whether the tasks can run in this order in the run, other executions between them.

    Executions of one task are ordered, so the first that is possible is the best one to take.
    """
    taken: list[int] = []
    for task in tasks:
        behind = 0
        for place in taken:
            behind |= found.before[place] | 1 << place
        place = next((one for one in executions(found, task) if not behind >> one & 1), -1)
        if place < 0:
            return False
        taken.append(place)
    return True


def all_before(found: Run, a: str, b: str) -> bool | None:
    """Whether a runs before b in the run that holds both; None where that hangs on which of their executions is meant.

    True if every execution of a is before every one of b; False if neither the first of a is before the first of b,
    nor the last before the last.
    """
    one, other = executions(found, a), executions(found, b)
    if all(found.before[j] >> i & 1 for i in one for j in other):
        return True
    ends = ((one[0], other[0]), (one[-1], other[-1]))
    return None if any(found.before[j] >> i & 1 for i, j in ends) else False


def executions(found: Run, task: str) -> list[int]:
    """The executions of a task, in their order."""
    return found.places.get(task, [])


def check_task_names(level: Workflow, tasks: Iterable[str]) -> None:
    """Nothing. Raises UnknownNameError for what is no task of the level."""
    names = frozenset(level.task_names)
    for task in tasks:
        if task not in names:
            raise UnknownNameError(f"task of {level.name!r}", task, level.task_names)

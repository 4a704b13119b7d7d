"""Execute the control flow of a level in a situation: which tasks run, how often, and which orders that allows.

Nodes are visited in an order in which each node comes after all nodes that lead to it (`loop_nest.py`). So one pass
computes the partial order of the whole run, parallel branches included. A node runs if a link into it is taken, after
all nodes that can lead to it have run or are known not to run. A loop is executed pass by pass. It never ends if the
variables it depends on return to earlier values. It never ends either if all variables change by constant amounts and
no guard that a pass evaluated can change its value any more (`variables.py`).

A situation with more than one possible outcome gives `Undecided`, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from ...errors import UnknownNameError
from ..guards.cells import Constant, Situation, exact_value
from ..model import START, Scalar, Workflow
from .flow_plan import Choice, NodePlan, flow_plan
from .loop_nest import LoopPart, parts_of
from .variables import LoopProgress, Memory, UndecidedError, Variables, variables_of

MAX_EXECUTIONS = 2000
"""Largest number of executions of nodes in one run; beyond, the run is undecided."""


@dataclass(frozen=True)
class Run:
    """A partial order of task executions: execution i is of `tasks[i]`; `before[i]` holds those before it, as bits.

    The executions are listed in one of the orders in which they can happen.
    """

    tasks: tuple[str, ...]
    before: tuple[int, ...]
    links: tuple[tuple[int, int], ...]  # an execution, and one that comes directly after it, through gateways only

    @cached_property
    def executions_by_task(self) -> dict[str, list[int]]:
        """Return the executions of each task, in their order."""
        by_task: dict[str, list[int]] = {}
        for i, task in enumerate(self.tasks):
            by_task.setdefault(task, []).append(i)
        return by_task

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Return the pairs of executions of which one comes before the other, without those that follow from others."""
        pairs = []
        for i, mask in enumerate(self.before):
            direct, rest = mask, mask
            while rest:
                j = rest.bit_length() - 1
                direct &= ~self.before[j]
                rest &= ~(self.before[j] | 1 << j)
            pairs += [(j, i) for j in _set_bits(direct)]
        return tuple(pairs)


@dataclass(frozen=True)
class Endless:
    """An execution that never ends: the tasks that run, and the nodes of every loop that never ends."""

    tasks: frozenset[str]
    loops: tuple[frozenset[str], ...]


@dataclass(frozen=True)
class Undecided:
    """No answer, and the reason.

    `missing` is the variable without a value in the situation, "" for any other reason. `passed` are the tasks known
    not to run up to then; `stuck` is True if a choice had no way open.
    """

    reason: str
    missing: str = ""
    stuck: bool = False
    passed: frozenset[str] = frozenset()


Outcome = Run | Endless | Undecided


def run(level: Workflow, situation: Situation) -> Run | None:
    """Return the run of the level in a situation; None if it never ends or is undecided."""
    result = outcome(level, situation)
    return result if isinstance(result, Run) else None


def outcome(level: Workflow, situation: Situation) -> Outcome:
    """Return the outcome of the level in a situation.

    The outcome is undecided if

    - a guard is prose or ambiguous;
    - a choice has no open link, or, if exclusive, more than one;
    - a parameter has no value, leaves its domain, or is read while a parallel task may change it;
    - a loop is left and repeated at the same time, or repeats for ever because no task states what it changes;
    - a join waits for a branch that is not taken;
    - the run has more than MAX_EXECUTIONS executions.

    Args:
        level: The level.
        situation: A value for each parameter (`Task.name` for a task's own).
    """
    return _outcome(level, tuple(sorted(_hashable_value(name, value) for name, value in situation.items())))


def _hashable_value(name: str, value: Scalar | Fraction) -> tuple[str, str | int, int]:
    """Return a value as strings and integers, which are hashed much faster than fractions."""
    constant = value if type(value) is Fraction else exact_value(value)
    return (name, constant, 0) if isinstance(constant, str) else (name, constant.numerator, constant.denominator)


@lru_cache(maxsize=4096)
def _outcome(level: Workflow, values: tuple[tuple[str, str | int, int], ...]) -> Outcome:
    constants = {
        name: numerator if isinstance(numerator, str) else Fraction(numerator, denominator)
        for name, numerator, denominator in values
    }
    execution = _Execution(level, constants)
    try:
        return execution.outcome()
    except UndecidedError as error:
        return Undecided(str(error), error.missing, error.stuck, frozenset(execution.idle))


class _Execution:
    """One execution of a level. Executions of nodes are numbered; an integer holds a set of them as bits."""

    def __init__(self, level: Workflow, values: Mapping[str, Constant]) -> None:
        self.level = level
        self.variables: Variables = variables_of(level)
        self.plan = flow_plan(level)
        self.memory = Memory(self.variables, values)
        self.nodes: list[str] = []  # the node of every execution
        # For each link that is taken and not yet followed: all executions before it, and of the executions of tasks,
        # which are numbered on their own, those before it and those directly before it.
        self.tokens: dict[int, tuple[int, int, int]] = {}
        self.tasks: list[str] = []  # the task of every execution of one
        self.before: list[int] = []  # for each of these, those before it
        self.sources: list[int] = []  # and those directly before it
        self.ahead: dict[int, int] = {}  # for every link, taken or not, the executions that can lead to it
        self.never: set[int] = set()  # links behind a loop that never ends
        self.endless: list[frozenset[str]] = []  # the nodes of every loop that never ends
        self.idle: set[str] = set()  # nodes that do not run
        self.depth = 0  # the number of loops around the node
        self.task_mask = 0  # the executions of tasks

    def outcome(self) -> Outcome:
        """Execute the level and return its outcome.

        Raises:
            UndecidedError: if more than one outcome is possible.
        """
        parts = parts_of(self.level)
        if parts is None:
            raise UndecidedError("a loop has more than one entry")
        for part in parts:
            self._execute_part(part)
        if self.endless:
            return Endless(frozenset(self.tasks), tuple(self.endless))
        if not self.tasks:
            raise UndecidedError("nothing runs")
        links = [(j, i) for i, sources in enumerate(self.sources) for j in _set_bits(sources)]
        return Run(tuple(self.tasks), tuple(self.before), tuple(links))

    def _execute_part(self, part: LoopPart) -> None:
        if part.loop:
            self._execute_loop(part)
        else:
            self._visit_node(part.head)

    def _visit_node(self, node: str) -> None:
        """Run a node if a link into it is taken, and record the executions that can lead to the links out of it."""
        plan = self.plan.nodes[node]
        before = tasks_before = sources = ahead = ways = 0
        for link in plan.into:
            if (token := self.tokens.pop(link, None)) is not None:
                ways += 1
                before |= token[0]
                tasks_before |= token[1]
                sources |= token[2]
            ahead |= self.ahead.get(link, 0)
        if self.never and not self.never.isdisjoint(plan.into):
            self.never.update(plan.out)
        elif ways or node == START:
            _check_join(node, plan, ways)
            if plan.is_task and (before ^ ahead) & self.task_mask:
                raise UndecidedError(f"{node} may or may not wait for a branch that does not come to it")
            ahead |= self._execute(node, plan, before, tasks_before, sources)
        elif not self.depth:
            self.idle.add(node)
        for link in plan.out:
            self.ahead[link] = ahead

    def _execute(self, node: str, plan: NodePlan, before: int, tasks_before: int, sources: int) -> int:
        """Run a node after some executions, and return these and its own."""
        place = len(self.nodes)
        if place >= MAX_EXECUTIONS:
            raise UndecidedError(f"more than {MAX_EXECUTIONS} steps")
        self.nodes.append(node)
        after = before | 1 << place
        if plan.is_task:
            self.task_mask |= 1 << place
            if plan.changes:
                self.memory.change(node, plan.changes, place, before)
            own = 1 << len(self.tasks)
            self.tasks.append(node)
            self.before.append(tasks_before)
            self.sources.append(sources)
            tasks_before, sources = tasks_before | own, own
        token = after, tasks_before, sources
        for link in self._taken_links(node, plan.choice, place, after):
            self.tokens[link] = token
        if plan.leads_nowhere:
            raise UndecidedError(f"{node} leads nowhere")
        return after

    def _taken_links(self, node: str, choice: Choice, place: int, before: int) -> Sequence[int]:
        """Return the links out of a node that are taken.

        Args:
            node: The node that has run.
            choice: Its choice.
            place: The index of the node's execution.
            before: The executions before it, as bits.

        Raises:
            UndecidedError: if a guard cannot be computed, the links contradict the gateway, no way is open, or several
                are and the choice is not known to be inclusive.
        """
        if choice.undecided:
            raise UndecidedError(choice.undecided)
        if not choice.guarded and not choice.otherwise:
            return choice.free
        open_links = [
            link for link, guard, compared in choice.guarded if self.memory.holds(guard, compared, place, before)
        ]
        taken = open_links or choice.otherwise
        if choice.must_open and not taken:
            raise UndecidedError(f"no way is open at {node}", stuck=True)
        if choice.single and len(taken) > 1:
            raise UndecidedError(f"several ways are open at {node}, and may exclude each other")
        return [*choice.free, *taken]

    def _execute_loop(self, part: LoopPart) -> None:
        plan = self.plan.loops[part.nodes]
        progress = LoopProgress(plan.names, plan.unstated, self.memory)
        began = len(self.nodes)
        self.depth += 1
        while True:
            progress.begin()
            again = self._execute_pass(part, began)
            endless = progress.never_ends(again)
            if endless:
                self._mark_endless(part, began)
            if endless or not again:
                break
        self.depth -= 1
        if not self.depth:
            self.idle |= part.nodes.difference(self.nodes)

    def _execute_pass(self, part: LoopPart, began: int) -> bool:
        """Execute the nodes of a loop, which began with execution `began`, once; return True if it then repeats."""
        for inner in part.inner:
            self._execute_part(inner)
        plan = self.plan.loops[part.nodes]
        again = not self.tokens.keys().isdisjoint(plan.back)
        left = not self.tokens.keys().isdisjoint(plan.left)
        if again and left:
            raise UndecidedError(f"the loop at {part.head} is left and repeated at once")
        if not self.never.isdisjoint(plan.inside):
            self._mark_endless(part, began)
            return False
        return again

    def _mark_endless(self, part: LoopPart, began: int) -> None:
        """Record that the loop never ends, or is never entered because an earlier one never ends."""
        if part.head in self.nodes[began:]:
            self.endless.append(part.nodes)
        for link in self.plan.loops[part.nodes].inside:
            self.tokens.pop(link, None)
            self.never.add(link)


def _check_join(node: str, plan: NodePlan, ways: int) -> None:
    """Check that a join is reached by as many branches as it waits for.

    Raises:
        UndecidedError: if it is not.
    """
    if plan.join == "exclusive" and ways > 1:
        raise UndecidedError(f"several branches come to {node}, which awaits one")
    if plan.join == "parallel" and ways < len(plan.into):
        raise UndecidedError(f"not all branches come to {node}, which awaits them")


def _set_bits(mask: int) -> Iterator[int]:
    """Yield the positions of the bits that are set, from the lowest on."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def next_task(level: Workflow, task: str, situation: Situation) -> str | None:
    """Return the task directly after a task in the run of the situation, through gateways.

    None if there is no run, the task does not run, or it is not always followed by the same single task.

    Raises:
        UnknownNameError: if the task is not in the level.
    """
    check_task_names(level, [task])
    result = run(level, situation)
    if result is None:
        return None
    after = [[result.tasks[j] for source, j in result.links if source == i] for i in executions(result, task)]
    return after[0][0] if after and len(after[0]) == 1 and all(tasks == after[0] for tasks in after) else None


def allows(run: Run, trace: Sequence[str]) -> bool:
    """Return True if the trace is one of the orders of the whole run."""
    return len(trace) == len(run.tasks) and _begin(run, trace) is not None


def tasks_after(run: Run, done: Sequence[str]) -> set[str]:
    """Return the tasks that can run right after executions of others, in this order; none if no order begins so."""
    begun = _begin(run, done)
    if begun is None:
        return set()
    return {run.tasks[i] for i, before in enumerate(run.before) if not (begun >> i & 1 or before & ~begun)}


def _begin(run: Run, tasks: Sequence[str]) -> int | None:
    """Return the executions of the tasks, as bits, if one of the orders of the run begins with them; else None."""
    waiting = {task: iter(executions(run, task)) for task in tasks}
    done = 0
    for task in tasks:
        place = next(waiting[task], None)
        if place is None or run.before[place] & ~done:
            return None
        done |= 1 << place
    return done


def allows_among_others(run: Run, tasks: Sequence[str]) -> bool:
    """Return True if the tasks can run in this order in the run, with other executions between them.

    Executions of one task are ordered, so it suffices to try the first possible one.
    """
    taken: list[int] = []
    for task in tasks:
        behind = 0
        for place in taken:
            behind |= run.before[place] | 1 << place
        place = next((candidate for candidate in executions(run, task) if not behind >> candidate & 1), -1)
        if place < 0:
            return False
        taken.append(place)
    return True


def all_before(run: Run, a: str, b: str) -> bool | None:
    """Return True if `a` runs before `b` in the run, which holds both; None if executions disagree.

    True if all executions of `a` are before all of `b`; False if neither the first of `a` is before the first of `b`,
    nor the last before the last.
    """
    executions_of_a, executions_of_b = executions(run, a), executions(run, b)
    if all(run.before[j] >> i & 1 for i in executions_of_a for j in executions_of_b):
        return True
    ends = ((executions_of_a[0], executions_of_b[0]), (executions_of_a[-1], executions_of_b[-1]))
    return None if any(run.before[j] >> i & 1 for i, j in ends) else False


def executions(run: Run, task: str) -> list[int]:
    """Return the executions of a task, in their order."""
    return run.executions_by_task.get(task, [])


def check_task_names(level: Workflow, tasks: Iterable[str]) -> None:
    """Check that all tasks are in the level.

    Raises:
        UnknownNameError: if a task is not.
    """
    names = frozenset(level.task_names)
    for task in tasks:
        if task not in names:
            raise UnknownNameError(f"task of {level.name!r}", task, level.task_names)

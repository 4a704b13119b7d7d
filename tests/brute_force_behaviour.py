"""The answers of B1 to B12, F4 and F9 once more, by playing the level in all situations and interleavings.

Orders are compared as what can have run at some time (`prefixes`), conditions by trying values (`alike`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from brute_force_game import MOST, Game, Start, State, TooMuchError, ended, played, states
from brute_force_guards import (
    Constant,
    Read,
    Values,
    assignments,
    domains,
    read_link,
    read_situation,
    situations,
    taken,
)
from brute_force_structure import Answer, Fields, yes
from brute_force_walks import closed_walks, out, steps, walk

from pytest_taskgraph.workflow.model import END, START, Workflow

LONGEST = 300  # executions of one run, beyond which it is taken to have no end


def _quoted_tasks(fields: Fields) -> list[str]:
    return re.findall(r"'([^']*)'", fields["listed"])


def _final(reached: Iterable[State], game: Game) -> tuple[str, ...]:
    (last,) = {state.done for state in reached if ended(game, state)}
    return last


@lru_cache(maxsize=8)
def _ending(level: Workflow) -> list[dict[str, Constant]]:
    """The situations in which the level comes to its end: only there it has a run."""
    game = Game(level)
    return [values for values in situations(level) if ended(game, played(game, values, LONGEST // 3)[1])]


def order_of_two(level: Workflow, fields: Fields) -> object:
    """Whether all executions of one task come before the first of the other."""
    a, b = fields["a"], fields["b"]
    game, both = Game(level), []
    for values in _ending(level):
        reached = list(states(game, values))
        last = _final(reached, game)
        if {a, b} <= {*last}:
            both.append(not any(b in state.done and state.done.count(a) < last.count(a) for state in reached))
    assert both, "no run holds both"
    return yes(all(both))


def _can(game: Game, values: Values, tasks: list[str], complete: bool) -> bool:
    """Whether an execution holds some tasks in this order; `complete`: and no others."""
    waiting = [(game.start(values), 0)]
    seen = set(waiting)
    while waiting:
        state, at = waiting.pop()
        if at == len(tasks) and ended(game, state):
            return True
        for task in game.ready(state.tokens):
            fits = task == tasks[at] if at < len(tasks) else False
            moved = game.run(task, state) if complete else replace(game.run(task, state), done=())
            after = {(moved, at + fits)} if complete else {(moved, at), (moved, at + fits)}
            if len(seen) > MOST:
                raise TooMuchError(game.level.name)
            if fits or not complete:
                waiting += after - seen
                seen |= after
    return False


def order_of_many(level: Workflow, fields: Fields) -> object:
    game = Game(level)
    return yes(any(_can(game, values, _quoted_tasks(fields), complete=False) for values in _ending(level)))


def trace(level: Workflow, fields: Fields) -> object:
    game = Game(level)
    possible = {
        _can(game, values, _quoted_tasks(fields), complete=True)
        for values in situations(level, read_situation(fields["situation"]))
    }
    (answer,) = possible
    return yes(answer)


def determine_order(level: Workflow, fields: Fields) -> object:
    game = Game(level)
    given = read_situation(fields.get("situation", ""))
    histories = [sorted({state.done for state in states(game, values)}) for values in situations(level, given)]
    assert all(each == histories[0] for each in histories)
    return histories[0]


def prefixes(order: dict[str, list[object]]) -> list[tuple[str, ...]]:
    """What can have run at some time, by a reference of tasks and pairs of their places."""
    tasks = [str(task) for task in order["tasks"]]
    before = [tuple(pair) for pair in order["before"] if isinstance(pair, list)]
    beginnings = {frozenset[int]()}
    waiting = list(beginnings)
    while waiting:
        done = waiting.pop()
        for at in range(len(tasks)):
            if at not in done and all(first in done for first, second in before if second == at):
                new = done | {at}
                waiting += [] if new in beginnings else [new]
                beginnings.add(new)
    return sorted({tuple(sorted(tasks[at] for at in done)) for done in beginnings})


def _next_steps(level: Workflow, fields: Fields) -> set[str]:
    """What can run right after some tasks that have run one after the other, in all situations with a run."""
    game, next_tasks = Game(level), set[str]()
    for values in _ending(level):
        state = game.start(values)
        for task in re.findall(r"'([^']*)'", fields["done"]):
            if task not in game.ready(state.tokens):
                break
            state = game.run(task, state)
        else:
            next_tasks |= set(game.ready(state.tokens))
    assert next_tasks, "no run begins so"
    return next_tasks


def next_step_possible(level: Workflow, fields: Fields) -> object:
    return yes(fields["task"] in _next_steps(level, fields))


def next_step_choice(level: Workflow, fields: Fields) -> object:
    (answer,) = _next_steps(level, fields) & {fields["first"], fields["second"]}
    return answer


def every_situation(level: Workflow, fields: Fields) -> object:
    game = Game(level)
    return yes(all(fields["task"] in played(game, values, LONGEST)[0] for values in situations(level)))


def mutually_exclusive(level: Workflow, fields: Fields) -> object:
    ways = [link for link in out(level, fields["task"]) if link.guard is not None]
    read = [condition for condition in (read_link(level, link) for link in ways) if condition]
    tried = assignments([atom for condition in read for atom in condition.atoms], domains(level))
    return yes(all(sum(taken(level, ways, values)) <= 1 for values in tried))


def next_task_in_situation(level: Workflow, fields: Fields) -> object:
    """The task that the ways taken lead to, each time that the task has run in one interleaving."""
    task, targets, game = fields["task"], set[str](), Game(level)
    for values in situations(level, read_situation(fields["situation"])):
        tasks, _ = played(game, values, LONGEST)
        for at in [at for at, executed in enumerate(tasks) if executed == task]:
            _, state = played(game, values, at + 1)
            targets |= _next(level, task, Start(dict(state.values)))
    (answer,) = targets
    return answer


def _next(level: Workflow, task: str, values: Values) -> set[str]:
    tasks: set[str] = set()
    waiting = [task]
    while waiting:
        ways = out(level, waiting.pop())
        targets = [link.target for link, is_taken in zip(ways, taken(level, ways, values), strict=True) if is_taken]
        tasks |= set(targets) & set(level.task_names)
        waiting += [node for node in targets if node not in level.task_names and node != END]
    return tasks


def _plays(level: Workflow, fields: Fields) -> list[tuple[list[str], bool]]:
    game = Game(level)
    plays = [played(game, values, LONGEST) for values in situations(level, read_situation(fields["situation"]))]
    return [(tasks, ended(game, state)) for tasks, state in plays]


def loop_ends(level: Workflow, fields: Fields) -> object:
    """Whether the loop is left at some time: nothing in it runs in the second half of a run without end."""
    loop = _loop_of(level, fields["task"])
    (answer,) = {end or not loop & set(tasks[LONGEST // 2 :]) for tasks, end in _plays(level, fields)}
    return yes(answer)


def loop_count(level: Workflow, fields: Fields) -> object:
    assert all(end for _, end in _plays(level, fields))
    (count,) = {tasks.count(fields["task"]) for tasks, _ in _plays(level, fields)}
    return count


def loop_exit_condition(level: Workflow, fields: Fields) -> object:
    """The condition, as text, under which the conditional links that lead out of the smallest loop are taken."""
    pairs = steps(level, "control")
    loop = _loop_of(level, fields["task"])
    leaving = [link for link in level.links if link.source in loop and link.target not in loop]
    (place,) = {link.source for link in leaving}
    assert END in walk(pairs, place)
    others = [f"not ({link.guard})" for link in out(level, place) if link.guard not in (None, "otherwise")]
    texts = [" and ".join(others) if link.guard == "otherwise" else f"({link.guard})" for link in leaving]
    return " or ".join(texts)


def _loop_of(level: Workflow, task: str) -> set[str]:
    """The smallest loop that a task is in."""
    loops = [_loop(level, head) for head in sorted(closed_walks(level, task))]
    return min((nodes for nodes in loops if task in nodes), key=len)


def _loop(level: Workflow, head: str) -> set[str]:
    """The nodes on walks back to a node that pass only nodes to which all walks from START lead by way of it."""
    pairs = steps(level, "control")
    nodes = {node for pair in pairs for node in pair}
    return closed_walks(level, head, {START, *walk(pairs, START, {head})} & nodes)


def alike(first: str, second: str, level: Workflow) -> bool:
    """Whether two conditions hold for the same of all values tried."""
    left, right = Read(first), Read(second)
    tried = assignments([*left.atoms, *right.atoms], domains(level))
    return all(left.is_true(values) == right.is_true(values) for values in tried)


def task_of_kind(level: Workflow, fields: Fields) -> object:
    of_kind, of_other = (sum(task.kind == fields[name] for task in level.tasks) for name in ("kind", "other"))
    return yes(of_kind > of_other if fields["other"] else of_kind > 0)


def task_of_kind_before(level: Workflow, fields: Fields) -> object:
    """Whether some task of the kind has run whenever the task runs; or is still to run, where it asks for "after"."""
    game, task, is_violated = Game(level), fields["task"], False
    kind = {each.name for each in level.tasks if each.kind == fields["kind"]} - {task}
    for values in situations(level):
        reached = list(states(game, values))
        run = kind.intersection(_final(reached, game))
        for done in (set(state.done) for state in reached if task in game.ready(state.tokens)):
            is_violated |= not (run & done if fields["side"] == "before" else run - done)
    return yes(not is_violated)


ANSWERS: dict[str, Answer] = {
    "order_of_two": order_of_two,
    "order_of_many": order_of_many,
    "determine_order": determine_order,
    "order_of_two_conditional": order_of_two,
    "order_of_many_conditional": order_of_many,
    "determine_order_conditional": determine_order,
    "trace": trace,
    "next_step_possible": next_step_possible,
    "next_step_choice": next_step_choice,
    "every_situation": every_situation,
    "mutually_exclusive": mutually_exclusive,
    "next_task_in_situation": next_task_in_situation,
    "loop_ends": loop_ends,
    "loop_exit_condition": loop_exit_condition,
    "loop_count": loop_count,
    "task_of_kind": task_of_kind,
    "task_of_kind_before": task_of_kind_before,
}

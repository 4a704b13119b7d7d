"""Random levels, and an oracle: a level executed with tokens, in every interleaving, independent of `execution.py`.

A token lies on a link. A node takes all tokens that lie before it, once no other token can still come to it: by a path
without ways back or, where it is about to repeat a loop, from inside that loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

import networkx as nx

from pytest_taskgraph.workflow.guards.cells import Constant
from pytest_taskgraph.workflow.guards.solver import Otherwise, comparisons, holds, parse_guard
from pytest_taskgraph.workflow.model import END, START, Effect, Link, Parameter, Task, Workflow
from pytest_taskgraph.workflow.semantics.execution import Run
from pytest_taskgraph.workflow.semantics.variables import evaluate, parse_expression, variables_of

Tokens = frozenset[int]  # links, by their number


@dataclass(frozen=True)
class State:
    """Where the tokens lie, what the values are, and which tasks have run."""

    tokens: Tokens
    values: tuple[tuple[str, Constant], ...]
    trace: tuple[str, ...] = ()


class Simulation:
    """All interleavings of a level in a situation; traces longer than `longest` are cut, and so never complete."""

    def __init__(self, level: Workflow, longest: int) -> None:
        self.level, self.longest = level, longest
        self.graph: nx.DiGraph[str] = nx.DiGraph([(link.source, link.target) for link in level.links])
        dominators = nx.immediate_dominators(self.graph, START)
        tree: nx.DiGraph[str] = nx.DiGraph(
            [(dominator, node) for node, dominator in dominators.items() if dominator != node]
        )
        tree.add_nodes_from(self.graph)
        over = {node: {node, *nx.descendants(tree, node)} for node in tree}
        self.back = {i for i, link in enumerate(level.links) if link.source in over[link.target]}
        rest: nx.DiGraph[str] = nx.DiGraph(
            [(link.source, link.target) for i, link in enumerate(level.links) if i not in self.back]
        )
        rest.add_nodes_from(self.graph)
        self.ahead = {node: {node, *nx.ancestors(rest, node)} for node in rest}
        self.inside = {
            link.target: {n for n in over[link.target] if nx.has_path(self.graph, n, link.target)}
            for i, link in enumerate(level.links)
            if i in self.back
        }

    def traces(self, situation: Mapping[str, Constant]) -> Iterator[tuple[str, ...] | None]:
        """Yield the complete traces; None for each trace that is cut."""
        idle = {effect.parameter: Fraction(0) for task in self.level.tasks for effect in task.effects}
        first = State(frozenset(), tuple(sorted({**idle, **situation}.items())))
        waiting = list(self._left(START, first, frozenset()))
        seen = set(waiting)
        while waiting:
            state = waiting.pop()
            tokens = frozenset(i for i in state.tokens if self.level.links[i].target != END)
            if not tokens:
                yield state.trace
            elif len(state.trace) >= self.longest:
                yield None
            else:
                after = [
                    following
                    for node in self._ready(tokens)
                    for following in self._run(node, replace(state, tokens=tokens))
                ]
                waiting += [following for following in after if following not in seen]
                seen.update(after)

    def _ready(self, tokens: Tokens) -> list[str]:
        return sorted({self.level.links[i].target for i in tokens if self._clear(self.level.links[i].target, tokens)})

    def _clear(self, node: str, tokens: Tokens) -> bool:
        mine = {i for i in tokens if self.level.links[i].target == node}
        repeats = bool(mine & self.back)
        for i in tokens - mine:
            place = self.level.links[i].target
            if repeats and place in self.inside[node]:
                return False
            if i in self.back and node in self.inside[place]:
                continue  # its loop begins anew only when this one is done
            if place in self.ahead[node]:
                return False
        return True

    def _run(self, node: str, state: State) -> Iterator[State]:
        values = dict(state.values)
        trace = state.trace
        if node in self.level.task_names:
            trace = (*trace, node)
            changes = {
                effect.parameter: parse_expression(effect.expression) for effect in self.level.task(node).effects
            }
            values |= {
                name: evaluate(expression, dict(state.values)) for name, expression in changes.items() if expression
            }
        rest = frozenset(i for i in state.tokens if self.level.links[i].target != node)
        yield from self._left(node, State(rest, tuple(sorted(values.items())), trace), rest)

    def _left(self, node: str, state: State, rest: Tokens) -> Iterator[State]:
        out = [i for i, link in enumerate(self.level.links) if link.source == node]
        parsed = {i: parse_guard(self.level.links[i].guard or "") for i in out}
        taken = {i for i in out if self.level.links[i].guard is None}
        plain = {i: guard for i, guard in parsed.items() if guard is not None and not isinstance(guard, Otherwise)}
        held = {i for i, guard in plain.items() if holds(guard, dict(state.values))}
        others = {i for i, guard in parsed.items() if isinstance(guard, Otherwise)}
        yield replace(state, tokens=rest | taken | (held or others))


def simulated(level: Workflow, situation: Mapping[str, Constant], longest: int) -> set[tuple[str, ...]] | None:
    """The complete traces of the level; None if one is longer than that."""
    traces: set[tuple[str, ...]] = set()
    for trace in Simulation(level, longest).traces({name: _exact(value) for name, value in situation.items()}):
        if trace is None:
            return None
        traces.add(trace)
    return traces


def _exact(value: Constant) -> Constant:
    return value if isinstance(value, str) else Fraction(value)


def linear_extensions(run: Run) -> set[tuple[str, ...]]:
    """Every order of the run's executions, as tasks."""
    extensions: set[tuple[str, ...]] = set()
    waiting: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    while waiting:
        done, trace = waiting.pop()
        if len(trace) == len(run.tasks):
            extensions.add(trace)
        ready = [i for i, before in enumerate(run.before) if not done >> i & 1 and not before & ~done]
        waiting += [(done | 1 << i, (*trace, run.tasks[i])) for i in ready]
    return extensions


def some_situation(level: Workflow, rng: Random) -> dict[str, Constant]:
    """Values drawn from a grid, halves among them, and from the words that domains and guards name."""
    variables = variables_of(level)
    parsed = [parse_guard(link.guard or "") for link in level.links]
    comparisons_found = [comparison for guard in parsed if guard is not None for comparison in comparisons(guard)]
    situation: dict[str, Constant] = {}
    for name in sorted(variables.relevant):
        domain = variables.domains.get(name)
        words = [
            comparison.value
            for comparison in comparisons_found
            if comparison.parameter == name and isinstance(comparison.value, str)
        ]
        if domain is not None and domain.kind == "words":
            situation[name] = rng.choice(domain.words)
        elif words:
            situation[name] = rng.choice([*words, "another"])
        else:
            half = domain is None or domain.kind == "real"
            situation[name] = Fraction(rng.randrange(21), 2) if half else Fraction(rng.randrange(11))
    return situation


EXPRESSIONS = ["n + 1", "n - 1", "m + 1", "3", "n + m", "2 * n", "m - n", "n * m", "5 - n"]


def a_level(rng: Random) -> Workflow:
    """A random level of few tasks: any links forward, some back, guards and effects that seldom fit together."""
    names = [f"T{i}" for i in range(2 + rng.randrange(5))]
    order = [START, *names, END]
    links: list[Link] = []
    for i, source in enumerate(order[:-1]):
        targets = rng.sample(order[i + 1 :], min(rng.choice([1, 1, 2, 2, 3]), len(order) - i - 1))
        if source != START and rng.random() < 0.35:
            targets.append(rng.choice(order[max(1, i - 2) : i + 1]))
        targets = list(dict.fromkeys(targets))
        links += [Link(source, to, guard) for to, guard in zip(targets, _guards(rng, len(targets)), strict=True)]
    tasks = tuple(Task(name, effects=_effects(rng)) for name in names)
    return Workflow("W", tasks=tasks, links=tuple(links), parameters=(Parameter("n"), Parameter("m")))


def _guards(rng: Random, count: int) -> list[str | None]:
    if count == 1 or rng.random() < 0.25:
        return [None] * count
    bound, name = rng.randrange(5), rng.choice("nm")
    some = [f"n < {bound}", f"n >= {rng.randrange(5)}", f"m = {rng.randrange(3)}", "otherwise", f"n = {bound - 2}"]
    guards: list[str | None] = [rng.choice(some) for _ in range(count)]
    if rng.random() < 0.7:
        guards[:2] = [f"{name} < {bound}", f"{name} >= {bound}"]
        rng.shuffle(guards)
    if rng.random() < 0.2:
        guards[0] = None
    return guards


def _effects(rng: Random) -> tuple[Effect, ...]:
    return (Effect(rng.choice("nm"), rng.choice(EXPRESSIONS)),) if rng.random() < 0.35 else ()

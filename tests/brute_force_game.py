"""A level played with tokens, in every interleaving of its tasks.

A token lies on a link. A task or gateway takes all tokens that lie before it once no other token can still come to
it without a way back; one that is about to repeat a loop waits for all tokens inside that loop. Gateways move at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from brute_force_guards import Constant, Values, computed, meaning, taken
from brute_force_walks import out, steps, walk

from pytest_taskgraph.workflow.model import END, START, Workflow


@dataclass(frozen=True)
class State:
    """Where the tokens lie, what has run, sorted, and what the values are."""

    tokens: frozenset[int]
    done: tuple[str, ...]
    values: tuple[tuple[str, Constant], ...]


class Game:
    """The moves of a level."""

    def __init__(self, level: Workflow) -> None:
        self.level, self.tasks = level, {task.name: task for task in level.tasks}
        pairs = steps(level, "control")
        nodes = {node for pair in pairs for node in pair}
        over = {node: nodes - walk(pairs, START, {node}) - {START} | {node} for node in nodes}
        self.back = {i for i, (source, target) in enumerate(pairs) if source in over[target]}
        ahead = [pair for i, pair in enumerate(pairs) if i not in self.back]
        self.ahead = {node: walk(ahead, node) for node in nodes}
        self.inside = {
            target: {node for node in over[target] if target in walk(pairs, node, nodes - over[target])}
            for i, (_, target) in enumerate(pairs)
            if i in self.back
        }
        self.pairs = pairs
        self.number = {id(link): i for i, link in enumerate(level.links)}

    def start(self, values: Values) -> State:
        """The tokens that START gives, once gateways have moved."""
        state = State(frozenset(), (), tuple(sorted(values.items())))
        return self._settled(self._left(START, state))

    def ready(self, tokens: frozenset[int]) -> list[str]:
        """The nodes that can take their tokens."""
        places = sorted({self.pairs[i][1] for i in tokens} - {END})
        return [node for node in places if all(not self._can_reach(i, node, tokens) for i in tokens)]

    def _can_reach(self, token: int, node: str, tokens: frozenset[int]) -> bool:
        place = self.pairs[token][1]
        if place == node:
            return False
        if node in self.inside and place in self.inside[node]:
            return any(self.pairs[i][1] == node and i in self.back for i in tokens)
        if token in self.back and node in self.inside[place]:
            return False
        return node in self.ahead[place]

    def run(self, task: str, state: State) -> State:
        """The state once a task that is ready has run."""
        values = dict(state.values)
        name = meaning(self.level, task)
        before = dict(values)
        for effect in self.tasks[task].effects:
            values[name(effect.parameter)] = computed(effect.expression, Start(before), name)
        tokens = frozenset(i for i in state.tokens if self.pairs[i][1] != task)
        done = tuple(sorted((*state.done, task)))
        return self._settled(self._left(task, State(tokens, done, tuple(sorted(values.items())))))

    def _left(self, node: str, state: State) -> State:
        ways = out(self.level, node)
        chosen = taken(self.level, ways, Start(dict(state.values)))
        new = {self.number[id(way)] for way, is_taken in zip(ways, chosen, strict=True) if is_taken}
        return State(state.tokens | new, state.done, state.values)

    def _settled(self, state: State) -> State:
        while True:
            gateways = [node for node in self.ready(state.tokens) if node not in self.tasks]
            if not gateways:
                return state
            rest = frozenset(i for i in state.tokens if self.pairs[i][1] != gateways[0])
            state = self._left(gateways[0], State(rest, state.done, state.values))


class Start(dict[str, Constant]):
    """Values; what has none yet is 0."""

    def __missing__(self, name: str) -> Constant:
        return Fraction(0)


MOST = 20_000  # states of one situation


class TooMuchError(Exception):
    """There are more states than can be tried."""


def states(game: Game, values: Values, history: bool = True) -> Iterator[State]:
    """All states that an execution can come to; without `history`, what has run does not tell them apart.

    Raises TooMuchError, as for a loop that is repeated for ever.
    """
    waiting = [game.start(values)]
    seen = set(waiting)
    while waiting:
        state = waiting.pop()
        yield state
        after = {game.run(task, state) for task in game.ready(state.tokens)}
        new = (after if history else {replace(each, done=()) for each in after}) - seen
        if len(seen) > MOST:
            raise TooMuchError(game.level.name)
        seen |= new
        waiting += new


def parallel(game: Game, values: Values, task: str) -> set[str]:
    """The tasks that are ready at the same time as a task, in some state."""
    tasks: set[str] = set()
    for state in states(game, values, history=False):
        ready = game.ready(state.tokens)
        tasks |= set(ready) - {task} if task in ready else set()
    return tasks


def ended(game: Game, state: State) -> bool:
    """Whether nothing can run any more."""
    return not game.ready(state.tokens)


def played(game: Game, values: Values, longest: int) -> tuple[list[str], State]:
    """The tasks of one interleaving, up to so many, and the last state."""
    trace: list[str] = []
    state = game.start(values)
    while len(trace) < longest and not ended(game, state):
        trace.append(game.ready(state.tokens)[0])
        state = game.run(trace[-1], state)
    return trace, state

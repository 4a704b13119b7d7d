"""The traces of a level, found by playing it: in every situation, in every interleaving.

Of the package, only the model is used.
"""

from __future__ import annotations

from collections.abc import Iterable

from brute_force_game import Game, State, TooMuchError
from brute_force_guards import Values, situations, taken
from brute_force_walks import out

from pytest_taskgraph.workflow.model import END, Workflow

Trace = tuple[str, ...]
MOST_TRACES = 20_000


class StuckError(Exception):
    """No way is open at a choice: there is no run."""


class StrictGame(Game):
    """A game that is given up where no way is open."""

    def _left(self, node: str, state: State) -> State:
        ways = out(self.level, node)
        if ways and not any(taken(self.level, ways, dict(state.values))):
            raise StuckError
        return super()._left(node, state)


def all_traces(level: Workflow) -> set[Trace]:
    """Return every complete trace of a level without loops, over all situations.

    Raises:
        TooMuchError: if there are too many.
    """
    game, traces = StrictGame(level), set[Trace]()
    for values in situations(level):
        try:
            traces |= _traces(game, values)
        except StuckError:
            continue
        if len(traces) > MOST_TRACES:
            raise TooMuchError(level.name)
    return traces


def _traces(game: Game, values: Values) -> set[Trace]:
    waiting: list[tuple[Trace, State]] = [((), game.start(values))]
    traces: set[Trace] = set()
    while waiting:
        trace, state = waiting.pop()
        ready = game.ready(state.tokens)
        if not ready:
            assert {game.pairs[i][1] for i in state.tokens} == {END}
            traces.add(trace)
        waiting += [((*trace, task), game.run(task, state)) for task in ready]
        if len(traces) + len(waiting) > MOST_TRACES:
            raise TooMuchError(game.level.name)
    return traces


def allowed_next(traces: Iterable[Trace], prefix: Trace) -> set[str]:
    """Return the tasks that stand after the prefix at the beginning of some trace."""
    return {trace[len(prefix)] for trace in traces if trace[: len(prefix)] == prefix and len(trace) > len(prefix)}


def allowed_later(traces: Iterable[Trace], prefix: Trace) -> set[str]:
    """Return the tasks that stand anywhere after the prefix in some trace that begins with it."""
    return {task for trace in traces if trace[: len(prefix)] == prefix for task in trace[len(prefix) :]}


def all_prefixes(traces: Iterable[Trace]) -> list[Trace]:
    """Return every beginning of some trace, in order."""
    return sorted({trace[:length] for trace in traces for length in range(len(trace))})

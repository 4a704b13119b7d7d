"""BPMN's token semantics, played token by token: what is asked of random models has the answers that the games show."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest
from bpmn_models import answers, process, read
from hypothesis import given
from hypothesis import strategies as st

Event = tuple[str, frozenset[int]]  # a task that is executed, and the executions before it
Tokens = tuple[tuple[int, frozenset[int]], ...]  # the flow of each token, and the executions before it
Game = tuple[Tokens, tuple[Event, ...]]
Links = dict[str, list[int]]
LONGEST, MOST = 40, 1500


class TooManyGamesError(Exception):
    """There are more games than can be played."""


class Model:
    """A random model: nodes by id with their tags, and flows."""

    def __init__(self, rng: Random) -> None:
        ids = [f"n{i}" for i in range(rng.randint(4, 8))]
        tags = ["task", "task", "task", "exclusiveGateway", "parallelGateway", "intermediateCatchEvent"]
        self.nodes = {each: rng.choice(tags) for each in ids}
        self.flows = [
            (before, ids[i])
            for i in range(1, len(ids))
            for before in rng.sample(ids[:i], min(i, rng.choice([1, 1, 2])))
        ]
        if rng.random() < 0.25:
            first, last = sorted(rng.sample(ids, 2))
            self.flows.append((last, first))
        starts = rng.choice([0, 1, 1, 1, 2])
        for i in range(starts):
            self.nodes[f"s{i}"] = "startEvent"
            self.flows.append((f"s{i}", "n0" if i == 0 else rng.choice(ids)))

    @property
    def text(self) -> str:
        """Return the model in XML; every node is called by its id."""
        nodes = "".join(f'<{tag} id="{each}" name="{each}"/>' for each, tag in self.nodes.items())
        flows = (f'<sequenceFlow id="f{i}" sourceRef="{a}" targetRef="{b}"/>' for i, (a, b) in enumerate(self.flows))
        return process(nodes + "".join(flows))

    def games(self) -> list[tuple[Event, ...]]:
        """Return the executions of each game, for every way in which its choices can come out."""
        out = {node: [i for i, flow in enumerate(self.flows) if flow[0] == node] for node in self.nodes}
        starts = [node for node, tag in self.nodes.items() if tag == "startEvent"]
        first = [node for node in self.nodes if node not in {target for _, target in self.flows}]
        nothing = frozenset[int]()
        games, waiting = [], list[Game]()
        if starts:
            waiting = [(tuple((i, nothing) for i in out[node]), ()) for node in starts]
        else:
            waiting = [((), ())]
            for node in first:
                waiting = [
                    (tokens + more, events + ((node, nothing),) * (self.nodes[node] == "task"))
                    for tokens, events in waiting
                    for more in self._pass(node, nothing, len(events), out)
                ]
        for count, (tokens, events) in enumerate(waiting):
            if count > MOST or len(events) > LONGEST:
                raise TooManyGamesError
            step = next(self._steps(tokens, events, out), None)
            if step is None:
                games.append(events)
            else:
                waiting += step
        return games

    def _pass(self, node: str, before: frozenset[int], number: int, out: Links) -> list[Tokens]:
        """Return the tokens that leave a node, for each way in which it can choose."""
        history = before | {number} if self.nodes[node] == "task" else before
        if self.nodes[node] == "exclusiveGateway" and out[node]:
            return [((i, history),) for i in out[node]]
        return [tuple((i, history) for i in out[node])]

    def _steps(self, tokens: Tokens, events: tuple[Event, ...], out: Links) -> Iterator[list[Game]]:
        """Yield, for each token that can move, what the game may be after it."""
        for k, (flow, before) in enumerate(tokens):
            node = self.flows[flow][1]
            rest = tokens[:k] + tokens[k + 1 :]
            into = [i for i, each in enumerate(self.flows) if each[1] == node]
            if self.nodes[node] == "parallelGateway" and len(into) > 1:
                chosen = [next((token for token in tokens if token[0] == i), None) for i in into]
                if None in chosen:
                    continue
                left = list(tokens)
                for token in chosen:
                    if token is not None:
                        left.remove(token)
                        before |= token[1]
                rest = tuple(left)
            done = (*events, (node, before)) if self.nodes[node] == "task" else events
            yield [(rest + more, done) for more in self._pass(node, before, len(events), out)]


def in_order(game: tuple[Event, ...], names: list[str], beginning: bool) -> bool:
    """Return True if the tasks can be executed in this order; as a beginning, with none before them."""

    def follows(done: tuple[int, ...], left: list[str]) -> bool:
        if not left:
            return True
        return any(
            name == left[0]
            and i not in done
            and (before <= set(done) if beginning else not any(i in game[j][1] for j in done))
            and follows((*done, i), left[1:])
            for i, (name, before) in enumerate(game)
        )

    return follows((), names)


def beside(game: tuple[Event, ...], a: str, b: str) -> bool:
    pairs = product(enumerate(game), enumerate(game))
    return any(x[0] == a and y[0] == b and i not in y[1] and j not in x[1] for (i, x), (j, y) in pairs)


def listed(text: str) -> list[str]:
    return [name.strip("'") for name in text.split(", ")]


@given(st.randoms(use_true_random=False))
def test_bpmn_answers_are_those_of_token_games(rng: Random) -> None:
    model = Model(rng)
    names = [node for node, tag in model.nodes.items() if tag == "task"]
    if len(names) < 2:
        return
    try:
        games = model.games()
    except TooManyGamesError:
        return
    reading = read(model.text)
    for fields, answer in answers(reading, "parallel_pair"):
        assert (answer == "yes") == any(beside(game, fields["a"], fields["b"]) for game in games), (model.text, fields)
    for fields, answer in answers(reading, "every_situation"):
        assert (answer == "yes") == all(any(name == fields["task"] for name, _ in game) for game in games), model.text
    for fields, answer in answers(reading, "order_of_many"):
        assert (answer == "yes") == any(in_order(game, listed(fields["listed"]), False) for game in games), model.text
    for fields, answer in answers(reading, "next_step_possible"):
        beginning = [*listed(fields["done"]), fields["task"]]
        assert (answer == "yes") == any(in_order(game, beginning, True) for game in games), (model.text, fields)
    for fields, answer in answers(reading, "order_of_two"):
        ends = (fields["a"], fields["b"])
        for game in games:
            ordered = [i in y[1] for i, x in enumerate(game) for y in game if (x[0], y[0]) == ends]
            assert ordered == [answer == "yes"], (model.text, fields)


@pytest.mark.parametrize("seed", range(3))
def test_bpmn_games_of_a_fork_execute_both_branches(seed: int) -> None:
    model = Model(Random(seed))
    model.nodes = {"s0": "startEvent", "a": "task", "b": "task", "c": "task"}
    model.flows = [("s0", "a"), ("a", "b"), ("a", "c")]
    (game,) = model.games()
    assert sorted(name for name, _ in game) == ["a", "b", "c"]
    assert beside(game, "b", "c")
    assert not beside(game, "a", "b")

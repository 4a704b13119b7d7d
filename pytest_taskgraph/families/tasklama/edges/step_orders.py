"""Dependencies from an order of the steps: each step before the next one, or what preferred orders have in common.

The latter is LLM scoring (Yuan et al. 2024). From an initial order, further orders are made by exchanging two of its
steps each. The model scores all of them by the log-probability of the numbered steps behind the prompt that asks for
them. A step depends on another if it comes after it in all of the highest scoring orders; other steps can be done in
any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from math import inf
from random import Random
from typing import Final

from ....errors import ProviderError
from ....scoring.task_graphs.precedence import Edge
from ....scoring.task_graphs.step_graphs import StepGraph
from ....trial import Json, Question, Reply, Request
from .edge_answers import FoundEdges, GivenSteps, Requests, linear_extension_of, numbered_lines, user_request
from .edge_prompts import text_setting
from .edge_replies import read_order

SWAPS: Final = 10
"""Sequences that are made of the initial order, each by another exchange of two steps; fewer if there are fewer."""
ONE_KEPT_OF: Final = 3
"""The share of sequences that is kept, the initial one among them: one of three, rounded down, at least one."""


def ask_order(question: Question, given: GivenSteps) -> Requests[FoundEdges]:
    """Ask for the order of the given steps, and return a dependency between each step and the next one.

    Steps that the model leaves out of its order have no dependencies; the others are joined as if they were not there.
    """
    order, first = yield from model_order(question, given)
    return FoundEdges(None if order is None else tuple(pairwise(order)), first, ({"asked": "order"},) if first else ())


def keep_order(question: Question, given: GivenSteps) -> Requests[FoundEdges]:
    """Return a dependency between each step and the next one of the sequence as it was produced; ask nothing."""
    yield from ()
    return FoundEdges(tuple(pairwise(range(len(given.steps)))))


def model_order(question: Question, given: GivenSteps) -> Requests[tuple[list[int] | None, Reply | None]]:
    """Ask for the order of the given steps; return it as indices, None if it cannot be read, and the reply.

    The prompt of the question shows the steps. Nothing is asked about fewer than two.
    """
    if len(given.steps) < 2:
        return [*range(len(given.steps))], None
    right = linear_extension_of(StepGraph(given.steps, tuple(sorted(given.dependencies))))
    (reply,) = yield [user_request(question, question.prompt, _order_text(right), _order_text(right[::-1]))]
    order = read_order(reply.text, given.steps)
    return None if order and reply.cut_off and len(order) < len(given.steps) else order, reply


def score_produced(question: Question, given: GivenSteps) -> Requests[FoundEdges]:
    """Score sequences made of the order in which the steps were produced."""
    return (yield from _score_orders(question, given, [*range(len(given.steps))], question.prompt))


def score_ordered(question: Question, given: GivenSteps) -> Requests[FoundEdges]:
    """Ask for the order of the given steps, then score sequences made of it."""
    order, first = yield from model_order(question, given)
    if order is None or first is None:
        return FoundEdges(None if order is None else (), first, ({"asked": "order"},) if first else ())
    outcome = yield from _score_orders(question, given, order, text_setting(question.episode_settings, "score_context"))
    return FoundEdges(outcome.edges, first, ({"asked": "order"}, *outcome.notes))


def swapped_orders(order: Sequence[int], seed: str) -> list[list[int]]:
    """Return the order itself, then others that differ from it by the exchange of two steps, all different.

    Args:
        order: The initial order.
        seed: The seed of the exchanges.
    """
    swaps = [*combinations(range(len(order)), 2)]
    orders = [[*order]]
    for first, second in Random(seed).sample(swaps, min(SWAPS, len(swaps))):
        swapped = [*order]
        swapped[first], swapped[second] = swapped[second], swapped[first]
        orders.append(swapped)
    return orders


def kept_orders(orders: Sequence[Sequence[int]], scores: Sequence[float]) -> list[int]:
    """Return the indices of the highest scoring orders, the best first; of equal ones the earlier is better."""
    ranked = sorted(range(len(orders)), key=lambda at: -scores[at])
    return ranked[: max(1, len(orders) // ONE_KEPT_OF)]


def agreed_pairs(orders: Sequence[Sequence[int]]) -> list[Edge]:
    """Return the pairs of steps, sorted, of which the first stands before the second in all orders."""
    places = [{step: place for place, step in enumerate(order)} for order in orders]
    pairs = ((a, b) for a in sorted(places[0]) for b in sorted(places[0]) if a != b)
    return [(a, b) for a, b in pairs if all(place[a] < place[b] for place in places)]


def _score_orders(question: Question, given: GivenSteps, order: Sequence[int], context: str) -> Requests[FoundEdges]:
    if len(order) < 2:
        return FoundEdges(())
    orders = swapped_orders(order, text_setting(question.episode_settings, "swap_seed"))
    violations = [_violations(swapped, given.dependencies) for swapped in orders]
    right: list[Json] = [-1.0 - count for count in violations]
    wrong: list[Json] = [-1.0 - max(violations) + count for count in violations]
    texts = ["\n" + numbered_lines(given.steps[at] for at in swapped) for swapped in orders]
    (reply,) = yield [Request(kind="score", context=context, texts=texts, right=right, wrong=wrong)]
    scores = [-inf if score.logprob is None else score.logprob for score in reply.scores]
    if len(scores) != len(orders):
        raise ProviderError("malformed", f"expected {len(orders)} scores of texts, got {len(scores)}")
    best = kept_orders(orders, scores)
    note: dict[str, Json] = {"asked": "scores", "orders": [[*swapped] for swapped in orders], "kept": [*best]}
    return FoundEdges(tuple(agreed_pairs([orders[at] for at in best])), reply, (note,))


def _violations(order: Sequence[int], dependencies: Iterable[Edge]) -> int:
    """Return how many of the known dependencies an order violates."""
    place = {step: at for at, step in enumerate(order)}
    return sum(a in place and b in place and place[a] > place[b] for a, b in dependencies)


def _order_text(order: Sequence[int]) -> str:
    return ", ".join(str(at + 1) for at in order)

"""The linear order as the graph: each step of a sequence must be done before the next one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ....scoring.task_graphs.step_graphs import StepGraph
from ....trial import Question, Reply
from .edge_answers import FoundEdges, GivenSteps, Requests, linear_extension_of, user_request
from .edge_replies import read_order


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
    right = linear_extension_of(StepGraph(given.steps, tuple(sorted(given.known))))
    (reply,) = yield [user_request(question, question.prompt, _written(right), _written(right[::-1]))]
    order = read_order(reply.text, given.steps)
    return None if order and reply.cut_off and len(order) < len(given.steps) else order, reply


def _written(order: Sequence[int]) -> str:
    return ", ".join(str(at + 1) for at in order)

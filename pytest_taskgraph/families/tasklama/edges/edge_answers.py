"""Episodes that ask for dependencies, and the answers that they compose of the replies.

A way to ask for dependencies (`Asking`) takes the steps, and returns what it found. On golden steps the episode adds
nothing; on generated ones it first has the steps generated.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from ....asking import Episode, Transcript, Turns
from ....benchmarks.episodes import opening
from ....scoring.forms.form import collapse_spaces
from ....scoring.forms.task_graph_form import MOST_STEPS
from ....scoring.task_graphs.precedence import Edge, transitive_closure, transitive_reduction, without_cycles
from ....scoring.task_graphs.step_graphs import StepGraph, gold_graph
from ....trial import Json, Question, Reply, Request
from ..sequences import compose_answer, compose_reply, merge_sequences, step_sequences, unparseable_reply

T = TypeVar("T")
Requests = Generator[list[Request], list[Reply], T]
NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class GivenSteps:
    """The steps between which dependencies are asked for.

    Args:
        steps: Their texts, in the order in which they are shown.
        dependencies: The pairs of their indices that depend on each other in the gold graph, by any path; for replies
            of simulated models alone. A generated step is known where its text is that of a gold step.
    """

    steps: tuple[str, ...]
    dependencies: frozenset[Edge]


@dataclass(frozen=True, slots=True)
class FoundEdges:
    """The dependencies that were read from the replies of a model.

    Args:
        edges: Pairs of indices of the given steps; None where no reply can be read.
        first: The first reply as the model wrote it; None where nothing was asked.
        notes: The notes of the record on each exchange.
        unread: Pairs that were asked about by themselves, without a reply that can be read.
    """

    edges: tuple[Edge, ...] | None
    first: Reply | None = None
    notes: tuple[dict[str, Json], ...] = field(default=())
    unread: tuple[Edge, ...] = ()


Asking = Callable[[Question, GivenSteps], Requests[FoundEdges]]


def golden_episode(ask: Asking, closed: bool) -> Episode:
    """Return the episode that asks for the dependencies between the gold steps, shown in the order of the settings.

    The answer lists the gold steps in their own order, and beside them what counts as "must be done before": the
    metric compares the listed pairs with the closure of the gold graph, and concludes nothing from them.

    Args:
        ask: How to ask.
        closed: False where each ordered pair was asked about: the pairs are then listed as they were answered, cycles
            included. True where a graph or an order was asked for: its closure is listed, freed of cycles.
    """

    def episode(question: Question) -> Turns:
        gold = gold_graph(question.reference)
        order = shown_indices(question)
        dependencies = transitive_closure(len(order), without_cycles(len(order), gold.dependencies))
        place = {at: position for position, at in enumerate(order)}
        given = GivenSteps(
            tuple(collapse_spaces(gold.steps[at]) for at in order),
            frozenset((place[a], place[b]) for a, b in dependencies),
        )
        outcome = yield from ask(question, given)
        if outcome.edges is None:
            return Transcript(unparseable_reply([outcome.first or Reply("")]), notes=outcome.notes)
        edges: Iterable[Edge] = [(order[a], order[b]) for a, b in outcome.edges]
        if closed:
            edges = transitive_closure(len(order), without_cycles(len(order), edges))
        unread = sorted((order[a], order[b]) for a, b in outcome.unread)
        return Transcript(compose_reply(outcome.first, gold.steps, sorted(edges), unread=unread), notes=outcome.notes)

    return episode


def generated_episode(ask: Asking, reduced: bool = True) -> Episode:
    """Return the episode that has the steps generated, then asks for the dependencies between them.

    Several sequences of steps are merged to one. The answer is freed of cycles and reduced to immediate dependencies.

    Args:
        ask: How to ask.
        reduced: False where the edges are those of the produced sequence, and stay as they are.
    """

    def episode(question: Question) -> Turns:
        replies: list[Reply] = []
        sequences = yield from _collect_replies(step_sequences(question), replies)
        steps_notes: list[dict[str, Json]] = [{"asked": "steps"} for _ in replies]
        if isinstance(sequences, Reply):
            return Transcript(sequences, notes=steps_notes)
        merged = sequences[0] if len(sequences) == 1 else merge_sequences(sequences)
        given = generated_steps(question, merged[:MOST_STEPS])
        outcome = yield from ask(question, given)
        notes = [*steps_notes, *outcome.notes]
        if outcome.edges is None:
            return Transcript(unparseable_reply([outcome.first or Reply("")]), notes=notes)
        edges = transitive_reduction(len(given.steps), outcome.edges) if reduced else [*outcome.edges]
        reply = yield from compose_answer(question, replies[0], given.steps, edges, outcome.unread)
        return Transcript(reply, notes=notes)

    return episode


def generated_steps(question: Question, steps: Sequence[str]) -> GivenSteps:
    """Return generated steps, with the dependencies between those whose text is that of a gold step."""
    gold = gold_graph(question.reference)
    dependencies = transitive_closure(len(gold.steps), without_cycles(len(gold.steps), gold.dependencies))
    index = {collapse_spaces(step): at for at, step in reversed([*enumerate(gold.steps)])}
    places = [
        (position, index[collapse_spaces(step)])
        for position, step in enumerate(steps)
        if collapse_spaces(step) in index
    ]
    pairs = frozenset((a, b) for a, at in places for b, to in places if (at, to) in dependencies)
    return GivenSteps(tuple(steps), pairs)


def shown_indices(question: Question) -> list[int]:
    """Return the indices of the gold steps in the order in which the settings of the episode show them."""
    stated = question.episode_settings.get("shown")
    steps = len(gold_graph(question.reference).steps)
    indices = [at for at in stated if isinstance(at, int)] if isinstance(stated, list) else []
    if sorted(indices) != [*range(steps)]:
        raise ValueError(f"the question {question.id} shows the steps {indices} of {steps}; expected each of them once")
    return indices


def user_request(question: Question, prompt: str, right: Json, wrong: Json) -> Request:
    """Return the request that puts a prompt to the model under test."""
    return Request(messages=opening(replace(question, prompt=prompt)), right=right, wrong=wrong)


def numbered_lines(steps: Iterable[str]) -> str:
    """Return steps as prompts and replies list them: a line each, numbered from 1."""
    return "\n".join(f"{at}. {collapse_spaces(step)}" for at, step in enumerate(steps, 1))


def pairs_text(edges: Iterable[Edge]) -> str:
    """Return dependencies as prompts and replies list them: "1 -> 3, 2 -> 3", or "none"."""
    return ", ".join(f"{before + 1} -> {after + 1}" for before, after in edges) or NONE


def linear_extension_of(graph: StepGraph) -> list[int]:
    """Return an order of the steps that respects their dependencies, freed of cycles; else that of the list."""
    edges = without_cycles(len(graph.steps), graph.dependencies)
    order: dict[int, None] = {}
    while len(order) < len(graph.steps):
        blocked = {after for before, after in edges if before not in order}
        order[next(at for at in range(len(graph.steps)) if at not in order and at not in blocked)] = None
    return list(order)


def _collect_replies(turns: Requests[T], collected: list[Reply]) -> Requests[T]:
    """Pass on the requests of a generator, and keep the replies to them."""
    try:
        requests = next(turns)
        while True:
            replies = yield requests
            collected += replies
            requests = turns.send(replies)
    except StopIteration as stop:
        result: T = stop.value
        return result

"""The methods that ask for dependencies: on golden steps, and on generated ones of one sequence or of two.

- By pairs: for each ordered pair of steps, one request whether the first must come first.
- By an order of the steps: each step before the next one, or what preferred orders have in common. The latter is LLM
  scoring (Yuan et al. 2024). From an initial order, further orders are made by exchanging two of its steps each. The
  model scores all of them by the log-probability of the numbered steps behind the prompt that asks for them. A step
  depends on another if it comes after it in all of the highest scoring orders; other steps can be done in any order.
- The whole graph in one request: the dependencies of given steps, or steps and dependencies together, which Yuan et al.
  name as future work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, pairwise, permutations
from math import inf
from random import Random
from typing import TYPE_CHECKING, Final

from ....asking import Episode, Transcript, Turns, one_turn
from ....errors import ProviderError
from ....scoring.forms.form import Form
from ....scoring.forms.task_graph_form import COMPOSED_TASK_GRAPH, TASK_GRAPH
from ....scoring.grade import read_answer
from ....scoring.statements import has_marker
from ....scoring.task_graphs.step_graphs import Edge, StepGraph, answered_graph, transitive_reduction
from ....trial import Json, Question, Reply, Request
from ..method import Method, no_settings
from ..sequences import compose_answer, icl_prompt, unparseable_reply
from .edge_prompts import (
    entire_graph_prompt,
    pair_prompt,
    pair_text,
    shown_order,
    steps_prompt,
    steps_text,
    text_setting,
)
from .edge_replies import (
    Asking,
    FoundEdges,
    GivenSteps,
    Requests,
    generated_episode,
    golden_episode,
    linear_extension_of,
    numbered_lines,
    pairs_text,
    read_order,
    read_pairs,
    read_verdict,
    user_request,
)

if TYPE_CHECKING:
    from ..complex_task import ComplexTask
    from ..tasklama_settings import TaskLamaSettings

MOST_PAIRED_STEPS: Final = 20
"""Generated steps that are asked about by pairs, 380 requests; further steps have no dependencies.

Without it, a model that writes 200 steps would be sent 39,800 requests.
"""
SWAPS: Final = 10
"""Sequences that are made of the initial order, each by another exchange of two steps; fewer if there are fewer."""
ONE_KEPT_OF: Final = 3
"""The share of sequences that is kept, the initial one among them: one of three, rounded down, at least one."""
Prompt = Callable[["ComplexTask", Sequence["ComplexTask"], "TaskLamaSettings"], str]
EpisodeSettings = Callable[["ComplexTask", Sequence["ComplexTask"], "TaskLamaSettings"], dict[str, Json]]
_PAIRWISE: Final = {"pair": "each pair", "pair_cot": "each pair with a rationale"}


def asking_pairs(rationale: bool, most: int | None = None, produced: bool = False) -> Asking:
    """Return the way to ask for dependencies that sends a request for each ordered pair, all in one turn.

    A pair whose reply says neither yes nor no is unread, and noted: no dependency on generated steps, wrong on golden
    ones. If none can be read, nothing is found.

    Args:
        rationale: Whether the model is to write its reasons before the answer.
        most: The number of steps that are asked about, the first ones; None for all.
        produced: True if a step is never done before one that was produced earlier: only pairs in that order are asked
            about.
    """

    def ask(question: Question, given: GivenSteps) -> Requests[FoundEdges]:
        steps = given.steps[:most]
        pairs = [*(combinations if produced else permutations)(range(len(steps)), 2)]
        if not pairs:
            return FoundEdges(())
        replies = yield [_pair_request(question, given, pair, rationale) for pair in pairs]
        verdicts = [_verdict(reply, rationale) for reply in replies]
        notes = [_note(pair, verdict) for pair, verdict in zip(pairs, verdicts, strict=True)]
        if left_out := len(given.steps) - len(steps):
            notes[0]["steps_left_out"] = left_out
        if all(verdict is None for verdict in verdicts):
            return FoundEdges(None, replies[0], tuple(notes))
        edges = tuple(pair for pair, verdict in zip(pairs, verdicts, strict=True) if verdict)
        unread = tuple(pair for pair, verdict in zip(pairs, verdicts, strict=True) if verdict is None)
        return FoundEdges(edges, _first_read(replies, verdicts), tuple(notes), unread)

    return ask


def _pair_request(question: Question, given: GivenSteps, pair: Edge, rationale: bool) -> Request:
    first, second = (given.steps[at] for at in pair)
    answer, other = ("yes", "no") if pair in given.dependencies else ("no", "yes")
    if rationale:
        answer, other = f"Final answer: {answer}", f"Final answer: {other}"
    return user_request(
        question, pair_text(text_setting(question.episode_settings, "pair"), first, second), answer, other
    )


def _verdict(reply: Reply, rationale: bool) -> bool | None:
    """Return the verdict of a reply; None also where a rationale was cut off before its answer."""
    if rationale and reply.cut_off and not has_marker(reply.text, "lenient"):
        return None
    return read_verdict(reply.text, rationale)


def _note(pair: Edge, verdict: bool | None) -> dict[str, Json]:
    read = "unparseable" if verdict is None else "yes" if verdict else "no"
    return {"asked": "pair", "pair": [*pair], "read": read}


def _first_read(replies: list[Reply], verdicts: list[bool | None]) -> Reply:
    return next(reply for reply, verdict in zip(replies, verdicts, strict=True) if verdict is not None)


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


def ask_graph(question: Question, given: GivenSteps) -> Requests[FoundEdges]:
    """Ask for all dependencies between the given steps; nothing is asked about fewer than two.

    The prompt is that of the settings, with a mark in the place of the steps, else that of the question.
    """
    if len(given.steps) < 2:
        return FoundEdges(())
    count = len(given.steps)
    right = transitive_reduction(count, given.dependencies)
    wrong = [(after, before) for before, after in right] or [(0, 1)]
    prompt = steps_text(text_setting(question.episode_settings, "graph") or question.prompt, given.steps)
    (reply,) = yield [user_request(question, prompt, pairs_text(right), pairs_text(wrong))]
    pairs = None if reply.cut_off else read_pairs(reply.text, given.steps)
    return FoundEdges(None if pairs is None else tuple(pairs), reply, ({"asked": "graph"},))


@one_turn
def entire_graph(question: Question) -> Turns:
    """Ask for steps and dependencies in one reply, which is then freed of cycles and reduced."""
    (reply,) = yield [user_request(question, question.prompt, None, None)]
    given = read_answer(question, reply)
    if given is None or reply.cut_off:
        return Transcript(unparseable_reply([reply]))
    answer = answered_graph(given)
    edges = transitive_reduction(len(answer.steps), answer.dependencies)
    return Transcript((yield from compose_answer(question, reply, answer.steps, edges)))


def _golden_pair_method(name: str, template: str) -> Method:
    """Return a method that asks about each ordered pair of golden steps."""

    def prompt(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> str:
        first, second = _two_steps(task, settings)
        return pair_text(pair_prompt(template, task, examples, settings), first, second)

    def needs(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> dict[str, Json]:
        order: list[Json] = [*shown_order(task, settings.seed)]
        return {"shown": order, "pair": pair_prompt(template, task, examples, settings)}

    episode = one_turn(golden_episode(asking_pairs(template == "pair_cot"), closed=False))
    return _golden_method(name, _PAIRWISE[template], episode, prompt, needs)


def _golden_list_method(name: str, title: str, template: str, ask: Asking) -> Method:
    """Return a method that asks one question about the list of golden steps."""

    def prompt(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> str:
        steps = [task.steps[at] for at in shown_order(task, settings.seed)]
        return steps_text(steps_prompt(template, task, examples, settings), steps)

    def needs(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> dict[str, Json]:
        order: list[Json] = [*shown_order(task, settings.seed)]
        if ask is not score_ordered:
            return {"shown": order}
        context = icl_prompt(task, examples, settings)
        return {"shown": order, "score_context": context, "swap_seed": _swap_seed(task, settings)}

    episode = golden_episode(ask, closed=True)
    return _golden_method(name, title, episode if ask is score_ordered else one_turn(episode), prompt, needs)


def _golden_method(name: str, title: str, episode: Episode, prompt: Prompt, settings: EpisodeSettings) -> Method:
    form = COMPOSED_TASK_GRAPH.name
    return Method(name, title, "golden_dependencies", episode, prompt, settings, "pairwise_accuracy", form)


def _generated_method(name: str, title: str, ask: Asking, template: str = "", sequences: int = 1) -> Method:
    """Return a method that has steps generated, and asks for dependencies between them with the template, if any."""

    def needs(task: ComplexTask, examples: Sequence[ComplexTask], settings: TaskLamaSettings) -> dict[str, Json]:
        needed: dict[str, Json] = {"sequences": sequences}
        if template == "graph":
            needed["graph"] = steps_prompt(template, task, examples, settings)
        elif template:
            needed["pair"] = pair_prompt(template, task, examples, settings)
        elif ask is score_produced:
            needed["swap_seed"] = _swap_seed(task, settings)
        return needed

    episode = generated_episode(ask, reduced=ask is not keep_order)
    alone = ask is keep_order  # no request beside that for the steps
    return _dependency_method(name, title, one_turn(episode) if alone else episode, icl_prompt, needs)


def _dependency_method(
    name: str, title: str, episode: Episode, prompt: Prompt, settings: EpisodeSettings, form: Form = COMPOSED_TASK_GRAPH
) -> Method:
    metric, further = "in_degree_rouge1", ("hungarian_f1", "graph_f1")
    return Method(name, title, "generated_dependencies", episode, prompt, settings, metric, form.name, further)


def _swap_seed(task: ComplexTask, settings: TaskLamaSettings) -> str:
    return f"{settings.seed}|{task.id}|swaps"


def _two_steps(task: ComplexTask, settings: TaskLamaSettings) -> tuple[str, str]:
    """Return the two steps of the first request; of a task of one step, which is not asked about, that step twice."""
    steps = [task.steps[at] for at in shown_order(task, settings.seed)]
    return (steps[0], steps[1]) if len(steps) > 1 else ("".join(steps), "".join(steps))


METHODS: Final[tuple[Method, ...]] = (
    _golden_list_method("golden_linear", "one order", "order", ask_order),
    _golden_pair_method("golden_pairs", "pair"),
    _golden_pair_method("golden_pairs_cot", "pair_cot"),
    _golden_list_method("golden_scoring", "orders scored by log-probability", "order", score_ordered),
    _golden_list_method("golden_whole", "the whole graph in one request", "graph", ask_graph),
    _generated_method("linear", "the produced order", keep_order),
    _generated_method("pairs", "each pair", asking_pairs(False, MOST_PAIRED_STEPS), "pair"),
    _generated_method("pairs_cot", "each pair with a rationale", asking_pairs(True, MOST_PAIRED_STEPS), "pair_cot"),
    _generated_method(
        "pairs_linear", "each pair in the produced order", asking_pairs(False, MOST_PAIRED_STEPS, True), "pair"
    ),
    _generated_method("scoring", "orders scored by log-probability", score_produced),
    _generated_method("whole", "the whole graph in one request", ask_graph, "graph"),
    _generated_method("pairs_two", "each pair, of two sequences", asking_pairs(False, MOST_PAIRED_STEPS), "pair", 2),
    _generated_method(
        "pairs_cot_two",
        "each pair with a rationale, of two sequences",
        asking_pairs(True, MOST_PAIRED_STEPS),
        "pair_cot",
        2,
    ),
    _generated_method("whole_two", "the whole graph in one request, of two sequences", ask_graph, "graph", 2),
    _dependency_method(
        "entire_graph",
        "steps and dependencies in one request",
        entire_graph,
        entire_graph_prompt,
        no_settings,
        TASK_GRAPH,
    ),
)

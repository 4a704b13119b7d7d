"""LLM scoring: sequences with two steps exchanged, and what the best of them agree on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from edge_questions import BREAD, edge_question, in_order, run_method, simulate
from tasklama_episodes import numbered

from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.families.tasklama.edges.dependency_methods import (
    SWAPS,
    agreed_pairs,
    kept_orders,
    swapped_orders,
)
from pytest_taskgraph.scoring.forms.task_graph_form import read_graph
from pytest_taskgraph.trial import Json, Reply, Request


def scored(
    logprob: dict[str, float], otherwise: float, *texts: str
) -> tuple[list[Request], Callable[[Request], Reply]]:
    """Answer chat requests with texts, and score each sequence by its lines joined with bars."""
    asked_for: list[Request] = []
    chat = in_order(*texts)

    def answer(request: Request) -> Reply:
        asked_for.append(request)
        if request.kind != "score":
            return chat(request)
        keys = ["|".join(line.partition(". ")[2] for line in text.split("\n")[1:]) for text in request.texts]
        return Reply("", logprobs=[[logprob.get(key, otherwise), 9, None] for key in keys])

    return asked_for, answer


def stated(answer: Json) -> list[float]:
    """Return the log-probabilities that a request states for simulated models."""
    assert isinstance(answer, list)
    return [float(str(number)) for number in answer]


@pytest.mark.parametrize(("steps", "sequences"), [(2, 2), (3, 4), (4, 7), (5, 11), (30, 11)])
def test_swapped_orders_are_different_and_as_many_as_stated(steps: int, sequences: int) -> None:
    orders = swapped_orders(range(steps), "seed")
    assert orders[0] == [*range(steps)]
    assert len(orders) == len({tuple(order) for order in orders}) == sequences <= SWAPS + 1
    for order in orders[1:]:
        assert sorted(order) == [*range(steps)]
        assert sum(order[at] != at for at in range(steps)) == 2


def test_swapped_orders_of_another_seed_differ() -> None:
    assert swapped_orders(range(20), "a") == swapped_orders(range(20), "a")
    assert swapped_orders(range(20), "a") != swapped_orders(range(20), "b")


def test_kept_orders_are_the_best_third_and_ties_go_to_the_earlier() -> None:
    assert kept_orders([[0]] * 7, [-5, -1, -9, -1, -2, -8, -7]) == [1, 3]
    assert kept_orders([[0]] * 11, [-3] * 11) == [0, 1, 2]
    assert kept_orders([[0]] * 2, [-4, -3]) == [1]


def test_agreed_pairs_are_those_in_one_order_in_all_sequences() -> None:
    """a b c and b a c: a and b in any order, both before c."""
    assert agreed_pairs([[0, 1, 2], [1, 0, 2]]) == [(0, 2), (1, 2)]
    assert agreed_pairs([[0, 1, 2], [2, 1, 0]]) == []


def test_scoring_worked_by_hand_keeps_two_of_seven_sequences() -> None:
    """Steps a b c d; best are the produced order and that with a and b exchanged: a, b before c before d."""
    asked_for, answer = scored({"a|b|c|d": -1.0, "b|a|c|d": -2.0}, -3.0, numbered("a", "b", "c", "d"))
    transcript, exchanges = run_method(edge_question("scoring"), answer)
    assert read_graph(transcript.reply.text) == {
        "steps": ["a", "b", "c", "d"],
        "dependencies": [[0, 2], [1, 2], [2, 3]],
    }
    assert len(exchanges) == 2
    chat, score = asked_for
    assert (score.kind, score.context, len(score.texts)) == ("score", chat.prompt, 7)
    assert score.texts[0] == "\n1. a\n2. b\n3. c\n4. d"
    orders = exchanges[1].note["orders"]
    assert isinstance(orders, list)
    assert exchanges[1].note["kept"] == [0, orders.index([1, 0, 2, 3])]


def test_scoring_text_without_probability_is_the_last() -> None:
    def answer(request: Request) -> Reply:
        if request.kind == "score":
            return Reply("", logprobs=[[None, 3, None], [-50.0, 3, None]])
        return Reply(numbered("a", "b"))

    transcript, _ = run_method(edge_question("scoring"), answer)
    assert read_graph(transcript.reply.text)["dependencies"] == [[1, 0]]


def test_scoring_reply_without_a_score_for_each_text_is_an_error() -> None:
    with pytest.raises(ProviderError, match="expected 2 scores of texts, got 0"):
        run_method(edge_question("scoring"), in_order(numbered("a", "b")))


def test_golden_scoring_asks_for_the_order_then_scores_it() -> None:
    question = edge_question("golden_scoring")
    shown_order = question.episode_settings["shown"]
    assert isinstance(shown_order, list)
    order = ", ".join(str(shown_order.index(at) + 1) for at in (2, 0, 1, 3))
    steps = [BREAD.steps[at] for at in (2, 0, 1, 3)]
    second = [steps[1], steps[0], *steps[2:]]
    asked_for, answer = scored({"|".join(steps): -1.0, "|".join(second): -2.0}, -9.0, order)
    transcript, exchanges = run_method(question, answer)
    assert read_graph(transcript.reply.text)["dependencies"] == [[0, 1], [0, 3], [1, 3], [2, 1], [2, 3]]
    assert [exchange.note["asked"] for exchange in exchanges] == ["order", "scores"]
    score = asked_for[1]
    assert score.context == question.episode_settings["score_context"] != question.prompt
    assert not [step for step in BREAD.steps if step in score.context]
    assert score.texts[0] == "\n" + numbered(*steps)


@pytest.mark.parametrize("method", ["scoring", "golden_scoring"])
def test_scoring_right_replies_prefer_orders_that_violate_nothing(method: str) -> None:
    _, exchanges = simulate(edge_question(method), 1)
    request = exchanges[-1].request
    right, wrong = stated(request.right), stated(request.wrong)
    assert len(right) == len(wrong) == len(request.texts) == 7
    assert right[0] == -1.0
    assert max(right) > min(right)
    assert wrong[0] == min(wrong)
    assert max([*right, *wrong]) <= -1.0

"""Dependencies between generated steps: of one sequence, of two merged ones, and together with the steps."""

from __future__ import annotations

import pytest
from edge_questions import (
    BREAD,
    BY_NAME,
    EXAMPLES,
    SETTINGS,
    asked_pair,
    edge_question,
    in_order,
    run_method,
    simulate,
)
from tasklama_episodes import numbered

from pytest_taskgraph.asking import is_one_turn
from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.families.tasklama.edges.dependency_methods import MOST_PAIRED_STEPS
from pytest_taskgraph.families.tasklama.methods import EMBEDDINGS_SUFFIX, episodes
from pytest_taskgraph.families.tasklama.sequences import icl_prompt
from pytest_taskgraph.scoring.forms import explain_answer
from pytest_taskgraph.scoring.forms.task_graph_form import read_graph
from pytest_taskgraph.scoring.grade import grade, read_answer
from pytest_taskgraph.trial import Reply, Request

ONE_ROUND = ["linear", "pairs", "pairs_cot", "pairs_linear", "scoring", "whole"]
TWO = ["pairs_two", "pairs_cot_two", "whole_two"]
STEPS = ("Buy flour", "Mix the dough", "Bake the dough")


def test_linear_keeps_the_produced_sequence_and_asks_for_no_more() -> None:
    transcript, exchanges = run_method(edge_question("linear"), in_order(numbered(*STEPS)))
    assert read_graph(transcript.reply.text) == {"steps": [*STEPS], "dependencies": [[0, 1], [1, 2]]}
    assert [exchange.request.prompt for exchange in exchanges] == [icl_prompt(BREAD, EXAMPLES, SETTINGS)]
    assert transcript.reply.source == "scripted"


@pytest.mark.parametrize("method", ["pairs", "pairs_cot"])
def test_pairs_answers_are_freed_of_cycles_and_reduced(method: str) -> None:
    dependencies = {("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "d"), ("e", "f"), ("c", "f")}

    def answer(request: Request) -> Reply:
        if "First step" not in request.prompt.splitlines()[-2]:
            return Reply(numbered(*(f"Do {letter}" for letter in "abcdefg")))
        first, second = (step.removeprefix("Do ") for step in asked_pair(request))
        return Reply("Final answer: yes" if (first, second) in dependencies or (first, second) == ("f", "g") else "no")

    transcript, exchanges = run_method(edge_question(method), answer)
    # c→f is kept beside c→d, e→f, f→g: no path of kept dependencies leads from c to f
    assert read_graph(transcript.reply.text)["dependencies"] == [[2, 3], [2, 5], [4, 5], [5, 6]]
    assert len(exchanges) == 1 + 7 * 6
    assert [exchange.note["asked"] for exchange in exchanges] == ["steps", *["pair"] * 42]


def test_pairs_yes_to_all_later_steps_is_reduced_to_a_chain() -> None:
    order = {step: at for at, step in enumerate(STEPS)}

    def answer(request: Request) -> Reply:
        if "First step" not in request.prompt.splitlines()[-2]:
            return Reply(numbered(*STEPS))
        first, second = asked_pair(request)
        return Reply("yes" if order[first] < order[second] else "no")

    transcript, _ = run_method(edge_question("pairs"), answer)
    assert read_graph(transcript.reply.text)["dependencies"] == [[0, 1], [1, 2]]


def test_pairs_linear_asks_about_pairs_in_the_produced_order_alone() -> None:
    def answer(request: Request) -> Reply:
        if "First step" not in request.prompt.splitlines()[-2]:
            return Reply(numbered(*STEPS))
        return Reply("no" if asked_pair(request) == STEPS[:2] else "yes")

    transcript, exchanges = run_method(edge_question("pairs_linear"), answer)
    asked = [asked_pair(exchange.request) for exchange in exchanges[1:]]
    assert asked == [(STEPS[0], STEPS[1]), (STEPS[0], STEPS[2]), (STEPS[1], STEPS[2])]
    assert read_graph(transcript.reply.text)["dependencies"] == [[0, 2], [1, 2]]


@pytest.mark.parametrize("method", ["pairs", "pairs_cot", "pairs_two"])
def test_pairs_of_many_steps_are_bounded_and_the_rest_noted(method: str) -> None:
    many = [f"Paint wall number {at}" for at in range(150)]
    first = 2 if method.endswith("two") else 1
    transcript, exchanges = run_method(edge_question(method), in_order(*[numbered(*many)] * first, "no"))
    assert len(exchanges) == first + MOST_PAIRED_STEPS * (MOST_PAIRED_STEPS - 1)
    assert exchanges[first].note["steps_left_out"] == len(read_graph(transcript.reply.text)["steps"]) - 20  # type: ignore[arg-type]


@pytest.mark.parametrize("method", [*ONE_ROUND, *TWO, "entire_graph"])
def test_generated_refusal_of_the_steps_ends_the_episode(method: str) -> None:
    question = edge_question(method)
    transcript, exchanges = run_method(question, in_order("I'm sorry, but I can't help with that."))
    assert len(exchanges) == (2 if method in TWO else 1)
    assert grade(question, transcript.reply).status == "refused"


@pytest.mark.parametrize("method", ["pairs", "pairs_cot", "whole"])
def test_generated_reply_without_dependencies_is_unparseable(method: str) -> None:
    question = edge_question(method)
    transcript, _ = run_method(question, in_order(numbered(*STEPS), "The weather is fine."))
    assert read_answer(question, transcript.reply) is None
    transcript, _ = run_method(question, in_order(numbered(*STEPS), "1. Sing a song\n2. Dance"))
    assert transcript.reply.text == "1. Sing a song\n2. Dance"
    assert read_answer(question, transcript.reply) is None


def test_generated_unread_pairs_are_stated_and_explained() -> None:
    question = edge_question("pairs")
    transcript, _ = run_method(question, in_order(numbered(*STEPS), "yes", "Hard to say."))
    assert transcript.reply.text.splitlines()[-1] == "Unread: 1 -> 3, 2 -> 1, 2 -> 3, 3 -> 1, 3 -> 2"
    score = grade(question, transcript.reply)
    assert explain_answer(question.form, question.reference, score.given)[-1] == "5 pairs have no parseable answer"


@pytest.mark.parametrize("method", [*ONE_ROUND, "entire_graph"])
def test_generated_single_step_has_no_dependencies_and_asks_no_more(method: str) -> None:
    transcript, exchanges = run_method(edge_question(method), in_order("1. Buy bread"))
    assert read_graph(transcript.reply.text) == {"steps": ["Buy bread"], "dependencies": []}
    assert len(exchanges) == 1


def test_whole_shows_the_generated_steps_and_reads_their_numbers() -> None:
    transcript, exchanges = run_method(edge_question("whole"), in_order(numbered(*STEPS), "1 -> 2, 2 -> 3, 1 -> 3"))
    assert exchanges[1].request.prompt.endswith("Task: Bake bread\nContext: In an oven\nSteps:\n" + numbered(*STEPS))
    assert read_graph(transcript.reply.text) == {"steps": [*STEPS], "dependencies": [[0, 1], [1, 2]]}


def test_whole_two_asks_about_the_merged_steps() -> None:
    replies = in_order(numbered("Mix the dough", "Bake the dough"), numbered("Buy flour", "Mix dough"), "1 -> 2")
    transcript, exchanges = run_method(edge_question("whole_two"), replies)
    assert [exchange.request.settings.get("temperature") for exchange in exchanges] == [0.5, 0.5, None]
    assert read_graph(transcript.reply.text)["steps"] == ["Buy flour", "Mix the dough", "Bake the dough"]


def test_pairs_two_asks_about_each_pair_of_the_merged_steps() -> None:
    replies = in_order(numbered("Mix the dough", "Bake the dough"), numbered("Buy flour", "Mix dough"), "no")
    _, exchanges = run_method(edge_question("pairs_two"), replies)
    assert len(exchanges) == 2 + 3 * 2


def test_entire_graph_is_one_request_freed_of_cycles_and_reduced() -> None:
    reply = numbered(*STEPS, "Eat", "Sleep") + "\nDependencies: 1 -> 2, 2 -> 3, 1 -> 3, 4 -> 5, 5 -> 4"
    transcript, exchanges = run_method(edge_question("entire_graph"), in_order(reply))
    assert read_graph(transcript.reply.text)["dependencies"] == [[0, 1], [1, 2]]
    assert len(exchanges) == 1


def test_entire_graph_similarity_that_a_model_writes_is_dropped() -> None:
    reply = numbered("Sing") + "\nSimilarity: [[1, 1, 1, 1]]"
    transcript, _ = run_method(edge_question("entire_graph"), in_order(reply))
    assert transcript.reply.text == "1. Sing"


@pytest.mark.parametrize("method", ["linear", "entire_graph"])
def test_generated_steps_are_compared_by_the_embedder_if_stated(method: str) -> None:
    def answer(request: Request) -> Reply:
        if request.kind == "embed":
            return Reply("", embeddings=[[1.0, 0.0] if "dough" in text else [0.0, 1.0] for text in request.texts])
        return Reply(numbered("Mix the dough", "Sing"))

    question = edge_question(method, similarity="embeddings")
    transcript, exchanges = run_method(question, answer)
    assert [exchange.request.kind for exchange in exchanges] == ["chat", "embed"]
    assert transcript.reply.text.endswith("Similarity: [[1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]")
    assert grade(question, transcript.reply).metrics["hungarian_precision"] == 1.0
    embedded_episodes = episodes()
    assert (is_one_turn(embedded_episodes[method]), is_one_turn(embedded_episodes[f"{method}{EMBEDDINGS_SUFFIX}"])) == (
        True,
        False,
    )


@pytest.mark.parametrize("method", ["pairs", "pairs_cot", "whole", "pairs_two", "whole_two", "entire_graph"])
def test_simulated_model_that_writes_the_gold_steps_has_the_gold_graph(method: str) -> None:
    score, _ = simulate(edge_question(method), 1)
    assert (score.value, score.metrics["graph_f1"], score.metrics["hungarian_f1"]) == (1.0, 1.0, 1.0)


def test_simulated_model_answers_no_about_steps_that_are_not_gold() -> None:
    turns = BY_NAME["pairs"].episode(edge_question("pairs"))
    next(turns)
    requests = turns.send([Reply(numbered("Bake the dough", "Sing a song", "Mix the  dough"))])
    right = {asked_pair(request): request.right for request in requests}
    assert [pair for pair, answer in right.items() if answer == "yes"] == [("Mix the dough", "Bake the dough")]


@pytest.mark.parametrize("method", [*ONE_ROUND, *TWO])
def test_generated_prompts_show_no_gold_step(method: str) -> None:
    chat = in_order(*[numbered("Buy a loaf", "Eat it")] * 2, "1 -> 2. Final answer: yes")

    def answer(request: Request) -> Reply:
        return Reply("", logprobs=[[-1.0, 1, None]] * 2) if request.kind == "score" else chat(request)

    _, exchanges = run_method(edge_question(method), answer)
    shown_texts = [exchange.request.prompt + exchange.request.context for exchange in exchanges]
    assert not [step for step in BREAD.steps for text in shown_texts if step in text]


@pytest.mark.parametrize("method", [*ONE_ROUND, *TWO, "entire_graph"])
def test_generated_steps_cut_off_at_the_token_limit_are_no_answer(method: str) -> None:
    with pytest.raises(ProviderError, match=r"cut off at the token limit .*; allow more tokens"):
        run_method(edge_question(method), lambda request: Reply(numbered(*STEPS), finish_reason="length"))

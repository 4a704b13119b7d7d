"""Dependencies between gold steps: what is asked, and what is answered in the order of the reference."""

from __future__ import annotations

from dataclasses import replace

import pytest
from edge_questions import BREAD, BY_NAME, PACK, TEA, asked_pair, edge_question, in_order, run_method, simulate

from pytest_taskgraph.asking import is_one_turn
from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.families.tasklama.complex_task import ComplexTask
from pytest_taskgraph.families.tasklama.task_sets.task_lines import LONGEST_TEXT
from pytest_taskgraph.scoring.forms.task_graph_form import read_graph
from pytest_taskgraph.scoring.grade import grade, read_answer
from pytest_taskgraph.trial import Parsing, Question, Reply, Request

GOLDEN = [name for name in BY_NAME if name.startswith("golden_")]
GRAPHS = ["golden_linear", "golden_whole"]
CLOSURE = [[0, 1], [0, 3], [1, 3], [2, 3]]  # of BREAD


def shown_numbers(question: Question) -> dict[int, int]:
    """From the index of a gold step to the number under which it is shown."""
    shown_order = question.episode_settings["shown"]
    assert isinstance(shown_order, list)
    return {int(str(at)): number for number, at in enumerate(shown_order, 1)}


def write_answer(question: Question, *pairs: tuple[int, int]) -> str:
    numbers = shown_numbers(question)
    return ", ".join(f"{numbers[a]} -> {numbers[b]}" for a, b in pairs)


@pytest.mark.parametrize("method", ["golden_pairs", "golden_pairs_cot"])
def test_pairs_every_ordered_pair_is_asked_about_in_one_turn(method: str) -> None:
    question = edge_question(method)
    requests = next(BY_NAME[method].episode(question))
    pairs = [asked_pair(request) for request in requests]
    assert len(pairs) == len(set(pairs)) == 12
    assert {step for pair in pairs for step in pair} == set(BREAD.steps)
    assert requests[0].prompt == question.prompt
    assert is_one_turn(BY_NAME[method].episode)


def test_pairs_answers_are_listed_as_given_even_a_cycle() -> None:
    answered_yes = {("Mix the dough", "Bake the dough"), ("Bake the dough", "Mix the dough")}
    transcript, exchanges = run_method(
        edge_question("golden_pairs"),
        lambda request: Reply("yes" if asked_pair(request) in answered_yes else "no", source="model"),
    )
    assert read_graph(transcript.reply.text) == {"steps": [*BREAD.steps], "dependencies": [[0, 3], [3, 0]]}
    assert transcript.reply.source == "model"
    assert [exchange.note["read"] for exchange in exchanges].count("yes") == 2


def test_pairs_chain_without_its_far_pair_has_five_of_six_right() -> None:
    chain = ComplexTask("c", "Do c", (), ("Dig", "Plant", "Water"), ((0, 1), (1, 2)))
    answered_yes = {("Dig", "Plant"), ("Plant", "Water")}
    question = edge_question("golden_pairs", chain)
    transcript, _ = run_method(question, lambda request: Reply("yes" if asked_pair(request) in answered_yes else "no"))
    assert grade(question, transcript.reply).parts["pairs"] == [5, 6]


@pytest.mark.parametrize("method", GOLDEN)
def test_golden_steps_as_long_as_data_allow_are_compared_whole(method: str) -> None:
    longest = ["x " * (LONGEST_TEXT // 2 - 1) + end for end in "ab"]
    question = edge_question(method, ComplexTask("l", "Do l", (), (*longest, "911"), ((0, 1), (1, 2))))
    assert simulate(question, 1.0)[0].value == 1.0


def test_pairs_replies_that_cannot_be_read_are_wrong_whatever_gold_says() -> None:
    replies = iter(["no", *["I would rather not say."] * 11])
    question = edge_question("golden_pairs")
    transcript, _ = run_method(question, lambda request: Reply(next(replies)))
    score = grade(question, transcript.reply)
    assert score.parts["pairs"][1] == 12
    assert score.parts["pairs"][0] <= 1
    assert score.parts["majority_pairs"][0] > 1


def test_pairs_unparseable_reply_is_no_dependency_and_is_noted() -> None:
    def answer(request: Request) -> Reply:
        return Reply("Hard to say." if asked_pair(request)[0] == "Mix the dough" else "yes")

    transcript, exchanges = run_method(edge_question("golden_pairs"), answer)
    given = read_graph(transcript.reply.text)["dependencies"]
    assert isinstance(given, list)
    assert len(given) == 9
    assert not [pair for pair in given if isinstance(pair, list) and pair[0] == 0]
    notes = [exchange.note["read"] for exchange in exchanges if asked_pair(exchange.request)[0] == "Mix the dough"]
    assert notes == ["unparseable"] * 3


@pytest.mark.parametrize("method", GOLDEN)
def test_golden_reply_without_any_answer_is_unparseable(method: str) -> None:
    question = edge_question(method)
    transcript, _ = run_method(question, in_order("Hard to say, but I like the weather."))
    score = grade(question, transcript.reply)
    assert (score.status, score.value) == ("unparseable", 0.0)
    assert score.remark == "expected steps, a line each, found 'Hard to say, but I like the weather.'"
    assert transcript.reply.text == "Hard to say, but I like the weather."
    assert read_answer(question, transcript.reply) is None


@pytest.mark.parametrize("parsing", ["lenient", "strict"])
@pytest.mark.parametrize("method", GRAPHS)
def test_golden_reply_that_lists_other_steps_is_unparseable(method: str, parsing: Parsing) -> None:
    question = replace(edge_question(method), parsing=parsing)
    transcript, exchanges = run_method(question, in_order("1. Sing a song\n2. Dance"))
    assert transcript.reply is exchanges[0].reply
    score = grade(question, transcript.reply)
    assert (score.status, score.remark) == (
        "unparseable",
        "expected the order of steps or the dependencies between them, found '1. Sing a song\\n2. Dance'",
    )


@pytest.mark.parametrize("parsing", ["lenient", "strict"])
@pytest.mark.parametrize("task", [BREAD, PACK], ids=lambda task: task.id)
def test_golden_composed_reply_states_that_no_pair_is_unread(task: ComplexTask, parsing: Parsing) -> None:
    question = replace(edge_question("golden_whole", task), parsing=parsing)
    transcript, _ = run_method(question, in_order("none"))
    assert transcript.reply.text.splitlines()[-1] == "Unread: none"
    assert grade(question, transcript.reply).given == {"steps": [*task.steps], "dependencies": []}


@pytest.mark.parametrize("method", GOLDEN)
def test_golden_refusal_is_refused(method: str) -> None:
    question = edge_question(method)
    transcript, exchanges = run_method(question, in_order("I'm sorry, but I can't help with that."))
    assert transcript.reply is exchanges[0].reply
    assert grade(question, transcript.reply).status == "refused"


@pytest.mark.parametrize("method", ["golden_pairs_cot", "golden_linear", "golden_whole"])
def test_golden_reply_cut_off_is_no_answer(method: str) -> None:
    with pytest.raises(ProviderError, match="cut off at the token limit before its end"):
        run_method(edge_question(method), lambda request: Reply("No task is easy, so 1 -> 2,", finish_reason="length"))


def test_pairs_cot_reasons_cut_off_count_as_no_dependency() -> None:
    def answer(request: Request) -> Reply:
        if asked_pair(request) == ("Mix the dough", "Let the dough rise"):
            return Reply("Yes, the dough has to be", finish_reason="length")
        if asked_pair(request) == ("Mix the dough", "Heat the oven"):
            return Reply("It has to.\nFinal answer: yes", finish_reason="length")
        return Reply("Final answer: no")

    transcript, exchanges = run_method(edge_question("golden_pairs_cot"), answer)
    assert read_graph(transcript.reply.text)["dependencies"] == [[0, 2]]
    assert [exchange.note["read"] for exchange in exchanges].count("unparseable") == 1


def test_pairs_cot_verdict_behind_reasons_counts() -> None:
    reply = "Yes, I see what you mean. Neither needs the other.\nFinal answer: no"
    transcript, _ = run_method(edge_question("golden_pairs_cot"), in_order(reply))
    assert read_graph(transcript.reply.text)["dependencies"] == []


def test_linear_every_later_step_depends_on_every_earlier_one() -> None:
    question = edge_question("golden_linear")
    numbers = shown_numbers(question)
    transcript, exchanges = run_method(question, in_order(", ".join(str(numbers[at]) for at in (2, 0, 1, 3))))
    given = read_graph(transcript.reply.text)
    assert given["steps"] == [*BREAD.steps]
    assert given["dependencies"] == [[0, 1], [0, 3], [1, 3], [2, 0], [2, 1], [2, 3]]
    assert len(exchanges) == 1


def test_linear_steps_that_are_left_out_have_no_dependencies() -> None:
    question = edge_question("golden_linear")
    numbers = shown_numbers(question)
    transcript, _ = run_method(question, in_order(f"{numbers[0]}, {numbers[3]}"))
    assert read_graph(transcript.reply.text)["dependencies"] == [[0, 3]]


def test_whole_answer_lists_the_closure_freed_of_cycles() -> None:
    question = edge_question("golden_whole")
    transcript, _ = run_method(question, in_order(write_answer(question, (0, 1), (1, 3), (2, 3))))
    assert read_graph(transcript.reply.text)["dependencies"] == CLOSURE
    transcript, _ = run_method(question, in_order(write_answer(question, (0, 1), (1, 0), (1, 3))))
    assert read_graph(transcript.reply.text)["dependencies"] == [[1, 3]]


def test_whole_cycle_example_of_the_rule_keeps_two_dependencies() -> None:
    """A→B→C→A, C→D, D⇄E, E→F: kept are C→D and E→F."""
    task = ComplexTask("six", "Do six", (), tuple(f"Do part {letter}" for letter in "ABCDEF"), ())
    question = edge_question("golden_whole", task)
    pairs = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (4, 5)]
    transcript, _ = run_method(question, in_order(write_answer(question, *pairs)))
    assert read_graph(transcript.reply.text)["dependencies"] == [[2, 3], [4, 5]]


def test_whole_none_is_a_graph_without_dependencies() -> None:
    question = edge_question("golden_whole", PACK)
    transcript, _ = run_method(question, in_order("none"))
    score = grade(question, transcript.reply)
    assert score.status == "read"
    assert (score.value, score.parts["pairs"]) == (1.0, [2, 2])


@pytest.mark.parametrize("task", [BREAD, TEA, PACK], ids=lambda task: task.id)
@pytest.mark.parametrize("method", ["golden_pairs", "golden_pairs_cot", "golden_whole"])
def test_simulated_model_that_is_always_right_has_all_pairs_right(method: str, task: ComplexTask) -> None:
    score, _ = simulate(edge_question(method, task), 1)
    assert score.value == 1.0


@pytest.mark.parametrize("method", GOLDEN)
def test_simulated_model_that_is_never_right_has_fewer_pairs_right(method: str) -> None:
    right, _ = simulate(edge_question(method), 1)
    wrong, _ = simulate(edge_question(method), 0)
    assert wrong.value < right.value


@pytest.mark.parametrize("method", GRAPHS)
def test_simulated_model_on_a_chain_has_all_pairs_right(method: str) -> None:
    steps = ("Dig", "Plant", "Water", "Harvest", "Eat")
    chain = ComplexTask("c", "Do c", (), steps, tuple((at, at + 1) for at in range(4)))
    score, exchanges = simulate(edge_question(method, chain), 1)
    assert score.value == 1.0
    assert len(exchanges) == 1


def test_gold_graph_with_a_cycle_has_no_right_dependency_on_it() -> None:
    task = replace(BREAD, dependencies=((0, 1), (1, 0), (1, 3)))
    for method in ("golden_pairs", "golden_whole"):
        assert simulate(edge_question(method, task), 1)[0].value == 1.0


@pytest.mark.parametrize("method", GOLDEN)
def test_golden_task_of_one_step_asks_nothing(method: str) -> None:
    question = edge_question(method, ComplexTask("one", "Do it", (), ("Do it",), ()))
    transcript, exchanges = run_method(question, in_order("yes"))
    assert exchanges == []
    assert read_graph(transcript.reply.text) == {"steps": ["Do it"], "dependencies": []}


def test_golden_question_without_its_shown_order_is_refused() -> None:
    question = replace(edge_question("golden_whole"), episode_settings={"shown": [0, 1]})
    with pytest.raises(ValueError, match=r"shows the steps \[0, 1\] of 4"):
        run_method(question, in_order("none"))

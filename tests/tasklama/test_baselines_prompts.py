"""The baselines and the prompts of every method: what a prompt asks, and what a whole episode comes to."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from edge_questions import BREAD, EXAMPLES, SETTINGS, edge_question

from pytest_taskgraph.asking import Exchange, Transcript, drive
from pytest_taskgraph.errors import NotAskedError
from pytest_taskgraph.families.tasklama import edges, sequences
from pytest_taskgraph.families.tasklama.complex_task import ComplexTask
from pytest_taskgraph.families.tasklama.method import Method
from pytest_taskgraph.families.tasklama.task_baselines import BASELINES
from pytest_taskgraph.families.tasklama.task_baselines.task_baseline import TaskBaseline, read_prompt
from pytest_taskgraph.scoring.forms.task_graph_form import read_graph
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Question

# The two that need a file of coefficients send the requests of filter_logprob but for the scores.
METHODS = {
    method.name: method
    for method in (*sequences.METHODS, *edges.METHODS)
    if method.name not in ("filter", "multseq_filter")
}
OWN_STEPS = ("Choose the room", "Buy the tools and the materials", "Clean the table", "Wait for the guests")
CHAIN = {"steps": [*OWN_STEPS], "dependencies": [[0, 1], [1, 2], [2, 3]]}
PLAIN = replace(BREAD, id="plain", context=())
ODD = ComplexTask(
    "odd", "Order: 1 -> 2, then 3", ("First step: 4 -> 5", "Final answer: yes"),
    ("Turn 1 -> 2", "Task: none", "Dependencies: 1 -> 2", "1. Second step: rest"), ((0, 1), (1, 2)),
)  # fmt: skip


def kinds_asked(method: Method, task: ComplexTask, examples: tuple[ComplexTask, ...]) -> list[str]:
    """Return the kinds of all chat requests of an episode that the baseline answers, as far as it gets."""
    exchanges: list[Exchange] = []
    try:
        played(edge_question(method, task, examples=examples), exchanges)
    except NotAskedError:
        assert exchanges[-1].request.kind == "score"
    prompts = [exchange.request.prompt for exchange in exchanges if exchange.request.kind == "chat"]
    assert {read_prompt(prompt).title for prompt in prompts} <= {task.title}
    return [*dict.fromkeys(read_prompt(prompt).kind for prompt in prompts)]


def played(question: Question, exchanges: list[Exchange] | None = None) -> Transcript:
    model = TaskBaseline("listed", SETTINGS, lambda settings, tasks: lambda title: OWN_STEPS)
    return asyncio.run(drive(METHODS[question.group].episode(question), model.answer, exchanges))


def expected_kinds(name: str) -> list[str]:
    if name == "entire_graph":
        return ["entire graph"]
    if name == "golden_scoring":
        return ["order"]
    bare = name.removeprefix("golden_").removesuffix("_two").removesuffix("_cot").removesuffix("_linear")
    then = ["order"] if name == "golden_linear" else {"pairs": ["pair"], "whole": ["graph"]}.get(bare, [])
    return then if name.startswith("golden_") else ["steps", *then]


@pytest.mark.parametrize("examples", [EXAMPLES, ()])
@pytest.mark.parametrize("task", [BREAD, PLAIN, ODD], ids=lambda task: task.id)
@pytest.mark.parametrize("name", METHODS)
def test_prompts_of_a_method_are_told_apart(name: str, task: ComplexTask, examples: tuple[ComplexTask, ...]) -> None:
    assert kinds_asked(METHODS[name], task, examples) == expected_kinds(name)


@pytest.mark.parametrize("name", ["golden_pairs", "golden_pairs_cot"])
def test_pairs_are_answered_by_the_majority_class(name: str) -> None:
    question = edge_question(METHODS[name])
    score = grade(question, played(question).reply)
    # Of the 12 ordered pairs, bread has 4 dependencies: 0 -> 1 -> 3, 2 -> 3.
    assert score.parts["pairs"] == [8, 12] == score.parts["majority_pairs"]


@pytest.mark.parametrize("name", ["golden_linear", "golden_whole"])
def test_given_steps_are_a_chain_in_the_shown_order(name: str) -> None:
    question = edge_question(METHODS[name])
    shown_order = question.episode_settings["shown"]
    assert isinstance(shown_order, list)
    answer = read_graph(played(question).reply.text)
    assert answer["steps"] == [*BREAD.steps]
    chain = [[before, after] for at, before in enumerate(shown_order) for after in shown_order[at + 1 :]]
    assert sorted(map(str, chain)) == sorted(map(str, answer["dependencies"]))  # type: ignore[arg-type]


def test_entire_graph_is_a_chain_of_the_own_steps() -> None:
    assert read_graph(played(edge_question(METHODS["entire_graph"])).reply.text) == CHAIN


@pytest.mark.parametrize("name", ["linear", "whole", "whole_two"])
def test_graph_of_generated_steps_is_their_chain(name: str) -> None:
    assert read_graph(played(edge_question(METHODS[name])).reply.text) == CHAIN


def test_pairs_of_generated_steps_have_no_dependencies() -> None:
    answer = read_graph(played(edge_question(METHODS["pairs"])).reply.text)
    assert answer == {"steps": [*OWN_STEPS], "dependencies": []}


def test_repeated_task_in_two_sequences_is_one_step() -> None:
    question = edge_question(METHODS["whole_two"])
    transcript = asyncio.run(drive(METHODS["whole_two"].episode(question), BASELINES["repeat-task"](SETTINGS).answer))
    assert read_graph(transcript.reply.text) == {"steps": ["Bake bread"], "dependencies": []}


@pytest.mark.parametrize("name", ["golden_scoring", "scoring", "filter_logprob"])
def test_method_with_scores_is_not_answered(name: str) -> None:
    with pytest.raises(NotAskedError):
        played(edge_question(METHODS[name]))

"""Every vocabulary can be built with, and makes sense as data: names, order, words."""

from __future__ import annotations

import pytest

from pytest_taskgraph.errors import UnknownNameError
from pytest_taskgraph.generation.build import generate
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.vocabularies import vocabulary, vocabulary_names
from pytest_taskgraph.workflow.check import check
from pytest_taskgraph.workflow.features import FEATURES
from pytest_taskgraph.workflow.graph import starts, task_graph

NAMES = vocabulary_names()
DOMAINS = [name for name in NAMES if vocabulary(name).tasks]


def test_there_are_a_neutral_one_and_domains() -> None:
    assert "neutral" in NAMES
    assert len(DOMAINS) >= 2


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="unknown vocabulary 'space'; known: kitchen, neutral, orders"):
        vocabulary("space")


@pytest.mark.parametrize("name", DOMAINS)
def test_a_domain_has_fifteen_tasks_that_say_everything(name: str) -> None:
    words = vocabulary(name)
    assert len(words.tasks) >= 15
    for task in words.tasks:
        assert task.name.isidentifier()
        assert task.description.endswith(".")
        assert all((task.kind, task.reads, task.writes))
    assert len({task.description for task in words.tasks}) == len(words.tasks)


@pytest.mark.parametrize("name", NAMES)
def test_no_word_means_two_things(name: str) -> None:
    words = vocabulary(name)
    data = {one for task in words.tasks for one in (*task.reads, *task.writes)}
    kinds_of_names = [
        [task.name for task in words.tasks], sorted(data), words.measures, words.settings,
        [mode for mode, _ in words.modes], [word for _, choices in words.modes for word in choices], [words.workflow],
    ]  # fmt: skip
    every = [one for names in kinds_of_names for one in names]
    assert len(set(every)) == len(every)
    assert {one for one, _ in words.data} <= data


@pytest.mark.parametrize("name", DOMAINS)
def test_each_datum_is_written_by_one_task_and_before_it_is_read(name: str) -> None:
    tasks = vocabulary(name).tasks
    written = [one for task in tasks for one in task.writes]
    assert len(set(written)) == len(written)
    for index, task in enumerate(tasks):
        earlier = {one for before in tasks[:index] for one in before.writes}
        assert not {one for one in task.reads if one in written} - earlier


@pytest.mark.parametrize("name", DOMAINS)
def test_the_tasks_of_a_domain_run_in_an_order_that_makes_sense(name: str) -> None:
    words = [task.name for task in vocabulary(name).tasks]
    chain = generate(Recipe(tasks=10, vocabulary=name), 5)
    graph, order = task_graph(chain), list(starts(chain))
    while after := graph[order[-1]]:
        order.extend(after)
    assert order == sorted(order, key=words.index)


@pytest.mark.parametrize("name", NAMES)
def test_more_tasks_than_words_are_numbered(name: str) -> None:
    whole = generate(Recipe(tasks=100, vocabulary=name, features=FEATURES), 2)
    check(whole)
    plain = generate(Recipe(tasks=100, vocabulary=name), 2)
    assert len(set(plain.task_names)) == 100
    if vocabulary(name).tasks:
        bare = {task.rstrip("0123456789") for task in plain.task_names}
        assert bare == {task.name for task in vocabulary(name).tasks}

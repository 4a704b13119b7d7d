"""Every vocabulary can be built with, and makes sense as data: names, order, words."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from functools import cache
from importlib.resources import files
from itertools import combinations
from random import Random
from typing import Any

import pytest

from pytest_taskgraph.errors import UnknownNameError
from pytest_taskgraph.generation import vocabularies
from pytest_taskgraph.generation.build import generate
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.vocabularies import vocabulary, vocabulary_names
from pytest_taskgraph.workflow.check import check
from pytest_taskgraph.workflow.features import FEATURES
from pytest_taskgraph.workflow.graph import starts, task_graph

NAMES = vocabulary_names()
DOMAINS = [name for name in NAMES if vocabulary(name).tasks]
EMPTY_WORDS = re.compile(
    "an?|and|are|as|at|be|before|by|each|every|for|from|has|how|in|into|is|its?|not|of|off|on|one|or|out|so|than|that|"
    "the|their|them|they|this|to|until|up|was|were|what|when|where|which|who|whoever|whom|with"
)


@cache
def written(name: str) -> dict[str, Any]:
    """The file itself, read without the loader."""
    return tomllib.loads(files(vocabularies).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def predecessors(name: str) -> dict[str, set[str]]:
    """All tasks that the file puts before each task, by repeated joining; an oracle for what the loader closes."""
    found = {task["name"]: set(task["after"]) for task in written(name)["tasks"]}
    for _ in found:
        found = {task: before.union(*(found[one] for one in before)) for task, before in found.items()}
    return found


def words(sentence: str) -> list[str]:
    return re.findall(r"[a-z]+", sentence.lower())


def telling_words(sentence: str) -> list[str]:
    return [word for word in words(sentence) if not EMPTY_WORDS.fullmatch(word)]


def content(sentence: str) -> set[str]:
    """Its words but the empty ones, cut so that "slices" and "sliced" are one."""
    return {word[:5] for word in telling_words(sentence)}


def name_words(name: str) -> set[str]:
    return {part.lower()[:5] for part in re.findall(r"[A-Z][a-z]*", name)}


def overlap(one: str, other: str) -> float:
    """The F1 of shared words, empty ones left out."""
    left, right = (Counter(telling_words(text)) for text in (one, other))
    return 2 * (left & right).total() / max(1, left.total() + right.total())


def is_sentence(text: str) -> bool:
    return re.fullmatch(r"[A-Z][^.!?;:]*\.", text) is not None


def test_there_are_a_neutral_one_and_eight_domains() -> None:
    assert "neutral" in NAMES
    assert len(DOMAINS) >= 8


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=f"unknown vocabulary 'space'; known: {', '.join(NAMES)}"):
        vocabulary("space")


@pytest.mark.parametrize("name", DOMAINS)
def test_a_domain_has_eighteen_tasks_that_say_everything(name: str) -> None:
    assert len(written(name)["tasks"]) >= 18
    for task in written(name)["tasks"]:
        assert list(task) == ["name", "description", "kind", "after", "reads", "writes"]
        assert all((task["kind"], task["reads"], task["writes"]))


@pytest.mark.parametrize("name", NAMES)
def test_no_word_means_two_things(name: str) -> None:
    chosen = vocabulary(name)
    data = {one for task in chosen.tasks for one in (*task.reads, *task.writes)}
    kinds_of_names = [
        [task.name for task in chosen.tasks], sorted(data), chosen.measures, chosen.settings,
        [mode for mode, _ in chosen.modes], [word for _, choices in chosen.modes for word in choices],
        [whole for whole, _ in chosen.workflows],
    ]  # fmt: skip
    every = [one for names in kinds_of_names for one in names]
    assert len(set(every)) == len(every)
    assert [one for one in every if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", one)] == []


@pytest.mark.parametrize("name", DOMAINS)
def test_no_name_of_a_task_a_datum_or_a_workflow_stands_inside_another(name: str) -> None:
    chosen = vocabulary(name)
    named = [task.name for task in chosen.tasks] + [one for one, _ in (*chosen.data, *chosen.workflows)]
    assert [one for one in named if not re.fullmatch(r"([A-Z][a-z]+){2,}", one)] == []
    lower = [one.lower() for one in named]
    assert [(one, other) for one, other in combinations(lower, 2) if one in other or other in one] == []


def test_no_two_domains_share_the_name_of_a_task_or_a_workflow() -> None:
    tasks = [task.name for name in DOMAINS for task in vocabulary(name).tasks]
    wholes = [whole for name in NAMES for whole, _ in vocabulary(name).workflows]
    assert [one for one, times in Counter(tasks + wholes).items() if times > 1] == []


@pytest.mark.parametrize("name", DOMAINS)
def test_each_kind_is_a_phrase_for_two_tasks_or_more(name: str) -> None:
    kinds = Counter(task.kind for task in vocabulary(name).tasks)
    assert 4 <= len(kinds) <= 7
    assert min(kinds.values()) >= 2
    assert [kind for kind in kinds if not re.fullmatch(r"[a-z]+( [a-z]+){0,2}", kind)] == []
    assert vocabulary(name).kinds == tuple(kinds)


@pytest.mark.parametrize("name", DOMAINS)
def test_a_description_is_one_sentence_that_does_not_repeat_the_name(name: str) -> None:
    for task in vocabulary(name).tasks:
        assert is_sentence(task.description), task
        assert 5 <= len(words(task.description)) <= 20, task
        told = content(task.description)
        assert 3 * len(told & name_words(task.name)) <= len(told), task


@pytest.mark.parametrize("name", DOMAINS)
def test_the_ways_to_name_a_whole_workflow_each_tell_its_goal(name: str) -> None:
    wholes = vocabulary(name).workflows
    assert 2 <= len(wholes) <= 3
    for whole, goal in wholes:
        assert is_sentence(goal), goal
        assert 8 <= len(words(goal)) <= 20, goal
        assert 3 * len(content(goal) & name_words(whole)) <= len(content(goal)), goal
    assert (vocabulary(name).workflow, vocabulary(name).description) == wholes[0]


def test_no_two_descriptions_of_tasks_or_workflows_say_nearly_the_same() -> None:
    told = [task.description for name in DOMAINS for task in vocabulary(name).tasks]
    told += [goal for name in DOMAINS for _, goal in vocabulary(name).workflows]
    assert [pair for pair in combinations(told, 2) if overlap(*pair) > 0.45] == []


@pytest.mark.parametrize("name", DOMAINS)
def test_every_datum_is_described_in_words_of_its_own_and_some_have_a_schema(name: str) -> None:
    chosen = vocabulary(name)
    assert {one for one, _ in chosen.data} == {one for task in chosen.tasks for one in (*task.reads, *task.writes)}
    for datum, told in chosen.data:
        assert is_sentence(told), told
        assert 4 <= len(words(told)) <= 20, told
        assert 2 * len(content(told) & name_words(datum)) <= len(content(told)), (datum, told)
    assert [pair for pair in combinations(dict(chosen.data).values(), 2) if overlap(*pair) > 0.6] == []
    assert chosen.schemas
    assert {one for one, _ in chosen.schemas} <= set(dict(chosen.data))
    assert [at for _, at in chosen.schemas if not re.fullmatch(r"file://schemas/[a-z_]+\.[a-z]+", at)] == []


@pytest.mark.parametrize("name", DOMAINS)
def test_each_datum_is_written_by_one_task_and_before_it_is_read(name: str) -> None:
    tasks = vocabulary(name).tasks
    outputs = [one for task in tasks for one in task.writes]
    assert len(set(outputs)) == len(outputs)
    for index, task in enumerate(tasks):
        earlier = {one for before in tasks[:index] for one in before.writes}
        assert not {one for one in task.reads if one in outputs} - earlier


@pytest.mark.parametrize("name", DOMAINS)
def test_a_task_comes_after_known_earlier_tasks_of_which_none_follows_from_another(name: str) -> None:
    before, seen = predecessors(name), set[str]()
    for task in written(name)["tasks"]:
        assert set(task["after"]) <= seen, task
        assert [one for one in task["after"] if any(one in before[other] for other in task["after"])] == [], task
        seen.add(task["name"])


@pytest.mark.parametrize("name", DOMAINS)
def test_who_reads_what_another_task_writes_comes_after_it(name: str) -> None:
    before = predecessors(name)
    writers = {datum: task["name"] for task in written(name)["tasks"] for datum in task["writes"]}
    for task in written(name)["tasks"]:
        assert {writers[one] for one in task["reads"] if one in writers} <= before[task["name"]], task


@pytest.mark.parametrize("name", DOMAINS)
def test_the_order_of_a_domain_is_partial_and_leaves_no_task_alone(name: str) -> None:
    before = predecessors(name)
    ordered = {(one, task) for task, earlier in before.items() for one in earlier}
    assert {task for pair in ordered for task in pair} == set(before)
    free = [pair for pair in combinations(before, 2) if pair not in ordered]
    assert len(free) >= len(before)


@pytest.mark.parametrize("name", DOMAINS)
def test_the_loader_names_all_tasks_before_a_task_in_the_order_of_the_file(name: str) -> None:
    order = [task.name for task in vocabulary(name).tasks]
    before = predecessors(name)
    for task in vocabulary(name).tasks:
        assert task.after == tuple(one for one in order if one in before[task.name])


@pytest.mark.parametrize("name", DOMAINS)
def test_numbered_tasks_come_after_the_tasks_of_their_number(name: str) -> None:
    entries = vocabulary(name).entries(2 * len(vocabulary(name).tasks), Random(3))
    seen: list[str] = []
    for entry in entries:
        assert set(entry.after) <= set(seen)
        seen.append(entry.name)
    assert any(entry.name.endswith("2") and entry.after for entry in entries)


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("seed", [5, 6])
def test_the_tasks_of_a_domain_run_in_an_order_that_makes_sense(name: str, seed: int) -> None:
    before = predecessors(name)
    chain = generate(Recipe(tasks=12, vocabulary=name), seed)
    graph, order = task_graph(chain), list(starts(chain))
    while after := graph[order[-1]]:
        order.extend(after)
    assert len(order) == 12
    assert not [(one, later) for one, later in combinations(order, 2) if later in before[one]]


@pytest.mark.parametrize("name", NAMES)
def test_more_tasks_than_words_are_numbered(name: str) -> None:
    whole = generate(Recipe(tasks=100, vocabulary=name, features=FEATURES), 2)
    check(whole)
    plain = generate(Recipe(tasks=100, vocabulary=name), 2)
    assert len(set(plain.task_names)) == 100
    if vocabulary(name).tasks:
        bare = {task.rstrip("0123456789") for task in plain.task_names}
        assert bare == {task.name for task in vocabulary(name).tasks}

"""Every vocabulary makes sense as data: names, order, words. The files are read without the loader."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any

import networkx as nx
import pytest

from pytest_taskgraph.errors import UnknownNameError
from pytest_taskgraph.generation import vocabularies
from pytest_taskgraph.generation.vocabularies import vocabulary, vocabulary_names

NAMES = vocabulary_names()
DOMAINS = [name for name in NAMES if name != "neutral"]
EMPTY_WORDS = re.compile(
    "an?|and|are|as|at|be|before|by|each|every|for|from|has|how|in|into|is|its?|not|of|off|on|one|or|out|so|than|that|"
    "the|their|them|they|this|to|until|up|was|were|what|when|where|which|who|whoever|whom|with"
)
every_domain = pytest.mark.parametrize("name", DOMAINS)


@cache
def read_table(name: str) -> dict[str, Any]:
    return tomllib.loads(files(vocabularies).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def tasks(name: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = read_table(name)["tasks"]
    return entries


def wholes(name: str) -> list[dict[str, Any]]:
    """The names of whole workflows with their descriptions, those with a definite goal included."""
    return [*read_table(name)["workflows"], *read_table(name)["goals"]]


def choices(name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each goal with each way of doing a task that serves or contradicts it."""
    for goal in read_table(name)["goals"]:
        for alternative in (*goal["methods"], *goal["parameters"]):
            yield goal, alternative


def free(name: str) -> set[tuple[str, str]]:
    return {(other, task["name"]) for task in tasks(name) for other in task["free"]}


def order_relation(name: str) -> nx.DiGraph[str]:
    """The complete order relation: of two tasks that are not free, the task that stands first in the file is first."""
    pairs = combinations([task["name"] for task in tasks(name)], 2)
    return nx.DiGraph([pair for pair in pairs if pair not in free(name)])


def required(name: str) -> nx.DiGraph[str]:
    return nx.DiGraph([(before, task["name"]) for task in tasks(name) for before in task["after"]])


def words(sentence: str) -> list[str]:
    return re.findall(r"[a-z]+", sentence.lower())


@cache
def telling_words(sentence: str) -> tuple[str, ...]:
    return tuple(word for word in words(sentence) if not EMPTY_WORDS.fullmatch(word))


def content(sentence: str) -> set[str]:
    """Its words but the empty ones, cut so that "slices" and "sliced" are one."""
    return {word[:5] for word in telling_words(sentence)}


def name_words(name: str) -> set[str]:
    return {part.lower()[:5] for part in re.findall(r"[A-Z][a-z]*", name)}


def overlap(one: str, other: str) -> float:
    """The F1 of shared words, empty ones left out."""
    left, right = (Counter(telling_words(text)) for text in (one, other))
    return 2 * (left & right).total() / max(1, left.total() + right.total())


def is_sentence(text: str, least: int, most: int) -> bool:
    return re.fullmatch(r"[A-Z][^.!?;:]*\.", text) is not None and least <= len(words(text)) <= most


def repeats(sentence: str, name: str, share: int = 3) -> bool:
    content_words = content(sentence)
    return share * len(content_words & name_words(name)) > len(content_words)


def test_vocabulary_names_are_neutral_and_eight_domains() -> None:
    assert "neutral" in NAMES
    assert len(DOMAINS) >= 8


def test_vocabulary_unknown_name_lists_vocabularies() -> None:
    with pytest.raises(UnknownNameError, match=f"unknown vocabulary 'space'; known: {', '.join(NAMES)}"):
        vocabulary("space")


@every_domain
def test_domain_has_forty_four_tasks_that_read_and_write(name: str) -> None:
    assert len(tasks(name)) >= 44
    for task in tasks(name):
        assert list(task) == ["name", "description", "kind", "reads", "writes", "after", "free"]
        assert all((task["kind"], task["reads"], task["writes"]))


@every_domain
def test_names_of_domain_are_distinct_and_stand_in_no_other(name: str) -> None:
    read = read_table(name)
    names = [word["name"] for word in (*read["tasks"], *read["composites"], *wholes(name))] + list(read["data"])
    assert [word for word in names if not re.fullmatch(r"([A-Z][a-z]+){2,}", word)] == []
    lower = [word.lower() for word in names]
    assert [(word, other) for word, other in combinations(lower, 2) if word in other or other in word] == []


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_their_words_are_distinct(name: str) -> None:
    read = read_table(name)
    plain = [word["parameter"] for word in read["conditions"]] + read["settings"] + list(read["modes"])
    plain += [word for choices in read["modes"].values() for word in choices]
    assert [word for word, times in Counter(plain).items() if times > 1] == []
    assert [word for word in plain if not re.fullmatch(r"[a-z][a-z0-9_]*", word)] == []


def test_names_of_domains_are_distinct() -> None:
    names = [
        entry["name"] for name in DOMAINS for entry in (*tasks(name), *read_table(name)["composites"], *wholes(name))
    ]
    assert [entry for entry, times in Counter(names).items() if times > 1] == []


@every_domain
def test_each_kind_is_a_phrase_for_four_tasks_or_more(name: str) -> None:
    kinds = Counter(task["kind"] for task in tasks(name))
    assert 5 <= len(kinds) <= 7
    assert min(kinds.values()) >= 4
    assert [kind for kind in kinds if not re.fullmatch(r"[a-z]+( [a-z]+){0,2}", kind)] == []
    assert vocabulary(name).kinds == tuple(kinds)


@every_domain
def test_description_is_one_sentence_that_does_not_repeat_the_name(name: str) -> None:
    for entry in (*tasks(name), *read_table(name)["composites"]):
        assert is_sentence(entry["description"], 5, 20), entry
        assert not repeats(entry["description"], entry["name"]), entry
    for entry in wholes(name):
        assert is_sentence(entry["description"], 8, 20), entry
        assert not repeats(entry["description"], entry["name"]), entry


def test_descriptions_of_domains_are_not_similar() -> None:
    entries = [entry for name in DOMAINS for entry in (*tasks(name), *read_table(name)["composites"], *wholes(name))]
    pairs = combinations([entry["description"] for entry in entries], 2)
    assert [pair for pair in pairs if overlap(*pair) > 0.45] == []


@every_domain
def test_data_of_domain_are_described_and_some_have_schema(name: str) -> None:
    data, schemas = read_table(name)["data"], read_table(name)["schemas"]
    assert set(data) == {datum_name for task in tasks(name) for datum_name in (*task["reads"], *task["writes"])}
    for datum, description in data.items():
        assert is_sentence(description, 4, 20), description
        assert not repeats(description, datum, share=2), (datum, description)
    assert [pair for pair in combinations(data.values(), 2) if overlap(*pair) > 0.6] == []
    assert len(schemas) >= 5
    assert set(schemas) <= set(data)
    assert [at for at in schemas.values() if not re.fullmatch(r"file://schemas/[a-z_]+\.[a-z]+", at)] == []


@every_domain
def test_datum_is_written_by_one_task_which_its_readers_require(name: str) -> None:
    outputs = [datum_name for task in tasks(name) for datum_name in task["writes"]]
    assert len(set(outputs)) == len(outputs)
    writers = {datum: task["name"] for task in tasks(name) for datum in task["writes"]}
    before = required(name)
    for task in tasks(name):
        for datum in task["reads"]:
            assert datum not in writers or nx.has_path(before, writers[datum], task["name"]), (task["name"], datum)


@every_domain
def test_after_and_free_name_earlier_tasks_and_after_the_closest_only(name: str) -> None:
    seen: set[str] = set()
    before = required(name)
    for task in tasks(name):
        assert seen.issuperset({*task["after"], *task["free"]}), task
        for first, second in combinations(task["after"], 2):
            assert not nx.has_path(before, first, second), (task["name"], first, second)
            assert not nx.has_path(before, second, first), (task["name"], first, second)
        seen.add(task["name"])


@every_domain
def test_order_relation_is_complete_and_consistent(name: str) -> None:
    relation = order_relation(name)
    assert nx.is_directed_acyclic_graph(relation)
    assert nx.transitive_closure_dag(relation).edges == relation.edges
    assert set(nx.transitive_closure_dag(required(name)).edges) <= set(relation.edges)


@every_domain
def test_quarter_of_the_pairs_is_free_and_most_tasks_have_five_partners(name: str) -> None:
    count = len(tasks(name))
    assert 0.25 <= len(free(name)) / (count * (count - 1) / 2) <= 0.6
    partners = Counter(task for pair in free(name) for task in pair)
    assert sum(partners[task["name"]] < 5 for task in tasks(name)) <= 8


@every_domain
def test_loader_names_what_a_task_requires_and_follows(name: str) -> None:
    relation = order_relation(name)
    for task in tasks(name):
        entry = vocabulary(name).entry(task["name"])
        assert entry is not None
        assert set(entry.requires) == set(task["after"])
        assert set(entry.follows) == set(relation.predecessors(task["name"]))


@every_domain
def test_conditions_have_a_range_and_words_for_both_sides_of_the_limit(name: str) -> None:
    assert len(read_table(name)["conditions"]) >= 7
    for condition in read_table(name)["conditions"]:
        assert 0 <= condition["low"] < condition["low"] + 1 < condition["limit"] < condition["high"], condition
        assert condition["high"] - condition["low"] >= 10, condition
        for side in (condition["holds"], condition["fails"]):
            assert re.fullmatch(r"[a-z][a-z0-9 ]+", side), condition
        assert condition["holds"] != condition["fails"]


@every_domain
def test_composites_cover_nearly_all_tasks(name: str) -> None:
    composites, task_names = read_table(name)["composites"], {task["name"] for task in tasks(name)}
    assert len(composites) >= 4
    assert all(len(set(composite["tasks"])) >= 8 and set(composite["tasks"]) <= task_names for composite in composites)
    assert len({task for composite in composites for task in composite["tasks"]}) >= 0.9 * len(task_names)


@every_domain
def test_goals_leave_thirty_tasks_and_are_contradicted_by_ten(name: str) -> None:
    task_names = {task["name"] for task in tasks(name)}
    assert len(read_table(name)["goals"]) >= 2
    for goal in read_table(name)["goals"]:
        allowed = task_names - set(goal["excludes"])
        assert set(goal["excludes"]) <= task_names
        assert len(allowed) >= 30
        assert len(goal["methods"]) >= 6
        assert len(goal["parameters"]) >= 4
        assert {alternative["task"] for alternative in (*goal["methods"], *goal["parameters"])} <= allowed


@every_domain
def test_alternatives_of_goal_are_of_one_kind(name: str) -> None:
    descriptions = {entry["description"] for entry in tasks(name)}
    for goal, entry in choices(name):
        assert is_sentence(entry["reason"], 8, 30), entry
        assert entry["fits"] != entry["contradicts"]
        assert type(entry["fits"]) is type(entry["contradicts"])
        if "parameter" in entry:
            assert re.fullmatch(r"[a-z][a-z0-9_]*", entry["parameter"])
        else:
            assert entry["contradicts"] not in descriptions, goal["name"]
            assert all(is_sentence(entry[side], 5, 20) for side in ("fits", "contradicts")), entry


def test_far_domains_are_known_and_far_both_ways() -> None:
    far = {(name, other) for name in DOMAINS for other in read_table(name)["far"]}
    assert all(len(read_table(name)["far"]) >= 2 for name in DOMAINS)
    assert {other for _, other in far} <= set(DOMAINS)
    assert {(other, name) for name, other in far} == far
    near = {("machine_learning", "software_release"), ("machine_learning", "laboratory"), ("orders", "library_loan")}
    assert not far & near

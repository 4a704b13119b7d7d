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
def written(name: str) -> dict[str, Any]:
    return tomllib.loads(files(vocabularies).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def tasks(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = written(name)["tasks"]
    return found


def wholes(name: str) -> list[dict[str, Any]]:
    """The names of whole workflows with their descriptions, those with a definite goal included."""
    return [*written(name)["workflows"], *written(name)["goals"]]


def choices(name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each goal with each way of doing a task that serves or contradicts it."""
    for goal in written(name)["goals"]:
        for one in (*goal["methods"], *goal["parameters"]):
            yield goal, one


def free(name: str) -> set[tuple[str, str]]:
    return {(other, task["name"]) for task in tasks(name) for other in task["free"]}


def ordered(name: str) -> nx.DiGraph[str]:
    """The complete order relation: of two tasks that are not free, the one that stands first in the file is first."""
    pairs = combinations([task["name"] for task in tasks(name)], 2)
    return nx.DiGraph([pair for pair in pairs if pair not in free(name)])


def required(name: str) -> nx.DiGraph[str]:
    return nx.DiGraph([(before, task["name"]) for task in tasks(name) for before in task["after"]])


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


def is_sentence(text: str, least: int, most: int) -> bool:
    return re.fullmatch(r"[A-Z][^.!?;:]*\.", text) is not None and least <= len(words(text)) <= most


def repeats(sentence: str, name: str, share: int = 3) -> bool:
    told = content(sentence)
    return share * len(told & name_words(name)) > len(told)


def test_there_are_a_neutral_one_and_eight_domains() -> None:
    assert "neutral" in NAMES
    assert len(DOMAINS) >= 8


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
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
    read = written(name)
    named = [one["name"] for one in (*read["tasks"], *read["composites"], *wholes(name))] + list(read["data"])
    assert [one for one in named if not re.fullmatch(r"([A-Z][a-z]+){2,}", one)] == []
    lower = [one.lower() for one in named]
    assert [(one, other) for one, other in combinations(lower, 2) if one in other or other in one] == []


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_their_words_are_distinct(name: str) -> None:
    read = written(name)
    plain = [one["parameter"] for one in read["conditions"]] + read["settings"] + list(read["modes"])
    plain += [word for choices in read["modes"].values() for word in choices]
    assert [one for one, times in Counter(plain).items() if times > 1] == []
    assert [one for one in plain if not re.fullmatch(r"[a-z][a-z0-9_]*", one)] == []


def test_no_two_domains_share_a_name() -> None:
    named = [one["name"] for name in DOMAINS for one in (*tasks(name), *written(name)["composites"], *wholes(name))]
    assert [one for one, times in Counter(named).items() if times > 1] == []


@every_domain
def test_each_kind_is_a_phrase_for_four_tasks_or_more(name: str) -> None:
    kinds = Counter(task["kind"] for task in tasks(name))
    assert 5 <= len(kinds) <= 7
    assert min(kinds.values()) >= 4
    assert [kind for kind in kinds if not re.fullmatch(r"[a-z]+( [a-z]+){0,2}", kind)] == []
    assert vocabulary(name).kinds == tuple(kinds)


@every_domain
def test_description_is_one_sentence_that_does_not_repeat_the_name(name: str) -> None:
    for one in (*tasks(name), *written(name)["composites"]):
        assert is_sentence(one["description"], 5, 20), one
        assert not repeats(one["description"], one["name"]), one
    for one in wholes(name):
        assert is_sentence(one["description"], 8, 20), one
        assert not repeats(one["description"], one["name"]), one


def test_no_two_descriptions_say_nearly_the_same() -> None:
    told = [one for name in DOMAINS for one in (*tasks(name), *written(name)["composites"], *wholes(name))]
    pairs = combinations([one["description"] for one in told], 2)
    assert [pair for pair in pairs if overlap(*pair) > 0.45] == []


@every_domain
def test_every_datum_is_described_and_some_have_a_schema(name: str) -> None:
    data, schemas = written(name)["data"], written(name)["schemas"]
    assert set(data) == {one for task in tasks(name) for one in (*task["reads"], *task["writes"])}
    for datum, told in data.items():
        assert is_sentence(told, 4, 20), told
        assert not repeats(told, datum, share=2), (datum, told)
    assert [pair for pair in combinations(data.values(), 2) if overlap(*pair) > 0.6] == []
    assert len(schemas) >= 5
    assert set(schemas) <= set(data)
    assert [at for at in schemas.values() if not re.fullmatch(r"file://schemas/[a-z_]+\.[a-z]+", at)] == []


@every_domain
def test_datum_is_written_by_one_task_which_its_readers_require(name: str) -> None:
    outputs = [one for task in tasks(name) for one in task["writes"]]
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
        for one, other in combinations(task["after"], 2):
            assert not nx.has_path(before, one, other), (task["name"], one, other)
            assert not nx.has_path(before, other, one), (task["name"], one, other)
        seen.add(task["name"])


@every_domain
def test_every_pair_is_before_after_or_free_without_contradiction(name: str) -> None:
    relation = ordered(name)
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
    relation = ordered(name)
    for task in tasks(name):
        entry = vocabulary(name).entry(task["name"])
        assert entry is not None
        assert set(entry.requires) == set(task["after"])
        assert set(entry.follows) == set(relation.predecessors(task["name"]))


@every_domain
def test_conditions_have_a_range_and_words_for_both_sides_of_the_limit(name: str) -> None:
    assert len(written(name)["conditions"]) >= 7
    for one in written(name)["conditions"]:
        assert 0 <= one["low"] < one["low"] + 1 < one["limit"] < one["high"], one
        assert one["high"] - one["low"] >= 10, one
        for side in (one["holds"], one["fails"]):
            assert re.fullmatch(r"[a-z][a-z0-9 ]+", side), one
        assert one["holds"] != one["fails"]


@every_domain
def test_composites_cover_nearly_all_tasks(name: str) -> None:
    composites, known = written(name)["composites"], {task["name"] for task in tasks(name)}
    assert len(composites) >= 4
    assert all(len(set(one["tasks"])) >= 8 and set(one["tasks"]) <= known for one in composites)
    assert len({task for one in composites for task in one["tasks"]}) >= 0.9 * len(known)


@every_domain
def test_goals_leave_thirty_tasks_and_are_contradicted_by_ten(name: str) -> None:
    known = {task["name"] for task in tasks(name)}
    assert len(written(name)["goals"]) >= 2
    for goal in written(name)["goals"]:
        allowed = known - set(goal["excludes"])
        assert set(goal["excludes"]) <= known
        assert len(allowed) >= 30
        assert len(goal["methods"]) >= 6
        assert len(goal["parameters"]) >= 4
        assert {one["task"] for one in (*goal["methods"], *goal["parameters"])} <= allowed


@every_domain
def test_what_contradicts_goal_is_of_the_kind_of_what_fits_it(name: str) -> None:
    shown = {one["description"] for one in tasks(name)}
    for goal, one in choices(name):
        assert is_sentence(one["reason"], 8, 30), one
        assert one["fits"] != one["contradicts"]
        assert type(one["fits"]) is type(one["contradicts"])
        if "parameter" in one:
            assert re.fullmatch(r"[a-z][a-z0-9_]*", one["parameter"])
        else:
            assert one["contradicts"] not in shown, goal["name"]
            assert all(is_sentence(one[side], 5, 20) for side in ("fits", "contradicts")), one


def test_far_domains_are_known_and_far_both_ways() -> None:
    far = {(name, other) for name in DOMAINS for other in written(name)["far"]}
    assert all(len(written(name)["far"]) >= 2 for name in DOMAINS)
    assert {other for _, other in far} <= set(DOMAINS)
    assert {(other, name) for name, other in far} == far
    near = {("machine_learning", "software_release"), ("machine_learning", "laboratory"), ("orders", "library_loan")}
    assert not far & near

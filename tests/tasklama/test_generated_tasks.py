"""Generated tasks: their order follows from the vocabulary alone, and there are always new ones."""

from __future__ import annotations

import hashlib
import os
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations

import bounded_process
import networkx
import pytest

from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.tasklama.complex_task import ComplexTask
from pytest_taskgraph.families.tasklama.task_sets import TaskSet, generated
from pytest_taskgraph.families.tasklama.task_sets.generated import (
    LEAST_TASKS,
    MOST_TASKS,
    MustOrder,
    domains_by_split,
    generate_tasks,
    step_phrase,
)
from pytest_taskgraph.generation.vocabularies import Vocabulary, VocabularyEntry, domain_names, vocabulary

SEEDS = range(3)


def every_task(tasks: TaskSet) -> list[ComplexTask]:
    """Return the tasks of all splits."""
    return [*tasks.train, *tasks.validation, *tasks.test]


@cache
def tasks_of(domain: str) -> tuple[ComplexTask, ...]:
    """Return the tasks of a domain, of several seeds."""
    return tuple(task for seed in SEEDS for task in every_task(generate_tasks(seed, 0)) if task.cluster == domain)


def entries(task: ComplexTask) -> list[VocabularyEntry]:
    """Return what the vocabulary says of each step."""
    entries_by_name = {step_phrase(entry.name): entry for entry in vocabulary(task.cluster).tasks}
    return [entries_by_name[step] for step in task.steps]


def must_order(task: ComplexTask) -> set[tuple[int, int]]:
    """Return the pairs of steps whose order the vocabulary decides, also through other steps."""
    names = [entry.name for entry in entries(task)]
    stated: networkx.DiGraph[int] = networkx.DiGraph()
    stated.add_nodes_from(range(len(names)))
    stated.add_edges_from(
        (names.index(before), at)
        for at, entry in enumerate(entries(task))
        for before in entry.requires
        if before in names
    )
    return set(networkx.transitive_closure(stated).edges)


def is_clear(chosen: list[VocabularyEntry]) -> bool:
    """Return True if of every two tasks one must come first, or their order is free; they are in the file's order."""
    stated: networkx.DiGraph[str] = networkx.DiGraph()
    stated.add_nodes_from(entry.name for entry in chosen)
    stated.add_edges_from((before, entry.name) for entry in chosen for before in entry.requires if before in stated)
    return all(
        first.name not in two.follows or networkx.has_path(stated, first.name, two.name)
        for first, two in combinations(chosen, 2)
    )


def graph(task: ComplexTask) -> networkx.DiGraph[int]:
    """Return the task graph."""
    built: networkx.DiGraph[int] = networkx.DiGraph()
    built.add_nodes_from(range(len(task.steps)))
    built.add_edges_from(task.dependencies)
    return built


def own_vocabulary(name: str, **changes: object) -> Vocabulary:
    """Return a vocabulary as a project might register it: that of the kitchen with changes."""
    return replace(vocabulary("kitchen"), name=name, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("domain", domain_names())
def test_dependencies_are_the_transitive_reduction_of_what_must_be(domain: str) -> None:
    for task in tasks_of(domain):
        assert networkx.is_directed_acyclic_graph(graph(task)), task
        assert set(networkx.transitive_closure(graph(task)).edges) == must_order(task), task
        assert set(networkx.transitive_reduction(graph(task)).edges) == set(task.dependencies), task


@pytest.mark.parametrize("domain", domain_names())
def test_steps_without_an_order_are_free_in_the_vocabulary(domain: str) -> None:
    for task in tasks_of(domain):
        must, drawn_entries = must_order(task), entries(task)
        for first, two in combinations(range(len(drawn_entries)), 2):
            if (first, two) not in must and (two, first) not in must:
                assert drawn_entries[first].name not in drawn_entries[two].follows, task
                assert drawn_entries[two].name not in drawn_entries[first].follows, task


@pytest.mark.parametrize("domain", domain_names())
def test_extensions_of_a_set_are_all_tasks_that_keep_the_order_clear(domain: str) -> None:
    entries_by_name = vocabulary(domain).tasks
    names = [entry.name for entry in entries_by_name]
    for task in tasks_of(domain)[::4]:
        chosen = [names.index(entry.name) for entry in entries(task)]
        others = set(range(len(entries_by_name))) - set(chosen)

        extensions = MustOrder.of(vocabulary(domain)).extensions(sum(1 << at for at in chosen))

        assert extensions == [
            at for at in sorted(others) if is_clear([entries_by_name[place] for place in sorted([*chosen, at])])
        ]


@pytest.mark.parametrize("domain", domain_names())
def test_steps_are_five_to_twelve_different_imperatives_in_order(domain: str) -> None:
    assert len(tasks_of(domain)) > 20
    for task in tasks_of(domain):
        assert 5 <= len(task.steps) <= 12
        assert len({step.casefold() for step in task.steps}) == len(task.steps)
        assert 2 * len(task.dependencies) >= len(task.steps)
        assert all(before < after for before, after in task.dependencies)


@pytest.mark.parametrize("domain", domain_names())
def test_title_and_context_name_what_goes_in_and_out_but_no_step(domain: str) -> None:
    for task in tasks_of(domain):
        task_text = " ".join((task.title, *task.context)).casefold()
        assert not [step for step in task.steps if step.casefold() in task_text], task
        assert f"In {len(task.steps)} steps" in task.context
        assert any(line.startswith("At hand at the start: ") for line in task.context), task
        assert any(line.startswith("There at the end: ") for line in task.context), task


def test_task_as_generated_names_exactly_the_data_at_its_ends() -> None:
    for task in generate_tasks(1, 0).test:
        stated = dict(line.split(": ") for line in task.context if ": " in line)
        read = {name for entry in entries(task) for name in entry.reads}
        names_written = {name for entry in entries(task) for name in entry.writes}
        for line, expected in (
            ("At hand at the start", read - names_written),
            ("There at the end", names_written - read),
        ):
            assert stated[line].split(", ") == sorted(step_phrase(name).lower() for name in expected)


def test_shapes_of_tasks_are_chains_forks_joins_and_free_orders() -> None:
    tasks = [task for domain in domain_names() for task in tasks_of(domain)]
    chains = [task for task in tasks if len(must_order(task)) == len(task.steps) * (len(task.steps) - 1) // 2]
    forks = [task for task in tasks if max(Counter(before for before, _ in task.dependencies).values()) > 1]
    joins = [task for task in tasks if max(Counter(after for _, after in task.dependencies).values()) > 1]
    pieces = [task for task in tasks if networkx.number_weakly_connected_components(graph(task)) > 1]

    assert len(chains) >= 10
    assert min(len(forks), len(joins), len(pieces)) >= len(tasks) / 10
    assert {len(task.steps) for task in tasks} == set(range(5, 13))


def test_free_steps_stand_in_either_order() -> None:
    orders: dict[frozenset[str], set[bool]] = {}
    for domain in domain_names():
        for task in tasks_of(domain):
            must = must_order(task)
            for first, two in combinations(range(len(task.steps)), 2):
                if (first, two) not in must:
                    pair = task.steps[first], task.steps[two]
                    orders.setdefault(frozenset(pair), set()).add(pair[0] < pair[1])

    both = sum(len(seen_orders) == 2 for seen_orders in orders.values())
    assert both > 100


@pytest.mark.exhaustive
def test_same_seed_gives_the_same_tasks_under_any_hash_seed() -> None:
    script = (
        "import hashlib; from pytest_taskgraph.families.tasklama.task_sets.generated import generate_tasks\n"
        "tasks = generate_tasks(7, 0); print(hashlib.sha256(repr(tasks).encode()).hexdigest())"
    )
    here = hashlib.sha256(repr(generate_tasks(7, 0)).encode()).hexdigest()

    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        run = bounded_process.run([sys.executable, "-c", script], env=environment)
        assert run.stdout.strip() == here


def test_another_seed_gives_other_tasks() -> None:
    first, second = (
        {(task.cluster, frozenset(task.steps)) for task in generate_tasks(seed, 0).test} for seed in (0, 1)
    )

    assert len(first & second) <= len(first) / 8


def test_more_tasks_begin_with_the_fewer_ones() -> None:
    few, many = generate_tasks(3, 0), generate_tasks(3, 50)

    assert [len(many.split(split)) for split in ("train", "validation", "test")] == [50, 50, 50]
    for split in ("train", "validation", "test"):
        assert many.split(split)[:LEAST_TASKS] == tuple(
            replace(task, id=many.split(split)[at].id) for at, task in enumerate(few.split(split))
        )


@pytest.mark.exhaustive
def test_generate_tasks_three_hundred_are_all_different() -> None:
    tasks = every_task(generate_tasks(3, 300))

    assert len({frozenset(task.steps) for task in tasks}) == len(tasks) == 900
    assert len({task.id for task in tasks}) == len(tasks)


def test_splits_have_domains_of_their_own() -> None:
    dealt = domains_by_split()

    assert sorted(name for names in dealt.values() for name in names) == sorted(domain_names())
    assert min(map(len, dealt.values())) >= 1
    assert "neutral" not in domain_names()
    for split, names in dealt.items():
        assert {task.cluster for task in generate_tasks(0, 0).split(split)} == set(names)


def test_registered_vocabulary_is_asked_about_in_the_test_split() -> None:
    before = domains_by_split()
    with registrations() as registered:
        registered.add("vocabulary", "bistro", own_vocabulary("bistro"), "a plugin")

        assert domains_by_split() == {**before, "test": (*before["test"], "bistro")}
        assert Counter(task.cluster for task in generate_tasks(0, 0).test)["bistro"] == LEAST_TASKS / 4

    assert {task.cluster for task in generate_tasks(0, 0).test} == set(before["test"])


def test_vocabulary_without_data_names_gives_tasks_all_the_same() -> None:
    bare = tuple(replace(entry, reads=(), writes=()) for entry in vocabulary("kitchen").tasks)
    with registrations() as registered:
        registered.add("vocabulary", "bare", own_vocabulary("bare", tasks=bare), "a plugin")
        tasks = [task for task in generate_tasks(0, 0).test if task.cluster == "bare"]

    assert len(tasks) == LEAST_TASKS / 4
    assert all(task.title.endswith(": carry out a part") for task in tasks)
    assert all(len(task.context) == 2 for task in tasks)


def test_vocabulary_without_an_order_leaves_its_turn_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "ATTEMPTS", 20)
    loose = tuple(replace(entry, requires=()) for entry in vocabulary("kitchen").tasks)
    with registrations() as registered:
        registered.add("vocabulary", "loose", own_vocabulary("loose", tasks=loose), "a plugin")

        assert {task.cluster for task in generate_tasks(0, 0).test} == {*domains_by_split()["test"]} - {"loose"}


def test_domains_without_any_further_task_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = vocabulary("kitchen").tasks[:5]
    few = tuple(
        replace(
            entry, requires=tuple(entry.name for entry in chain[:at]), follows=tuple(entry.name for entry in chain[:at])
        )
        for at, entry in enumerate(chain)
    )
    with registrations() as registered:
        registered.add("vocabulary", "few", own_vocabulary("few", tasks=few), "a plugin")
        monkeypatch.setattr(
            generated, "domains_by_split", lambda: dict.fromkeys(("train", "validation", "test"), ("few",))
        )

        with pytest.raises(UsageError, match=r"1 different tasks were found in the domains few, and 32 are asked for"):
            generate_tasks(0, 0)


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("FoldNapkins", "Fold napkins"),
        ("HandOutPhotoBadge", "Hand out photo badge"),
        ("XrayLungs", "Xray lungs"),
        ("check_credit", "Check credit"),
        ("SendPDFToClient", "Send PDF to client"),
        ("Stop", "Stop"),
    ],
)
def test_step_phrase_of_a_name_reads_as_words(name: str, phrase: str) -> None:
    assert step_phrase(name) == phrase


def test_more_tasks_than_a_split_may_have_are_a_usage_error() -> None:
    with pytest.raises(UsageError, match="10001 are asked for; expected at most 10000"):
        generate_tasks(0, MOST_TASKS + 1)

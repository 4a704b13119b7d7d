"""The embedded tasks as the files hold them: the published format, the splits, and the rules for steps and order.

The rules are those that the annotators of Yuan et al. (2024) worked by, sections "Gathering Steps for the Tasks" and
"Gathering Temporal Dependencies"; what a test here finds would be told to an annotator as a mistake.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import networkx
import pytest

import pytest_taskgraph

FOLDER = Path(pytest_taskgraph.__file__).parent / "families" / "tasklama" / "task_sets" / "data"
SPLITS = ("train", "validation", "test")
DOMAINS = {
    *("cooking", "home repair", "gardening", "travel", "household"),
    *("events", "paperwork", "computers", "crafts", "vehicles"),
}
KEYS = {"task", "assumptions", "substeps", "dependencies", "cluster", "domain"}

# Words that point to another step, so that the step cannot be understood on its own.
ANAPHORA = re.compile(
    r"\b(it|its|itself|them|they|their|theirs|this|these|those|there|here|he|she|him|his|her|latter|again|afterwards?"
    r"|previous|previously|above|likewise)\b",
    re.IGNORECASE,
)
NOT_A_VERB = {
    *("A", "An", "The", "Your", "You", "My", "We", "All", "Each", "Every", "Some", "Any", "No", "To", "In", "On", "At"),
    *(
        "With",
        "After",
        "Before",
        "Then",
        "Next",
        "First",
        "Finally",
        "When",
        "While",
        "If",
        "Once",
        "For",
        "Optionally",
    ),
    *("Should", "Must", "Can", "Will", "Is", "Are", "Be", "Do", "Not", "Never", "Always", "Consider", "Remember"),
}
TITLE_WORDS_THAT_SAY_LITTLE = {
    *("a", "an", "the", "of", "for", "to", "in", "on", "at", "by", "with", "from", "and", "before", "up", "back"),
    *("plan", "make", "build", "install", "organize", "prepare", "set", "start", "hold", "clean", "take", "new"),
}


@cache
def rows(split: str) -> tuple[dict[str, Any], ...]:
    """Return the tasks of a split as its file states them."""
    text = (FOLDER / f"{split}.jsonl").read_text(encoding="ascii")
    return tuple(json.loads(line) for line in text.splitlines())


def every_row() -> list[dict[str, Any]]:
    """Return the tasks of all splits."""
    return [row for split in SPLITS for row in rows(split)]


def steps(row: dict[str, Any]) -> list[str]:
    """Return the texts of the steps of a task."""
    return [substep["step"] for substep in row["substeps"]]


def pairs(row: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the dependencies of a task."""
    return [(dependency["subtask1"], dependency["subtask2"]) for dependency in row["dependencies"]]


def graph(row: dict[str, Any]) -> networkx.DiGraph[str]:
    """Return the task graph of a task."""
    built: networkx.DiGraph[str] = networkx.DiGraph()
    built.add_nodes_from(steps(row))
    built.add_edges_from(pairs(row))
    return built


def name(row: dict[str, Any]) -> str:
    """Return the title and the context of a task, to name it in a failure."""
    return " / ".join([row["task"], *(assumption["assumption"] for assumption in row["assumptions"])])


def is_chain(row: dict[str, Any]) -> bool:
    """Return True if only one order of the steps is possible."""
    ordered = sum(len(networkx.descendants(graph(row), step)) for step in steps(row))
    return ordered == len(steps(row)) * (len(steps(row)) - 1) // 2


def texts(row: dict[str, Any]) -> list[str]:
    """Return every text of a task that a reader or a model sees."""
    return [row["task"], *(assumption["assumption"] for assumption in row["assumptions"]), *steps(row)]


@pytest.mark.parametrize("split", SPLITS)
def test_split_as_written_covers_every_domain(split: str) -> None:
    assert {row["domain"] for row in rows(split)} == DOMAINS


def test_splits_together_hold_sixty_tasks_or_more() -> None:
    counts = {split: len(rows(split)) for split in SPLITS}

    assert sum(counts.values()) >= 60
    assert counts["train"] >= 28
    assert counts["validation"] >= 12
    assert counts["test"] >= 24


def test_rows_as_written_have_the_published_keys_and_ours() -> None:
    for row in every_row():
        assert set(row) == KEYS, name(row)
        assert all(set(assumption) == {"assumption"} for assumption in row["assumptions"]), name(row)
        assert all(set(substep) == {"step"} for substep in row["substeps"]), name(row)
        assert all(set(dependency) == {"subtask1", "subtask2"} for dependency in row["dependencies"]), name(row)


def test_titles_with_contexts_are_unique() -> None:
    counts = Counter(name(row).casefold() for row in every_row())

    assert [text for text, count in counts.items() if count > 1] == []


def test_some_titles_occur_in_two_contexts_with_other_steps() -> None:
    by_title: dict[str, list[set[str]]] = {}
    for row in every_row():
        by_title.setdefault(row["task"], []).append(set(steps(row)))
    repeated = [contexts for contexts in by_title.values() if len(contexts) > 1]

    assert len(repeated) >= 4
    for contexts in repeated:
        for left, right in combinations(contexts, 2):
            assert len(left & right) <= len(left | right) / 3


def test_most_tasks_have_a_context_and_some_have_none() -> None:
    without = sum(not row["assumptions"] for row in every_row())

    assert 0.05 <= without / len(every_row()) <= 0.15


def test_clusters_are_small_and_in_one_split_and_domain() -> None:
    places: dict[str, set[tuple[str, str]]] = {}
    sizes: Counter[str] = Counter()
    for split in SPLITS:
        for row in rows(split):
            places.setdefault(row["cluster"], set()).add((split, row["domain"]))
            sizes[row["cluster"]] += 1

    assert [cluster for cluster, places_of_cluster in places.items() if len(places_of_cluster) > 1] == []
    assert max(sizes.values()) <= 3
    assert all(cluster.strip() for cluster in sizes)


def test_titles_of_two_splits_share_few_words() -> None:
    words = {
        split: [set(re.findall(r"[a-z]+", row["task"].lower())) - TITLE_WORDS_THAT_SAY_LITTLE for row in rows(split)]
        for split in SPLITS
    }
    for left, right in combinations(SPLITS, 2):
        for title, other in product(words[left], words[right]):
            assert len(title & other) / len(title | other) <= 0.4, (title, other)


def test_tasks_have_six_to_twelve_steps_and_eight_on_average() -> None:
    counts = [len(steps(row)) for row in every_row()]

    assert min(counts) >= 6
    assert max(counts) <= 12
    assert 7.5 <= sum(counts) / len(counts) <= 8.6


def test_tasks_have_about_eight_dependencies_on_average() -> None:
    counts = [len(pairs(row)) for row in every_row()]

    assert 6.5 <= sum(counts) / len(counts) <= 8.6


def test_steps_of_a_task_are_unique() -> None:
    for row in every_row():
        folded = [step.casefold() for step in steps(row)]
        assert len(set(folded)) == len(folded), name(row)


def test_dependencies_name_existing_steps_once() -> None:
    for row in every_row():
        step_set = set(steps(row))
        assert all(before in step_set and after in step_set for before, after in pairs(row)), name(row)
        assert len(set(pairs(row))) == len(pairs(row)), name(row)


def test_every_step_takes_part_in_a_dependency() -> None:
    for row in every_row():
        assert list(networkx.isolates(graph(row))) == [], name(row)


def test_task_graphs_are_acyclic_and_list_order_is_possible() -> None:
    for row in every_row():
        place = {step: index for index, step in enumerate(steps(row))}
        assert networkx.is_directed_acyclic_graph(graph(row)), name(row)
        assert all(place[before] < place[after] for before, after in pairs(row)), name(row)


def test_dependencies_are_immediate() -> None:
    for row in every_row():
        reduced = networkx.transitive_reduction(graph(row))
        assert set(reduced.edges) == set(pairs(row)), name(row)


def test_a_third_of_tasks_have_fork_join_and_free_order() -> None:
    rich = 0
    for row in every_row():
        built = graph(row)
        forks = any(count > 1 for _, count in built.out_degree())
        joins = any(count > 1 for _, count in built.in_degree())
        rich += forks and joins and not is_chain(row)

    assert rich >= len(every_row()) / 3


def test_pure_chains_are_some_but_few() -> None:
    chains = sum(is_chain(row) for row in every_row())

    assert 1 <= chains <= 0.15 * len(every_row())


def test_list_order_often_interleaves_independent_branches() -> None:
    interleaved = 0
    for row in every_row():
        adjacent = zip(steps(row), steps(row)[1:], strict=False)
        interleaved += sum(not networkx.has_path(graph(row), left, right) for left, right in adjacent) >= 2

    assert interleaved >= len(every_row()) / 3


def test_steps_start_with_a_verb_in_the_imperative() -> None:
    for row in every_row():
        for step in steps(row):
            first = step.split()[0]
            assert re.fullmatch(r"[A-Z][a-z]+", first), (name(row), step)
            assert first not in NOT_A_VERB, (name(row), step)
            assert not first.endswith("ing"), (name(row), step)


def test_steps_hold_no_anaphora() -> None:
    anaphora = [(name(row), step) for row in every_row() for step in steps(row) if ANAPHORA.search(step)]

    assert anaphora == []


def test_steps_are_one_short_phrase() -> None:
    for row in every_row():
        for step in steps(row):
            assert len(step.split()) >= 2, (name(row), step)
            assert len(step) <= 90, (name(row), step)
            assert not re.search(r"[.;:!?()]|\bthen\b", step), (name(row), step)


def test_texts_are_typographically_plain() -> None:
    for row in every_row():
        for text in [*texts(row), row["cluster"], row["domain"]]:
            assert re.fullmatch(r"[A-Za-z0-9 ,'-]+", text), (name(row), text)
            assert text == " ".join(text.split()), (name(row), text)


def test_files_end_each_task_with_one_line_feed() -> None:
    for split in SPLITS:
        raw = (FOLDER / f"{split}.jsonl").read_bytes()
        assert raw.count(b"\n") == len(rows(split))
        assert raw.endswith(b"}\n")
        assert b"\r" not in raw

"""The embedded recipes as the files hold them: counts, splits, the form of a step, and what would give answers away."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pytest_taskgraph

FOLDER = Path(pytest_taskgraph.__file__).parent / "families" / "steps" / "recipe_sets" / "data"
SPLITS = ("train", "dev", "test")
KEYS = ["title", "steps", "kind", "domain"]
DOMAINS = {
    "recipe": {
        *("soup", "bread", "salad", "stew", "dessert", "cake", "preserve", "drink"),
        *("breakfast", "pasta", "rice", "vegetables", "fish", "meat", "snack", "sauce"),
    },
    "procedure": {
        *("crafts", "repairs", "gardening", "office", "household"),
        *("science", "computers", "sports", "travel"),
    },
}
# An imperative starts with its verb or with what it waits for; a step never starts with these.
NOT_AN_OPENING = {
    *("The", "A", "An", "You", "Your", "We", "It", "They", "This", "There", "Then", "Next", "First", "Finally"),
    *("Optionally", "Now", "Please", "Should", "Must", "Can", "Will", "Is", "Are"),
}
VERBS_IN_ING = {"Bring", "Swing", "Wring", "String", "Spring", "Ring"}


@cache
def rows(split: str) -> tuple[dict[str, Any], ...]:
    """Return the recipes of a split as its file states them."""
    text = (FOLDER / f"{split}.jsonl").read_text(encoding="ascii")
    return tuple(json.loads(line) for line in text.splitlines())


def every_row() -> list[dict[str, Any]]:
    """Return the recipes of all splits."""
    return [row for split in SPLITS for row in rows(split)]


def every_step() -> list[tuple[str, str]]:
    """Return each step of all splits after the title of its recipe."""
    return [(row["title"], step) for row in every_row() for step in row["steps"]]


def words(text: str) -> list[str]:
    """Split a text into lower-case words."""
    return re.findall(r"[a-z0-9]+(?:['-][a-z0-9]+)*", text.lower())


def vocabulary(split: str) -> set[str]:
    """Return the word types of the steps of a split."""
    return {word for row in rows(split) for step in row["steps"] for word in words(step)}


def accuracy_of(feature: Callable[[str], int], split: str) -> float:
    """Return how often the next step, of all pairs with a later step, has the smaller feature.

    Each question counts once, however many later steps it has; a tie counts half.
    """
    total, questions = 0.0, 0
    for row in rows(split):
        values = [feature(step) for step in row["steps"]]
        for place in range(1, len(values) - 1):
            later = values[place + 1 :]
            total += sum((values[place] < other) + 0.5 * (values[place] == other) for other in later) / len(later)
            questions += 1
    return total / questions


def repeated(texts: list[str]) -> list[str]:
    """Return the texts that occur more than once, whatever the case of their letters."""
    return [text for text, count in Counter(text.casefold() for text in texts).items() if count > 1]


def test_splits_hold_at_least_the_promised_counts() -> None:
    counts = {split: len(rows(split)) for split in SPLITS}
    kinds = Counter(row["kind"] for row in every_row())

    assert counts["train"] >= 100
    assert counts["dev"] >= 20
    assert counts["test"] >= 45
    assert kinds["recipe"] >= 110
    assert kinds["procedure"] >= 55


@pytest.mark.parametrize("split", SPLITS)
def test_split_as_written_mixes_recipes_and_procedures(split: str) -> None:
    share = sum(row["kind"] == "recipe" for row in rows(split)) / len(rows(split))

    assert 0.55 <= share <= 0.75


@pytest.mark.parametrize("split", ["train", "test"])
def test_train_and_test_cover_every_domain(split: str) -> None:
    for kind, domains in DOMAINS.items():
        assert {row["domain"] for row in rows(split) if row["kind"] == kind} == domains


def test_rows_as_written_have_the_keys_in_order() -> None:
    for row in every_row():
        assert list(row) == KEYS, row["title"]
        assert row["domain"] in DOMAINS[row["kind"]], row["title"]
        assert all(isinstance(step, str) for step in row["steps"]), row["title"]


def test_recipes_have_four_to_ten_steps_and_about_seven() -> None:
    counts = [len(row["steps"]) for row in every_row()]

    assert set(counts) == set(range(4, 11))
    assert 6.2 <= sum(counts) / len(counts) <= 7.0


def test_steps_have_five_to_twenty_five_words() -> None:
    counts = {step: len(step.split()) for _, step in every_step()}

    assert {step: count for step, count in counts.items() if not 5 <= count <= 25} == {}
    assert 10 <= sum(counts.values()) / len(counts) <= 14


def test_titles_are_unique_also_as_identifiers() -> None:
    titles = [row["title"] for row in every_row()]

    assert repeated(titles) == []
    assert repeated(["-".join(words(title)) for title in titles]) == []


def test_steps_are_unique_in_and_across_recipes() -> None:
    assert repeated([step for _, step in every_step()]) == []


def test_steps_of_two_recipes_are_no_rewording_of_each_other() -> None:
    steps = every_step()
    places = {word: at for at, word in enumerate({word for _, step in steps for word in words(step)})}
    holds = np.zeros((len(steps), len(places)), dtype=np.float32)
    for row, (_, step) in zip(holds, steps, strict=True):
        row[[places[word] for word in words(step)]] = 1
    common, counts = holds @ holds.T, holds.sum(axis=1)
    jaccard = common / (counts[:, None] + counts - common)
    alike = [
        (steps[left], steps[right])
        for left, right in np.argwhere(np.triu(jaccard > 0.7, 1))
        if steps[left][0] != steps[right][0]
    ]

    assert alike == []


def test_splits_share_no_title_and_no_step() -> None:
    for left, right in combinations(SPLITS, 2):
        titles = [{row["title"].casefold() for row in rows(split)} for split in (left, right)]
        steps = [{step.casefold() for row in rows(split) for step in row["steps"]} for split in (left, right)]
        assert titles[0] & titles[1] == set()
        assert steps[0] & steps[1] == set()


def test_titles_of_two_splits_share_few_words() -> None:
    small = {"a", "an", "the", "of", "for", "to", "in", "on", "with", "and", "from", "out"}
    known_words = [(split, row["title"], set(words(row["title"])) - small) for split in SPLITS for row in rows(split)]
    for left, right in combinations(known_words, 2):
        if left[0] != right[0]:
            assert len(left[2] & right[2]) <= 0.4 * len(left[2] | right[2]), (left[1], right[1])


def test_texts_are_plain_ascii_without_sentence_ends() -> None:
    for row in every_row():
        for text in [row["title"], row["domain"], *row["steps"]]:
            assert re.fullmatch(r"[A-Za-z0-9 ,'-]+", text), (row["title"], text)
            assert text == " ".join(text.split()), (row["title"], text)


def test_steps_joined_as_published_split_into_the_same_steps() -> None:
    for row in every_row():
        assert " . ".join(row["steps"]).split(" . ") == row["steps"], row["title"]


def test_steps_start_like_an_imperative() -> None:
    for title, step in every_step():
        first = step.split()[0].rstrip(",")
        assert re.fullmatch(r"[A-Z][a-z]+(-[a-z]+)?", first), (title, step)
        assert first not in NOT_AN_OPENING, (title, step)
        assert not first.endswith("ing") or first in VERBS_IN_ING, (title, step)


def test_first_steps_refer_to_nothing_before_them() -> None:
    pointing = re.compile(r"(?i)^\W*\w+ (it|them|these|those|this)\b")
    anaphora = [(row["title"], row["steps"][0]) for row in every_row() if pointing.search(row["steps"][0])]

    assert anaphora == []


def test_some_steps_refer_to_steps_before_them() -> None:
    pointing = re.compile(r"(?i)\b(it|them|these|this)\b")
    steps = [step for _, step in every_step()]

    assert sum(bool(pointing.search(step)) for step in steps) >= 0.25 * len(steps)


def test_words_of_test_mostly_occur_in_train() -> None:
    train = vocabulary("train")
    for split in ("dev", "test"):
        assert len(vocabulary(split) & train) >= 0.6 * len(vocabulary(split)), split


@pytest.mark.parametrize("split", SPLITS)
def test_length_of_a_step_does_not_tell_the_next_one(split: str) -> None:
    assert 0.4 <= accuracy_of(lambda step: len(words(step)), split) <= 0.6
    assert 0.4 <= accuracy_of(len, split) <= 0.6


def test_files_end_each_recipe_with_one_line_feed() -> None:
    for split in SPLITS:
        raw = (FOLDER / f"{split}.jsonl").read_bytes()
        assert raw.count(b"\n") == len(rows(split))
        assert raw.endswith(b"}\n")
        assert b"\r" not in raw

"""Changes of meaning that other tests let through are caught by the pinned examples and statements.

The changes are applied in memory. Only the last test looks at the pages of words, which show any change at all.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
import wording_pages
from described_tasks import undescribed
from pinned_examples import examples, problem
from pinned_guides import problems_of_guide

from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern
from pytest_taskgraph.generation.vocabularies import Vocabulary, vocabulary
from pytest_taskgraph.notations import NOTATIONS, Notation
from pytest_taskgraph.notations.wadl import WADL

SECOND = 1


def _reworded(name: str, *changes: tuple[str, str]) -> Pattern:
    """Return the pattern with changes of its second phrasing, made at once."""
    pattern = catalogue()[name]
    text = pattern.templates[SECOND]
    for i, (old, _) in enumerate(changes):
        assert text.count(old) == 1, f"phrasing 2 of {name} holds {old!r} {text.count(old)} times: change this test"
        text = text.replace(old, f"\0{i}")
    for i, (_, new) in enumerate(changes):
        text = text.replace(f"\0{i}", new)
    return replace(pattern, templates=(pattern.templates[0], text))


def _problems(pattern: Pattern, phrasing: int) -> list[str]:
    faults = [problem(pattern, example, phrasing) for example in examples() if example.pattern == pattern.name]
    return [fault for fault in faults if fault]


def _described_as(words: Vocabulary, task: str, other: str) -> Vocabulary:
    """Return the vocabulary with a task described as another one."""
    wrong = next(each.description for each in words.tasks if each.name == other)
    tasks = tuple(replace(each, description=wrong) if each.name == task else each for each in words.tasks)
    return replace(words, tasks=tasks)


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [("link_existence", "{{ first }}", "{{ second }}"), ("order_of_two", "{{ a }}", "{{ b }}")],
)
def test_pinned_example_swapped_operands_detected(name: str, first: str, second: str) -> None:
    faults = _problems(_reworded(name, (first, second), (second, first)), SECOND)
    assert any("pattern's answer" in text for text in faults)


def test_pinned_example_weakened_phrasing_detected() -> None:
    weaker = _reworded("every_situation", ("every possible", "some possible"), ("all values", "some values"))
    faults = _problems(weaker, SECOND)
    assert faults
    assert all("the pattern does not ask" in text for text in faults)


def test_pinned_example_unchanged_phrasing_passes() -> None:
    swapped = _reworded("link_existence", ("{{ first }}", "{{ second }}"), ("{{ second }}", "{{ first }}"))
    assert not _problems(swapped, 0)


def test_pinned_guide_reversed_data_flow_detected() -> None:
    statement = "a task reads the data before it and writes the data after it"
    assert statement in WADL.guide
    backwards = WADL.guide.replace(statement, "a task writes the data before it and reads the data after it")
    assert problems_of_guide(replace(WADL, guide=backwards))


@pytest.mark.parametrize("notation", NOTATIONS.values(), ids=lambda notation: notation.name)
def test_pinned_guide_missing_sentence_detected(notation: Notation) -> None:
    shorter = notation.guide[: notation.guide.rstrip(".").rindex(". ") + 1]
    assert problems_of_guide(replace(notation, guide=shorter))


def test_vocabulary_wrong_description_shares_no_word() -> None:
    kitchen = _described_as(vocabulary("kitchen"), "KneadDough", "PolishGlasses")
    assert undescribed(kitchen) - undescribed(vocabulary("kitchen")) == {"KneadDough"}


def test_vocabulary_wrong_description_shows_on_page() -> None:
    kitchen = vocabulary("kitchen")
    before = wording_pages.page_of_vocabulary(kitchen)
    after = wording_pages.page_of_vocabulary(_described_as(kitchen, "KneadDough", "RaiseDough"))
    assert len([line for line in after if line not in before]) == 1

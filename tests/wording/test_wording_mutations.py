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

from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Pattern
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
    found = [problem(pattern, one, phrasing) for one in examples() if one.pattern == pattern.name]
    return [one for one in found if one]


def _described_as(words: Vocabulary, task: str, other: str) -> Vocabulary:
    """Return the vocabulary with a task described as another one."""
    wrong = next(one.description for one in words.tasks if one.name == other)
    tasks = tuple(replace(one, description=wrong) if one.name == task else one for one in words.tasks)
    return replace(words, tasks=tasks)


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [("link_existence", "{{ first }}", "{{ second }}"), ("order_of_two", "{{ a }}", "{{ b }}")],
)
def test_swapped_operands_of_phrasing_give_other_answers(name: str, one: str, other: str) -> None:
    found = _problems(_reworded(name, (one, other), (other, one)), SECOND)
    assert any("pattern's answer" in text for text in found)


def test_some_for_every_in_phrasing_is_not_the_pinned_question() -> None:
    weaker = _reworded("every_situation", ("every possible", "some possible"), ("all values", "some values"))
    found = _problems(weaker, SECOND)
    assert found
    assert all("the pattern does not ask" in text for text in found)


def test_phrasing_that_was_not_changed_keeps_its_answers() -> None:
    swapped = _reworded("link_existence", ("{{ first }}", "{{ second }}"), ("{{ second }}", "{{ first }}"))
    assert not _problems(swapped, 0)


def test_guide_with_data_flow_backwards_is_not_what_is_pinned() -> None:
    said = "a task reads the data before it and writes the data after it"
    assert said in WADL.guide
    backwards = WADL.guide.replace(said, "a task writes the data before it and reads the data after it")
    assert problems_of_guide(replace(WADL, guide=backwards))


@pytest.mark.parametrize("notation", NOTATIONS.values(), ids=lambda notation: notation.name)
def test_guide_without_a_sentence_is_not_what_is_pinned(notation: Notation) -> None:
    shorter = notation.guide[: notation.guide.rstrip(".").rindex(". ") + 1]
    assert problems_of_guide(replace(notation, guide=shorter))


def test_task_described_as_another_shares_no_word_with_its_data() -> None:
    kitchen = _described_as(vocabulary("kitchen"), "KneadDough", "PolishGlasses")
    assert undescribed(kitchen) - undescribed(vocabulary("kitchen")) == {"KneadDough"}


def test_task_described_as_any_other_shows_on_its_page() -> None:
    kitchen = vocabulary("kitchen")
    before = wording_pages.page_of_vocabulary(kitchen)
    after = wording_pages.page_of_vocabulary(_described_as(kitchen, "KneadDough", "RaiseDough"))
    assert len([line for line in after if line not in before]) == 1

"""Phrasings of patterns against pinned examples, answered by hand from the words alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import pytest
from pinned_examples import PHRASINGS, Example, all_questions, branches, branches_taken, examples, problem, shown_to

from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern
from pytest_taskgraph.families.understanding.patterns.structure.tasks import PROPERTIES
from pytest_taskgraph.workflow.semantics.concurrency import OPERATORS

OURS: Final = {name: pattern for name, pattern in catalogue().items() if pattern.category != "custom"}

WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "operator_existence": OPERATORS,
    "operator_block": OPERATORS[1:],
    "task_list_with_property": (*(task_property.name for task_property in PROPERTIES), "kind", "reads", "writes"),
    "task_of_kind_before": ("before", "after"),
    "link_existence": (
        "the one task that comes directly after task",
        "the one task that reads data",
        "the one task that writes data",
        "control",
        "data",
    ),
    "contradicting_task_descriptions": ("easy", "hard"),
}
"""Words that patterns put into their templates, each of which an example must hold as a field or label."""


@pytest.mark.parametrize("phrasing", range(len(PHRASINGS)), ids=PHRASINGS)
@pytest.mark.parametrize("example", examples(), ids=str)
def test_pattern_pinned_question_has_pinned_answer(example: Example, phrasing: int) -> None:
    fault = problem(OURS[example.pattern], example, phrasing)
    assert not fault, fault


@pytest.mark.parametrize("phrasing", range(len(PHRASINGS)), ids=PHRASINGS)
@pytest.mark.parametrize("pattern", OURS.values(), ids=lambda pattern: pattern.name)
def test_phrasing_every_branch_has_examples(pattern: Pattern, phrasing: int) -> None:
    template = pattern.templates[phrasing]
    pinned = {(branch, kind) for example in _of(pattern) for branch, kind in _branches_of_example(example, phrasing)}
    kinds = ("yes", "no") if pattern.yes_no else ("tempting",)
    missing = [
        (branch, kind) for branch in sorted(branches(template)) for kind in kinds if (branch, kind) not in pinned
    ]
    assert not missing, f"{pattern.name}, phrasing {phrasing + 1}: no example of {missing}"


@pytest.mark.parametrize("name", WORDS)
def test_pattern_every_inserted_word_has_examples(name: str) -> None:
    kinds = ("yes", "no") if OURS[name].yes_no else ("tempting",)
    pinned = {(word, kind) for example in _of(OURS[name]) for word, kind in _words_of_example(example)}
    missing = [(word, kind) for word in WORDS[name] for kind in kinds if (word, kind) not in pinned]
    assert not missing, f"{name}: no example of {missing}"


def test_patterns_have_two_phrasings() -> None:
    assert {len(pattern.templates) for pattern in OURS.values()} == {len(PHRASINGS)}
    assert {example.pattern for example in examples()} == OURS.keys()


def _of(pattern: Pattern) -> list[Example]:
    return [example for example in examples() if example.pattern == pattern.name]


def _kind(example: Example) -> str:
    """Return yes or no; "tempting" for an example with a wrong answer, the empty text for one without."""
    if OURS[example.pattern].yes_no:
        return str(example.answer)
    return "" if example.tempting is None else "tempting"


@cache
def _branches_of_example(example: Example, phrasing: int) -> tuple[tuple[str, str], ...]:
    """Return the branches of the phrasing that the example takes, with its kind."""
    pattern = OURS[example.pattern]
    for text, scope, case in all_questions(pattern, phrasing, shown_to(example)):
        if text == example.questions[phrasing]:
            nested = any(task.composite for task in scope.workflow.tasks)
            fields = {"workflow": scope.workflow, "place": scope.designation, "nested": nested, **case.fields}
            return tuple((branch, _kind(example)) for branch in branches_taken(pattern.templates[phrasing], fields))
    return ()


def _words_of_example(example: Example) -> Iterator[tuple[str, str]]:
    """Yield the words of the pattern that fields or labels of the example hold, with its kind."""
    pattern = OURS[example.pattern]
    for text, _, case in all_questions(pattern, 0, shown_to(example)):
        if text == example.questions[0]:
            values = [str(value) for value in (*case.fields.values(), *case.labels.values())]
            for word in WORDS[example.pattern]:
                if any(value == word or value.startswith(f"{word} ") for value in values):
                    yield word, _kind(example)

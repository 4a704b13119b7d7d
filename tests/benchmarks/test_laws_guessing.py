"""Yes or no cannot be told from the words of the question, nor from what kinds of things the workflow holds."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from functools import cache

import pytest

from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Pattern, verdict
from pytest_taskgraph.benchmarks.understanding.patterns.scope import sentence
from pytest_taskgraph.benchmarks.understanding.questions.ingredients import write_workflow
from pytest_taskgraph.benchmarks.understanding.questions.labels import difficulty
from pytest_taskgraph.benchmarks.understanding.questions.sample import DrawnCase, draw
from pytest_taskgraph.workflow.features import FEATURES, features

YES_NO = [pattern for pattern in catalogue().values() if pattern.yes_no and pattern.category != "custom"]
every = pytest.mark.parametrize("pattern", YES_NO, ids=lambda pattern: pattern.name)
DRAWS = 60
MOST = 0.85  # of the answers that the best rule with one look may get; half of them are yes
ASKED = {
    "flow_cycle": {"loop"},
    "infinite_recursion": {"nested"},
    "mutually_exclusive": {"exclusive", "inclusive"},
}  # what takes as much to see as the answer


@cache  # for the laws of this file, which all look at the same
def drawn(pattern: Pattern) -> list[DrawnCase]:
    return [draw(pattern, 12, 41, ordinal) for ordinal in range(DRAWS)]


def share(seen: Sequence[Hashable], answers: Sequence[object]) -> float:
    """The share of right answers of whoever knows which answer is the more frequent one for all that can be seen."""
    groups: dict[Hashable, Counter[object]] = defaultdict(Counter)
    for one, answer in zip(seen, answers, strict=True):
        groups[one][answer] += 1
    return sum(max(group.values()) for group in groups.values()) / len(answers)


def best_cut(numbers: Sequence[int], answers: Sequence[object]) -> float:
    """The same for whoever knows the best number at which to say the other answer."""
    return max(share([number >= cut for number in numbers], answers) for cut in sorted(set(numbers)))


@every
def test_the_words_of_a_question_do_not_give_the_answer(pattern: Pattern) -> None:
    found = drawn(pattern)
    texts = [re.sub("'[^']*'", "'…'", sentence(pattern, d.phrasing, d.scope, d.case)) for d in found]
    assert share(texts, [verdict(d.case.answer) for d in found]) <= MOST


@every
def test_no_feature_of_the_workflow_gives_the_answer(pattern: Pattern) -> None:
    found = drawn(pattern)
    answers, held = [verdict(d.case.answer) for d in found], [features(d.project) for d in found]
    telling = {
        name: share([name in one for one in held], answers) for name in FEATURES - ASKED.get(pattern.name, set())
    }
    assert {name: value for name, value in telling.items() if value > MOST} == {}


@every
def test_no_number_of_the_workflow_gives_the_answer(pattern: Pattern) -> None:
    found = drawn(pattern)
    answers, numbers = [verdict(d.case.answer) for d in found], [difficulty(d.scope.workflow) for d in found]
    names = numbers[0].keys() - ASKED.get(pattern.name, set())
    telling = {name: best_cut([int(one[name]) for one in numbers], answers) for name in names}
    assert {name: value for name, value in telling.items() if value > MOST} == {}


@every
def test_no_word_of_the_shown_text_gives_the_answer(pattern: Pattern) -> None:
    found = drawn(pattern)
    answers = [verdict(d.case.answer) for d in found]
    counted = [
        Counter(re.findall(r"[A-Za-z]+|[^\sA-Za-z0-9_]", write_workflow(d.project, "wadl-separate"))) for d in found
    ]
    words = sorted({word for one in counted for word in one})
    telling = {word: best_cut([one[word] for one in counted], answers) for word in words}
    assert {word: value for word, value in telling.items() if value > MOST} == {}


@every
def test_the_order_in_which_two_tasks_are_declared_does_not_give_the_answer(pattern: Pattern) -> None:
    pairs = [(d, _positions(d)) for d in drawn(pattern)]
    ordered = [(positions[0] < positions[1], verdict(d.case.answer)) for d, positions in pairs if len(positions) == 2]
    if len({answer for _, answer in ordered}) == 2:
        assert share([first for first, _ in ordered], [answer for _, answer in ordered]) <= MOST


def _positions(one: DrawnCase) -> list[int]:
    """Where the tasks that the question is about are declared, in the order of its fields."""
    names = one.scope.workflow.task_names
    return [names.index(value) for value in one.case.fields.values() if isinstance(value, str) and value in names]

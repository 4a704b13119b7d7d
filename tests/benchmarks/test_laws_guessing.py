"""Neither the words of a question nor the features of its workflow reveal yes or no."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

import pytest
from surface_rules import drawn_questions

from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern, verdict
from pytest_taskgraph.families.understanding.patterns.scope import sentence
from pytest_taskgraph.families.understanding.question_soundness.answer_giveaways import SEED
from pytest_taskgraph.families.understanding.questions.ingredients import write_workflow
from pytest_taskgraph.families.understanding.questions.labels import difficulty
from pytest_taskgraph.families.understanding.questions.sample import DrawnCase
from pytest_taskgraph.workflow.features import FEATURES, features

YES_NO = [pattern for pattern in catalogue().values() if pattern.yes_no and pattern.category != "custom"]
each_pattern = pytest.mark.parametrize("pattern", YES_NO, ids=lambda pattern: pattern.name)
DRAWS = 64
MOST = 0.85  # largest share of right answers for a simple rule; half of the answers are yes
NEEDED_FEATURES = {
    "flow_cycle": {"loop"},
    "infinite_recursion": {"nested"},
    "mutually_exclusive": {"exclusive", "inclusive"},
}  # as hard to find as the answer


def draw_cases(pattern: Pattern) -> tuple[DrawnCase, ...]:
    """Return the cases that all laws of this file examine."""
    return drawn_questions(pattern, DRAWS, 12, "", SEED)


def best_share(seen: Sequence[Hashable], answers: Sequence[object]) -> float:
    """Return the share of right answers if the most frequent answer for each value is known."""
    groups: dict[Hashable, Counter[object]] = defaultdict(Counter)
    for value, answer in zip(seen, answers, strict=True):
        groups[value][answer] += 1
    return sum(max(group.values()) for group in groups.values()) / len(answers)


def best_cut(numbers: Sequence[int], answers: Sequence[object]) -> float:
    """Return the share of right answers of the best threshold."""
    return max(best_share([number >= cut for number in numbers], answers) for cut in sorted(set(numbers)))


@each_pattern
def test_question_words_do_not_reveal_answer(pattern: Pattern) -> None:
    drawn_cases = draw_cases(pattern)
    texts = [
        re.sub(r"'[^']*'|\b\d+ (?:second|minute|hour|day)s?\b", "…", sentence(pattern, d.phrasing, d.scope, d.case))
        for d in drawn_cases
    ]
    assert best_share(texts, [verdict(d.case.answer) for d in drawn_cases]) <= MOST


@each_pattern
def test_workflow_features_do_not_reveal_answer(pattern: Pattern) -> None:
    drawn_cases = draw_cases(pattern)
    answers, held = [verdict(d.case.answer) for d in drawn_cases], [features(d.project) for d in drawn_cases]
    shares = {
        name: best_share([name in present for present in held], answers)
        for name in FEATURES - NEEDED_FEATURES.get(pattern.name, set())
    }
    assert {name: value for name, value in shares.items() if value > MOST} == {}


@each_pattern
def test_workflow_numbers_do_not_reveal_answer(pattern: Pattern) -> None:
    drawn_cases = draw_cases(pattern)
    answers, numbers = (
        [verdict(d.case.answer) for d in drawn_cases],
        [difficulty(d.scope.workflow) for d in drawn_cases],
    )
    names = numbers[0].keys() - NEEDED_FEATURES.get(pattern.name, set())
    shares = {name: best_cut([int(row[name]) for row in numbers], answers) for name in names}
    assert {name: value for name, value in shares.items() if value > MOST} == {}


@each_pattern
def test_shown_words_do_not_reveal_answer(pattern: Pattern) -> None:
    drawn_cases = draw_cases(pattern)
    answers = [verdict(d.case.answer) for d in drawn_cases]
    counts_of_texts = [
        Counter(re.findall(r"[A-Za-z]+|[^\sA-Za-z0-9_]", write_workflow(d.project, "wadl-separate")))
        for d in drawn_cases
    ]
    words = sorted({word for counts in counts_of_texts for word in counts})
    shares = {word: best_cut([counts[word] for counts in counts_of_texts], answers) for word in words}
    assert {word: value for word, value in shares.items() if value > MOST} == {}


@each_pattern
def test_declaration_order_does_not_reveal_answer(pattern: Pattern) -> None:
    pairs = [(d, _positions(d)) for d in draw_cases(pattern)]
    rows = [(positions[0] < positions[1], verdict(d.case.answer)) for d, positions in pairs if len(positions) == 2]
    if len({answer for _, answer in rows}) == 2:
        assert best_share([first for first, _ in rows], [answer for _, answer in rows]) <= MOST


def _positions(drawn_case: DrawnCase) -> list[int]:
    """Return the positions of declaration of the question's tasks, in the order of its fields."""
    names = drawn_case.scope.workflow.task_names
    return [
        names.index(value) for value in drawn_case.case.fields.values() if isinstance(value, str) and value in names
    ]

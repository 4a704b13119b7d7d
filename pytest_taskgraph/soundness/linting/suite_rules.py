"""The rules about the questions that a suite asks, taken together: duplicates, balance."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ...benchmarks.lint_rule import LintProblem, LintRule
from ...benchmarks.linted_suite import LintedSuite
from ...scoring.forms import form
from ...trial import Question
from .suite_collection import NO_CASE, SUITE_ERROR

MOST_SHARE: Final = 2 / 3  # of the questions of a group that one constant answer may get right
LEAST_QUESTIONS: Final = 4  # of a group, for its balance to be judged
IDS_SHOWN: Final = 3  # questions that one message names


def questions_of(suite: LintedSuite) -> list[Question]:
    """Return the questions that could be built and are no variations of others."""
    return [
        linted.question for linted in suite.questions if linted.question is not None and not linted.reference.relation
    ]


def _same_prompts(suite: LintedSuite) -> Iterator[list[Question]]:
    """Yield groups of two or more questions with equal requests to the model."""
    groups: dict[str, list[Question]] = {}
    for question in questions_of(suite):
        parts = (question.system, question.prompt, question.episode, question.specifications, question.episode_settings)
        groups.setdefault(json.dumps(parts, sort_keys=True), []).append(question)
    yield from (questions for questions in groups.values() if len(questions) > 1)


def _duplicates(suite: LintedSuite) -> Iterator[LintProblem]:
    for questions in _same_prompts(suite):
        if len(_answers(questions)) == 1:
            yield LintProblem(f"{_ids_of(questions)} have one prompt and one answer; expected each question once")


def _contradictions(suite: LintedSuite) -> Iterator[LintProblem]:
    for questions in _same_prompts(suite):
        if len(_answers(questions)) > 1:
            yield LintProblem(
                f"{_ids_of(questions)} have one prompt and {len(_answers(questions))} answers; expected one"
            )


def _answers(questions: Iterable[Question]) -> set[str]:
    return {json.dumps(question.reference, sort_keys=True) for question in questions}


def _ids_of(questions: Sequence[Question]) -> str:
    names = [question.id for question in questions]
    more = f" and {len(names) - IDS_SHOWN} more" if len(names) > IDS_SHOWN else ""
    return f"{', '.join(names[:IDS_SHOWN])}{more}"


def _unbalanced(suite: LintedSuite) -> Iterator[LintProblem]:
    """Yield the groups with few and fixed answers in which one answer is right too often."""
    groups: dict[str, list[Question]] = {}
    for question in questions_of(suite):
        if form(question.form).classes:
            groups.setdefault(question.group, []).append(question)
    for name, questions in groups.items():
        classes = Counter(str(form(question.form).classify(question.reference)) for question in questions)
        answer, right = classes.most_common(1)[0]
        if len(questions) >= LEAST_QUESTIONS and right > MOST_SHARE * len(questions):
            yield LintProblem(
                f"{name}: {right} of {len(questions)} answers are {answer!r}, so that this answer alone scores "
                f"{right / len(questions):.0%}; expected at most {MOST_SHARE:.0%}"
            )


def _no_problems(suite: LintedSuite) -> Iterable[LintProblem]:
    """Return no problems, because the collection of suites finds the problems of the rule."""
    return ()


RULES: Final = (
    LintRule(
        SUITE_ERROR,
        "A suite cannot be collected.",
        "Fix the error in the message; until then nothing else of its file is checked.",
        _no_problems,
    ),
    LintRule(
        NO_CASE,
        "Nothing can be asked for a group of a suite.",
        "Let the group find cases in its subjects, demand the features that it needs, or do not ask for it.",
        _no_problems,
    ),
    LintRule(
        "duplicate-prompt",
        "Two questions of a suite have the same prompt and the same answer.",
        "Ask for fewer questions or for larger subjects: a repeated question counts twice and adds nothing.",
        _duplicates,
        "warning",
    ),
    LintRule(
        "contradictory-prompt",
        "Two questions of a suite have the same prompt and different answers.",
        "Let the question's text name all that its answer depends on.",
        _contradictions,
    ),
    LintRule(
        "unbalanced-answers",
        "One answer is right for most questions of a group.",
        "Ask more questions, or let the group yield cases with each of its answers.",
        _unbalanced,
        "warning",
    ),
)
"""The rules that hold for suites of every family."""

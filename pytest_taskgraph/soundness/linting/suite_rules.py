"""The rules about the questions that a suite asks, taken together: duplicates, balance."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ...benchmarks.lint_contract import LintedSuite, LintProblem, LintRule
from ...scoring.forms import form
from ...trial import Question
from .suite_collection import NO_CASE, SUITE_ERROR

MOST_SHARE: Final = 2 / 3  # of the questions of a group that one constant answer may get right
LEAST_QUESTIONS: Final = 4  # of a group, to tell anything of its balance
NAMED: Final = 3  # questions that one message names


def questions_of(suite: LintedSuite) -> list[Question]:
    """Return the questions that could be built and are no variations of others."""
    return [one.question for one in suite.questions if one.question is not None and not one.reference.relation]


def _same_prompts(suite: LintedSuite) -> Iterator[list[Question]]:
    """Yield the questions that a model is told the same of, two or more."""
    told: dict[str, list[Question]] = {}
    for one in questions_of(suite):
        parts = (one.system, one.prompt, one.episode, one.specifications, one.episode_settings)
        told.setdefault(json.dumps(parts, sort_keys=True), []).append(one)
    yield from (found for found in told.values() if len(found) > 1)


def _duplicates(suite: LintedSuite) -> Iterator[LintProblem]:
    for found in _same_prompts(suite):
        if len(_answers(found)) == 1:
            yield LintProblem(f"{_listed(found)} have one prompt and one answer; expected each question once")


def _contradictions(suite: LintedSuite) -> Iterator[LintProblem]:
    for found in _same_prompts(suite):
        if len(_answers(found)) > 1:
            yield LintProblem(f"{_listed(found)} have one prompt and {len(_answers(found))} answers; expected one")


def _answers(questions: Iterable[Question]) -> set[str]:
    return {json.dumps(one.reference, sort_keys=True) for one in questions}


def _listed(questions: Sequence[Question]) -> str:
    names = [one.id for one in questions]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def _unbalanced(suite: LintedSuite) -> Iterator[LintProblem]:
    """Yield the groups with few and fixed answers of which one is right too often."""
    groups: dict[str, list[Question]] = {}
    for one in questions_of(suite):
        if form(one.form).classes:
            groups.setdefault(one.group, []).append(one)
    for name, found in groups.items():
        classes = Counter(str(form(one.form).classify(one.reference)) for one in found)
        answer, right = classes.most_common(1)[0]
        if len(found) >= LEAST_QUESTIONS and right > MOST_SHARE * len(found):
            yield LintProblem(
                f"{name}: {right} of {len(found)} answers are {answer!r}, so that this answer alone scores "
                f"{right / len(found):.0%}; expected at most {MOST_SHARE:.0%}"
            )


def _nothing(suite: LintedSuite) -> Iterable[LintProblem]:
    """Return no problems: those of the rule are found while suites are collected."""
    return ()


RULES: Final = (
    LintRule(
        SUITE_ERROR,
        "A suite cannot be collected.",
        "Mend what the message names; until then nothing else of its file is checked.",
        _nothing,
    ),
    LintRule(
        NO_CASE,
        "Nothing can be asked for a group of a suite.",
        "Let the group find cases in what it is about, demand what it needs, or do not ask for it.",
        _nothing,
    ),
    LintRule(
        "duplicate-prompt",
        "Two questions of a suite tell the model the same and have the same answer.",
        "Ask for fewer questions or for larger subjects: a repeated question counts twice and tells nothing new.",
        _duplicates,
        "warning",
    ),
    LintRule(
        "contradictory-prompt",
        "Two questions of a suite tell the model the same and have different answers.",
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

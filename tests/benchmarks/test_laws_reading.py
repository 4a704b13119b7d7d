"""A pattern gives the same answer about the workflow that is read back from the shown text."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pytest_taskgraph.errors import RecipeTooSmallError
from pytest_taskgraph.families.understanding.family_options import Phrasing
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern
from pytest_taskgraph.families.understanding.patterns.scope import all_scopes, cases, sentence
from pytest_taskgraph.families.understanding.prompts import PROMPTS
from pytest_taskgraph.families.understanding.questions.ingredients import write_workflow
from pytest_taskgraph.families.understanding.questions.sample import draw, recipe_for
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Json, Question, Reply, Request
from pytest_taskgraph.workflow.features import features
from pytest_taskgraph.workflow.model import Workflow

OURS = [pattern for pattern in catalogue().values() if pattern.category != "custom" and not pattern.planted]
each_pattern = pytest.mark.parametrize("pattern", OURS, ids=lambda pattern: pattern.name)
UNFENCED_PATTERNS = [  # every fifth one, and with them each notation, in the default tier
    pytest.param(pattern, id=pattern.name, marks=pytest.mark.exhaustive if i % 5 else ())
    for i, pattern in enumerate(OURS)
]
UNFENCED = """{# answer: marker #}
You are shown a specification. It is written in {{ notation }}.
{{ workflow }}

{{ question }}
Reply with "Final answer:" and your answer. {{ instruction }}
"""


def answers(pattern: Pattern, project: Workflow, phrasing: int, entered: bool = False) -> dict[str, Json]:
    """Return the questions of the pattern about the project, with the answers."""
    return {
        sentence(pattern, phrasing, scope, case): case.answer
        for scope in all_scopes(project, entered)
        for case in cases(pattern, scope)
    }


def answers_read_back(pattern: Pattern, project: Workflow, notation: str, phrasing: int) -> dict[str, Json]:
    """Return the same from the shown text, where composite tasks can be inline or elsewhere."""
    back = NOTATIONS[notation].read(write_workflow(project, notation))
    return answers(pattern, back, phrasing, entered=True) | answers(pattern, back, phrasing)


def reader_reply(question: Question) -> Reply:
    request = Request(messages=[{"role": "user", "content": question.prompt}])
    return asyncio.run(understanding.baseline("reader", UnderstandingSettings()).answer(request))


@each_pattern
@pytest.mark.parametrize(
    ("size", "seed", "ordinals"),
    [
        (12, 0, (0,)),
        pytest.param(8, 3, (0, 1), marks=pytest.mark.exhaustive),
        pytest.param(12, 1, (2,), marks=pytest.mark.exhaustive),
        pytest.param(20, 2, (5,), marks=pytest.mark.exhaustive),
    ],
)
def test_read_back_every_notation_has_same_answer(
    pattern: Pattern, size: int, seed: int, ordinals: tuple[int, ...]
) -> None:
    try:
        recipe_for(pattern, size)
    except RecipeTooSmallError as error:
        size = error.least
    for ordinal in ordinals:
        drawn_case = draw(pattern, size, seed, ordinal)
        text = sentence(pattern, drawn_case.phrasing, drawn_case.scope, drawn_case.case)
        names = [
            name for name, notation in NOTATIONS.items() if not features(drawn_case.project) & notation.unsupported
        ]
        assert "json" in names
        for name in names:
            assert (
                answers_read_back(pattern, drawn_case.project, name, drawn_case.phrasing)[text]
                == drawn_case.case.answer
            ), name


@each_pattern
def test_reader_any_prompt_phrasing_notation_right(pattern: Pattern) -> None:
    phrasings: tuple[Phrasing, ...] = ("first", "second")
    names = tuple(NOTATIONS)
    # Each prompt is tried for a third of the patterns, and over them in each phrasing and notation.
    start = OURS.index(pattern)
    for i, prompt in list(enumerate(PROMPTS, start=start))[start // 6 % 3 :: 3]:
        chosen = UnderstandingSettings(prompt=prompt, phrasing=phrasings[i // 2 % 2], notations=names, instances=1)
        references = understanding.references(chosen, {"patterns": [pattern]})
        question = understanding.question(references[i % len(references)], chosen)
        assert grade(question, reader_reply(question)).value == 1.0, question.prompt


@pytest.mark.parametrize("pattern", UNFENCED_PATTERNS)
def test_reader_unfenced_workflow_right(pattern: Pattern, tmp_path: Path) -> None:
    prompt = tmp_path / "mine.jinja"
    prompt.write_text(UNFENCED, encoding="utf-8")
    chosen = UnderstandingSettings(prompt=str(prompt), notations=tuple(NOTATIONS), instances=1, seed=5)
    references = understanding.references(chosen, {"patterns": [pattern]})
    reference = references[OURS.index(pattern) % len(references)]
    question = understanding.question(reference, chosen)
    assert grade(question, reader_reply(question)).value == 1.0, question.prompt


@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(pattern=st.sampled_from(OURS), size=st.integers(3, 12), seed=st.integers(0, 999), ordinal=st.integers(0, 9))
def test_read_back_every_case_has_same_answer(pattern: Pattern, size: int, seed: int, ordinal: int) -> None:
    try:
        project = draw(pattern, size, seed, ordinal).project
    except RecipeTooSmallError:
        assume(False)
    names = [name for name, notation in NOTATIONS.items() if not features(project) & notation.unsupported]
    for other in OURS:
        expected = answers(other, project, 0)
        for name in names:
            answers_read = answers_read_back(other, project, name, 0)
            assert {text: answers_read.get(text) for text in expected} == expected, (other, name)
